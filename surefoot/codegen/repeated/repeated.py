"""`Repeated`: a compiled kernel run many times in one native call, some of its outputs being the next inputs."""

from __future__ import annotations

import ctypes
import functools
import math
import struct
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from surefoot.codegen.arguments import as_plain, real_numbers
from surefoot.codegen.artifact import Artifact, cached_code
from surefoot.codegen.batch import BatchRunner, addresses, thread_count
from surefoot.codegen.build import Build
from surefoot.codegen.kernel import Kernel
from surefoot.codegen.llvm import load_object
from surefoot.codegen.spec import PLAN, empty_plan
from surefoot.errors import NotSupportedError, ShapeError, one_of
from surefoot.ops import Array

_ALL = 1 << 40  # states: more than there are
_MOST_STEPS = {64: 1 << 53, 32: 1 << 24}  # they are counted in floating point


@dataclass(frozen=True, eq=False)
class Repeats:
    """Results of repeated steps; for one state the arrays have no batch axis.

    Args:
        final: Inputs that are fed back, by name, after the last step: (n, …).
        records: Recorded outputs by their number: (n, records, …), after steps every, 2 every, ….
        good: (n,) steps after which all that is fed back was below the limit; a state with fewer than all of them
            stays as it was after its last good step.
    """

    final: dict[str, Array]
    records: dict[int, Array]
    good: Array


class Repeated:
    """A kernel with feedback: `final = step(step(… step(initial)))` for every state of a batch.

        loop = Repeated(k.step, feedback={"q": 0, "v": 1}, timed=("tau",), record=(0,))
        found = loop({"q": Q, "v": V, "tau": TAU}, steps=1000, hold=10, every=5, threads="all")
        found.records[0]                       # (n, 200, nq)

    A few tiles of states go through all steps while they stay in the first-level cache; threads share the tiles, with
    the interpreter released. Results have the same bits as steps one by one, for any number of threads.

    Args:
        kernel: The kernel; made with `surefoot.compile`, backend "llvm".
        feedback: Number of the output that takes the place of an input after each step, by name of the input.
        timed: Names of inputs that are read anew every `hold` steps; others are read once.
        record: Numbers of outputs that are recorded.

    Raises:
        UnknownNameError: The kernel has no such input or output.
        NotSupportedError: It is not a kernel of this CPU.
    """

    def __init__(
        self, kernel: Kernel, feedback: Mapping[str, int], timed: Sequence[str] = (), record: Sequence[int] = ()
    ) -> None:
        if not isinstance(kernel, Kernel):
            raise NotSupportedError(
                f"expected a kernel of this CPU, got {kernel!r}", next_step="make it with sf.compile(robot)"
            )
        self.kernel, self.names = kernel, kernel.recipe.inputs
        for name in (*feedback, *timed):
            if name not in self.names:
                raise one_of(f"input of `{kernel.recipe.name}`", name, self.names)
        if both := sorted(set(feedback) & set(timed)):
            raise ShapeError("inputs are fed back and read with time", evidence={"inputs": both})
        self.feedback, self.timed, self.record = dict(feedback), tuple(timed), tuple(record)
        self._fed = {self.names.index(name): k for name, k in feedback.items()}
        self._with_time = frozenset(self.names.index(name) for name in timed)
        self._runners: dict[bool, RepeatRunner] = {}

    def __call__(
        self,
        inputs: Mapping[str, ArrayLike],
        steps: int,
        *,
        hold: int = 1,
        every: int = 1,
        limit: float = np.inf,
        threads: int | str | None = None,
        out: Mapping[int, Array] | None = None,
        until: int | None = None,
        enough: int | None = None,
    ) -> Repeats:
        """Run.

        Args:
            inputs: All inputs by name. Those that are fed back: (…) for one state or (n, …). Those read with time:
                (times, …) for all states or (n, times, …), times = steps / hold, rounded up. Others: (…) for all or
                (n, …).
            steps: How often the kernel runs.
            hold: Steps for which one row of a timed input is valid.
            every: Steps from one record to the next.
            limit: Fed-back numbers from here on, and NaN, stop a state.
            threads: Number of threads, or "all"; by default the kernel's.
            out: Arrays for records, by number of the output.
            until: Output whose first entry, above one half, marks a state as done: the few tiles of states that
                are worked on at a time stop when enough of their states are done.
            enough: How many; by default all.

        Raises:
            ShapeError: Wrong shapes or numbers, or a quaternion that is not of unit length at the start.
        """
        for what, value in (("steps", steps), ("hold", hold), ("every", every)):
            _require_count(what, value, _MOST_STEPS[self.kernel.bits])
        arrays, n = self._arrays(inputs, -(-steps // hold))
        runner = self._runner(n is None)
        records = self._records(runner.artifact, n, steps // every, out or {})
        self._refuse_overlap(arrays, records)
        ending = self._ending(runner.artifact, until, enough)
        schedule = Schedule(steps, hold, every, limit, self._fed, self._with_time, *ending)
        count = thread_count(self.kernel.threads if threads is None else threads)
        final, good, bad = runner.repeat(list(arrays.values()), records, n, schedule, count)
        if bad >= 0:
            self.kernel.refuse_units([x if n is not None else x[None] for x in arrays.values()])
        return Repeats({self.names[k]: x for k, x in final.items()}, records, good if n is not None else good[0])

    def bind(
        self, inputs: Mapping[str, Array], steps: int, until: int | None = None, enough: int | None = None
    ) -> Callable[[], Array]:
        """The loop on fixed arrays, with the least effort per call: run() gives the good steps of each state.

        What is fed back is read from its input array, and written into it at the end. Nothing is checked in a call.

        Args:
            inputs: All inputs by name, as contiguous arrays of the right type: (…) each for one state, or (n, …).
            steps: How often the kernel runs.
            until: As in a call.
            enough: As in a call.
        """
        _require_count("steps", steps, _MOST_STEPS[self.kernel.bits])
        arrays, n = self._arrays(inputs, steps)
        if moved := sorted(name for name in self.names if arrays[name] is not inputs[name]):
            raise ShapeError("arrays are not contiguous, not aligned, or of another type", evidence={"inputs": moved})
        final = {k: arrays[self.names[k]] for k in self._fed}
        if fixed := sorted(self.names[k] for k, x in final.items() if not x.flags.writeable):
            raise ShapeError("arrays that are fed back cannot be written", evidence={"inputs": fixed})
        self.kernel.arguments.refuse_overlap(list(arrays.values()), list(final.values()))
        runner = self._runner(n is None)
        ending = self._ending(runner.artifact, until, enough)
        schedule = Schedule(steps, 1, 1, np.inf, self._fed, self._with_time, *ending)
        good = np.zeros(1 if n is None else n, self.kernel.dtype)
        run = runner.prepare(list(arrays.values()), {}, n, schedule, final, good)

        def call() -> Array:
            run(1)
            return good

        return call

    def each(
        self, inputs: Mapping[str, ArrayLike], steps: int, until: int, threads: int | str | None = None
    ) -> dict[str, Array]:
        """What is fed back, by name (n, …), with every state run until it is done, or for so many steps.

        A lane whose state is done takes the next one, so that states may need very different numbers of steps.

        Args:
            inputs: All inputs by name; those that are fed back (n, …), others (…) or (n, …).
            steps: How often the kernel runs at most for one state.
            until: Output whose first entry, above one half, marks a state as done.
            threads: Number of threads, or "all"; by default the kernel's.
        """
        _require_count("steps", steps, _MOST_STEPS[self.kernel.bits])
        arrays, n = self._arrays(inputs, steps)
        if n is None or self.timed:
            raise ShapeError("a queue takes many states, and no inputs that are read with time")
        runner = self._runner(False)
        schedule = Schedule(steps, 1, 1, np.inf, self._fed, self._with_time, *self._ending(runner.artifact, until))
        count = thread_count(self.kernel.threads if threads is None else threads)
        final = runner.queue(list(arrays.values()), n, schedule, count)
        return {self.names[k]: x for k, x in final.items()}

    def _runner(self, single: bool) -> RepeatRunner:
        if single not in self._runners:
            batch = self.kernel.single if single else self.kernel.batch
            self._check_outputs(batch.artifact)
            self._runners[single] = RepeatRunner(batch.artifact, self.kernel.recipe.needs_units)
        return self._runners[single]

    def _check_outputs(self, artifact: Artifact) -> None:
        shapes = dict(zip(self.names, artifact.input_shapes, strict=True))
        count = len(artifact.output_shapes)
        for k in (*self.feedback.values(), *self.record):
            if not 0 <= k < count:
                raise one_of(f"output of `{self.kernel.recipe.name}`", str(k), [str(x) for x in range(count)])
        for name, k in self.feedback.items():
            if artifact.output_shapes[k] != shapes[name]:
                raise ShapeError(
                    f"output {k} of `{self.kernel.recipe.name}` cannot be fed back into `{name}`",
                    evidence={f"output {k}": artifact.output_shapes[k], name: shapes[name]},
                )

    def _ending(self, artifact: Artifact, until: int | None, enough: int | None = None) -> tuple[int, int]:
        """The output that marks states as done, −1 for none, and how many of them are enough."""
        if enough is not None:
            _require_count("enough", enough, _ALL)
        marks = [str(k) for k, shape in enumerate(artifact.output_shapes) if math.prod(shape)]
        if until is not None and (not isinstance(until, int | np.integer) or str(until) not in marks):
            raise one_of(f"output of `{self.kernel.recipe.name}` that marks states as done", str(until), marks)
        return -1 if until is None else int(until), _ALL if enough is None else int(enough)

    # -- arrays ---------------------------------------------------------------------------------------------------

    def _arrays(self, inputs: Mapping[str, ArrayLike], times: int) -> tuple[dict[str, Array], int | None]:
        """Contiguous arrays of the right type by name, in the order of the kernel, and the number of states."""
        for name in inputs:
            if name not in self.names:
                raise one_of(f"input of `{self.kernel.recipe.name}`", name, self.names)
        shapes = dict(zip(self.names, self.kernel.recipe.input_shapes, strict=True))
        arrays = {name: self._array(name, inputs.get(name)) for name in self.names}
        extra = {name: arrays[name].ndim - len(shapes[name]) - (name in self.timed) for name in self.names}
        sizes = {name: len(arrays[name]) for name in self.names if extra[name] == 1}
        n = next(iter(sizes.values()), None)
        for name, array in arrays.items():
            single = extra[name] == 0 and (n is None or name not in self.feedback)
            expected = (*(() if single else (n,)), *((times,) if name in self.timed else ()), *shapes[name])
            if array.shape != expected:
                raise self._wrong_shape(name, array, shapes[name], n, times)
        return arrays, n

    def _array(self, name: str, value: ArrayLike | None) -> Array:
        if value is None:
            raise ShapeError(
                f"`{self.kernel.recipe.name}` needs `{name}`", next_step=f"give {', '.join(self.names)} as arrays"
            )
        return as_plain(real_numbers(value, name), self.kernel.dtype)

    def _wrong_shape(self, name: str, array: Array, shape: tuple[int, ...], n: int | None, times: int) -> ShapeError:
        along = f"{times}, " if name in self.timed else ""
        rest = f"{along}{', '.join(str(x) for x in shape)}"
        return ShapeError(
            f"`{name}` of `{self.kernel.recipe.name}` has shape {array.shape}",
            evidence={"expected": f"({rest}) or ({'n' if n is None else n}, {rest})", "fed back": list(self.feedback)},
            next_step="give one state, or as many states in every array that has them",
        )

    def _records(self, artifact: Artifact, n: int | None, count: int, out: Mapping[int, Array]) -> dict[int, Array]:
        """Arrays for the records of each output."""
        found = {}
        for k in self.record:
            shape = (*(() if n is None else (n,)), count, *artifact.output_shapes[k])
            array = out.get(k)
            found[k] = x = np.empty(shape, self.kernel.dtype) if array is None else array
            if not self.kernel.arguments.writes_to(x, shape):
                raise ShapeError(
                    f"`out` cannot take the records of output {k} of `{self.kernel.recipe.name}`",
                    evidence={"expected": f"{shape} {self.kernel.dtype}",
                              "given": f"{np.shape(x)} {getattr(x, 'dtype', type(x).__name__)}"},
                    next_step="give contiguous, aligned, writeable arrays",
                )  # fmt: skip
        return found

    def _refuse_overlap(self, arrays: Mapping[str, Array], records: Mapping[int, Array]) -> None:
        written = list(records.values())
        for k, x in enumerate(written):
            if any(np.may_share_memory(x, y) for y in (*arrays.values(), *written[:k])):
                raise ShapeError(
                    f"`out` of `{self.kernel.recipe.name}` overlaps with an input or with another record",
                    next_step="give arrays of their own",
                )


def _require_count(what: str, value: int, most: int) -> None:
    if not isinstance(value, int | np.integer) or not 1 <= value <= most:
        raise ShapeError(f"{what}={value!r}", next_step=f"give a whole number from 1 to {most}")


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
