"""Why a staged program is infeasible: `explain` on its rows, linearised at the least infeasible point."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import scipy.sparse as sparse

from surefoot.arrays import Array
from surefoot.solvers.explain import Explanation, Group, explain
from surefoot.solvers.staged.problem import StagedProblem
from surefoot.solvers.staged.sparse_form import SparseForm, all_constraints, constraint_bounds

_ROUNDING = 1e-6  # violations and distances at the point that count as none
_TOLERANCE = 1e-5  # as for `explain`


def explain_conflict(
    problem: StagedProblem,
    w: Array,
    group_of: Callable[[str], str] | None = None,
    bound_of: Callable[[int], str] | None = None,
    unit_of: Callable[[str], str] | None = None,
) -> Explanation:
    """Which groups of rows conflict near a point, and the least that they would have to yield.

    At a point of least violation the linearised rows are infeasible as well, so that their conflict is that of the
    program nearby. The group "dynamics", which has the gaps, cannot yield.

    Args:
        problem: The staged program.
        w: Where a solver ended with the outcome "infeasible".
        group_of: From the name of a row to that of its group; by default rows of one name are one group.
        bound_of: From the number of a variable with bounds to the name of its group; by default fixed variables are one
            group, and bounds another.
        unit_of: From the name of a group to the unit of its rows.
    """
    derivatives = problem.functions.derivatives(w)
    J = SparseForm(problem).jacobian_matrix(derivatives).tocsr()
    g, (lower, upper), gaps = (
        all_constraints(problem.functions.values(w)),
        constraint_bounds(problem),
        problem.sizes.gaps,
    )
    named = {"dynamics": list(range(gaps))} if gaps else {}
    for name, at in _groups(problem, group_of or str).items():
        named.setdefault(name, []).extend(at)
    J.eliminate_zeros()
    lower, upper = _rounded(lower - g), _rounded(upper - g)
    groups = [Group(name, J[at], lower[at], upper[at], may_relax=name != "dynamics") for name, at in named.items()]
    one = sparse.eye_array(len(w), format="csr")
    for name, at in _bounds(problem, bound_of).items():
        groups.append(Group(name, one[at], _rounded(problem.lower - w)[at], _rounded(problem.upper - w)[at]))
    units = [group if unit_of is None else replace(group, unit=unit_of(group.name)) for group in groups]
    return explain(units, tolerance=_TOLERANCE)


def _rounded(distance: Array) -> Array:
    """Distances from the point, without those that a solver leaves."""
    return np.where(np.abs(distance) < _ROUNDING, 0.0, distance)


def _bounds(problem: StagedProblem, bound_of: Callable[[int], str] | None) -> dict[str, list[int]]:
    """Numbers of the variables of each group of bounds."""
    out: dict[str, list[int]] = {}
    for k in np.flatnonzero(np.isfinite(problem.lower) | np.isfinite(problem.upper)).tolist():
        usual = "fixed variables" if problem.lower[k] == problem.upper[k] else "bounds of variables"
        out.setdefault(usual if bound_of is None else bound_of(k), []).append(k)
    return out


def _groups(problem: StagedProblem, group_of: Callable[[str], str]) -> dict[str, list[int]]:
    """Numbers of the rows and end rows of each group."""
    s = problem.sizes
    count = int(s.row_starts[-1])
    names = list(problem.row_names) or [problem.constraint_name(s.gaps + k) for k in range(count)]
    names += list(problem.end_names) or [f"end row {k}" for k in range(s.end_rows)]
    out: dict[str, list[int]] = {}
    for k, name in enumerate(names):
        out.setdefault(group_of(name), []).append(s.gaps + k)
    return out
