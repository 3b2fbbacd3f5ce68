"""How far a point is from optimal and feasible, judged from the problem alone."""

from __future__ import annotations

import numpy as np

from surefoot.arrays import Array
from surefoot.solvers.staged.problem import Derivatives, Sizes, StagedProblem, Values
from surefoot.solvers.staged.solution import Multipliers
from surefoot.solvers.staged.sparse_form import all_constraints, constraint_bounds

_SCALE = 100.0  # s_max of Wächter and Biegler 2006


def violations(problem: StagedProblem, values: Values) -> Array:
    """Violation of gaps, rows and end rows, not negative."""
    lower, upper = constraint_bounds(problem)
    g = all_constraints(values)
    return np.maximum(np.maximum(lower - g, g - upper), 0.0)


def transposed_product(sizes: Sizes, derivatives: Derivatives, gaps: Array, rows: Array, end_rows: Array) -> Array:
    """Jacobianᵀ times multipliers, (variables,)."""
    out = np.zeros(sizes.variables)
    for k in range(sizes.stages):
        at = sizes.block(k)
        out[at] += rows[sizes.row_starts[k] : sizes.row_starts[k + 1]] @ derivatives.rows[k]
        if k + 1 < sizes.stages:
            gap = gaps[sizes.gap_starts[k] : sizes.gap_starts[k + 1]]
            out[at] += gap @ derivatives.gaps[k]
            out[sizes.starts[k + 1] : sizes.starts[k + 1] + sizes.states[k + 1]] -= gap
    if sizes.end_rows:
        np.add.at(out, sizes.end_block, end_rows @ derivatives.end_rows)
    return out


def gradient_of_lagrangian(problem: StagedProblem, derivatives: Derivatives, multipliers: Multipliers) -> Array:
    """∇f + Jᵀλ + multipliers of bounds, (variables,)."""
    m = multipliers
    product = transposed_product(problem.sizes, derivatives, m.gaps, m.rows, m.end_rows)
    return derivatives.gradient + product + m.bounds


def kkt_residual(problem: StagedProblem, w: Array, multipliers: Multipliers) -> float:
    """Scaled optimality error E_0 at a point (Wächter and Biegler 2006, equation 5).

    The largest of stationarity, violation (also of bounds) and complementarity; the first and last are divided by the
    mean size of multipliers where that exceeds 100.

    Args:
        problem: The staged program.
        w: Variables.
        multipliers: Of all constraints.
    """
    values, derivatives = problem.functions.values(w), problem.functions.derivatives(w)
    outside = np.concatenate([violations(problem, values), problem.lower - w, w - problem.upper])
    slope = gradient_of_lagrangian(problem, derivatives, multipliers)
    slope = slope[problem.lower < problem.upper]  # a fixed variable takes any multiplier
    lower, upper = constraint_bounds(problem)
    lam = np.concatenate([multipliers.gaps, multipliers.rows, multipliers.end_rows, multipliers.bounds])
    place = np.concatenate([all_constraints(values), w])
    lower, upper = np.concatenate([lower, problem.lower]), np.concatenate([upper, problem.upper])
    free = lower < upper
    distance = np.where(lam > 0.0, upper - place, place - lower)[free]
    product = np.abs(lam[free]) * np.where(np.isfinite(distance), distance, 1.0)  # no bound takes no multiplier
    scale = max(_SCALE, float(np.abs(lam).mean()) if len(lam) else 0.0) / _SCALE
    parts = (np.abs(slope) / scale, outside, np.abs(product) / scale)
    return float(np.max([part.max(initial=0.0) for part in parts]))  # NaN if one is, which `max` may pass over


def violated_rows(problem: StagedProblem, values: Values, tolerance: float, most: int = 10) -> tuple[str, ...]:
    """Names of the constraints that are violated most, the worst first.

    Args:
        problem: The staged program; rows without names are called by their stage and number.
        values: At the point in question.
        tolerance: Violation that counts as none.
        most: Number of names.
    """
    found = violations(problem, values)
    order = [k for k in np.argsort(-found, kind="stable")[:most] if found[k] > tolerance]
    return tuple(problem.constraint_name(int(k)) for k in order)
