"""Relaxations that begin at the basis of a proof: against independent programs, and without a first phase."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sparse

from surefoot.solvers import Group, explain
from surefoot.solvers.explain_model import Model
from tests.solvers.explain_problems import cycle
from tests.solvers.test_explain import INF, least_cost


def thin(seed: int) -> list[Group]:
    """Rows of few whole numbers in many unknowns, one or several in a group, that hold at a point but for one group."""
    rng = np.random.default_rng(seed)
    n, groups = 40, []
    point = rng.integers(-3, 4, n)
    for k in range(60):
        rows = int(rng.integers(1, 4))
        A = np.zeros((rows, n))
        for row in A:
            at = rng.choice(n, int(rng.integers(1, 4)), replace=False)
            row[at] = rng.integers(1, 4, len(at)) * rng.choice([-1, 1], len(at))
        low, high = A @ point - rng.integers(0, 3, rows), A @ point + rng.integers(0, 3, rows)
        if k == 30:
            low, high = low + 9.0, high + 9.0
        side = rng.integers(0, 5, rows)
        low[side == 1], high[side == 2] = -INF, INF
        scale = rng.choice([0.0, 0.1, 1.0] if k != 30 else [0.1, 1.0], rows)
        weight, may_relax = float(rng.choice([0.5, 1.0, 3.0])), bool(rng.random() < 0.8)
        groups.append(
            Group(
                f"g{k:02d}", sparse.csr_array(A), low, high, weight=weight, scale=scale, may_relax=may_relax or k == 30
            )
        )
    return groups


@pytest.mark.parametrize("seed", range(12))
def test_relaxations_of_thin_rows_agree_with_independent_programs(seed: int) -> None:
    thin_groups = thin(seed)
    found = explain(thin_groups)
    groups = [replace(group, A=group.A.toarray()) for group in thin_groups]
    assert not found.feasible
    assert any(member.alone is not None for member in found.conflict)
    for member in found.conflict:
        costs = np.array([1.0 if group.name == member.name and group.may_relax else INF for group in groups])
        amount = INF if member.alone is None else member.alone.amount
        assert amount == pytest.approx(least_cost(groups, costs), rel=1e-5, abs=1e-5)
    costs = np.array([group.weight if group.may_relax else INF for group in groups])
    assert found.cost == pytest.approx(least_cost(groups, costs), rel=1e-5, abs=1e-5)


def test_a_lone_proof_needs_no_pivots(monkeypatch) -> None:
    """There is one proof, so that its basis, with any member in the place of t, is the optimum of that member."""
    pivots = []
    solve = Model.run

    def run(self, *args, **options):
        status = solve(self, *args, **options)
        if self.basis is not None and not self._by_row:
            pivots.append(self.highs.getInfo().simplex_iteration_count)
        return status

    monkeypatch.setattr(Model, "run", run)
    found = explain(cycle(60, gap=0.3))
    assert [member.alone.amount for member in found.conflict] == pytest.approx([0.3] * 60)
    assert pivots == [0] * 61  # each member, and all together
