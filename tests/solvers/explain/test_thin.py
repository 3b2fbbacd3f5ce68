"""Relaxations that begin at the basis of a proof: against independent programs, and without a first phase."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sparse
from highspy import HighsBasisStatus
from surefoot.solvers.explain_groups import scaled_rows
from surefoot.solvers.explain_model import RELAXING, Model
from surefoot.solvers.explain_program import Program

from surefoot.solvers import Group, explain
from tests.solvers.explain.problems import cycle
from tests.solvers.explain.test_explain import INF, least_cost


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
@pytest.mark.parametrize("rays", [True, False])
def test_relaxations_of_thin_rows_agree_with_independent_programs(seed: int, rays: bool, monkeypatch) -> None:
    """With rays as proofs, and without: t then decides, and must be zero in the next program."""
    if not rays:
        monkeypatch.setattr(Model, "ray", lambda self: None)
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
        if self.search is RELAXING:
            pivots.append(self.highs.getInfo().simplex_iteration_count)
        return status

    monkeypatch.setattr(Model, "run", run)
    program = Program(scaled_rows(cycle(60, gap=0.3), None, 1e-7), 1e-7)
    assert not program.judge().feasible
    for group in range(60):
        program.alone(group)
    assert pivots == [0] * 60
    pivots.clear()
    found = explain(cycle(60, gap=0.3))
    assert [member.alone.amount for member in found.conflict] == pytest.approx([0.3] * 60)
    assert pivots == [0]  # all together; the points at which members bear the conflict show it of each alone


@pytest.mark.parametrize("seed", range(8))
def test_bases_are_kept_without_reliefs(seed: int) -> None:
    """Also where rows share one r: as many are basic as there are rows, and beginning there changes no amount."""
    rows = scaled_rows(thin(seed), None, 1e-7)
    program, bounds = Program(rows, 1e-7), {}
    assert not program.judge().feasible
    for group in range(rows.groups):
        known = len(program._known.bases)
        if program.alone(group).x is not None and len(program._known.bases) > known:
            bounds[group] = program._known.bases[-1].bounds[group]
    assert bounds
    for basis, _ in program._known.bases:
        assert (basis.columns + basis.rows).count(HighsBasisStatus.kBasic) == len(basis.rows)
    for group, bound in bounds.items():
        y = program.alone(group).multipliers
        gap = -(y[y > 0.0] @ rows.upper[y > 0.0] + y[y < 0.0] @ rows.lower[y < 0.0])
        asked = np.abs(y[rows.group == group]) @ rows.measure[rows.group == group]
        assert bound == pytest.approx(gap / asked, rel=1e-6) if asked else bound == -INF
