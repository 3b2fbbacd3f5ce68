"""Runs the native loop over time: its tables, work space and threads. Knows arrays and addresses, no robots."""

from __future__ import annotations

import ctypes
import functools
import math
import struct
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from surefoot.codegen.artifact import Artifact, cached_code
from surefoot.codegen.batch import BatchRunner, addresses
from surefoot.codegen.build import Build
from surefoot.codegen.llvm import load_object
from surefoot.codegen.spec import PLAN, empty_plan
from surefoot.ops import Array


@dataclass(frozen=True)
class Schedule:
    """What happens when.

    Args:
        steps: How often the kernel runs.
        hold: Steps for which a row of a timed input is valid.
        every: Steps from one record to the next.
        limit: Fed-back numbers must stay below it.
        feedback: Output that takes the place of an input after each step, by number of the input.
        timed: Numbers of inputs that are read with time.
        until: Output whose first entry, above one half, marks a state as done; −1 for none.
        enough: States of a group of tiles that must be done for the group to stop.
    """

    steps: int
    hold: int
    every: int
    limit: float
    feedback: Mapping[int, int]
    timed: frozenset[int]
    until: int = -1
    enough: int = 1 << 40


@functools.cache
def _driver(build: Build) -> Callable[..., int]:
    name = f"repeat.{build.suffix}"

    def text() -> str:
        from surefoot.codegen.drivers import repeat_module

        return repeat_module(build)

    where = load_object(cached_code(name, text), (name,))[name]
    pointer, integer = ctypes.c_void_p, ctypes.c_int64
    kind = ctypes.CFUNCTYPE(integer, pointer, pointer, pointer, pointer, integer, integer, pointer)
    return kind(where)


@functools.cache
def _queue_driver(build: Build) -> Callable[..., int]:
    name = f"queue.{build.suffix}"

    def text() -> str:
        from surefoot.codegen.drivers import queue_module

        return queue_module(build)

    where = load_object(cached_code(name, text), (name,))[name]
    pointer, integer = ctypes.c_void_p, ctypes.c_int64
    return ctypes.CFUNCTYPE(integer, pointer, pointer, pointer, integer, integer, pointer)(where)


class RepeatRunner(BatchRunner):
    """Runs one compiled kernel over batches and time.

    Args:
        artifact: The kernel.
        units: Parts (input, offset, length) that must have unit length at the start.
    """

    def __init__(self, artifact: Artifact, units: Sequence[tuple[int, int, int]]) -> None:
        super().__init__(artifact, units)
        self._repeat = _driver(artifact.build)
        extra = self.spec.get("tiles") + self.width  # counts of good steps; blocks may reach over their end
        self.work_bytes = (self._count_work_values() + extra) * artifact.build.stride
        longest = max((math.prod(shape) for shape in artifact.input_shapes), default=0) + self.width
        self._whole = np.arange(longest, dtype=np.int64) * artifact.build.stride
        self._mixed = np.zeros(longest, dtype=np.int64)

    def repeat(
        self,
        inputs: Sequence[Array],
        records: Mapping[int, Array],
        n: int | None,
        schedule: Schedule,
        threads: int = 1,
    ) -> tuple[dict[int, Array], Array, int]:
        """Final states by number of the input, good steps of each state, and −1 or a state not of unit length.

        Args:
            inputs: Contiguous arrays; see `Repeated`.
            records: Contiguous arrays for the records, by number of the output.
            n: States; None for a single one without a batch axis.
            schedule: What happens when.
            threads: How many to use.
        """
        final = {k: np.empty_like(inputs[k]) for k in schedule.feedback}
        good = np.zeros(1 if n is None else n, np.dtype(f"f{self.artifact.build.bits // 8}"))
        bad = self.prepare(inputs, records, n, schedule, final, good)(threads)
        return final, good.astype(np.int64), bad

    def prepare(
        self,
        inputs: Sequence[Array],
        records: Mapping[int, Array],
        n: int | None,
        schedule: Schedule,
        final: Mapping[int, Array],
        good: Array,
    ) -> Callable[[int], int]:
        """The loop on fixed arrays: run(threads) gives −1, or a state that is not of unit length.

        Args:
            inputs: As in `repeat`.
            records: As in `repeat`.
            n: As in `repeat`.
            schedule: As in `repeat`.
            final: Arrays for the final states, by number of the input; they may be the inputs themselves.
            good: (n,) for the good steps of each state.
        """
        count = 1 if n is None else n
        plan = self._plan(inputs, records, n, schedule)
        plan[PLAN["counts"]] = good.ctypes.data
        for k, array in final.items():
            plan[PLAN["final"] + k] = array.ctypes.data
        targets = (ctypes.c_void_p * max(1, len(self.artifact.output_shapes)))()
        for k, array in records.items():
            targets[k] = array.ctypes.data
        ins, words, alive = addresses(inputs), plan.ctypes.data, (plan, inputs, final, good, records)

        def part(bounds: tuple[int, int]) -> int:
            return self._repeat(self._spec, words, ins, targets, *bounds, self._work())

        def run(threads: int = 1) -> int:
            one = threads == 1 or not alive
            bad = part((0, count)) if one else self._spread(part, count, self.width, threads, schedule.steps)
            return bad if bad < 0 else bad * self.width

        return run

    def queue(self, inputs: Sequence[Array], n: int, schedule: Schedule, threads: int = 1) -> dict[int, Array]:
        """Final states by number of the input, each after as many steps as it needed.

        Args:
            inputs: Contiguous arrays (n, …), or (…) for all.
            n: States.
            schedule: With `until`; nothing is recorded or read with time.
            threads: How many to use.
        """
        final = {k: np.empty_like(inputs[k]) for k in schedule.feedback}
        plan = self._plan(inputs, {}, n, schedule)
        for k, array in final.items():
            plan[PLAN["final"] + k] = array.ctypes.data
        ins, words, run = addresses(inputs), plan.ctypes.data, _queue_driver(self.artifact.build)

        def part(bounds: tuple[int, int]) -> int:
            return run(self._spec, words, ins, *bounds, self._work())

        if n:
            self._spread(part, n, self.width, threads, schedule.steps)
        return final

    def _plan(self, inputs: Sequence[Array], records: Mapping[int, Array], n: int | None, when: Schedule) -> Array:
        plan = empty_plan()
        plan[PLAN["steps"]] = when.steps
        plan[PLAN["until"]], plan[PLAN["enough"]] = when.until, when.enough
        plan[PLAN["limit"]] = struct.unpack("<q", struct.pack("<d", when.limit))[0]
        plan[PLAN["whole"]], plan[PLAN["mixed"]] = self._whole.ctypes.data, self._mixed.ctypes.data
        for k, (array, shape) in enumerate(zip(inputs, self.artifact.input_shapes, strict=True)):
            timed = k in when.timed
            row = math.prod(shape) * array.itemsize
            many = n is not None and array.ndim > len(shape) + timed
            plan[PLAN["row_step"] + k] = row * (array.shape[1] if timed else 1) if many else 0
            plan[PLAN["time_step"] + k] = row if timed else 0
            plan[PLAN["hold"] + k] = when.hold
        for k, source in when.feedback.items():
            plan[PLAN["feedback"] + k], plan[PLAN["state"] + source] = source, k
        for k, array in records.items():
            row = math.prod(self.artifact.output_shapes[k]) * array.itemsize
            plan[PLAN["every"] + k] = when.every
            plan[PLAN["record_row_step"] + k] = row * (when.steps // when.every)
            plan[PLAN["record_time_step"] + k] = row
        return plan
