"""Strict hierarchies: optima, priorities, bounds, warm starts, damping, errors."""

from __future__ import annotations

import numpy as np
import pytest

from surefoot.errors import NotSupportedError, ShapeError
from surefoot.solvers import HierarchySolver, Level
from surefoot.solvers.hierarchy import ActiveSetError, Limits, StackedHierarchy
from tests.solvers.hierarchy_oracle import (
    lexicographic,
    optimality_gaps,
    random_hierarchy,
    rough_hierarchy,
    violations,
)

TOLERANCE = 1e-9


def solved(hierarchy):
    return HierarchySolver().solve(*hierarchy)


def hierarchies(count: int):
    return (random_hierarchy(np.random.default_rng(seed)) for seed in range(count))


def test_lower_levels_change_nothing_above_them() -> None:
    """1000 hierarchies that conflict, repeat themselves and lack rank: violations with and without what is below."""
    for levels, low, high in hierarchies(1000):
        whole = solved((levels, low, high)).x
        for k in range(1, len(levels)):
            alone = solved((levels[:k], low, high)).x
            for level in levels[:k]:
                np.testing.assert_allclose(violations(level, whole), violations(level, alone), rtol=0.0, atol=TOLERANCE)


def test_every_level_is_optimal() -> None:
    """A proof for each of 1000: multipliers with the right signs exist, found by another method."""
    for hierarchy in hierarchies(1000):
        found = solved(hierarchy)
        assert max(optimality_gaps(hierarchy, found.x)) < TOLERANCE


@pytest.mark.parametrize("count", [150, pytest.param(1000, marks=pytest.mark.slow)])
def test_an_independent_solve_finds_the_same(count: int) -> None:
    for hierarchy in hierarchies(count):
        for mine, theirs in zip(solved(hierarchy).violations, lexicographic(hierarchy), strict=True):
            np.testing.assert_allclose(mine, theirs, rtol=0.0, atol=TOLERANCE)


def changes(level: Level, one, other):
    """How far violations of two solutions are apart, relative to the rows and to what is left of the level."""
    w = violations(level, other)
    scale = np.linalg.norm(level.A, axis=1) * max(1.0, np.linalg.norm(one), np.linalg.norm(other)) + np.abs(w).max()
    return np.abs(violations(level, one) - w) / np.where(scale > 0.0, scale, 1.0)


def test_rough_hierarchies_are_strict() -> None:
    """Rows of any length, zeros, repetitions, ends that bind by rounding: the search ends, at the same violations."""
    for seed in range(120):
        levels, low, high = rough_hierarchy(np.random.default_rng(seed))
        whole = solved((levels, low, high)).x
        assert (whole >= low).all()
        assert (whole <= high).all()
        for k in range(1, len(levels)):
            alone = solved((levels[:k], low, high)).x
            for level in levels[:k]:
                assert changes(level, whole, alone).max() < TOLERANCE


def test_searches_end_where_rows_are_nearly_parallel() -> None:
    """Where rows contradict others that are parallel but for 1e-9, x is huge or decided by rounding; bounds hold."""
    for seed in range(200):
        levels, low, high = rough_hierarchy(np.random.default_rng(seed), parallel=1e-9)
        x = solved((levels, low, high)).x
        assert np.isfinite(x).all()
        assert (x >= low).all()
        assert (x <= high).all()


def test_the_scale_of_rows_decides_nothing_where_they_can_be_fulfilled() -> None:
    """Rows times 1e-3 to 1e3 of levels without conflicts: the same solution."""
    rng = np.random.default_rng(8)
    for _ in range(100):
        x = rng.normal(size=12)
        matrices = [rng.normal(size=(4, 12)) for _ in range(3)]
        scales = [10.0 ** rng.uniform(-3.0, 3.0, size=(4, 1)) for _ in range(3)]
        found = [
            HierarchySolver().solve([Level(c * A, c[:, 0] * (A @ x) - c[:, 0], c[:, 0] * (A @ x)) for c, A in pairs]).x
            for pairs in (zip(scales, matrices, strict=True), ((np.ones((4, 1)), A) for A in matrices))
        ]
        np.testing.assert_allclose(*found, rtol=0.0, atol=1e-8)


def test_bounds_hold_exactly_and_violations_are_what_they_say() -> None:
    for hierarchy in hierarchies(300):
        levels, low, high = hierarchy
        found = solved(hierarchy)
        assert low is None or (found.x >= low).all()
        assert high is None or (found.x <= high).all()
        for level, w in zip(levels, found.violations, strict=True):
            np.testing.assert_allclose(w, violations(level, found.x), rtol=0.0, atol=1e-11)


def test_multipliers_are_stationary_and_push_into_the_allowed_side() -> None:
    for levels, low, high in hierarchies(200):
        found = solved((levels, low, high))
        A = np.vstack([np.asarray(level.A) for level in levels])
        scale = 1.0 + max(np.abs(mu).max(initial=0.0) for mu, _ in found.multipliers)
        for k, (mu, nu) in enumerate(found.multipliers):
            rest = A.T @ mu + nu + (found.x if k == len(levels) else 0.0)
            assert np.abs(rest).max() < 1e-9 * scale
        equal = np.concatenate([np.asarray(level.lower) == np.asarray(level.upper) for level in levels])
        first = first_multipliers([mu for mu, _ in found.multipliers], 1e-7 * scale)
        assert (first * np.concatenate(found.active) >= 0.0)[~equal].all()


def first_multipliers(levels: list, tiny: float):
    """For each row the multiplier of the first level that has one."""
    out = np.zeros(len(levels[0]))
    for mu in levels:
        out = np.where((out == 0.0) & (np.abs(mu) > tiny), mu, out)
    return out


def test_what_no_level_asks_for_is_least() -> None:
    rng = np.random.default_rng(0)
    A, b = rng.normal(size=(3, 8)), rng.normal(size=3)
    found = HierarchySolver().solve([Level(A, b, b)])
    np.testing.assert_allclose(found.x, np.linalg.pinv(A) @ b, atol=1e-13)
    assert found.ranks == (3,)


def test_weights_decide_inside_a_level_only() -> None:
    rows = [[1.0, 0.0], [1.0, 0.0]]
    mixed = HierarchySolver().solve([Level(rows, [0.0, 1.0], [0.0, 1.0], [1.0, 3.0])])
    assert mixed.x[0] == pytest.approx(0.75, abs=1e-14)
    strict = HierarchySolver().solve([Level(rows[:1], 0.0, 0.0, 1e-6), Level(rows[:1], 1.0, 1.0, 1e6)])
    assert strict.x[0] == pytest.approx(0.0, abs=1e-14)
    assert [c.tolist() for c in strict.conflicts()] == [[], [0]]


def test_a_second_solve_begins_with_what_bound() -> None:
    rng = np.random.default_rng(5)
    levels = [Level(rng.normal(size=(6, 20)), b := rng.normal(size=6), b), Level(np.eye(20), 1.0, 1.0)]
    solver = HierarchySolver()
    cold = solver.solve(levels, -0.5, 0.5)
    warm = solver.solve(levels, -0.5, 0.5)
    assert cold.passes > 1
    assert warm.passes == 1
    np.testing.assert_allclose(warm.x, cold.x, atol=1e-12)
    solver.forget()
    assert (solver.solve(levels, -0.5, 0.5).x == cold.x).all()


def test_a_stale_guess_does_no_harm() -> None:
    """One solver through 300 problems of one size, each unlike the last."""
    solver, rng = HierarchySolver(), np.random.default_rng(1)
    for _ in range(300):
        levels = []
        for rows in (3, 4, 3):
            lower = rng.normal(size=rows)
            levels.append(Level(rng.normal(size=(rows, 6)), lower, lower + np.maximum(rng.normal(size=rows), 0.0)))
        bound = rng.random(6)
        found = solver.solve(levels, -bound, bound)
        assert max(optimality_gaps((levels, -bound, bound), found.x)) < TOLERANCE


@pytest.mark.parametrize("pace", [1e-3, 0.1])
def test_a_warm_start_ends_where_a_cold_one_does(pace: float) -> None:
    """Rough hierarchies that change a little from solve to solve."""
    for seed in range(12):
        rng = np.random.default_rng(seed)
        levels, low, high = rough_hierarchy(rng)
        warm = HierarchySolver()
        for _ in range(12):
            moved = [Level(A * (1.0 + pace * rng.normal(size=A.shape)), *ends) for A, *ends in map(parts, levels)]
            x, cold = warm.solve(moved, low, high).x, HierarchySolver().solve(moved, low, high).x
            for level in moved:
                assert changes(level, x, cold).max() < TOLERANCE


def parts(level: Level):
    return np.asarray(level.A), level.lower, level.upper


def test_the_size_of_a_humanoid() -> None:
    rng = np.random.default_rng(2)
    for _ in range(20):
        levels = []
        for rows in (12, 15, 38):
            b = rng.normal(size=rows)
            levels.append(Level(rng.normal(size=(rows, 38)), b, b + (rng.random(rows) < 0.3) * rng.random(rows)))
        bound = 0.3 * rng.random(38)
        found = solved((levels, -bound, bound))
        assert max(optimality_gaps((levels, -bound, bound), found.x)) < TOLERANCE
        assert found.bounds_active.any()


# -- damping ----------------------------------------------------------------------------------------------------------


def weak_rows(sigma: float, rng: np.random.Generator):
    """(3, 6) with singular values 1, 0.5, sigma; the last left and right singular vector."""
    U, V = (np.linalg.qr(rng.normal(size=(k, k)))[0] for k in (3, 6))
    return U @ np.diag([1.0, 0.5, sigma]) @ V[:, :3].T, U[:, 2], V[:, 2]


@pytest.mark.parametrize("sigma", [0.2, 0.101, 0.099, 0.05, 1e-2, 1e-4, 1e-7])
def test_weak_directions_reach_their_share_and_no_more(sigma: float) -> None:
    A, left, right = weak_rows(sigma, np.random.default_rng(3))
    b = left + 0.3 * A @ np.ones(6)
    b_rest = b - left * (left @ b)
    found = HierarchySolver().solve([Level(A, b, b, damping=0.1), Level(np.eye(6), 1.0, 1.0)])
    assert found.damped == (sigma < 0.1)
    want = (left @ b) / sigma if sigma >= 0.1 else sigma / 0.1**2 * (left @ b)
    assert right @ found.x == pytest.approx(want, rel=1e-6, abs=1e-9)
    reached = A @ found.x
    np.testing.assert_allclose(reached - left * (left @ reached), b_rest, atol=1e-9)


def test_damped_levels_are_strict() -> None:
    """Near singularities, with bounds and inequalities: what is below changes nothing."""
    rng = np.random.default_rng(4)
    for _ in range(200):
        A = weak_rows(10.0 ** rng.uniform(-12, -0.5), rng)[0]
        b, c = rng.normal(size=3), rng.normal(size=4)
        above = [Level(A, b, b, damping=0.1)]
        below = [Level(rng.normal(size=(4, 6)), c, c + (c > 0.0), damping=0.1), Level(np.eye(6), 1.0, 1.0)]
        bound = 0.2 + rng.random(6)
        whole = HierarchySolver().solve(above + below, -bound, bound)
        alone = HierarchySolver().solve(above, -bound, bound)
        np.testing.assert_allclose(whole.violations[0], alone.violations[0], rtol=0.0, atol=TOLERANCE)
        assert (np.abs(whole.x) <= bound).all()


def test_there_are_no_multipliers_where_it_is_damped() -> None:
    A = weak_rows(1e-3, np.random.default_rng(0))[0]
    with pytest.raises(NotSupportedError):
        _ = HierarchySolver().solve([Level(A, 1.0, 1.0, damping=0.1)]).multipliers


# -- errors -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("levels", "bounds", "words"),
    [
        ([], {}, "at least one level"),
        ([Level(np.ones(3), 0, 0)], {}, "matrix"),
        ([Level(np.eye(3), 0, 0), Level(np.eye(2), 0, 0)], {}, "level 1"),
        ([Level([[1.0, np.nan]], 0, 0)], {}, "level 0 is not finite"),
        ([Level(np.eye(2), [0, 0, 0], 0)], {}, "`lower` of level 0"),
        ([Level(np.eye(2), 0, 0), Level(np.eye(2), [0, 2], 1)], {}, "level 1 exclude"),
        ([Level(np.eye(2), np.nan, 1)], {}, "exclude"),
        ([Level(np.eye(2), 0, 0, weight=[1, 0])], {}, "weights of level 0"),
        ([Level(np.eye(2), 0, 0, damping=-1.0)], {}, "damping of level 0"),
        ([Level(np.eye(2), 0, 0)], {"lower": [0, 1], "upper": [1, 0]}, "bounds on x"),
        ([Level(np.eye(2), 0, 0)], {"lower": [0, 1, 2]}, "lower bound on x"),
    ],
)
def test_wrong_input_is_refused(levels, bounds, words: str) -> None:
    with pytest.raises(ShapeError, match=words):
        HierarchySolver().solve(levels, **bounds)


def test_the_rows_that_are_wrong_are_named() -> None:
    with pytest.raises(ShapeError) as caught:
        HierarchySolver().solve([Level(np.eye(3), 0, 0)], lower=[0, 2, 3], upper=[1, 1, 1])
    assert caught.value.evidence["unknowns"] == [1, 2]
    with pytest.raises(ShapeError) as caught:
        HierarchySolver().solve([Level(np.eye(3), 0, 0), Level(np.eye(3), [0, 5, 0], 1)])
    assert caught.value.evidence["rows"] == [1]


def _hard_problem():
    rng = np.random.default_rng(5)
    n, rows = 20, 60
    A = rng.normal(size=(rows, n))
    return StackedHierarchy(
        A, np.r_[np.full(rows, -np.inf), np.full(n, -1.0)], np.r_[rng.normal(size=rows) - 1.0, np.full(n, 1.0)],
        (0, 30, rows), (0.0, 0.0),
    )  # fmt: skip


def test_limits_have_names_and_do_not_change_what_is_found():
    problem = _hard_problem()
    free = HierarchySolver().solve_stacked(problem)
    assert free.passes > 5
    for limits in (Limits(passes=free.passes), Limits(seconds=60.0), Limits(passes=10_000, seconds=60.0)):
        found = HierarchySolver(limits=limits).solve_stacked(problem)
        np.testing.assert_array_equal(found.x, free.x)
        assert found.passes == free.passes
    for limits, outcome in ((Limits(passes=free.passes - 1), "pass limit"), (Limits(seconds=0.0), "time limit")):
        with pytest.raises(ActiveSetError) as caught:
            HierarchySolver(limits=limits).solve_stacked(problem)
        assert caught.value.outcome == outcome


def test_broken_numbers_are_reported():
    problem = _hard_problem()
    problem.A[3, 4] = np.nan
    with pytest.raises(ActiveSetError, match="not finite") as caught:
        HierarchySolver.check_stacked(problem)
    assert caught.value.outcome == "not finite"
    problem = _hard_problem()
    problem.lower[-1] = 2.0
    with pytest.raises(ActiveSetError, match="crossed") as caught:
        HierarchySolver.check_stacked(problem)
    assert caught.value.outcome == "crossed bounds"
    HierarchySolver.check_stacked(_hard_problem())


def test_a_remembered_solution_saves_passes():
    problem, solver = _hard_problem(), HierarchySolver()
    found = solver.solve_stacked(problem)
    solver.forget()
    solver.remember(found)
    assert solver.solve_stacked(problem).passes < found.passes
