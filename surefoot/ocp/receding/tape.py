"""`Tape`: the stages of a problem as an endless chain, of which a window is solved at a time."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefoot.arrays import Array
from surefoot.errors import NotSupportedError, one_of
from surefoot.ocp.shape import SPOT, spot_data
from surefoot.ocp.spec import ProblemSpec
from surefoot.ocp.timeline import Ends
from surefoot.ocp.transcription import Stage, Transcription, stages_of, transcribe_stages
from surefoot.solvers.staged import StagedProblem

Indices = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Limits:
    """Inequalities of an interval.

    Args:
        places: Their rows among the functions of the stage.
        lower: Least values.
        upper: Largest values.
    """

    places: Indices
    lower: Array
    upper: Array

    def share(self, before: Array, after: Array) -> float:
        """Largest share of a change that keeps what held before it; values of linear functions are given."""
        change = after - before
        room = np.where(change > 0.0, self.upper - before, self.lower - before)
        matters = (change != 0.0) & np.isfinite(room) & (room * change >= 0.0)
        return min(1.0, float((room[matters] / change[matters]).min(initial=1.0)))


@dataclass(frozen=True, eq=False)
class Window:
    """Some stages of a tape as a staged program.

    Args:
        first: Number of the first stage on the tape, less whole cycles.
        transcription: The program; its first state is given.
        limits: Inequalities of its intervals.
    """

    first: int
    transcription: Transcription
    limits: tuple[Limits, ...]


class Tape:
    """The intervals of a problem one after the other; after the last the motion repeats or goes on as it ended.

    Args:
        problem: Phases of fixed duration with equally long intervals, without impacts, parameters and coupled ends.
        horizon: Number of intervals of a window.
        repeat: Name of the phase from which the motion repeats; None: its last interval goes on for ever.
        gauss_newton: Whether second derivatives are those of weighted squares alone.

    Attributes:
        step: Length of an interval [s].

    Raises:
        NotSupportedError: The problem is of another kind.
    """

    def __init__(
        self, problem: ProblemSpec, horizon: int, repeat: str | None = None, gauss_newton: bool = False
    ) -> None:
        self.gauss_newton = gauss_newton
        self.problem, self.horizon = _free_ends(problem), horizon
        *self._stages, self._end = stages_of(self.problem)
        self.step = _common_step(problem)
        names = [phase.name for phase in problem.phases]
        if repeat is not None and repeat not in names:
            raise one_of("phase", repeat, names)
        back = len(self._stages) - 1
        if repeat is not None:
            back = next(k for k, stage in enumerate(self._stages) if names[stage.phase] == repeat)
        self._back, self._windows = back, dict[int, Window]()

    @property
    def period(self) -> int:
        """Number of different windows."""
        return len(self._stages)

    def place(self, number: int) -> int:
        """Where a stage is among those of the problem: its number, less whole cycles."""
        count = len(self._stages)
        return number if number < count else self._back + (number - self._back) % (count - self._back)

    def stage(self, number: int) -> Stage:
        """A stage by its number from 0 on, with its own time."""
        at = self.place(number)
        before = self._stages[self.place(number - 1)].structure.contacts if number else None
        return replace(self._stages[at], time=number * self.step, before=before)

    def stages(self, number: int) -> tuple[Stage, ...]:
        """The stages of the window that begins with a stage; what stands there stands already."""
        chain = [self.stage(number + k) for k in range(self.horizon)]
        chain[0] = replace(chain[0], is_first=False)
        return (*chain, replace(self._end, time=(number + self.horizon) * self.step))

    def window(self, number: int) -> Window:
        """The program of the window that begins with a stage; made once for each place on the tape."""
        at = self.place(number)
        if at not in self._windows:
            found = transcribe_stages(self.problem, self.stages(number))
            found.functions.gauss_newton = self.gauss_newton
            for _, kernels in found.functions.batches:  # all machine code is there before the first tick needs it
                _ = kernels.slopes if self.gauss_newton else kernels.patterns
            program = _that_can_hold(found)
            self._windows[at] = Window(at, replace(found, program=program), _limits(found, program))
        return self._windows[at]

    def refresh(self, window: Window, number: int, spots: Mapping[str, Array]) -> None:
        """Put the references of the stages from a number on, and spots of contacts that stand now, into a window.

        Args:
            window: `window(number)`.
            number: Of its first stage.
            spots: Contact → pose (4, 4) where it stands, until it leaves.
        """
        stages = [*(self._stages[self.place(number + k)] for k in range(self.horizon)), self._end]
        gone = {name: _leaves(stages, name) for name in spots}
        for batch, _ in window.transcription.functions.batches:
            structure, references = batch.structure, self.problem.references
            led: list[tuple[slice, Callable[[float], Any]]] = []
            for block in structure.blocks:
                given = references[block.name] if block.data else None
                if callable(given):
                    led.append((structure.data_place(block.name), given))
            for i, k in enumerate(batch.stages.tolist()):
                for place, reference in led:
                    batch.data[i, place] = reference((number + k) * self.step)
            for j, name in enumerate(structure.contacts):
                stands = np.flatnonzero(batch.stages < gone.get(name, 0))
                if len(stands):
                    free = self.problem.phases[stages[batch.stages[stands[0]]].phase].free[name]
                    place = slice(1 + SPOT * j, 1 + SPOT * (j + 1))
                    batch.data[stands, place] = spot_data(spots[name], dict.fromkeys(free, True))
        window.transcription.functions.forget()

    def moved(self, old: int, new: int) -> tuple[Indices, Indices]:
        """Where variables and rows of the window that begins with stage `new` come from in that of `old`; −1: nowhere.

        Stages that both windows have keep their numbers; those that follow are like the last one of the old window
        with the same functions, their states like its last state.
        """
        a, b = (self.window(k).transcription for k in (old, new))
        shift, last = new - old, self.horizon
        variables = np.full(b.program.sizes.variables, -1, dtype=np.int64)
        rows = np.full(int(b.program.sizes.row_starts[-1]), -1, dtype=np.int64)
        for k in range(last + 1):
            state = min(k + shift, last)
            sa, sb, nx = a.program.sizes, b.program.sizes, b.program.sizes.states[k]
            variables[sb.starts[k] : sb.starts[k] + nx] = sa.starts[state] + np.arange(nx)
            source = k + shift if k + shift < last else self._alike(a, b, k)
            if k == last:
                source = last
            if source is None:
                continue
            nu = sb.controls[k]
            variables[sb.starts[k] + nx : sb.starts[k] + nx + nu] = sa.starts[source] + nx + np.arange(nu)
            there = {name: r for r, name in _labels(a, source)}
            for r, name in _labels(b, k):
                rows[r] = there.get(name, -1)
        return variables, rows

    @staticmethod
    def _alike(a: Transcription, b: Transcription, k: int) -> int | None:
        """The last stage of a with the functions of stage k of b."""
        same = [j for j, stage in enumerate(a.stages[:-1]) if stage.structure is b.stages[k].structure]
        return same[-1] if same else None


def _labels(found: Transcription, k: int) -> list[tuple[int, str]]:
    """Numbers and names of the rows of a stage."""
    start, end = (int(x) for x in found.program.sizes.row_starts[k : k + 2])
    return [(r, found.program.row_names[r].partition(" @ ")[0]) for r in range(start, end)]


def _limits(found: Transcription, program: StagedProblem) -> tuple[Limits, ...]:
    """Inequalities of the intervals of a program, by their places among the functions of their stages."""
    out: list[Limits] = [None] * (program.sizes.stages - 1)  # type: ignore[list-item]
    for batch, kernels in found.functions.batches:
        first = kernels.count - len(batch.structure.sizes[0].rows)
        for i, k in enumerate(batch.stages):
            if k < len(out):
                own = slice(*program.sizes.row_starts[k : k + 2])
                low, high = program.row_lower[own], program.row_upper[own]
                keep = (low < high) & (np.isfinite(low) | np.isfinite(high))
                out[k] = Limits(first + batch.active[i][keep], low[keep], high[keep])
    return tuple(out)


def _leaves(stages: Sequence[Stage], name: str) -> int:
    """Number of the first stage of a window in which a contact does not stand any more."""
    return next((k for k, stage in enumerate(stages) if name not in stage.structure.contacts), len(stages))


def _common_step(problem: ProblemSpec) -> float:
    wrong = [phase.name for phase in problem.phases if phase.duration[0] < phase.duration[2]]
    impacts = [phase.name for phase in problem.phases if phase.transition == "impact"]
    if wrong or impacts or problem.parameters or problem.coupling is not None or not problem.phases:
        raise NotSupportedError(
            "a receding horizon needs phases of fixed duration, without impacts, parameters and coupled ends",
            evidence={"free durations": wrong, "impacts": impacts, "parameters": list(problem.parameters)},
            next_step='fix the durations, and begin phases with transition="soft"',
        )
    if problem.formulation.control != "constant":
        raise NotSupportedError(
            "a receding horizon needs controls that are constant on intervals",
            evidence={"control": problem.formulation.control},
            next_step='set control="constant"',
        )
    steps = [phase.duration[1] / phase.intervals for phase in problem.phases]
    if max(steps) - min(steps) > 1e-9 * max(steps):
        raise NotSupportedError(
            "intervals of a receding horizon must be equally long", evidence={"steps": steps}, subject="duration"
        )
    return steps[0]


def _free_ends(problem: ProblemSpec) -> ProblemSpec:
    """The problem with a given first state and a free last one."""
    own = copy.copy(problem)
    n = problem.robot.nv
    home = problem.chart.coordinates(problem.robot.home)
    own.first, own.last = Ends({k: float(home[k]) for k in range(n)}, dict.fromkeys(range(n), 0.0)), Ends()
    return own


def _that_can_hold(found: Transcription) -> StagedProblem:
    """The program without rows that nothing can change any more.

    These are rows that depend on the given state alone, and the rest of a contact that arrives with the next node: in
    one semi-implicit step it either comes to its place or to rest.
    """
    program = found.program
    batch, kernels = next((b, k) for b, k in found.functions.batches if 0 in b.stages)
    nx, nu, first = program.sizes.states[0], program.sizes.controls[0], slice(0, program.sizes.rows[0])
    rows = kernels.slopes[kernels.count - len(batch.structure.sizes[0].rows) :]
    decided = ~rows[batch.active[int(np.flatnonzero(batch.stages == 0)[0])], nx : nx + nu].any(axis=1)
    low, high = program.row_lower.copy(), program.row_upper.copy()
    low[first][decided], high[first][decided] = -np.inf, np.inf
    for r, name in _labels(found, 1):
        if name.startswith("velocity "):
            low[r], high[r] = -np.inf, np.inf
    return replace(program, row_lower=low, row_upper=high)
