"""A compiled kernel as data: what it computes, where its results are, and its machine code; made once, then cached."""

from __future__ import annotations

import functools
import hashlib
import importlib.metadata
import json
import pickle
import struct
from collections.abc import Callable
from dataclasses import dataclass, field, fields, is_dataclass, replace
from functools import cached_property
from types import BuiltinFunctionType, FunctionType, MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefoot.arrays import Array
from surefoot.codegen import cache
from surefoot.codegen.build import Build
from surefoot.codegen.llvm import KernelText, compile_text, kernel_text

Shapes = tuple[tuple[int, ...], ...]
_INTEGERS, _NUMBERS = np.dtype("<i8"), np.dtype("<f8")
_KNOWN = ("surefoot", "numpy", "pinocchio", "builtins", "collections", "copyreg", "functools", "operator", "types")
"""Packages whose functions and classes are told apart by name: our source is part of the key."""


@dataclass(frozen=True, eq=False)
class Recipe:
    """How to make a kernel.

    Args:
        name: What it computes.
        owner: The robot's name, for people.
        inputs: Names of the inputs.
        outputs: Names of the outputs.
        input_shapes: Shapes of the inputs, for one state.
        trace: Makes the program.
        identity: All that the program depends on beside the source text, for the cache; None if only the program
            itself can tell (functions of users).
        depends: For programs without an identity: functions and objects that the program follows from. If nothing of
            them has changed since it was traced last, it is not traced again.
        reference: The same function on numbers: arrays of one state to a tuple of outputs.
        emit: Writes the assembly of the program.
        needs_units: Parts (input, offset, length) that must have unit length.
    """

    name: str
    owner: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    input_shapes: Shapes
    trace: Callable[[], Any]
    identity: tuple[Any, ...] | None = None
    depends: tuple[Any, ...] = ()
    reference: Callable[..., tuple[Any, ...]] | None = None
    emit: Callable[[Any, Build, str], KernelText] = kernel_text
    needs_units: tuple[tuple[int, int, int], ...] = ()

    @functools.cached_property
    def program(self) -> Any:
        """The program, traced on first use: a `Program`, or a `LoopProgram` for a large tree."""
        return self.trace()


@dataclass(frozen=True, eq=False)
class Artifact:
    """A compiled kernel.

    Args:
        symbol: Name of the function in the code.
        build: Lanes and type.
        input_shapes: Shape of each input.
        output_shapes: Shape of each output.
        slots: Values that are stored for one state.
        layout: Slot of every entry of every output, in row order; −1 − k for number k.
        numbers: Entries that are the same for every state.
        operations: Arithmetic operations for one state.
        scratch: Values that are kept in memory for every tile while it works.
        code: Object code.
    """

    symbol: str
    build: Build
    input_shapes: Shapes
    output_shapes: Shapes
    slots: int
    layout: tuple[NDArray[np.int64], ...]
    numbers: Array
    operations: int
    scratch: int
    code: bytes = field(repr=False)

    def without_layout(self) -> Artifact:
        """The same code, whose only output (slots,) is what it stores."""
        places, nothing = np.arange(self.slots, dtype=np.int64), np.zeros(0)
        return replace(self, output_shapes=((self.slots,),), layout=(places,), numbers=nothing)

    def packed(self) -> bytes:
        """As bytes, for the cache."""
        head = {
            "symbol": self.symbol, "inputs": self.input_shapes, "outputs": self.output_shapes,
            "slots": self.slots, "numbers": len(self.numbers), "operations": self.operations,
            "scratch": self.scratch,
        }  # fmt: skip
        text = json.dumps(head).encode()
        arrays = [x.astype(_INTEGERS).tobytes() for x in self.layout] + [self.numbers.astype(_NUMBERS).tobytes()]
        return b"".join([struct.pack("<I", len(text)), text, *arrays, self.code])

    @classmethod
    def unpacked(cls, data: bytes, build: Build) -> Artifact:
        """From bytes that `packed` made (the cache has verified that they are the same).

        Args:
            data: The bytes.
            build: Lanes and type.
        """
        length = struct.unpack_from("<I", data)[0]
        head = json.loads(data[4 : 4 + length])
        at, layout = 4 + length, []
        shapes = tuple(tuple(x) for x in head["outputs"])
        for shape in shapes:
            size = int(np.prod(shape))
            layout.append(np.frombuffer(data, _INTEGERS, size, at))
            at += 8 * size
        numbers = np.frombuffer(data, _NUMBERS, head["numbers"], at)
        code = data[at + 8 * head["numbers"] :]
        inputs = tuple(tuple(x) for x in head["inputs"])
        counts = head["operations"], head["scratch"]
        return cls(head["symbol"], build, inputs, shapes, head["slots"], tuple(layout), numbers, *counts, code)


def make(recipe: Recipe, build: Build) -> Artifact:
    """The kernel of a recipe, from the cache if it is there.

    Args:
        recipe: What to make.
        build: Lanes and type.
    """
    key = _key(recipe, build)
    data = cache.load(key)
    if data is not None:
        return Artifact.unpacked(data, build)
    artifact = _compiled(recipe, build, f"k{key[:24]}")
    kind = f"float{build.bits} x {build.width}"
    cache.store(key, artifact.packed(), {"robot": recipe.owner, "algorithm": recipe.name, "build": kind})
    return artifact


def cached_code(name: str, text: Callable[[], str], loops: str = "") -> bytes:
    """Object code of assembly that depends on nothing but this package's source, from the cache if it is there.

    Args:
        name: Its name, for the cache.
        text: Makes the assembly.
        loops: For loops of plain Python, which LLVM then optimises: the text of their functions.
    """
    key = cache.key("surefoot.code", name, loops, *_machine())
    code = cache.load(key)
    if code is None:
        code = compile_text(text(), optimise=bool(loops))
        cache.store(key, code, {"robot": "", "algorithm": name, "build": "loops" if loops else "driver"})
    return code


@functools.cache
def _machine() -> tuple[str, ...]:
    """Facts about the machine that compiled code depends on."""
    return cache.source_version(), importlib.metadata.version("llvmlite"), cache.cpu_features()


def _key(recipe: Recipe, build: Build) -> str:
    if recipe.identity is not None:
        return cache.key("surefoot.kernel", recipe.name, str(build), *_machine(), *recipe.identity)
    digest = identity_of(*recipe.depends) if recipe.depends else None
    if digest is None:
        return _key_of_program(recipe, build)
    inputs = repr((recipe.inputs, recipe.input_shapes, recipe.emit.__qualname__))
    short = cache.key("surefoot.key", recipe.name, str(build), *_machine(), cache.package_version(), inputs, digest)
    known = cache.load(short)
    if known is not None:
        return known.decode("ascii")
    key = _key_of_program(recipe, build)
    cache.store(short, key.encode("ascii"), {"robot": recipe.owner, "algorithm": recipe.name, "build": "key"})
    return key


def _key_of_program(recipe: Recipe, build: Build) -> str:
    return cache.key("surefoot.kernel", recipe.name, str(build), *_machine(), repr(recipe.program))


def _compiled(recipe: Recipe, build: Build, symbol: str) -> Artifact:
    program = recipe.program
    made = recipe.emit(program, build, symbol)
    return Artifact(
        symbol=symbol,
        build=build,
        input_shapes=program.input_shapes,
        output_shapes=program.output_shapes,
        slots=len(program.slots),
        layout=tuple(np.array(x, dtype=np.int64) for x in program.layout),
        numbers=np.array(program.numbers, dtype=np.float64),
        operations=program.operations,
        scratch=made.scratch,
        code=compile_text(made.text),
    )


def identity_of(*parts: Any) -> str | None:
    """Digest of all that functions and objects depend on beside this package's source; None if it cannot be told.

    It cannot for functions and classes of other packages, whose source may change, nor for handles of native code. What
    is cached on an object (`cached_property`, attributes of data classes that are not fields) follows from the rest.

    Args:
        parts: Functions with the values that they have captured, bound methods, robots, arrays, numbers, …
    """
    sink = _Sink()
    try:
        _Digester(sink, protocol=5).dump(parts)
    except (pickle.PicklingError, TypeError, ValueError, AttributeError, RecursionError):  # those of `pickle`
        return None
    return sink.sum.hexdigest()


class _Sink:
    """A file that keeps the digest of what is written."""

    def __init__(self) -> None:
        self.sum = hashlib.sha256()

    def write(self, data: Any) -> None:
        self.sum.update(data)


class _Digester(pickle.Pickler):
    """Writes objects by their values; never read back."""

    def reducer_override(self, obj: Any) -> Any:
        """How an object is written: its class, then its values, which may refer back to it."""
        kind = type(obj)
        if isinstance(obj, type | FunctionType | BuiltinFunctionType):
            return self._named(obj)
        if kind is MappingProxyType:
            return dict, (dict(obj),)
        if kind.__module__.split(".")[0] != "surefoot" or isinstance(obj, BaseException):
            return NotImplemented
        if is_dataclass(obj):
            return type, (kind,), [getattr(obj, item.name) for item in fields(obj)]
        if hasattr(obj, "__dict__") and kind.__reduce_ex__ is object.__reduce_ex__:
            state = {k: x for k, x in vars(obj).items() if not isinstance(getattr(kind, k, None), cached_property)}
            return type, (kind,), state
        return NotImplemented

    def _named(self, obj: Any) -> Any:
        if str(obj.__module__).split(".")[0] not in _KNOWN:
            raise pickle.PicklingError(f"the source of {obj!r} is not known")
        if not isinstance(obj, FunctionType):
            return NotImplemented
        code = obj.__code__
        place = obj.__module__, obj.__qualname__, code.co_firstlineno, code.co_code, code.co_names
        captured = tuple(cell.cell_contents for cell in obj.__closure__ or ())
        return tuple, ((*place, captured, obj.__defaults__, obj.__kwdefaults__),)
