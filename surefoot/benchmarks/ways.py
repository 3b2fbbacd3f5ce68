"""The ways to call a kernel: one state or many, rows or tiles, one core or all, double or single precision."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from itertools import starmap
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefoot.benchmarks.cases import as_arrays
from surefoot.benchmarks.machine import second_level_cache
from surefoot.compiler import Kernel
from surefoot.compiler.batches import aligned_empty

__all__ = ["WAYS", "Prepared", "Way", "fill_with_zeros"]

Array = NDArray[Any]
Inputs = tuple[Array, ...]


@dataclass(frozen=True, eq=False)
class Prepared:
    """A way that is ready to be timed.

    Args:
        one_pass: Runs over all states once.
        answers: Runs over all states and returns the outputs (n, …), dense.
        bytes_per_state: Bytes that go from and to memory for one state: all inputs and outputs; 0 where they are
            meant to stay in the cache.
    """

    one_pass: Callable[[], Any]
    answers: Callable[[], list[Array]]
    bytes_per_state: float = 0.0


@dataclass(frozen=True)
class Way:
    """A way to call a kernel.

    Args:
        name: Its name.
        title: What is done.
        prepare: prepare(kernel, inputs (n, …)).
        bits: 64 or 32.
        all_cores: Whether all cores are used; else one.
    """

    name: str
    title: str
    prepare: Callable[[Kernel, Inputs], Prepared]
    bits: int = 64
    all_cores: bool = False


def _calls(kernel: Kernel, inputs: Inputs) -> Prepared:
    states = list(zip(*inputs, strict=True))

    def answers() -> list[Array]:
        return [np.array(x) for x in zip(*(as_arrays(kernel(*state)) for state in states), strict=True)]

    return Prepared(lambda: deque(starmap(kernel, states), maxlen=0), answers)


def _bound(kernel: Kernel, inputs: Inputs) -> Prepared:
    outputs = [np.empty(shape) for shape in kernel.single.artifact.output_shapes]
    calls = [kernel.bind(*(np.array(x) for x in state), *outputs) for state in zip(*inputs, strict=True)]

    def one_pass() -> None:
        for call in calls:
            call()

    def answer(call: Callable[[], None]) -> list[Array]:
        call()
        return [np.array(x) for x in outputs]

    return Prepared(one_pass, lambda: [np.array(x) for x in zip(*map(answer, calls), strict=True)])


def _tiled(kernel: Kernel, inputs: Inputs) -> Prepared:
    """In groups of tiles whose packed results, all in one buffer, take three quarters of the second-level cache."""
    runner, tiles = kernel.batch, [kernel.to_tiles(x) for x in inputs]
    blocks, slots = len(tiles[0]), runner.artifact.slots
    size = int(np.clip(3 * second_level_cache() // 4 // max(1, slots * runner.artifact.build.stride), 1, blocks))
    groups = [[x[at : at + size] for x in tiles] for at in range(0, blocks, size)]
    buffer = aligned_empty((size, slots, runner.width), kernel.dtype)

    def one_pass() -> None:
        for group in groups:
            runner.tiles(group, buffer, len(group[0]))

    def packed(group: list[Array]) -> Array:
        runner.tiles(group, buffer, len(group[0]))
        return buffer[: len(group[0])].copy()

    def answers() -> list[Array]:
        return list(kernel.unpack(np.concatenate([packed(group) for group in groups]), len(inputs[0])))

    return Prepared(one_pass, answers)


def _rows(**options: str) -> Callable[[Kernel, Inputs], Prepared]:
    def prepare(kernel: Kernel, inputs: Inputs) -> Prepared:
        found = kernel.artifact
        outputs = [np.empty((len(inputs[0]), *shape)) for shape in found.output_shapes]
        values = sum(int(np.prod(shape)) for shape in (*found.input_shapes, *found.output_shapes))

        def one_pass() -> None:
            kernel(*inputs, out=outputs, **options)

        def answers() -> list[Array]:
            one_pass()
            return outputs

        return Prepared(one_pass, answers, values * kernel.dtype.itemsize)

    return prepare


def fill_with_zeros(kernel: Kernel, n: int) -> Callable[[], None]:
    """Writes dense outputs (n, …) and computes nothing: no way that gives them can be faster.

    Args:
        kernel: Whose outputs.
        n: States.
    """
    outputs = [np.empty((n, *shape), kernel.dtype) for shape in kernel.artifact.output_shapes]

    def one_pass() -> None:
        for x in outputs:
            x.fill(0.0)

    return one_pass


def _packed_rows(kernel: Kernel, inputs: Inputs) -> Prepared:
    found, n = kernel.artifact, len(inputs[0])
    result = np.empty((n, found.slots), kernel.dtype)
    values = sum(int(np.prod(shape)) for shape in found.input_shapes) + found.slots

    def one_pass() -> Array:
        return kernel.packed(*inputs, out=result)

    return Prepared(one_pass, lambda: list(kernel.unpack(one_pass())), values * kernel.dtype.itemsize)


def _tiled_all(kernel: Kernel, inputs: Inputs) -> Prepared:
    tiles = [kernel.to_tiles(x) for x in inputs]
    packed = kernel.tiled(*tiles)

    def one_pass() -> Array:
        return kernel.tiled(*tiles, out=packed, threads="all")

    return Prepared(one_pass, lambda: list(kernel.unpack(one_pass(), len(inputs[0]))))


WAYS = (
    Way("call", "one state a call, from Python", _calls),
    Way("bound", "one state a call, arrays bound", _bound),
    Way("tiled", "batch in tiles, packed results in cache", _tiled),
    Way("packed", "batch in rows, packed results", _packed_rows),
    Way("rows", "batch in rows, dense results", _rows()),
    Way("tiled_float32", "batch in tiles, float32", _tiled, bits=32),
    Way("tiled_all", "batch in tiles, all cores", _tiled_all, all_cores=True),
    Way("rows_all", "batch in rows, all cores", _rows(threads="all"), all_cores=True),
)
