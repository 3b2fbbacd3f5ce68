"""One compiled function of a robot: the same call for one state and for a batch."""

from __future__ import annotations

import ctypes
import functools
import importlib
import platform
import struct
import sys
import sysconfig
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from surefoot.codegen.arguments import Arguments, real_numbers
from surefoot.codegen.artifact import Artifact, Recipe, cached_code, make
from surefoot.codegen.batch import BatchRunner, aligned_empty, from_tiles, thread_count, to_tiles
from surefoot.codegen.build import Build
from surefoot.codegen.llvm import load_object, vector_width
from surefoot.codegen.spec import Spec
from surefoot.errors import NotSupportedError, ShapeError, one_of
from surefoot.ops import Array


class Kernel:
    """A compiled function; single states and batches have a build each, made or read from the cache on first use.

        tau = k.rnea(q, v, a)                  # one state (nq,), (nv,), (nv,) -> (nv,)
        tau = k.rnea(Q, V, A)                  # a batch (n, nq), … -> (n, nv); single arguments are repeated
        k.rnea(Q, V, A, out=T, threads=2)      # no allocation, two cores
        call = k.rnea.bind(q, v, a, tau)       # fixed arrays: call() reads q, v, a and writes tau

    Args:
        recipe: What to compute.
        bits: 64 or 32: precision of arguments, results and arithmetic.
        threads: Default number of threads for batches, or "all".
        result: Makes the result from the arrays of the outputs; by default one array alone or a tuple of several.
        variants: Further kernels by the name of the optional argument that calls for them.
        explain_units: explain_units(first argument (n, …)) raises if a part of it is not of unit length.
    """

    def __init__(
        self,
        recipe: Recipe,
        bits: int = 64,
        threads: int | str = 1,
        result: Callable[..., Any] | None = None,
        variants: Mapping[str, Kernel] | None = None,
        explain_units: Callable[[Array], None] | None = None,
    ) -> None:
        self.recipe, self.bits, self.threads = recipe, bits, threads
        self.dtype = np.dtype(f"f{bits // 8}")
        self.result, self.bare = result or (lambda *arrays: arrays), result is None
        self.variants = dict(variants or {})
        self.explain_units = explain_units
        self.arguments = Arguments(recipe, self.dtype, tuple(self.variants))
        self._call = self._entry()

    def __repr__(self) -> str:
        return f"Kernel({self.recipe.name}({', '.join(self.recipe.inputs)}) of {self.recipe.owner}, float{self.bits})"

    def __reduce__(self) -> Any:
        raise NotSupportedError(
            f"{self!r} cannot be pickled: it is machine code of this process",
            next_step="send the robot and compile it there; its kernels are read from the cache",
        )

    def __call__(self, *args: Any, **options: Any) -> Any:
        """Compute; see the class. Options: `out`, `threads`, `check_finite`, inputs by name.

        Args:
            *args: Inputs in their order: arrays of one state, or with a leading batch axis.
            **options: `out`: array (or list of them) to write into; `threads`: number or "all"; `check_finite=True`:
                refuse NaN and infinity; or inputs by name.

        Raises:
            ShapeError: Wrong shapes, a quaternion that is not of unit length, or numbers that are not finite.
        """
        return self._call(*args, **options)

    # -- builds ---------------------------------------------------------------------------------------------------

    def _entry(self) -> Callable[..., Any]:
        """The native entry point; plain Python where there is none."""
        self._front = None
        if self.bits != 64 or not supported():
            return self._general
        general, result = self._general, self.result
        self._front = front_spec(self.recipe.input_shapes, general, result, self.bare)
        return entry_function(self._front, general, result)

    @cached_property
    def single(self) -> BatchRunner:
        """The build for one state."""
        runner = BatchRunner(make(self.recipe, Build(1, self.bits)), self.recipe.needs_units)
        if self._front is not None:
            self._front.link("single", runner.spec)
        return runner

    @cached_property
    def batch(self) -> BatchRunner:
        """The build for batches, as wide as the CPU."""
        runner = BatchRunner(make(self.recipe, Build(vector_width(self.bits), self.bits)), self.recipe.needs_units)
        if self._front is not None and self.threads == 1:
            self._front.set("rows", runner.rows_address)
            self._front.set("work_bytes", runner.work_bytes)
            self._front.link("batch", runner.spec)
        return runner

    def prepare(self, build: str) -> None:
        """Build now what would be built at the first call.

        Args:
            build: "single" or "batch".
        """
        if build not in ("single", "batch"):
            raise one_of("build", build, ("single", "batch"))
        getattr(self, build)

    @property
    def artifact(self) -> Artifact:
        """Shapes, layout and machine code of the batch build."""
        return self.batch.artifact

    # -- calls ----------------------------------------------------------------------------------------------------

    def _general(
        self, *args: Any, out: Any = None, threads: int | str | None = None, check_finite: bool = False, **named: Any
    ) -> Any:
        """One state or a batch, with all checks."""
        if not named and not check_finite and (count := self.arguments.plain_batch(args)):
            return self._run(args, out, count, threads)
        for name, variant in self.variants.items():
            whole = (*args, named[name]) if list(named) == [name] and len(args) == len(self.recipe.inputs) else args
            if len(whole) == len(variant.recipe.inputs) and whole[-1] is not None:
                options = {"out": out, "threads": threads, "check_finite": check_finite or None}
                return variant(*whole, **{key: value for key, value in options.items() if value is not None})
        given = self.arguments.by_name(args, named)
        for name in [name for name in self.variants if given.get(name) is not None]:
            return self.variants[name](**given, out=out, threads=threads, check_finite=check_finite)
        arrays, n = self.arguments.arrays(given, check_finite)
        return self._run(arrays, out, n, threads)

    def _run(self, arrays: Sequence[Array], out: Any, n: int | None, threads: int | str | None) -> Any:
        return self._result(self._run_on(self.single if n is None else self.batch, arrays, out, n, threads))

    def _run_on(
        self, runner: BatchRunner, arrays: Sequence[Array], out: Any, n: int | None, threads: int | str | None
    ) -> list[Array]:
        """The arrays of the outputs."""
        outputs = self.arguments.outputs(out, n, runner.artifact.output_shapes)
        if out is not None:
            self.arguments.refuse_overlap(arrays, outputs)
        count = thread_count(self.threads if threads is None else threads)
        bad = runner.rows(arrays, outputs, 1 if n is None else n, count)
        if bad >= 0:
            self.refuse_units([x if n is not None else x[None] for x in arrays])
        return outputs

    def _result(self, outputs: Sequence[Array]) -> Any:
        return outputs[0] if self.bare and len(outputs) == 1 else self.result(*outputs)

    def refuse_units(self, arrays: Sequence[Array]) -> None:
        """Report which part of an input (n, …) lacks the unit length that it must have.

        Args:
            arrays: All inputs; only the one that has such parts is looked at.

        Raises:
            ShapeError: Always.
        """
        k = self.recipe.needs_units[0][0]
        q = arrays[k].astype(float)
        if self.explain_units is not None and np.isfinite(q).all():
            self.explain_units(q)
        parts = [q[:, at : at + length] for _, at, length in self.recipe.needs_units]
        row = int(np.argmax(np.max([np.abs((x * x).sum(axis=1) - 1.0) for x in parts], axis=0)))
        raise ShapeError(
            f"a part of `{self.recipe.inputs[k]}` must have unit length, but does not",
            evidence={"row": row, "parts": [x[row].tolist() for x in parts]},
        )

    # -- fixed arrays, tiles --------------------------------------------------------------------------------------

    def bind(self, *arrays: Array) -> Callable[[], None]:
        """A function without arguments that reads the inputs and writes the outputs given here, of one state.

        It checks nothing: the arrays must not be resized, and quaternions must keep unit length.

        Args:
            *arrays: Inputs (with `external` or without), then outputs, each its own or exactly an input: plain float64.
        """
        shapes, count = [*self.recipe.input_shapes, *self.single.artifact.output_shapes], len(self.recipe.inputs)
        if self._front is None:
            raise ShapeError("bind needs float64 kernels and the CPython interpreter", next_step="call with `out=`")
        if len(arrays) == len(shapes) + 1 and self.variants:
            return next(iter(self.variants.values())).bind(*arrays)
        reads, writes = self.arguments.reads_from, self.arguments.writes_to
        checks = [reads] * count + [writes] * (len(shapes) - count)
        fits = len(arrays) == len(shapes) and all(
            fits(x, shape) for fits, x, shape in zip(checks, arrays, shapes, strict=True)
        )
        if not fits:
            raise ShapeError(
                f"`{self.recipe.name}` cannot be bound to these arrays",
                evidence={f"array {k}": f"expected {shape} float64" for k, shape in enumerate(shapes)},
                next_step="give contiguous, aligned float64 arrays of one state, inputs first; outputs writeable",
            )
        self.arguments.refuse_overlap(arrays[:count], arrays[count:])
        return bound_function(self._front, arrays[:count], arrays[count:])

    def packed(self, *args: ArrayLike, out: Array | None = None, threads: int | str | None = None) -> Array:
        """Packed results, an ordinary array (n, slots): entries that differ from state to state, each once, in rows.

        Dense matrices are limited by the memory that they are written to; this omits their zeros, ones and mirrored
        entries. `layout` maps entries to slots, `unpack` makes dense arrays.

        Args:
            *args: Inputs in their order, as in a call: of one state, which gives (slots,), or with a batch axis.
            out: Array for the result.
            threads: Number of threads, or "all".
        """
        given = self.arguments.by_name(args, {})
        for name in [name for name in self.variants if given.get(name) is not None]:
            return self.variants[name].packed(*args, out=out, threads=threads)
        arrays, n = self.arguments.arrays(given, check_finite=False)
        return self._run_on((self.single if n is None else self.batch).packed, arrays, out, n, threads)[0]

    def tiled(self, *tiles: Array, out: Array | None = None, threads: int | str | None = None) -> Array:
        """Packed results (blocks, slots, lanes) of inputs in tiles (`to_tiles`): the fastest way.

        As `packed`, in the order in which vectors are computed.

        Args:
            *tiles: Inputs (blocks, …, lanes), in memory that starts at a cache line (as `to_tiles` makes it).
            out: Array for the result.
            threads: Number of threads, or "all".
        """
        runner, blocks = self.batch, (*np.shape(tiles[0]), 0)[0] if tiles else 0
        shapes = [(blocks, *shape, runner.width) for shape in self.recipe.input_shapes]
        result = aligned_empty((blocks, runner.artifact.slots, runner.width), self.dtype) if out is None else out
        expected = [*shapes, (blocks, runner.artifact.slots, runner.width)]
        if len(tiles) != len(shapes):
            names = ", ".join(self.recipe.inputs)
            raise ShapeError(f"`{self.recipe.name}` takes tiles of {names}; {len(tiles)} arrays were given")
        checks = [self.arguments.reads_from] * len(tiles) + [self.arguments.writes_to]
        for fits, array, shape in zip(checks, (*tiles, result), expected, strict=True):
            if not fits(array, shape) or (array.size and array.ctypes.data % 64):
                raise ShapeError(
                    f"a tile array of `{self.recipe.name}` has shape {np.shape(array)}",
                    evidence={"expected": f"{shape} {self.dtype}, starting at a cache line"},
                    next_step="make it with to_tiles(rows)",
                )
        self.arguments.refuse_overlap(tiles, [result])
        bad = runner.tiles(tiles, result, blocks, thread_count(self.threads if threads is None else threads))
        if bad >= 0:
            self.refuse_units([from_tiles(x) for x in tiles])
        return result

    def to_tiles(self, rows: ArrayLike) -> Array:
        """States (n, …) as tiles (blocks, …, lanes) for `tiled`.

        Args:
            rows: One state per row.
        """
        return to_tiles(real_numbers(rows, "rows", (1, 2, 3, 4)).astype(self.dtype), self.batch.width)

    @property
    def layout(self) -> tuple[Array, ...]:
        """For every output an integer array of its shape: the slot of each entry, −1 − k for number `numbers[k]`."""
        return tuple(map(np.reshape, self.artifact.layout, self.artifact.output_shapes))

    @property
    def numbers(self) -> Array:
        """Entries of the outputs that are the same for every state."""
        return self.artifact.numbers

    def unpack(self, packed: Array, n: int | None = None) -> tuple[Array, ...]:
        """Dense outputs (n, …) of packed results.

        Args:
            packed: What `packed` (for a batch) or `tiled` returned.
            n: Number of states; by default all.
        """
        packed = real_numbers(packed, "packed", (2, 3), {1: self.artifact.slots})
        rows = from_tiles(packed, n) if packed.ndim == 3 else packed[:n]
        values = np.concatenate([rows, np.broadcast_to(self.numbers[::-1], (len(rows), len(self.numbers)))], axis=1)
        return tuple(values[:, layout].astype(self.dtype) for layout in self.layout)


class ReferenceKernel(Kernel):
    """A `Kernel` that computes with numpy, state by state, as it is written: slow, to debug and compare with.

    It takes the same calls, but there are no tiles and nothing to bind.
    """

    def _entry(self) -> Callable[..., Any]:
        self._front = None
        return self._general

    def _run(self, arrays: Sequence[Array], out: Any, n: int | None, threads: int | str | None) -> Any:
        batch = [x if n is not None else x[None] for x in arrays]
        if self.recipe.needs_units and self.explain_units is not None:
            self.explain_units(np.asarray(batch[0], dtype=float))
        if self.recipe.reference is None:
            raise NotSupportedError(f"`{self.recipe.name}` has no reference")
        states = [self.recipe.reference(*state) for state in zip(*batch, strict=True)]
        if not states:
            zeros = [np.zeros(shape) for shape in self.recipe.input_shapes]
            states = [self.recipe.reference(*zeros)]
        found = [np.stack([np.asarray(x, dtype=float) for x in parts]) for parts in zip(*states, strict=True)]
        outputs = self.arguments.outputs(out, n, [x.shape[1:] for x in found])
        for target, values in zip(outputs, found, strict=True):
            target[...] = values[: len(target)] if n is not None else values[0]
        return self._result(outputs)

    def prepare(self, build: str) -> None:
        """There is nothing to build."""

    def tiled(self, *tiles: Array, out: Array | None = None, threads: int | str | None = None) -> Array:
        """Not with numpy."""
        raise NotSupportedError("the numpy backend has no tiles", next_step='compile with backend="llvm"')


_FASTCALL, _KEYWORDS, _NOARGS = 0x0080, 0x0002, 0x0004
_NEW_ARRAY = 184  # PyArray_Empty in numpy's table of functions
_OUT = sys.intern("out")
_INTERPRETER = {
    "incref": "Py_IncRef", "decref": "Py_DecRef", "call": "PyObject_Vectorcall", "release": "PyEval_SaveThread",
    "acquire": "PyEval_RestoreThread",
}  # fmt: skip


class _MethodDef(ctypes.Structure):
    _fields_ = (
        ("name", ctypes.c_char_p), ("function", ctypes.c_void_p), ("flags", ctypes.c_int), ("doc", ctypes.c_char_p),
    )  # fmt: skip


@functools.cache
def supported() -> bool:
    """Whether the interpreter and numpy have the object layouts that the machine code knows."""
    if platform.python_implementation() != "CPython" or sysconfig.get_config_var("Py_GIL_DISABLED"):
        return False
    array, text = np.zeros((2, 3)), b"surefoot"
    holder = (array, text)

    def word(thing: object, offset: int) -> int:
        return int(ctypes.c_uint64.from_address(id(thing) + offset).value)

    layout = [
        (word(holder, 16), 2), (word(holder, 24), id(array)), (word([array], 16), 1),
        (word(text, 32), int.from_bytes(text, "little")), (word(array, 8), id(np.ndarray)),
        (word(array, 16), array.ctypes.data), (word(array, 24) & 0xFFFFFFFF, 2), (word(array, 56), id(array.dtype)),
    ]  # fmt: skip
    return all(found == expected for found, expected in layout)


@functools.cache
def _functions() -> dict[str, int]:
    def text() -> str:
        from surefoot.codegen.drivers import entry_module

        return entry_module()

    return load_object(cached_code("entry", text), ("entry", "bound"))


@functools.cache
def _array_functions() -> Any:
    """Numpy's table of C functions."""
    umath = importlib.import_module("numpy._core._multiarray_umath")
    get = ctypes.pythonapi.PyCapsule_GetPointer
    get.restype, get.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    address = get(umath._ARRAY_API, None)
    return ctypes.cast(address, ctypes.POINTER(ctypes.c_void_p))


@functools.cache
def _method(kind: str) -> _MethodDef:
    flags = _FASTCALL | _KEYWORDS if kind == "entry" else _NOARGS
    return _MethodDef(kind.encode(), _functions()[kind], flags, None)


def _builtin(kind: str, owner: tuple[Any, ...]) -> Callable[..., Any]:
    make = ctypes.pythonapi.PyCFunction_NewEx
    make.restype, make.argtypes = ctypes.py_object, [ctypes.POINTER(_MethodDef), ctypes.py_object, ctypes.c_void_p]
    made: Callable[..., Any] = make(ctypes.byref(_method(kind)), owner, None)
    return made


def front_spec(
    shapes: Sequence[tuple[int, ...]], fallback: Callable[..., Any], result: Callable[..., Any], bare: bool
) -> Spec:
    """The table of an entry point; the specs of builds are linked in when they are there.

    Args:
        shapes: Shapes of the inputs of one state.
        fallback: Called with the same arguments where the plain case is not given.
        result: Makes the result of the output arrays.
        bare: Whether a single output array is the result itself.
    """
    front = Spec()
    front.set("inputs", len(shapes))
    for k, shape in enumerate(shapes):
        front.set("input_nd", len(shape), k)
        front.point("input_shape", np.array(shape, dtype=np.int64), k)
    front.set("array_type", id(np.ndarray))
    front.set("array_dtype", id(np.dtype(np.float64)))
    front.set("new_array", int(_array_functions()[_NEW_ARRAY]))
    front.set("fallback", id(fallback))
    front.set("result_type", id(result))
    front.set("bare", bare)
    front.set("none", id(None))
    front.set("out_name", id(_OUT))
    front.set("tuple_type", id(tuple))
    front.set("list_type", id(list))
    for name, function in _INTERPRETER.items():
        front.set(name, int(ctypes.cast(getattr(ctypes.pythonapi, function), ctypes.c_void_p).value or 0))
    return front


def entry_function(front: Spec, fallback: Callable[..., Any], result: Callable[..., Any]) -> Callable[..., Any]:
    """A built-in that runs kernels on plain arrays, and calls the fallback for anything else.

    Args:
        front: Made by `front_spec` with the same two functions, which the built-in keeps alive.
        fallback: As there.
        result: As there.
    """
    return _builtin("entry", (struct.pack("<Q", front.address), front, fallback, result))


def bound_function(front: Spec, inputs: Sequence[NDArray[Any]], outputs: Sequence[NDArray[Any]]) -> Callable[[], None]:
    """A built-in without arguments that reads these arrays and writes those, unchecked.

    Args:
        front: With a build for one state.
        inputs: Contiguous arrays of one state; kept alive.
        outputs: Contiguous arrays; kept alive.
    """
    arrays = (*inputs, *outputs)
    addresses = struct.pack(f"<{len(arrays)}Q", *(x.ctypes.data for x in arrays))
    return _builtin("bound", (struct.pack("<Q", front.address), addresses, front, arrays))
