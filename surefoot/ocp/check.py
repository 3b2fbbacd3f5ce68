"""After the solve: active limits, costs by block, defects after fine re-integration, limits between nodes."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefoot.arrays import Array
from surefoot.ocp.solution import Solution, group_of_row
from surefoot.ocp.stage import Structure
from surefoot.ocp.transcription import Transcription

_ACTIVE = 1e-4  # of max(1, |bound|)
_FINE = 20  # steps of RK4 in an interval


@dataclass(frozen=True)
class Check:
    """What a solution is worth beyond its nodes.

    Args:
        kkt_residual: Scaled optimality error.
        active: Limit and phase → number of nodes at which it is active.
        costs: Block → its share of the objective.
        defect: Largest error of the state at the end of an interval after re-integration with fine steps; NaN where
            the formulation has no forward dynamics.
        torque_excess: How far forces of the drives exceed their limits between nodes, as a share of the limit.
    """

    kkt_residual: float
    active: dict[str, int]
    costs: dict[str, float]
    defect: float
    torque_excess: float


def check(solution: Solution) -> Check:
    """Look at a solution again, independent of its solver.

    Args:
        solution: The solution.
    """
    defect, excess = _reintegrate(solution)
    return Check(solution.staged.kkt_residual, active_limits(solution), cost_shares(solution), defect, excess)


def active_limits(solution: Solution) -> dict[str, int]:
    """Inequalities and bounds that hold with equality: "limit @ phase" → number of nodes."""
    t = solution.transcription
    p, w = t.program, solution.staged.w
    rows = p.functions.values(w).rows
    is_bound = p.row_lower < p.row_upper
    touch = is_bound & _touches(rows, p.row_lower, p.row_upper)
    found = Counter(group_of_row(p.row_names[k]) for k in np.flatnonzero(touch))
    free = p.lower < p.upper
    touch = free & _touches(w, p.lower, p.upper)
    found.update(_variable(t, int(k)) for k in np.flatnonzero(touch))
    return dict(found.most_common())


def prices(solution: Solution) -> dict[str, float]:
    """By how much the objective falls for each unit by which a limit yields in a phase, the dearest first.

    Args:
        solution: A solution; its multipliers are the prices.
    """
    t = solution.transcription
    p, m, found = t.program, solution.multipliers, defaultdict[str, float](float)
    for k in np.flatnonzero((p.row_lower < p.row_upper) & (m.rows != 0.0)):
        found[group_of_row(p.row_names[k])] += abs(float(m.rows[k]))
    for k in np.flatnonzero((p.lower < p.upper) & (m.bounds != 0.0)):
        found[_variable(t, int(k))] += abs(float(m.bounds[k]))
    return dict(sorted(found.items(), key=lambda item: -item[1]))


def _touches(values: Array, lower: Array, upper: Array) -> NDArray[np.bool_]:
    """Whether values lie on one of their bounds."""
    low, high = (np.where(np.isfinite(x), np.maximum(np.abs(x), 1.0), 1.0) * _ACTIVE for x in (lower, upper))
    return np.asarray((values - lower < low) | (upper - values < high))


def _variable(t: Transcription, k: int) -> str:
    sizes, problem = t.program.sizes, t.problem
    if k >= sizes.starts[-1]:
        free = [p.name for p, at in zip(problem.phases, t.durations, strict=True) if at is not None]
        names = [f"duration @ {name}" for name in free] + [f"parameter {name}" for name in problem.parameters]
        return names[k - int(sizes.starts[-1])]
    stage = int(np.searchsorted(sizes.starts, k, side="right")) - 1
    at, n = k - int(sizes.starts[stage]), problem.robot.nv
    phase = problem.phases[t.stages[stage].phase].name
    if at < 2 * n:
        return f"{'position' if at < n else 'speed'} limit {problem.chart.names[at % n]} @ {phase}"
    return f"control limit @ {phase}"


def cost_shares(solution: Solution) -> dict[str, float]:
    """Block → its part of the objective; scalar costs together as "scalar costs"."""
    functions, found = solution.transcription.functions, defaultdict[str, float](float)
    for batch, values in functions.stage_values(solution.staged.w):
        for group in batch.structure.sizes[2]:
            own = slice(1 + group.start, 1 + group.start + group.size)
            weights = batch.weights[:, group.start : group.start + group.size]
            found[group.name] += 0.5 * float((weights * values[:, own] ** 2).sum())
        if any(block.use == "cost" for block in batch.structure.blocks):
            found["scalar costs"] += float(values[:, 0].sum())
    return dict(found)


def _reintegrate(solution: Solution) -> tuple[float, float]:
    """Defect after fine steps, and the excess of forces between nodes."""
    t, robot = solution.transcription, solution.problem.robot
    if solution.problem.formulation.integrator != "rk4":
        return np.nan, np.nan
    w, sizes = solution.staged.w, t.program.sizes
    limits = np.array([drive.torque_limit for drive in robot.drives])
    worst, excess = 0.0, 0.0
    for k, stage in enumerate(t.stages[:-1]):
        if stage.structure.kind != "interval":
            continue
        start = int(sizes.starts[k])
        x = w[start : start + sizes.states[k]]
        u = w[start + sizes.states[k] : int(sizes.starts[k + 1])]
        h = list(solution.durations.values())[stage.phase] * stage.share
        end, torques = fine_interval(stage.structure, x, u, h)
        nxt = w[int(sizes.starts[k + 1]) : int(sizes.starts[k + 1]) + 2 * robot.nv]
        worst = max(worst, float(np.abs(end - nxt).max()))
        excess = max(excess, float((np.abs(torques) / limits).max(initial=0.0)) - 1.0)
    return worst, max(excess, 0.0)


def fine_interval(structure: Structure, x: Array, u: Array, h: float) -> tuple[Array, Array]:
    """State at the end (2 nv,) by many RK4 steps under the same control, and forces of the drives on the way."""
    n, count = structure.robot.nv, _FINE
    step, torques = h / count, []
    bare = replace(structure, blocks=(), parameters=())
    state = np.array(x[: 2 * n])

    def rate(s: Array, share: float) -> tuple[Array, Any]:
        node = bare.node_at(s[:n], s[n:], x, u, h, share)
        return np.concatenate([s[n:], np.asarray(node.ddy, dtype=float)]), node

    for i in range(count):
        a, b = i / count, (i + 0.5) / count
        k1, node = rate(state, a)
        torques.append(np.asarray(node.tau, dtype=float))
        k2, _ = rate(state + 0.5 * step * k1, b)
        k3, _ = rate(state + 0.5 * step * k2, b)
        k4, _ = rate(state + step * k3, (i + 1) / count)
        state = state + step / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4)
    return state, np.array(torques)
