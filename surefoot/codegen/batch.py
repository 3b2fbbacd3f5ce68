"""Batches on compiled code: tables, work space, tiles and threads. Knows arrays and addresses, no robots."""

from __future__ import annotations

import ctypes
import functools
import os
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from surefoot.codegen.artifact import Artifact, cached_code
from surefoot.codegen.build import Build
from surefoot.codegen.llvm import TILES, load_object
from surefoot.codegen.spec import Spec
from surefoot.errors import ShapeError

_ALIGNMENT = 64
_CACHE_SHARE = 20_000  # bytes of tiles that are worked on at a time: they should stay in the first-level cache
_WORTH_A_THREAD = 200_000  # operations on vectors: some tens of microseconds, as long as waking a thread takes
_space = threading.local()


def aligned_empty(shape: tuple[int, ...], dtype: Any = np.float64) -> NDArray[Any]:
    """An array whose memory starts at a cache line."""
    kind = np.dtype(dtype)
    size = int(np.prod(shape)) * kind.itemsize
    raw = np.empty(size + _ALIGNMENT, dtype=np.uint8)
    start = -raw.ctypes.data % _ALIGNMENT
    return raw[start : start + size].view(kind).reshape(shape)


def to_tiles(rows: NDArray[Any], width: int) -> NDArray[Any]:
    """States (n, …) as tiles (blocks, …, width); the last state fills up the last tile."""
    n = len(rows)
    blocks = -(-n // width)
    padded = rows if n == blocks * width else np.concatenate([rows, np.repeat(rows[-1:], blocks * width - n, axis=0)])
    out = aligned_empty((blocks, *rows.shape[1:], width), rows.dtype)
    out[:] = np.moveaxis(padded.reshape(blocks, width, *rows.shape[1:]), 1, -1)
    return out


def from_tiles(tiles: NDArray[Any], n: int | None = None) -> NDArray[Any]:
    """Tiles (blocks, …, width) as states (n, …); all of them without n."""
    blocks, *shape, width = tiles.shape
    rows = np.moveaxis(tiles, -1, 1).reshape(blocks * width, *shape)
    return np.ascontiguousarray(rows[:n])


def tile_count(artifact: Artifact) -> int:
    """Tiles that a kernel should work on at a time."""
    values = sum(int(np.prod(shape)) for shape in artifact.input_shapes) + artifact.slots + artifact.scratch
    return int(np.clip(_CACHE_SHARE // max(1, values * artifact.build.stride), 1, TILES))


def make_spec(artifact: Artifact, kernel: int, units: Sequence[tuple[int, int, int]]) -> Spec:
    """The table that native loops read.

    Args:
        artifact: The kernel.
        kernel: Address of its function.
        units: Parts (input, offset, length) that must have unit length.
    """
    spec = Spec()
    spec.set("kernel", kernel)
    spec.set("inputs", len(artifact.input_shapes))
    spec.set("outputs", len(artifact.output_shapes))
    spec.set("tiles", tile_count(artifact) if artifact.build.width > 1 else 1)
    spec.set("slots", artifact.slots)
    spec.set("constants", len(artifact.numbers))
    spec.point("constant_values", artifact.numbers.astype(f"f{artifact.build.bits // 8}"))
    spec.set("units", len(units))
    spec.point("unit_table", np.array(units, dtype=np.int64).reshape(-1, 3))
    for k, shape in enumerate(artifact.input_shapes):
        spec.set("input_size", int(np.prod(shape)), k)
        spec.set("input_nd", len(shape), k)
        spec.point("input_shape", np.array(shape, dtype=np.int64), k)
    for k, (shape, layout) in enumerate(zip(artifact.output_shapes, artifact.layout, strict=True)):
        spec.set("output_size", len(layout), k)
        spec.set("output_nd", len(shape), k)
        spec.point("output_shape", np.array(shape, dtype=np.int64), k)
        spec.point("table", _offsets(artifact, layout), k)
        spec.point("uniform", _uniform_blocks(layout, artifact.build.width), k)
    return spec


def _offsets(artifact: Artifact, layout: NDArray[np.int64]) -> NDArray[np.int64]:
    """Where the entries of an output are in a tile of results, in bytes; filled up to whole blocks."""
    place = np.where(layout < 0, artifact.slots - 1 - layout, layout) * artifact.build.stride
    return np.concatenate([place, np.zeros(artifact.build.width, dtype=np.int64)])


def _uniform_blocks(layout: NDArray[np.int64], width: int) -> NDArray[np.int64]:
    """For every block of `width` entries 1 if all are the same constant (as where a matrix is empty), else 0."""
    padded = np.concatenate([layout, np.repeat(layout[-1:], -len(layout) % width)]).reshape(-1, width)
    same = (padded[:, :1] < 0) & (padded == padded[:, :1])
    return same.all(axis=1).astype(np.int64)


def thread_count(threads: int | str) -> int:
    """Threads of a request: a number, or "all" cores."""
    if threads == "all":
        return _cores()
    if not isinstance(threads, int | np.integer) or threads < 1:
        raise ShapeError(f"threads={threads!r}", next_step='give a number of threads from 1 on, or "all"')
    return int(threads)


@functools.cache
def _driver(build: Build) -> tuple[Callable[..., int], Callable[..., int], int]:
    suffix = f".{build.suffix}"

    def text() -> str:
        from surefoot.codegen.drivers import driver_module

        return driver_module(build)

    code = cached_code(f"driver{suffix}", text)
    where = load_object(code, (f"rows{suffix}", f"tiles{suffix}"))
    pointer, integer = ctypes.c_void_p, ctypes.c_int64
    rows = ctypes.CFUNCTYPE(integer, pointer, pointer, pointer, integer, integer, pointer)
    tiles = ctypes.CFUNCTYPE(integer, pointer, pointer, pointer, integer, integer)
    address = where[f"rows{suffix}"]
    return rows(address), tiles(where[f"tiles{suffix}"]), address


def _cores() -> int:
    """Cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@functools.cache
def _pool() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(_cores(), thread_name_prefix="surefoot")


os.register_at_fork(after_in_child=_pool.cache_clear)  # threads stay with the parent


def addresses(arrays: Sequence[NDArray[Any]]) -> Any:
    """A C array of where the numbers of arrays are."""
    return (ctypes.c_void_p * max(1, len(arrays)))(*[x.__array_interface__["data"][0] for x in arrays])


def span(array: NDArray[Any]) -> tuple[int, int]:
    """Where the numbers of a contiguous array start and end."""
    start = array.__array_interface__["data"][0]
    return start, start + array.nbytes


class _Pieces:
    """Pieces of work for other threads: after the end of a `with`, however it comes, none runs and none begins.

    They write into arrays that an interrupt would free.
    """

    def __init__(self, part: Callable[[tuple[int, int]], int]) -> None:
        self._part, self._running, self._is_over = part, 0, False
        self._change = threading.Condition()

    def run(self, bounds: tuple[int, int]) -> int:
        """Run one of them, in another thread; −1 if it comes too late."""
        with self._change:
            if self._is_over:
                return -1
            self._running += 1
        try:
            return self._part(bounds)
        finally:
            with self._change:
                self._running -= 1
                self._change.notify_all()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        with self._change:
            self._is_over = True
            self._change.wait_for(lambda: self._running == 0)


class BatchRunner:
    """Runs one compiled kernel over batches.

    Args:
        artifact: The kernel.
        units: Parts (input, offset, length) that must have unit length.
    """

    def __init__(self, artifact: Artifact, units: Sequence[tuple[int, int, int]]) -> None:
        self.artifact, self.width = artifact, artifact.build.width
        self.kernel = load_object(artifact.code, (artifact.symbol,))[artifact.symbol]
        self.spec = make_spec(artifact, self.kernel, units)
        self._rows, self._tiles, self.rows_address = _driver(artifact.build)
        self._spec = self.spec.address
        self.work_bytes = self._count_work_values() * artifact.build.stride
        self._units = units

    @functools.cached_property
    def packed(self) -> BatchRunner:
        """The same code, whose only output (slots,) is what it stores."""
        return BatchRunner(self.artifact.without_layout(), self._units)

    def _count_work_values(self) -> int:
        tiles = self.spec.get("tiles")
        values = sum(int(np.prod(shape)) * tiles + self.width for shape in self.artifact.input_shapes)
        return values + (len(self.artifact.numbers) + self.artifact.slots) * tiles

    def _work(self) -> int:
        """Address of work space of this thread; kept, because fresh pages are dear."""
        if getattr(_space, "size", -1) < self.work_bytes:
            _space.work = aligned_empty((self.work_bytes,), np.uint8)
            _space.size, _space.address = self.work_bytes, _space.work.ctypes.data
        address: int = _space.address
        return address

    def rows(self, inputs: Sequence[NDArray[Any]], outputs: Sequence[NDArray[Any]], n: int, threads: int = 1) -> int:
        """Row-major arrays (n, …) in and out; −1, or the first state of a tile with a part not of unit length.

        Args:
            inputs: Contiguous arrays.
            outputs: Contiguous arrays, written.
            n: States.
            threads: How many to use.
        """
        ins, outs = addresses(inputs), addresses(outputs)

        def part(bounds: tuple[int, int]) -> int:
            return self._rows(self._spec, ins, outs, *bounds, self._work())

        bad = part((0, n)) if threads == 1 else self._spread(part, n, self.width, threads)
        return bad if bad < 0 else bad * self.width

    def tiles(self, inputs: Sequence[NDArray[Any]], output: NDArray[Any], blocks: int, threads: int = 1) -> int:
        """Tiles (blocks, …, width) in, slots (blocks, slots, width) out; as `rows`.

        Args:
            inputs: Aligned contiguous arrays.
            output: Aligned contiguous array, written.
            blocks: Tiles.
            threads: How many to use.
        """
        ins, out = addresses(inputs), output.__array_interface__["data"][0]

        def part(bounds: tuple[int, int]) -> int:
            return self._tiles(self._spec, ins, out, *bounds)

        bad = part((0, blocks)) if threads == 1 else self._spread(part, blocks, 1, threads)
        return bad if bad < 0 else bad * self.width

    def _spread(self, part: Callable[[tuple[int, int]], int], n: int, grain: int, threads: int, steps: int = 1) -> int:
        """Run over 0..n in one piece, or in as many as there are threads, cut between tiles."""
        tiles = -(-n // grain)
        threads = min(threads, tiles, max(1, tiles * steps * self.artifact.operations // _WORTH_A_THREAD))
        if threads <= 1:
            return part((0, n))
        share = -(-tiles // threads) * grain
        first, *others = [(start, min(n, start + share)) for start in range(0, n, share)]
        with _Pieces(part) as pieces:
            futures = [_pool().submit(pieces.run, bounds) for bounds in others]
            found = [part(first), *(future.result() for future in futures)]
        return min((bad for bad in found if bad >= 0), default=-1)
