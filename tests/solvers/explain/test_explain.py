"""Irreducible conflicts, relaxations and their sentences: known answers, and linear programs as judges."""

from __future__ import annotations

import re
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sparse
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

from surefoot.errors import ShapeError
from surefoot.solvers import Group, explain
from tests.solvers.explain.problems import cycle, planted

INF = np.inf


def least_cost(groups, costs) -> float:
    """Independent: the elastic program over all rows by an interior-point method; inf if there is no solution."""
    left, right = [], []
    for k, group in enumerate(groups):
        A = sparse.csr_array(group.A if sparse.issparse(group.A) else np.atleast_2d(group.A))
        rows, n = A.shape
        for side, end in ((1.0, group.upper), (-1.0, group.lower)):
            moves = np.zeros((rows, len(groups)))
            moves[:, k] = -np.broadcast_to(group.scale, rows) if np.isfinite(costs[k]) else 0.0
            left.append(sparse.hstack([side * A, sparse.csr_array(moves)]))
            right.append(side * np.broadcast_to(end, rows))
    ends = np.concatenate(right)
    there = np.flatnonzero(np.isfinite(ends))
    objective = [*np.zeros(n), *np.where(np.isfinite(costs), costs, 0.0)]
    bounds = [(None, None)] * n + [(0, None)] * len(groups)
    found = linprog(
        objective,
        A_ub=sparse.csr_array(sparse.vstack(left))[there],
        b_ub=ends[there],
        bounds=bounds,
        method="highs-ipm",
    )
    return INF if found.status == 2 else found.fun


def holds(groups) -> bool:
    return not groups or least_cost(groups, np.full(len(groups), INF)) < INF


def require_true(groups, found) -> None:
    """All claims of an explanation, checked by other means."""
    by_name = {group.name: group for group in groups}
    assert found.feasible == holds(groups)
    if found.feasible:
        assert all(found.slack[name] >= -1.1 * found.tolerances[name] for name in by_name)
        return
    members = [by_name[name] for name in found.names]
    assert not holds(members)
    for size in range(len(members)):
        assert all(holds(list(part)) for part in combinations(members, size))
    require_proof(members, found)
    for member in found.conflict:
        for other in members:
            if other.name != member.name:
                assert violation(other, member.witness) <= 2.0 * found.tolerances[other.name]
        costs = np.array([1.0 if group.name == member.name and group.may_relax else INF for group in groups])
        expected = least_cost(groups, costs)
        assert (member.alone is None) == (expected == INF)
        if member.alone is not None:
            assert member.alone.amount == pytest.approx(expected, rel=1e-5, abs=1e-5)
    expected = least_cost(groups, np.array([group.weight if group.may_relax else INF for group in groups]))
    assert found.cost == pytest.approx(expected, rel=1e-5, abs=1e-5)


def violation(group, x) -> float:
    values = np.atleast_1d(group.A @ x)
    beyond = np.maximum(values - group.upper, group.lower - values)
    return float(beyond.max(initial=0.0))


def require_proof(members, found) -> None:
    total, gap = 0.0, 0.0
    for group in members:
        y = found.proof[group.name]
        A = np.atleast_2d(group.A.toarray() if sparse.issparse(group.A) else group.A)
        low, high = (np.broadcast_to(x, len(A)) for x in (group.lower, group.upper))
        total = total + A.T @ y
        gap += sum(k * (u if k > 0 else end) for k, end, u in zip(y, low, high, strict=True) if k)
    assert gap < 0.0
    assert np.abs(total).max() < 1e-9 * abs(gap)


# -- known sets -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("shape", [(40, 1, 8, 2), (40, 3, 8, 7), (60, 5, 30, 20), (500, 4, 60, 12), (80, 2, 200, 50)])
@pytest.mark.parametrize("density", [1.0, 0.05])
def test_a_planted_conflict_is_found(shape, density: float) -> None:
    groups, names = planted(np.random.default_rng(sum(shape)), *shape, density)
    found = explain(groups)
    assert found.names == names
    assert [member.alone.amount for member in found.conflict] == pytest.approx([1.0] * len(names))
    assert {member.alone.side for member in found.conflict} == {"+"}
    assert found.cost == pytest.approx(1.0)
    require_proof([group for group in groups if group.name in names], found)


@pytest.mark.parametrize("n", [2, 3, 10, 60])
def test_a_circle_of_inequalities(n: int) -> None:
    found = explain(cycle(n, gap=0.3))
    assert found.names == tuple(f"c{i:03d}" for i in range(n))
    assert [member.alone.amount for member in found.conflict] == pytest.approx([0.3] * n)
    assert found.cost == pytest.approx(0.3)
    assert len(found.least) >= 1


def test_conflicts_apart_leave_no_one_who_helps_alone() -> None:
    groups = [
        Group("a low", [1.0, 0.0, 0.0], 2.0, INF, unit="m"),
        Group("a high", [1.0, 0.0, 0.0], -INF, 1.0, unit="m", weight=3.0),
        Group("b low", [0.0, 1.0, 0.0], 0.5, INF, unit="N", weight=2.0),
        Group("b high", [0.0, 1.0, 0.0], -INF, 0.0, unit="N"),
        Group("idle", [0.0, 0.0, 1.0], 0.0, 1.0),
    ]
    found = explain(groups)
    assert found.names == ("b high", "b low")
    assert all(member.alone is None for member in found.conflict)
    assert [(item.name, item.text) for item in found.least] == [("a low", "−1 m"), ("b high", "+0.5 N")]
    assert found.cost == pytest.approx(1.5)
    assert found.sentence == "b high and b low conflict: none helps alone; −1 m (a low) and +0.5 N (b high) together"
    require_true(groups, found)


def test_the_sentence_of_a_step() -> None:
    """Torque = 420 Nm/m times the step: 80 Nm allow 19.05 cm."""
    groups = [
        Group("right-knee torque limit", [1.0, 0.0], -80.0, 80.0, unit="Nm"),
        Group("20 cm step", [0.0, 1.0], 0.2, 0.2, unit="cm", scale=0.01),
        Group("statics", [1.0, -420.0], 0.0, 0.0, may_relax=False),
    ]
    found = explain(groups, place="in phase 3")
    expected = "20 cm step and right-knee torque limit conflict in phase 3: −0.952 cm or +4 Nm (statics fixed)"
    assert found.sentence == str(found) == expected
    assert found.names == ("20 cm step", "right-knee torque limit", "statics")
    assert [item.name for item in found.least] == ["20 cm step"]
    require_true(groups, found)


def test_places_come_from_the_groups() -> None:
    groups = [Group("low", [1.0], 2.0, INF, place="at t = 1 s"), Group("high", [1.0], -INF, 1.0, place="at t = 1 s")]
    assert explain(groups).sentence == "high and low conflict at t = 1 s: +1 or −1"


def test_rows_over_time_are_one_group() -> None:
    """The largest violation counts, once."""
    t = np.linspace(0.0, 1.0, 11)
    line = np.column_stack([np.ones_like(t), t])
    groups = [
        Group("start", [1.0, 0.0], 0.0, 0.0),
        Group("end", [1.0, 1.0], 3.0, 3.0),
        Group("ceiling", line, -INF, 2.0, unit="m"),
    ]
    found = explain(groups)
    assert found.names == ("ceiling", "end")
    assert [member.alone.text for member in found.conflict] == ["+1 m", "−1"]
    require_true(groups, found)


def test_a_group_can_contradict_itself() -> None:
    groups = [Group("window", [[1.0, 0.0]], 1.0, 0.0, unit="m"), Group("nothing", [[0.0, 0.0]], 0.0, 0.0)]
    found = explain(groups)
    assert found.sentence == "window cannot hold: ±0.5 m"
    found = explain([Group("zero row", [[0.0, 0.0]], 1.0, 2.0, unit="m")])
    assert found.sentence == "zero row cannot hold: −1 m"


def test_a_row_of_zeros_is_its_own_conflict() -> None:
    found = explain([Group("g", [[0.0], [1.0]], [1.0, 0.0], [1.0, 0.0], unit="m")])
    assert found.names == ("g",)
    assert [(item.amount, item.side) for item in found.least or ()] == [(pytest.approx(1.0), "−")]


def test_fixed_groups_that_conflict_have_no_remedy() -> None:
    groups = [
        Group("up", [1.0], 1.0, INF, may_relax=False),
        Group("down", [1.0], -INF, 0.0, may_relax=False),
        Group("free", [1.0], -5.0, 5.0),
    ]
    found = explain(groups)
    assert found.names == ("down", "up")
    assert found.least is None
    assert found.cost == INF
    assert found.sentence == "down and up conflict: what may give way is not enough"


def test_rows_with_scale_zero_do_not_move() -> None:
    groups = [Group("law", [[1.0], [1.0]], [1.0, -INF], INF, scale=0.0), Group("cap", [1.0], -INF, 0.0)]
    found = explain(groups)
    assert found.conflict[1].alone is None
    assert found.conflict[0].alone.amount == pytest.approx(1.0)
    require_true(groups, found)


def test_repeated_rows_are_no_trouble() -> None:
    groups = [
        Group("low", np.ones((200, 1)), 2.0, INF),
        Group("low again", np.ones((50, 1)), 2.0, INF),
        Group("high", np.ones((300, 1)), -INF, 1.0),
    ]
    found = explain(groups)
    assert found.names == ("high", "low again")
    assert found.conflict[0].alone.amount == pytest.approx(1.0)
    assert found.conflict[1].alone is None
    require_true(groups, found)


# -- what holds -------------------------------------------------------------------------------------------------------


def test_what_holds_has_a_point() -> None:
    groups, names = planted(np.random.default_rng(2), 30, 3, 10, 4)
    groups = [group for group in groups if group.name != names[0]]
    found = explain(groups)
    assert found.feasible
    assert found.sentence == "all groups hold together"
    assert found.conflict == ()
    for group in groups:
        assert violation(group, found.x) <= found.tolerances[group.name]
        room = np.minimum(group.upper - group.A @ found.x, group.A @ found.x - group.lower).min()
        assert found.slack[group.name] == pytest.approx(room, abs=1e-9 * (1.0 + abs(room)))


def test_empty_groups_and_rows_without_ends_hold() -> None:
    groups = [Group("empty", np.zeros((0, 2)), 0.0, 0.0), Group("free", np.ones((1, 2)), -INF, INF)]
    found = explain(groups)
    assert found.feasible
    assert found.slack == {"empty": INF, "free": INF}
    assert explain([], 3).feasible


def test_what_has_no_bound_holds_far_away() -> None:
    groups = [Group("far", [1.0, -1.0], 1e6, INF), Group("farther", [1.0, 1.0], 1e6, INF)]
    assert explain(groups).feasible


# -- tolerance and units ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("unit", [1e-9, 1e-3, 1.0, 1e6])
@pytest.mark.parametrize("row", [1e-6, 1.0, 1e7])
def test_units_do_not_matter(unit: float, row: float) -> None:
    """The same problem with x in other units, and rows in other units."""
    groups = [
        Group("low", row * np.array([1.0, 2.0]), 3.0 * unit * row, INF),
        Group("x", np.array([1.0, 0.0]), -INF, 1.0 * unit),
        Group("y", np.array([0.0, 1.0]), -INF, 0.5 * unit),
    ]
    found = explain(groups)
    assert found.names == ("low", "x", "y")
    amounts = [member.alone.amount for member in found.conflict]
    np.testing.assert_allclose(amounts, [row * unit, unit, 0.5 * unit], rtol=1e-9)


@pytest.mark.parametrize(("excess", "holds_still"), [(0.5e-7, True), (4e-7, False), (1e-3, False)])
def test_the_tolerance_is_relative_to_the_rows(excess: float, holds_still: bool) -> None:
    groups = [Group("low", [1000.0], 1000.0 * (1.0 + excess), INF), Group("high", [1.0], -INF, 1.0)]
    found = explain(groups)
    assert found.feasible == holds_still
    assert found.tolerances["low"] == pytest.approx(1000.0 * found.tolerances["high"], rel=1e-3)
    if not found.feasible:
        assert found.conflict[0].alone.amount == pytest.approx(excess, rel=1e-6)


def test_a_wider_tolerance_forgives_more() -> None:
    groups = [Group("low", [1.0], 1.0 + 1e-5, INF), Group("high", [1.0], -INF, 1.0)]
    assert not explain(groups).feasible
    assert explain(groups, tolerance=1e-4).feasible


@pytest.mark.parametrize("tolerance", [1e-9, 1e-8, 1e-5, 1e-3])
def test_any_tolerance_finds_the_planted_conflict(tolerance: float) -> None:
    groups, names = planted(np.random.default_rng(1), 40, 3, 10, 5)
    assert explain(groups, tolerance=tolerance).names == names
    assert explain([group for group in groups if group.name != names[0]], tolerance=tolerance).feasible


def test_nearly_parallel_rows() -> None:
    """x ≤ 0 and x + 1e-3 y ≥ 1 hold at y = 1000; with y ≤ 500 they do not."""
    groups = [Group("a", [1.0, 0.0], -INF, 0.0), Group("b", [1.0, 1e-3], 1.0, INF)]
    assert explain(groups).feasible
    found = explain([*groups, Group("c", [0.0, 1.0], -INF, 500.0)])
    assert found.names == ("a", "b", "c")
    assert found.conflict[2].alone.amount == pytest.approx(500.0)


# -- order, storage, refusals -----------------------------------------------------------------------------------------


def test_order_and_storage_do_not_matter() -> None:
    rng = np.random.default_rng(5)
    groups, _ = planted(rng, 40, 3, 12, 6, reach=0.3)
    first = explain(groups)
    shuffled = [groups[i] for i in rng.permutation(len(groups))]
    thin = [Group(g.name, sparse.csc_array(g.A), g.lower, g.upper, unit=g.unit) for g in shuffled]
    for again in (explain(groups), explain(shuffled), explain(thin, 12)):
        assert again.sentence == first.sentence
        assert again.names == first.names
        np.testing.assert_array_equal(again.x, first.x)
        assert again.least == first.least


def test_bounds_are_a_group() -> None:
    groups = [Group.bounds("box", -1.0, [1.0, 2.0, 3.0], 3, unit="m"), Group("sum", np.ones(3), 7.0, INF)]
    found = explain(groups)
    assert found.names == ("box", "sum")
    assert found.conflict[0].alone.amount == pytest.approx(1.0 / 3.0)
    assert found.conflict[1].alone.amount == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("group", "words"),
    [
        (Group("knee", [[1.0, np.nan]], 0.0, 1.0), "A of group `knee` is not finite"),
        (Group("knee", sparse.csr_array([[1.0, np.inf]]), 0.0, 1.0), "A of group `knee` is not finite"),
        (Group("knee", [[1.0, 0.0]], np.nan, 1.0), "ends of group `knee`"),
        (Group("knee", [[1.0, 0.0]], INF, INF), "ends of group `knee`"),
        (Group("knee", [[1.0, 0.0, 0.0]], 0.0, 1.0), r"A of group `knee` must be \(rows, 2\)"),
        (Group("knee", [[1.0, 0.0]], [0.0, 1.0], 1.0), r"`lower` of group `knee` must be a number or \(1,\)"),
        (Group("knee", [[1.0, 0.0]], 0.0, 1.0, weight=0.0), "weight of group `knee`"),
        (Group("knee", [[1.0, 0.0]], 0.0, 1.0, scale=-1.0), "scales of group `knee`"),
        (Group("hip", [[1.0, 0.0]], 0.0, 1.0), "names of groups repeat"),
    ],
)
def test_refusals_name_the_group(group: Group, words: str) -> None:
    with pytest.raises(ShapeError, match=words):
        explain([Group("hip", [[1.0, 0.0]], 0.0, 1.0), group])


def test_refusals_without_groups() -> None:
    with pytest.raises(ShapeError, match="no group"):
        explain([])
    with pytest.raises(ShapeError, match="tolerance"):
        explain([Group("a", [1.0], 0.0, 1.0)], tolerance=1.0)


# -- against independent programs --------------------------------------------------------------------------------------


@st.composite
def problems(draw):
    """Small whole numbers: many ties, parallel and repeated rows, equations, ends that touch."""
    n = draw(st.integers(1, 4))
    entry, end = st.integers(-3, 3), st.integers(-4, 4)
    groups = []
    for k in range(draw(st.integers(1, 7))):
        rows = draw(st.integers(1, 3))
        A = np.array(draw(st.lists(st.lists(entry, min_size=n, max_size=n), min_size=rows, max_size=rows)), dtype=float)
        low = np.array(draw(st.lists(end, min_size=rows, max_size=rows)), dtype=float)
        high = low + np.array(draw(st.lists(st.integers(0, 3), min_size=rows, max_size=rows)))
        side = np.array(draw(st.lists(st.integers(0, 2), min_size=rows, max_size=rows)))
        low[side == 1], high[side == 2] = -INF, INF
        weight = draw(st.sampled_from([0.5, 1.0, 3.0]))
        groups.append(Group(f"g{k}", A, low, high, weight=weight, may_relax=draw(st.integers(0, 4)) > 0))
    return groups


@settings(max_examples=60, deadline=None, derandomize=True)
@given(problems())
def test_small_problems_agree_with_programs_over_all_subsets(groups) -> None:
    require_true(groups, explain(groups))


@pytest.mark.parametrize("seed", range(6))
def test_tight_problems_with_many_conflicts(seed: int) -> None:
    """Rows of the base take part: several conflicts overlap."""
    groups, _ = planted(np.random.default_rng(seed), 12, 3, 4, 4, reach=0.05)
    require_true(groups, explain(groups))


def test_a_mass_that_is_to_move_too_far() -> None:
    """A mass of 1 kg that is pushed with at most 1 N, from rest to rest: d ≤ T² / 4 in the limit of short steps."""
    count, dt, reach = 200, 0.01, 1.5
    place, speed, push = (np.arange(count) * 3 + k for k in range(3))

    def rows(*terms):
        size = len(terms[0][1])
        parts = [
            sparse.csr_array((np.full(size, f), (np.arange(size), at)), shape=(size, 3 * count)) for f, at in terms
        ]
        return sum(parts[1:], parts[0])

    groups = [
        Group("moves", rows((1.0, place[1:]), (-1.0, place[:-1]), (-dt, speed[:-1])), 0.0, 0.0, may_relax=False),
        Group("mass", rows((1.0, speed[1:]), (-1.0, speed[:-1]), (-dt, push[:-1])), 0.0, 0.0, may_relax=False),
        Group("push", rows((1.0, push)), -1.0, 1.0, unit="N"),
        Group("start", rows((1.0, [place[0], speed[0]])), 0.0, 0.0, may_relax=False),
        Group("rest", rows((1.0, speed[-1:])), 0.0, 0.0, may_relax=False),
        Group("goal", rows((1.0, place[-1:])), reach, reach, unit="m"),
    ]
    found = explain(groups)
    steps = count - 1
    farthest = dt**2 * (steps // 2) * (steps - steps // 2)  # half of the steps forwards, half back; one may be idle
    assert found.names == ("goal", "mass", "moves", "push", "rest", "start")
    goal, push_more = (found.conflict[k].alone.amount for k in (0, 3))
    assert goal == pytest.approx(reach - farthest, rel=1e-2)
    assert push_more == pytest.approx(reach / (reach - goal) - 1.0, rel=1e-6)  # what is reached grows with the push


def test_the_page_runs(capsys) -> None:
    """Blocks of docs/explain.md, in order; what they print is on the page."""
    page = (Path(__file__).parents[3] / "docs" / "explain.md").read_text(encoding="utf-8")
    known: dict = {}
    for block in re.findall(r"```python\n(.*?)```", page, re.DOTALL):
        exec(compile(block, "explain.md", "exec"), known)
    printed = capsys.readouterr().out
    promised = re.findall(r"^    (\S.*conflict.*)$", page, re.MULTILINE)
    assert len(promised) == 3
    assert all(line in printed.splitlines() for line in promised)


@pytest.mark.parametrize("tiny", [0.0, 1e-16, 1e-12, 1e-9, 1e-6])
@pytest.mark.parametrize("seed", range(4))
def test_tiny_right_sides_beside_large_ones_do_not_make_rounding_a_conflict(tiny, seed):
    """Forces that carry a weight: 100 N, with torques that are nothing but rounding."""
    rng = np.random.default_rng(seed)
    A, forces = rng.normal(size=(6, 12)), rng.uniform(10.0, 60.0, 12)
    A[2:] -= np.outer(A[2:] @ forces, forces) / (forces @ forces)
    right = A @ forces
    right[2:] = tiny * rng.normal(size=4)
    groups = [Group("carried", A, right, right), Group("pushes", np.eye(12), 0.0, np.inf)]
    assert explain(groups).feasible


def test_a_long_chain_of_equations_is_explained_by_the_interior_point() -> None:
    """A way of 100 in 600 steps of at most 0.01 each: what is missing is known in closed form."""
    steps = 600
    n = 2 * steps + 1  # places, then steps
    place, step = sparse.eye_array(n, format="csr")[: steps + 1], sparse.eye_array(n, format="csr")[steps + 1 :]
    groups = [
        Group("chain", place[1:] - place[:-1] - step, 0.0, 0.0, may_relax=False),
        Group("start", place[[0]], 0.0, 0.0),
        Group("goal", place[[steps]], 100.0, 100.0),
        Group("step", step, -0.01, 0.01),
        Group("room", place, -1000.0, 1000.0),
    ]
    found = explain(groups, tolerance=1e-5)
    assert not found.feasible
    needed = {member.name: member.alone for member in found.conflict}
    assert set(needed) == {"chain", "start", "goal", "step"}
    amounts = {name: item.amount for name, item in needed.items() if item is not None}
    assert amounts == pytest.approx({"start": 94.0, "goal": 94.0, "step": 100.0 / steps - 0.01}, rel=1e-3)
    assert [item.name for item in found.least or ()] == ["step"]
    assert explain([group for group in groups if group.name != "goal"], tolerance=1e-5).feasible
