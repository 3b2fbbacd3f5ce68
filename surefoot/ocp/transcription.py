"""From a `Problem` to a staged program: structures, sizes, bounds, names and the first guess."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.linalg

from surefoot.arrays import Array, finite_array
from surefoot.errors import NotSupportedError, ShapeError
from surefoot.ocp.assembly import Indices, LinearEnds, StageBatch, StageFunctions
from surefoot.ocp.guess import first_guess
from surefoot.ocp.node import AbsentError
from surefoot.ocp.shape import Block, Group, spot_data
from surefoot.ocp.spec import ProblemSpec
from surefoot.ocp.stage import Structure
from surefoot.ocp.timeline import PhaseSpec, own_blocks, own_row_limits, require_start_on_contacts, variable_limits
from surefoot.solvers.staged import Sizes, StagedProblem
from surefoot.words import counted


@dataclass(frozen=True, eq=False)
class Stage:
    """One stage of the program.

    Args:
        phase: Number of its phase.
        structure: Its functions.
        time: When it begins in the first guess [s].
        share: Length of its interval over the duration of the phase.
        is_first: Whether it is the first of its phase.
        before: Contacts of the phase before it; None at the beginning of the motion.
    """

    phase: int
    structure: Structure
    time: float
    share: float
    is_first: bool
    before: tuple[str, ...] | None = None


@dataclass(frozen=True, eq=False)
class Transcription:
    """A staged program with what is needed to read its solution.

    Args:
        problem: The optimal-control problem.
        stages: Its stages.
        program: The staged program.
        functions: Its functions.
        durations: Phase → place of its duration in w; None where it is fixed.
    """

    problem: ProblemSpec
    stages: tuple[Stage, ...]
    program: StagedProblem
    functions: StageFunctions
    durations: tuple[int | None, ...]

    @property
    def constraints(self) -> int:
        """Number of constraints as Koch counts them (Table 5.2).

        Two bounds on each variable, one for each gap and each fixed boundary value, one for an equation or a one-sided
        inequality, two for a two-sided one.
        """
        p = self.program
        fixed = int((p.lower == p.upper).sum())
        rows = np.isfinite(p.row_lower).astype(int) + np.isfinite(p.row_upper)
        rows = np.where(p.row_lower == p.row_upper, 1, rows)
        return 2 * p.sizes.variables + p.sizes.gaps + fixed + int(rows.sum()) + p.sizes.end_rows

    def name_of_bound(self, k: int, joint: bool = True) -> str:
        """Limit and phase of a variable with bounds: "speed limit knee @ push"; "rate at the end" where it is fixed.

        Args:
            k: Number of the variable.
            joint: Whether to name the coordinate.
        """
        sizes, problem, n = self.program.sizes, self.problem, self.problem.robot.nv
        if k >= sizes.starts[-1]:
            free = [p.name for p, at in zip(problem.phases, self.durations, strict=True) if at is not None]
            names = [f"duration @ {name}" for name in free] + [f"parameter {name}" for name in problem.parameters]
            return names[k - int(sizes.starts[-1])]
        stage = int(np.searchsorted(sizes.starts, k, side="right")) - 1
        at, phase = k - int(sizes.starts[stage]), problem.phases[self.stages[stage].phase].name
        moving = problem.formulation.dynamics != "centroidal"
        if at >= (2 * n if moving else n):
            return f"force limit @ {phase}" if problem.formulation.dynamics == "forward" else f"control limit @ {phase}"
        which = f" {problem.chart.names[at % n]}" if joint else ""
        if self.program.lower[k] == self.program.upper[k]:
            end = "start" if not stage else "end"
            return f"{'position' if at < n else 'rate'}{which} at the {end}"
        return f"{'position' if at < n else 'speed'} limit{which} @ {phase}"


def transcribe(problem: ProblemSpec) -> Transcription:
    """The staged program of a problem; nothing is compiled.

    Raises:
        ShapeError: There is no phase, the start is off its contacts, or a guess or reference is not finite.
    """
    if not problem.phases:
        raise ShapeError("the problem has no phases", next_step="add one: problem.phase(name, contacts, …)")
    if problem.formulation.dynamics == "centroidal":
        _require_centroidal(problem)
    require_start_on_contacts(problem)
    return transcribe_stages(problem, stages_of(problem))


def transcribe_stages(problem: ProblemSpec, stages: tuple[Stage, ...]) -> Transcription:
    """The staged program of some stages of a problem; its boundary conditions hold at their ends.

    Args:
        problem: The problem.
        stages: A chain that ends with the stage of an end.
    """
    free = [k for k, phase in enumerate(problem.phases) if phase.duration[0] < phase.duration[2]]
    sizes = Sizes(
        states=tuple(stage.structure.states for stage in stages),
        controls=tuple(stage.structure.controls + stage.structure.slacks for stage in stages),
        rows=tuple(len(_active_rows(problem, stages, k)) for k in range(len(stages))),
        parameters=len(free) + len(problem.parameters),
        end_rows=0 if problem.coupling is None else 2 * problem.robot.nv - len(problem.coupling.omit),
    )
    durations = tuple(int(sizes.starts[-1]) + free.index(k) if k in free else None for k in range(len(problem.phases)))
    constants = np.array([phase.duration[1] for phase in problem.phases])
    functions = StageFunctions(
        sizes, _batches(problem, stages, sizes, durations), constants, _linear_ends(problem, sizes)
    )
    lower, upper = _variable_bounds(problem, stages, sizes, free)
    w0 = np.clip(first_guess(problem, stages, sizes, free), lower, upper)
    ends = np.zeros(sizes.end_rows)
    low, high, names = _row_bounds(problem, stages)
    program = StagedProblem(sizes, functions, w0, lower, upper, low, high, ends, ends, names)
    return Transcription(problem, stages, program, functions, durations)


def _require_centroidal(problem: ProblemSpec) -> None:
    """Momentum is continuous and has no mirror image here."""
    wrong = [phase.name for phase in problem.phases if phase.transition == "impact"]
    parts = {"impacts": wrong, "periodic": problem.coupling is not None, "design": problem.changes is not None}
    if any(parts.values()) or problem.robot.base != "floating":
        raise NotSupportedError(
            "centroidal dynamics is for floating bases, without impacts, periodic ends and changes of the robot",
            evidence={"robot": problem.robot.name, **parts},
            next_step='use transition="soft", or dynamics="inverse"',
        )


# -- stages -------------------------------------------------------------------------------------------------------


def stages_of(problem: ProblemSpec) -> tuple[Stage, ...]:
    """All stages of a problem; those with the same functions share their structure."""
    found: list[Stage] = []
    made: dict[Any, Structure] = {}
    everywhere = {phase.name: _blocks(problem, phase) for phase in problem.phases}

    def structure(phase: PhaseSpec, kind: Any) -> Structure:
        blocks = tuple(block for block in everywhere[phase.name] if _acts(block, kind))
        key = (phase.contacts, kind, tuple((block.name, block.key) for block in blocks))
        if key not in made:
            contacts = () if kind == "end" and problem.formulation.control == "constant" else phase.contacts
            bare = Structure(
                problem.robot, contacts, problem.formulation, kind, blocks, tuple(problem.parameters), problem.changes
            )
            made[key] = replace(bare, blocks=tuple(block for block in blocks if _is_present(bare, block)))
        return made[key]

    time = 0.0
    for number, phase in enumerate(problem.phases):
        before = problem.phases[number - 1].contacts if number else None
        if phase.transition == "impact":
            found.append(Stage(number, structure(phase, "impact"), time, 0.0, True, before))
        step = phase.duration[1] / phase.intervals
        for k in range(phase.intervals):
            share, start = 1.0 / phase.intervals, time + k * step
            found.append(Stage(number, structure(phase, "interval"), start, share, k == 0, before))
        time += phase.duration[1]
    found.append(Stage(len(problem.phases) - 1, structure(problem.phases[-1], "end"), time, 0.0, False))
    for block in problem.blocks:
        if not any(block.name == own.name for item in made.values() for own in item.blocks):
            raise block.acts_nowhere()
    return tuple(found)


def _acts(block: Block, kind: str) -> bool:
    """Whether a block belongs to a kind of node; constraints on the path also hold at the end."""
    if kind == "end" and block.use == "row" and block.place == "path":
        return True
    return block.place == {"interval": "path", "impact": "impact", "end": "end"}[kind]


def _is_present(bare: Structure, block: Block) -> bool:
    """Whether a block finds what it needs at this kind of node."""
    alone = replace(bare, blocks=(replace(block, slack=False),))
    x, u, p, d = alone.sample()
    try:
        node = alone.posture(x[: bare.robot.nv], p[1:]) if block.of_posture else alone.node(x, u, p, d)
        values = block.values(node, d[alone.data_place(block.name)])
    except AbsentError:
        return False
    return len(values) > 0


def _blocks(problem: ProblemSpec, phase: PhaseSpec) -> list[Block]:
    """Blocks of the user, limits of drives and cones of contacts."""
    found = [block for block in problem.blocks if block.phases is None or phase.name in block.phases]
    found += own_blocks(problem, phase)
    return sorted(found, key=lambda block: block.of_posture)


def _row_limits(problem: ProblemSpec, stage: Stage, group: Group) -> tuple[Array, Array]:
    """Bounds of a group of rows; infinite where it does not act."""
    none, zero = np.full(group.size, np.inf), np.zeros(group.size)
    name = group.name
    if name in problem.bounds:
        low, high = problem.bounds[name]
        if not {low.size, high.size} <= {1, group.size}:
            raise ShapeError(f"bounds of `{name}` do not fit its {counted(group.size, 'value')}", subject=name)
        return np.broadcast_to(low, group.size), np.broadcast_to(high, group.size)
    own = own_row_limits(problem, name, group.size)
    if own is not None:
        return own
    word, _, contact = name.partition(" ")
    if word in ("position", "velocity") and contact in stage.structure.contacts:
        return (zero, zero) if _arrives(problem, stage, word, contact) else (-none, none)
    return zero, zero


def _arrives(problem: ProblemSpec, stage: Stage, word: str, contact: str) -> bool:
    """Whether a contact begins here and its place, or its velocity, must be right."""
    if not stage.is_first or stage.structure.kind == "end":
        return False
    phases, k = problem.phases, stage.phase
    if stage.before is None:
        held = len(problem.first.y) == problem.robot.nv
        return not held and (word == "position" or problem.formulation.integrator != "semi_implicit")
    is_new = contact not in stage.before
    if phases[k].transition == "impact":
        return is_new and word == "position" and stage.structure.kind == "impact"
    return is_new and (word == "position" or phases[k].transition == "soft")


def _active_rows(problem: ProblemSpec, stages: tuple[Stage, ...], k: int) -> Indices:
    """Rows of a stage that have a bound."""
    low, high = _limits_of_stage(problem, stages, k)
    held = {f"position {name}" for name in stages[k].structure.tied}
    free = [g for g in stages[k].structure.sizes[1] if g.name in held]
    active = np.isfinite(low) | np.isfinite(high)
    phase = problem.phases[stages[k].phase]
    for group in free:
        name = group.name.removeprefix("position ")
        directions = stages[k].structure.tied[name]
        for i, direction in enumerate(directions):
            if direction in phase.free[name]:
                active[group.start + i] = False
    return np.asarray(np.flatnonzero(active), dtype=np.int64)


def _limits_of_stage(problem: ProblemSpec, stages: tuple[Stage, ...], k: int) -> tuple[Array, Array]:
    groups = stages[k].structure.sizes[1]
    pairs = [_row_limits(problem, stages[k], group) for group in groups]
    return (
        np.concatenate([np.zeros(0), *(low for low, _ in pairs)]),
        np.concatenate([np.zeros(0), *(high for _, high in pairs)]),
    )


def _row_bounds(problem: ProblemSpec, stages: tuple[Stage, ...]) -> tuple[Array, Array, tuple[str, ...]]:
    lows, highs, names = [], [], []
    for k, stage in enumerate(stages):
        low, high = _limits_of_stage(problem, stages, k)
        active = _active_rows(problem, stages, k)
        labels = [
            f"{group.name}[{i}] @ {problem.phases[stage.phase].name}" if group.size > 1
            else f"{group.name} @ {problem.phases[stage.phase].name}"
            for group in stage.structure.sizes[1]
            for i in range(group.size)
        ]  # fmt: skip
        lows.append(low[active])
        highs.append(high[active])
        names += [labels[i] for i in active]
    return np.concatenate(lows), np.concatenate(highs), tuple(names)


# -- batches ------------------------------------------------------------------------------------------------------


def _batches(
    problem: ProblemSpec, stages: tuple[Stage, ...], sizes: Sizes, durations: tuple[int | None, ...]
) -> list[StageBatch]:
    constants = sizes.variables
    users = range(sizes.variables - len(problem.parameters), sizes.variables)
    groups: dict[int, list[int]] = {}
    for k, stage in enumerate(stages):
        groups.setdefault(id(stage.structure), []).append(k)
    found = []
    for numbers in groups.values():
        structure = stages[numbers[0]].structure
        columns, data, active = [], [], []
        for k in numbers:
            own = np.arange(sizes.starts[k], sizes.starts[k + 1])
            place = durations[stages[k].phase]
            duration = constants + stages[k].phase if place is None else place
            columns.append(np.r_[own, duration, list(users)].astype(np.int64))
            data.append(_data(problem, stages[k]))
            active.append(_active_rows(problem, stages, k))
        weights = [problem.weights[g.name] for g in structure.sizes[2] for _ in range(g.size)]
        spread = np.broadcast_to(np.array(weights, dtype=float), (len(numbers), len(weights)))
        found.append(
            StageBatch(structure, np.array(numbers), np.array(columns), np.array(data), np.array(spread), tuple(active))
        )
    return found


def _data(problem: ProblemSpec, stage: Stage) -> Array:
    structure, phase = stage.structure, problem.phases[stage.phase]
    parts = [np.array([stage.share])]
    for name in structure.contacts:
        parts.append(spot_data(phase.spots[name], dict.fromkeys(phase.free[name], True)))
    for block in structure.blocks:
        if block.data:
            given = problem.references[block.name]
            values = np.asarray(given(stage.time) if callable(given) else given, dtype=float).ravel()
            parts.append(finite_array(values, (block.data,), f"reference of `{block.name}` at {stage.time:.3g} s"))
    return np.concatenate(parts)


def _linear_ends(problem: ProblemSpec, sizes: Sizes) -> LinearEnds:
    first, last = np.zeros((sizes.end_rows, sizes.states[0])), np.zeros((sizes.end_rows, sizes.states[-1]))
    if problem.coupling is not None:
        source, sign = problem.coupling.source, problem.coupling.sign
        kept = [k for k in range(len(source)) if k not in problem.coupling.omit]
        for row, k in enumerate(kept):
            last[row, k], first[row, source[k]] = 1.0, -sign[k]
    return LinearEnds(first, last, np.zeros((sizes.end_rows, sizes.parameters)))


# -- variables ----------------------------------------------------------------------------------------------------


def _variable_bounds(
    problem: ProblemSpec, stages: tuple[Stage, ...], sizes: Sizes, free: list[int]
) -> tuple[Array, Array]:
    n, nu = problem.robot.nv, problem.robot.nu
    lower, upper = np.full(sizes.variables, -np.inf), np.full(sizes.variables, np.inf)
    box_low, box_high, effort = variable_limits(problem)
    for k, stage in enumerate(stages):
        start = sizes.starts[k]
        if problem.formulation.dynamics != "centroidal":
            lower[start : start + 2 * n], upper[start : start + 2 * n] = box_low, box_high
        else:
            for at, part in ((start, slice(n)), (start + sizes.states[k], slice(n, 2 * n)))[: 1 + (stage.share > 0.0)]:
                lower[at : at + n], upper[at : at + n] = box_low[part], box_high[part]
        if problem.formulation.dynamics == "forward":
            at = [start + 2 * n] if problem.formulation.control != "constant" else []
            if problem.formulation.control in ("constant", "plc") and stage.structure.controls:
                at.append(start + sizes.states[k])
            for place in at:
                lower[place : place + nu], upper[place : place + nu] = -effort, effort
    _fix_ends(problem, stages, sizes, lower, upper)
    values = [problem.phases[k].duration for k in free] + list(problem.parameters.values())
    first = int(sizes.starts[-1])
    lower[first:], upper[first:] = [v[0] for v in values], [v[2] for v in values]
    return lower, upper


def _fix_ends(problem: ProblemSpec, stages: tuple[Stage, ...], sizes: Sizes, lower: Array, upper: Array) -> None:
    n = problem.robot.nv
    for ends, start in ((problem.first, 0), (problem.last, int(sizes.starts[-2]))):
        is_last = start > 0
        positions, rates = dict(ends.y), dict(ends.dy)
        if problem.formulation.dynamics == "centroidal":  # rest is no momentum
            rates = dict.fromkeys(range(6), 0.0) if rates else {}
        if is_last and problem.formulation.has_wrenches:
            kept = _not_held(problem, stages[-2].structure)
            positions = {k: x for k, x in positions.items() if len(ends.y) < n or k in kept}
            if problem.formulation.dynamics == "inverse":
                rates = {k: x for k, x in rates.items() if len(ends.dy) < n or k in kept}
        for k, value in positions.items():
            lower[start + k] = upper[start + k] = value
        for k, value in rates.items():
            lower[start + n + k] = upper[start + n + k] = value


def _not_held(problem: ProblemSpec, structure: Structure) -> set[int]:
    """As many coordinates as contacts and loops leave free, such that the others follow from them."""
    held = structure.held
    if not held.rows:
        return set(range(problem.robot.nv))
    y = problem.chart.coordinates(problem.robot.home)
    B = np.column_stack([problem.chart.motion(y, column)[0] for column in np.eye(len(y))])
    J = np.asarray(held.jacobian(problem.robot.tree, np.array(problem.robot.home)), dtype=float) @ B
    null = scipy.linalg.null_space(J)
    _, _, order = scipy.linalg.qr(null.T, pivoting=True)
    return set(order[: null.shape[1]].tolist())
