"""After the solve: active limits, costs by block, defects after fine re-integration, limits between nodes."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from surefoot.arrays import Array
from surefoot.ocp.formulation import TABLES, Formulation
from surefoot.ocp.kernels import StageKernels
from surefoot.ocp.solution import Solution, group_of_row
from surefoot.ocp.spec import ProblemSpec
from surefoot.ocp.stage import Structure, functions_of
from surefoot.ocp.transcription import transcribe

_ACTIVE = 1e-4  # of max(1, |bound|)
_FINE = 20  # steps of RK4 in an interval
_NUDGE = 1e-6  # of central differences


@dataclass(frozen=True)
class Check:
    """What a solution is worth beyond its nodes.

    Args:
        kkt_residual: Scaled optimality error.
        active: Limit and phase → number of nodes at which it is active.
        costs: Block → its share of the objective.
        defect: Largest error of the state at the end of an interval, where forward dynamics is integrated in fine steps
            from its beginning under the planned input (`fine_intervals`); NaN, as below, with centroidal dynamics.
        torque_excess: How far forces of the drives exceed their limits on that way, as a share of the limit.
        position_excess: How far joints are beyond their limits on that way [rad] or [m].
        speed_excess: How far speeds of joints exceed their limits on that way, as a share of the limit.
    """

    kkt_residual: float
    active: dict[str, int]
    costs: dict[str, float]
    defect: float
    torque_excess: float
    position_excess: float
    speed_excess: float


def check(solution: Solution) -> Check:
    """Look at a solution again, independent of its solver.

    Args:
        solution: The solution.
    """
    return Check(solution.staged.kkt_residual, active_limits(solution), cost_shares(solution), *_reintegrate(solution))


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
    found.update(t.name_of_bound(int(k)) for k in np.flatnonzero(touch))
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
        found[t.name_of_bound(int(k))] += abs(float(m.bounds[k]))
    return dict(sorted(found.items(), key=lambda item: -item[1]))


def _touches(values: Array, lower: Array, upper: Array) -> NDArray[np.bool_]:
    """Whether values lie on one of their bounds."""
    low, high = (np.where(np.isfinite(x), np.maximum(np.abs(x), 1.0), 1.0) * _ACTIVE for x in (lower, upper))
    return np.asarray((values - lower < low) | (upper - values < high))


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


class _Excess(NamedTuple):
    """Largest defect, and how far limits are exceeded on the way."""

    defect: float = 0.0
    torque: float = 0.0
    position: float = 0.0
    speed: float = 0.0


def _reintegrate(solution: Solution) -> _Excess:
    """All intervals again, by many RK4 steps of forward dynamics from each node under the planned input."""
    t, problem = solution.transcription, solution.problem
    if problem.formulation.dynamics == "centroidal":
        return _Excess(*[np.nan] * 4)
    n, worst = problem.robot.nv, _Excess()
    low, high = problem.chart.limits()
    speed = np.where(problem.robot.limits.velocity > 0.0, problem.robot.limits.velocity, np.inf)
    speed[list(problem.robot.base_rows)] = np.inf
    torque = np.array([drive.torque_limit for drive in problem.robot.drives])
    w, sizes = solution.staged.w, t.program.sizes
    for batch, kernels in t.functions.batches:
        if batch.structure.kind != "interval":
            continue
        states, torques = fine_intervals(batch.structure, *t.functions.arguments(w, batch, kernels))
        ends = np.array([w[sizes.starts[k + 1] : sizes.starts[k + 1] + 2 * n] for k in batch.stages])
        y, dy = states[..., :n], np.abs(states[..., n:])
        found = _Excess(
            float(np.abs(states[-1] - ends).max()),
            float((np.abs(torques) / torque).max(initial=1.0)) - 1.0,
            float(np.maximum(low - y, y - high).max(initial=0.0)),
            float((dy / speed).max(initial=1.0)) - 1.0,
        )
        worst = _Excess(*map(max, worst, found))
    return worst


def fine_intervals(structure: Structure, x: Array, u: Array, p: Array, d: Array) -> tuple[Array, Array]:
    """Intervals of one structure by fine steps of forward dynamics under the planned input.

    The input is the solver's own, or, where accelerations are controls, the forces of the drives: held from the node,
    or as a polynomial through the collocation points. Contacts hold.

    Args:
        structure: Of the intervals.
        x: (k, nx) states at the nodes.
        u: (k, nu) controls.
        p: (k, np) durations and parameters.
        d: (k, nd) data.

    Returns:
        States (m + 1, k, 2 nv) and forces of the drives (m, k, nu) on the way.
    """
    form, n = structure.formulation, structure.robot.nv
    inverse, h = form.dynamics == "inverse", p[:, 0] * d[:, 0]
    bare = replace(structure, blocks=(), formulation=Formulation("forward" if inverse else form.dynamics, "rk4"))
    kernel = StageKernels(bare).acceleration
    forces = StageKernels(replace(structure, blocks=())).point_forces
    own = d[:, : replace(structure, blocks=()).data]
    given = forces(x, np.ascontiguousarray(u[:, : structure.controls]), p, own) if inverse else np.zeros(0)

    def planned(share: float) -> Array:
        if not inverse:
            return np.array([structure.input_at(*each, share) for each in zip(x, u, h, strict=True)])
        nodes = TABLES[form.integrator][2] if form.is_collocation else np.zeros(1)
        basis = [np.prod([(share - b) / (a - b) for b in nodes if b != a]) for a in nodes]
        return np.einsum("i,kiu->ku", basis, given)

    def rate(state: Array, share: float) -> tuple[Array, Array]:
        ddy, tau = kernel(np.ascontiguousarray(state), planned(share), p)
        return np.hstack([state[:, n:], ddy]), tau

    step, states, torques = (h / _FINE)[:, None], [x[:, : 2 * n]], []
    for i in range(_FINE):
        now, a, b = states[-1], i / _FINE, (i + 0.5) / _FINE
        k1, tau = rate(now, a)
        k2, _ = rate(now + 0.5 * step * k1, b)
        k3, _ = rate(now + 0.5 * step * k2, b)
        k4, _ = rate(now + step * k3, (i + 1) / _FINE)
        states.append(now + step / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4))
        torques.append(tau)
    return np.array(states), np.array(torques)


def check_derivatives(problem: ProblemSpec, seed: int = 0, size: float = 0.1) -> dict[str, float]:
    """Compare first derivatives of all blocks with central differences, at random points near the guess.

    Args:
        problem: The problem.
        seed: Of the points.
        size: Standard deviation of each variable about the guess.

    Returns:
        Block, "dynamics" or "scalar costs" → largest error, relative to 1 + |derivative|; NaN where a value is NaN.
    """
    t, random, worst = transcribe(problem), np.random.default_rng(seed), defaultdict[str, float](float)
    w = t.program.w0 + random.normal(0.0, size, len(t.program.w0))
    first = int(t.program.sizes.starts[-1])
    w[first:] = np.clip(w[first:], t.program.lower[first:], t.program.upper[first:])
    for batch, kernels in t.functions.batches:
        *point, d = (part[:1] for part in t.functions.arguments(w, batch, kernels))
        z, ends = np.hstack(point)[0], np.cumsum([part.shape[1] for part in point])[:-1]
        nudges = _NUDGE * np.maximum(1.0, np.abs(z)) * np.eye(len(z))

        def values(Z: Array, kernels: Any = kernels, d: Array = d, ends: Any = ends) -> Array:
            parts = np.split(Z, ends, axis=1)
            return np.asarray(kernels.values(*map(np.ascontiguousarray, parts), np.repeat(d, len(Z), axis=0)))

        slopes = (values(z + nudges) - values(z - nudges)) / (2.0 * np.diag(nudges)[:, None])
        J = kernels.jacobian(*point, d)[0]
        error = (np.abs(J - slopes.T) / (1.0 + np.abs(J))).max(axis=1, initial=0.0)
        for name, start, count in functions_of(batch.structure):
            worst[name] = float(np.maximum(worst[name], error[start : start + count].max(initial=0.0)))
    return dict(worst)
