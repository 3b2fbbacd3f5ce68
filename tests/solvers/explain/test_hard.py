"""Explanations of problems that are hard for linear programs: many conflicts, long motions, motions that tumble."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sparse

from surefoot.solvers import Group, UnsolvedError, explain
from surefoot.solvers.explain.model import Model
from surefoot.solvers.explain.program import Program
from tests.solvers.explain.problems import crowded, planted, swing, tumble
from tests.solvers.explain.test_explain import INF, least_cost, require_proof, violation


def require_true(groups, found, members: int) -> None:
    """The claims of an explanation; those about single members for some of them."""
    by_name = {group.name: group for group in groups}
    assert not found.feasible
    require_proof([by_name[name] for name in found.names], found)
    chosen = np.random.default_rng(0).permutation(len(found.conflict))[:members]
    for member in (found.conflict[k] for k in chosen):
        for other in found.names:
            if other != member.name:
                assert violation(by_name[other], member.witness) <= 2.0 * found.tolerances[other]
        costs = np.array([1.0 if group.name == member.name and group.may_relax else INF for group in groups])
        amount = INF if member.alone is None else member.alone.amount
        assert amount == pytest.approx(least_cost(groups, costs), rel=1e-4)
    costs = np.array([group.weight if group.may_relax else INF for group in groups])
    assert found.cost == pytest.approx(least_cost(groups, costs), rel=1e-4)


@pytest.mark.slow
@pytest.mark.parametrize(
    "shape", [(500, 1, 20), (500, 1, 50), (200, 2, 60), (300, 1, 100, 0.2, 5), (200, 3, 80, 0.5, 5), (60, 3, 90)]
)
@pytest.mark.parametrize("seed", range(2))
def test_many_conflicts(shape, seed: int) -> None:
    groups = crowded(seed, *shape)
    require_true(groups, explain(groups), 3)


@pytest.mark.slow
@pytest.mark.parametrize(("seed", "may_relax"), [(1, True), (3, False)])
def test_long_motions_in_which_simplex_methods_stall(seed: int, may_relax: bool) -> None:
    """With pivots that move nothing a search of HiGHS went on for ever."""
    groups = swing(seed, may_relax=may_relax)
    require_true(groups, explain(groups), 4)


@pytest.mark.parametrize("goal", [0.5, *(pytest.param(x, marks=pytest.mark.slow) for x in (1.0, 30.0))])
def test_motions_that_tumble(goal: float) -> None:
    """Rounding grows a thousandfold each two seconds; the conflict is proved all the same."""
    groups = tumble(goal=goal)
    found = explain(groups)
    by_name = {group.name: group for group in groups}
    assert not found.feasible
    assert {"start", "stop"} <= set(found.names)
    require_proof([by_name[name] for name in found.names], found)


def test_the_last_of_groups_that_are_alike_is_named() -> None:
    groups = [Group(f"floor {k}", np.ones((3, 1)), 2.0, INF) for k in range(5)]
    assert explain([*groups, Group("ceiling", np.ones((4, 1)), -INF, 1.0)]).names == ("ceiling", "floor 4")


def test_a_member_is_kept_where_rounding_leaves_it_open(monkeypatch) -> None:
    """The set is proved to conflict all the same."""
    judge = Program.judge

    def judge_all_only(self, kept=None, amounts=None):
        if kept is not None or amounts is not None:
            raise UnsolvedError("left open")
        return judge(self)

    groups = [group for group in crowded(0, 60, 1, 8) if group.may_relax]
    monkeypatch.setattr(Program, "judge", judge_all_only)
    found = explain(groups)
    by_name = {group.name: group for group in groups}
    require_proof([by_name[name] for name in found.names], found)
    assert all(np.isnan(member.witness).all() and member.alone is None for member in found.conflict)


def test_false_multipliers_prove_nothing(monkeypatch) -> None:
    monkeypatch.setattr(Model, "ray", property(lambda self: np.ones(len(self.ends[0]))))
    with pytest.raises(UnsolvedError, match="rounding leaves it open"):
        explain(crowded(0, 20, 1, 4))


def test_false_points_show_nothing(monkeypatch) -> None:
    groups, names = planted(np.random.default_rng(2), 30, 3, 10, 4)
    monkeypatch.setattr(Model, "x", property(lambda self: np.zeros(10)))
    with pytest.raises(UnsolvedError, match="rounding leaves it open"):
        explain([group for group in groups if group.name != names[0]])


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


@pytest.mark.parametrize("seed", [0, 1, 2, *(pytest.param(k, marks=pytest.mark.slow) for k in range(3, 12))])
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
