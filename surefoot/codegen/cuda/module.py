"""Compiled functions on a GPU, through CuPy: arrays of its memory in and out.

From packed columns to dense rows, on a GPU.

A program with many results finishes them in an order of its own, a few at a time. Written to rows, each would touch
another piece of device memory. So they are stored packed, one column per slot, which neighbouring threads write
together; and this kernel copies them to the rows, 32 states and 32 neighbouring entries per warp. All warps of a block
have the same states, so that rows are whole before the cache passes them on.
"""

from __future__ import annotations

import importlib
import math
from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np

from surefoot.codegen.cuda.plan import PITCH, RESULTS, WARP
from surefoot.codegen.cuda.shape import HOPPER, Device
from surefoot.codegen.cuda.text import KernelSource, kernel_source, literal, prelude
from surefoot.codegen.program import Program
from surefoot.errors import NotSupportedError, ShapeError

_BYTES = 64  # of values of one state that a block has in hand
_CONSTANT_ENTRIES = 8192  # of tables in constant memory, which is small

_FUNCTION = """
// Entries of one output, {warp} at a time: slots of the input, or numbers.
__device__ __forceinline__ void spread(unsigned tile, const int* table, index entries, const real* in, index element,
                                       index state, real* out, index oe, index os, index first, index n) {{
  const int lane = threadIdx.x % {warp};
  const real* own = in + (first + lane < n ? first + lane : n - 1) * state;
  const int states = (int)(n - first < {warp} ? n - first : {warp});
  for (index e = threadIdx.x / {warp} * {warp}; e < entries; e += {threads}) {{
    const int some = (int)(entries - e < {warp} ? entries - e : {warp});
#pragma unroll 8
    for (int k = 0; k < some; ++k) {{
      const int slot = table[e + k];
      const unsigned to = tile + k * {pitch} + lane * {size};
      if (slot >= 0) copy(to, own + slot * element);
      else put(to, number[-1 - slot]);
    }}
    wait_for_copies();
    __syncwarp();
    if (lane < some) {{
      real* to = out + first * os + (e + lane) * oe;
#pragma unroll 8
      for (int s = 0; s < states; ++s, to += os) *to = get(tile + lane * {pitch} + s * {size});
    }}
    __syncwarp();
  }}
}}
"""


def spread_source(program: Program, bits: int, name: str, device: Device = HOPPER) -> KernelSource:
    """The kernel that makes the outputs of a program from those of `program.packed`.

    Args:
        program: With dense outputs.
        bits: 64 or 32.
        name: Letters, digits and underscores; the kernel is called surefoot_name.
        device: The GPU that it is for.
    """
    name, size = f"surefoot_{name}", bits // 8
    tile = WARP * PITCH * size
    warps = min(_BYTES // size, device.per_block // tile)
    outputs = ", ".join(f"real* out{k}, index oe{k}, index os{k}" for k in range(len(program.layout)))
    lines = [
        prelude(bits),
        *_tables(program, bits),
        _FUNCTION.format(warp=WARP, pitch=PITCH * size, size=size, threads=warps * WARP),
        f'extern "C" __global__ void {name}(const real* in0, index ie, index is, {outputs}, index n) {{',
        f"  const index first = blockIdx.x * (index){WARP};",
        f"  const unsigned tile = start() + threadIdx.x / {WARP} * {tile}u;",
        *(
            f"  spread(tile, table{k}, {len(layout)}, in0, ie, is, out{k}, oe{k}, os{k}, first, n);"
            for k, layout in enumerate(program.layout)
        ),
        "}\n}\n",
    ]
    shapes = program.packed.output_shapes, program.output_shapes
    return KernelSource(name, "\n".join(lines), bits, warps * WARP, WARP, tile * warps, *shapes)


def _tables(program: Program, bits: int) -> list[str]:
    """Slots of the entries of every output, and numbers; with one more than needed, as none may be empty."""
    memory = "__constant__" if sum(map(len, program.layout)) <= _CONSTANT_ENTRIES else "__device__ const"
    numbers = ", ".join(literal(x, bits) for x in (*program.numbers, 0.0))
    slots = [", ".join(map(str, (*layout, 0))) for layout in program.layout]
    tables = [f"{memory} int table{k}[] = {{{row}}};" for k, row in enumerate(slots)]
    return [f"{memory} real number[] = {{{numbers}}};", *tables]


_OPTIONS = ("--std=c++17", "--fmad=false")  # what to fuse was decided before
_DLPACK_CPU = 1
_AT_A_TIME = 1 << 17  # states whose packed results are kept


class CudaKernel:
    """A traced function of one state, compiled for the GPU at hand; one thread per state.

        kernel = CudaKernel(trace([q, v, a], [rnea(tree, q, v, a)], interleaved=False), bits=32)
        tau = kernel(Q, V, A)               # (n, nq), (n, nv), (n, nv) -> (n, nv)
        tau = kernel(Q_T.T, V_T.T, A_T.T)   # views of (dim, n) arrays: fastest, and so is the result

    For the distinct entries alone (n, slots), compile `program.packed`. Work is put on CuPy's current stream. Results
    with many entries are computed as columns and then copied to rows, if rows are wanted, some states at a time.

    Args:
        program: What to compute; traced without interleaving.
        bits: 64 or 32: precision of arguments, results and arithmetic.
        name: Letters, digits and underscores.

    Raises:
        NotSupportedError: CuPy is not installed, or there is no GPU.
    """

    def __init__(self, program: Program, bits: int = 64, name: str = "kernel") -> None:
        self._cupy = cupy_module()
        self.program, self.bits, self.name = program, bits, name
        self.dtype = np.dtype(f"f{bits // 8}")
        self._is_wide = sum(map(len, program.layout)) > RESULTS
        _ = (self._packed, self._spread) if self._is_wide else self._direct  # built now: what rows need

    @cached_property
    def _direct(self) -> _Launcher:
        return _Launcher(self._cupy, kernel_source(self.program, self.bits, self.name, _device(self._cupy)))

    @cached_property
    def _packed(self) -> _Launcher:
        return _Launcher(self._cupy, kernel_source(self.program.packed, self.bits, self.name, _device(self._cupy)))

    @cached_property
    def _spread(self) -> _Launcher:
        name = f"{self.name}_spread"
        return _Launcher(self._cupy, spread_source(self.program, self.bits, name, _device(self._cupy)))

    def __call__(self, *inputs: Any, out: Any = None) -> Any:
        """The outputs as CuPy arrays: one, or a tuple of several.

        Args:
            *inputs: Arrays (n, …) of CuPy, of another library with DLPack, or of numpy, which are copied to the GPU;
                arrays of one state are repeated, and if all are, the results are of one state, too.
            out: CuPy array (n, …) to write into, or a list of them.

        Raises:
            ShapeError: An array has the wrong shape, or `out` the wrong type.
        """
        arrays = self._arrays(inputs)
        n, single = self._count(arrays)
        outputs = self._outputs(out, n, single, any(_is_column(x) for x in arrays))
        if self._is_wide and not all(x.ndim == 1 or _is_column(x) for x in outputs):
            self._by_columns(arrays, outputs, n)
        elif n:
            self._direct.launch(arrays, outputs, n)
        return outputs[0] if len(outputs) == 1 else tuple(outputs)

    def _by_columns(self, arrays: Sequence[Any], outputs: Sequence[Any], n: int) -> None:
        columns = self._cupy.empty((max(1, len(self.program.slots)), min(n, _AT_A_TIME)), self.dtype)
        for start in range(0, n, _AT_A_TIME):
            some = slice(start, min(n, start + _AT_A_TIME))
            count, packed = some.stop - start, columns.T[: some.stop - start, : len(self.program.slots)]
            own = [_states(x, shape, some) for x, shape in zip(arrays, self.program.input_shapes, strict=True)]
            self._packed.launch(own, [packed], count)
            results = zip(outputs, self.program.output_shapes, strict=True)
            self._spread.launch([packed], [_states(x, shape, some) for x, shape in results], count)

    # -- arrays ---------------------------------------------------------------------------------------------------

    def _arrays(self, inputs: Sequence[Any]) -> list[Any]:
        """CuPy arrays of the right type, each with a stride from element to element."""
        if len(inputs) != len(self.program.input_shapes):
            raise ShapeError(
                f"`{self.name}` takes {len(self.program.input_shapes)} arrays; {len(inputs)} were given",
                evidence={"shapes": [("n", *shape) for shape in self.program.input_shapes]},
            )
        arrays = []
        for k, (given, shape) in enumerate(zip(inputs, self.program.input_shapes, strict=True)):
            array = self._on_gpu(given).astype(self.dtype, copy=False)
            if array.shape != shape and array.shape[1:] != shape:
                raise ShapeError(
                    f"argument {k} of `{self.name}` has shape {array.shape}",
                    evidence={"expected": f"{shape} for one state, {('n', *shape)} for n of them"},
                    next_step="one state per row",
                )
            arrays.append(array if _spacing(array, shape) else self._cupy.ascontiguousarray(array))
        return arrays

    def _on_gpu(self, array: Any) -> Any:
        if isinstance(array, self._cupy.ndarray):
            return array
        if not hasattr(array, "__dlpack_device__") or isinstance(array, np.ndarray):
            return self._cupy.asarray(array)
        if array.__dlpack_device__()[0] == _DLPACK_CPU:
            return self._cupy.asarray(np.from_dlpack(array))
        return self._cupy.from_dlpack(array)

    def _count(self, arrays: Sequence[Any]) -> tuple[int, bool]:
        """Number of states, and whether there is only one without an axis of its own."""
        sizes = {len(x) for x, shape in zip(arrays, self.program.input_shapes, strict=True) if x.ndim > len(shape)}
        if len(sizes) > 1:
            raise ShapeError("the batches have different lengths", evidence={"lengths": sorted(sizes)})
        return next(iter(sizes), 1), not sizes

    def _outputs(self, out: Any, n: int, single: bool, columns: bool) -> list[Any]:
        shapes = [shape if single else (n, *shape) for shape in self.program.output_shapes]
        if out is None:
            return [self._empty(shape, columns and not single) for shape in shapes]
        outputs = [out] if isinstance(out, self._cupy.ndarray) else list(out)
        fits = [x.shape for x in outputs] == shapes and all(
            x.dtype == self.dtype and _spacing(x, shape)
            for x, shape in zip(outputs, self.program.output_shapes, strict=True)
        )
        if not fits:
            raise ShapeError(
                f"`out` of `{self.name}` cannot take the result",
                evidence={"expected": [f"{shape} {self.dtype}" for shape in shapes],
                          "given": [f"{x.shape} {x.dtype}" for x in outputs]},
                next_step="give CuPy arrays of these shapes and types",
            )  # fmt: skip
        return outputs

    def _empty(self, shape: tuple[int, ...], columns: bool) -> Any:
        if not columns:
            return self._cupy.empty(shape, self.dtype)
        return self._cupy.moveaxis(self._cupy.empty((*shape[1:], shape[0]), self.dtype), -1, 0)


class _Launcher:
    """A compiled kernel.

    Args:
        cupy: The module.
        source: The text.
    """

    def __init__(self, cupy: Any, source: KernelSource) -> None:
        self.source = source
        self.function = cupy.RawModule(code=source.text, options=_OPTIONS).get_function(source.name)
        self.function.max_dynamic_shared_size_bytes = source.shared_bytes

    def launch(self, inputs: Sequence[Any], outputs: Sequence[Any], n: int) -> None:
        """Start it on n states."""
        shapes = (*self.source.input_shapes, *self.source.output_shapes)
        arguments: list[Any] = []
        for array, shape in zip((*inputs, *outputs), shapes, strict=True):
            state = array.strides[0] if array.ndim > len(shape) else 0
            arguments += [array, np.int64(_spacing(array, shape)), np.int64(state // array.itemsize)]
        blocks, threads = -(-n // self.source.states), self.source.threads
        self.function((blocks,), (threads,), (*arguments, np.int64(n)), shared_mem=self.source.shared_bytes)


def cupy_module() -> Any:
    """CuPy, where there is a GPU for it.

    Raises:
        NotSupportedError: CuPy is not installed, or there is no GPU.
    """
    try:
        cupy = importlib.import_module("cupy")
    except ImportError as error:
        raise NotSupportedError(
            "kernels for the GPU need CuPy, which cannot be imported",
            evidence={"reason": error},
            next_step="install CuPy for the CUDA version of your driver, or use the kernels for the CPU",
        ) from None
    try:
        count = cupy.cuda.runtime.getDeviceCount()
    except cupy.cuda.runtime.CUDARuntimeError as error:
        raise _no_gpu(error) from None
    if not count:
        raise _no_gpu("no device")
    return cupy


def _no_gpu(reason: object) -> NotSupportedError:
    return NotSupportedError(
        "CuPy finds no GPU",
        evidence={"reason": reason},
        next_step="look at `nvidia-smi`, or use the kernels for the CPU",
    )


def _device(cupy: Any) -> Device:
    found = cupy.cuda.Device().attributes
    return Device(
        found["MaxSharedMemoryPerMultiprocessor"],
        found["MaxSharedMemoryPerBlockOptin"],
        found["MaxRegistersPerMultiprocessor"],
    )


def _is_column(array: Any) -> bool:
    """Whether neighbours in memory are of different states."""
    return bool(array.ndim > 1 and array.strides[0] == array.itemsize and array.size > len(array) > 1)


def _states(array: Any, shape: tuple[int, ...], some: slice) -> Any:
    """Some of the states of an array; of one state, all."""
    return array[some] if array.ndim > len(shape) else array


def _spacing(array: Any, shape: tuple[int, ...]) -> int:
    """From element to element of one state, in elements; 0 if they are not evenly spaced.

    Args:
        array: (n, …), or (…) for all states the same.
        shape: Of one state.
    """
    strides = array.strides[array.ndim - len(shape) :]
    spread = [k for k, size in enumerate(shape) if size > 1]
    element = strides[spread[-1]] if spread else array.itemsize
    if any(strides[k] != element * math.prod(shape[k + 1 :]) for k in spread):
        return 0
    return int(element // array.itemsize)
