"""Why a staged program is infeasible: `explain` on its rows, linearised at the least infeasible point."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import scipy.sparse as sparse

from surefoot.arrays import Array
from surefoot.solvers.explain import Explanation, Group, explain
from surefoot.solvers.staged.problem import StagedProblem
from surefoot.solvers.staged.sparse_form import SparseForm, all_constraints, constraint_bounds


def explain_conflict(
    problem: StagedProblem, w: Array, group_of: Callable[[str], str] | None = None, place: str = ""
) -> Explanation:
    """Which groups of rows conflict near a point, and the least that they would have to yield.

    At a point of least violation the linearised rows are infeasible as well, so that their conflict is that of the
    program nearby. The gaps cannot yield.

    Args:
        problem: The staged program.
        w: Where a solver ended with the outcome "infeasible".
        group_of: From the name of a row to that of its group; by default rows of one name are one group.
        place: Where or when, for the sentence.
    """
    derivatives = problem.functions.derivatives(w)
    J = SparseForm(problem).jacobian_matrix(derivatives).tocsr()
    g, (lower, upper), gaps = (
        all_constraints(problem.functions.values(w)),
        constraint_bounds(problem),
        problem.sizes.gaps,
    )
    groups = [Group("dynamics", J[:gaps], -g[:gaps], -g[:gaps], may_relax=False)] if gaps else []
    for name, at in _groups(problem, group_of or str).items():
        groups.append(Group(name, J[at], (lower - g)[at], (upper - g)[at]))
    fixed = problem.lower == problem.upper
    bounded = np.isfinite(problem.lower) | np.isfinite(problem.upper)
    for name, chosen in (("fixed variables", fixed), ("bounds of variables", ~fixed & bounded)):
        if chosen.any():
            one = sparse.eye_array(len(w), format="csr")[np.flatnonzero(chosen)]
            groups.append(Group(name, one, (problem.lower - w)[chosen], (problem.upper - w)[chosen]))
    return explain(groups, place=place)


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
