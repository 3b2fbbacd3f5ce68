"""Explanations of problems that are hard for linear programs: many conflicts, long motions, motions that tumble."""

from __future__ import annotations

import numpy as np
import pytest
from surefoot.solvers.explain_elastic import least_at_once
from surefoot.solvers.explain_groups import scaled_rows
from surefoot.solvers.explain_oracle import Oracle
from surefoot.solvers.explain_program import Program, UnsolvedError
from surefoot.solvers.explain_relaxation import each_alone
from surefoot.solvers.explain_thinning import thinned

from surefoot.solvers import Group, explain
from tests.solvers.explain.problems import crowded, swing, tumble
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


@pytest.mark.parametrize(
    "shape", [(500, 1, 20), (500, 1, 50), (200, 2, 60), (300, 1, 100, 0.2, 5), (200, 3, 80, 0.5, 5), (60, 3, 90)]
)
@pytest.mark.parametrize("seed", range(2))
def test_many_conflicts(shape, seed: int) -> None:
    groups = crowded(seed, *shape)
    require_true(groups, explain(groups), 3)


@pytest.mark.parametrize(("seed", "may_relax"), [(1, True), (3, False)])
def test_long_motions_in_which_simplex_methods_stall(seed: int, may_relax: bool) -> None:
    """With pivots that move nothing a search of HiGHS went on for ever."""
    groups = swing(seed, may_relax=may_relax)
    require_true(groups, explain(groups), 4)


@pytest.mark.parametrize("goal", [0.5, 1.0, 30.0])
def test_motions_that_tumble(goal: float) -> None:
    """Rounding grows a thousandfold each two seconds; the conflict is proved all the same."""
    groups = tumble(goal=goal)
    found = explain(groups)
    by_name = {group.name: group for group in groups}
    assert not found.feasible
    assert {"start", "stop"} <= set(found.names)
    require_proof([by_name[name] for name in found.names], found)


@pytest.mark.parametrize("seed", range(4))
def test_proofs_are_thinned(seed: int) -> None:
    """To a row more than there are unknowns, of few groups."""
    groups = crowded(seed, 80, 2, 12)
    rows = scaled_rows(groups, None, 1e-7)
    found = Oracle(rows, 1e-7).judge()
    y = thinned(rows, found.multipliers, found.x)
    named = np.flatnonzero(y)
    assert np.count_nonzero(found.multipliers) > 13 >= len(named)
    assert len(np.unique(rows.group[named])) <= 9  # of 40 or so, 7 at least
    ends = np.where(y > 0.0, rows.upper, rows.lower)[named]
    assert np.abs(rows.A.T @ y).max() < 1e-9
    assert y[named] @ ends == pytest.approx(-1.0)


def test_thinned_proofs_name_the_last_of_groups_that_are_alike() -> None:
    groups = [Group(f"floor {k}", np.ones((3, 1)), 2.0, INF) for k in range(5)]
    assert explain([*groups, Group("ceiling", np.ones((4, 1)), -INF, 1.0)]).names == ("ceiling", "floor 4")


@pytest.mark.parametrize("seed", range(4))
def test_relaxations_of_all_groups_at_once(seed: int) -> None:
    """With rows that do not move, groups that may not give way, and weights; none where these conflict."""
    rng = np.random.default_rng(seed)
    groups = [
        Group(group.name, group.A, group.lower, group.upper, scale=rng.choice([0.5, 1.0, 2.0], 2), may_relax=True)
        for group in crowded(seed, 40, 2, 12)
    ]
    costs = rng.choice([0.5, 1.0, 3.0], 40)
    costs[3::7] = INF
    rows = scaled_rows(groups, None, 1e-9)
    found = least_at_once(rows, costs)
    expected = least_cost(groups, costs)
    if found is None:
        assert expected == INF
    else:
        assert costs[np.isfinite(costs)] @ found.amounts[np.isfinite(costs)] == pytest.approx(expected, rel=1e-5)
        room = found.amounts[rows.group] * rows.measure + 1e-8
        values = rows.A @ found.x
        assert ((values >= rows.lower - room) & (values <= rows.upper + room)).all()
    assert least_at_once(rows, np.full(40, INF)) is None


def test_a_member_is_kept_where_rounding_leaves_it_open(monkeypatch) -> None:
    def unsolved(*_):
        raise UnsolvedError("left open")

    groups = crowded(0, 60, 1, 8)
    monkeypatch.setattr(Program, "without", unsolved)
    monkeypatch.setattr(Program, "alone", unsolved)
    found = explain(groups)
    by_name = {group.name: group for group in groups}
    require_proof([by_name[name] for name in found.names], found)
    assert all(np.isnan(member.witness).all() and member.alone is None for member in found.conflict)


def test_bounds_are_told_where_rounding_leaves_amounts_open(monkeypatch) -> None:
    """Of one conflict: what its proof asks of each member is all that can be known."""

    def unsolved(*_, **__):
        raise UnsolvedError("left open")

    groups = [Group("low", [[1.0, 0.0], [0.0, 1.0]], 1.0, INF), Group("sum", [[1.0, 1.0]], -INF, 1.0, scale=0.5)]
    oracle = Oracle(scaled_rows(groups, None, 1e-7), 1e-7)
    assert not oracle.judge_all().feasible
    monkeypatch.setattr(oracle, "judge", unsolved)
    found = each_alone(oracle, [0, 1])
    assert [found[k].amount for k in range(2)] == pytest.approx([0.5, 2.0])
    assert [found[k].amount for k in range(2)] == pytest.approx([m.alone.amount for m in explain(groups).conflict])
