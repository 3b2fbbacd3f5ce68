"""Shares of generators and forces in friction cones against scipy's active-set methods and linear programmes."""

from typing import NamedTuple

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import linprog, lsq_linear, nnls

from surefoot.contact import ConeForces, cone_search, cone_solver
from surefoot.contact.cone_solver import shares_for
from surefoot.errors import ShapeError

UP = np.array([0.0, 0.0, 1.0])


def everywhere(A):
    return np.ones((len(A), A.shape[2]), dtype=bool)


def spread(rng, n, rows=6, columns=12):
    return rng.normal(size=(n, rows, columns))


def cases():
    rng = np.random.default_rng(0)
    w, wide = rng.normal(size=(60, 6)), spread(rng, 60, columns=20)
    few = spread(rng, 60, columns=4)
    inner = rng.uniform(size=(60, 20)) * (rng.uniform(size=(60, 20)) < 0.2)
    flat = spread(rng, 60, columns=3) @ rng.uniform(size=(60, 3, 15))
    return {
        "some inside": (spread(rng, 60), w),
        "all inside": (spread(rng, 60, columns=40), w),
        "few": (few, w),
        "repeated": (np.concatenate([few, few, few + 1e-9 * rng.normal(size=few.shape)], axis=2), w),
        "opposite": (np.concatenate([few, -few], axis=2), w),
        "flat, outside": (flat, w),
        "flat, inside": (flat, (flat @ rng.uniform(size=(60, 15, 1)))[:, :, 0]),
        "on faces and edges": (wide, (wide @ inner[:, :, None])[:, :, 0]),
        "near faces and edges": (wide, (wide @ inner[:, :, None])[:, :, 0] + 1e-5 * w),
        "small": (1e-6 * wide, 1e3 * w),
        "large": (1e6 * wide, 1e-3 * w),
        "uneven": (wide * 10.0 ** rng.uniform(-2.0, 2.0, size=(60, 1, 20)), w),
        "no wish": (wide, 0.0 * w),
        "no generators": (np.zeros((60, 6, 0)), w),
        "zero generators": (np.zeros((60, 6, 3)), w),
    }


@pytest.mark.parametrize(("A", "w"), cases().values(), ids=cases())
def test_least_violation_is_that_of_the_active_set_method_and_is_proven(A, w):
    found = shares_for(A, everywhere(A), w, w)
    size = np.linalg.norm(w, axis=1)
    violation = np.linalg.norm(found.missing, axis=1)
    expected = [nnls(a, b)[1] if a.shape[1] else np.linalg.norm(b) for a, b in zip(A, w, strict=True)]
    assert_allclose(violation, expected, atol=1e-6 * (size.max() or 1.0))
    assert (found.shares >= 0.0).all()
    assert_allclose(found.missing, w - (A @ found.shares[:, :, None])[:, :, 0], atol=1e-9 * (size.max() or 1.0))
    assert (violation[found.attained] <= 1e-8 * size[found.attained]).all()
    short = ~found.attained
    assert (found.bound <= violation * (1.0 + 1e-9) + 1e-12 * size).all()
    assert_allclose(found.bound[short], violation[short], rtol=1e-4, atol=1e-7 * (size.max() or 1.0))


def test_of_all_shares_the_least_are_found():
    """Optimality of min |λ|²: λ = (Aᵀ y)₊ for a y that fits the active ones."""
    rng = np.random.default_rng(1)
    A = spread(rng, 40, columns=30)
    w = (A @ rng.uniform(size=(40, 30, 1)))[:, :, 0]
    found = shares_for(A, everywhere(A), w, w)
    assert found.attained.all()
    for a, shares_ in zip(A, found.shares, strict=True):
        on = shares_ > 1e-9
        y = np.linalg.lstsq(a[:, on].T, shares_[on], rcond=None)[0]
        assert_allclose(np.maximum(a.T @ y, 0.0), shares_, atol=1e-6)


def test_what_does_not_count_is_as_if_it_were_not_there():
    rng = np.random.default_rng(2)
    A, w = spread(rng, 50, columns=16), rng.normal(size=(50, 6))
    use = rng.uniform(size=(50, 16)) < 0.6
    use[3] = False
    found = shares_for(A, use, w, w)
    assert (found.shares[~use] == 0.0).all()
    for k in range(50):
        one = shares_for(A[k : k + 1][:, :, use[k]], np.ones((1, use[k].sum()), dtype=bool), w[k : k + 1], w[k : k + 1])
        assert_allclose(found.shares[k][use[k]], one.shares[0], atol=1e-6)
    assert_allclose(np.linalg.norm(found.missing[3]), np.linalg.norm(w[3]))


@pytest.mark.parametrize("width", [0.0, 0.05, 0.5, 5.0])
def test_boxes(width):
    """Equations on six rows, intervals on ten: feasibility by a linear programme, violation by least squares."""
    rng = np.random.default_rng(3)
    A, wanted = spread(rng, 40, rows=16, columns=24), rng.normal(size=(40, 16))
    box = width * np.r_[np.zeros(6), rng.uniform(size=10)]
    lower, upper = wanted - box, wanted + 2.0 * box
    found = shares_for(A, everywhere(A), lower, upper)
    for k in range(40):
        feasible = linprog(
            np.ones(24), A_ub=np.vstack([A[k], -A[k]]), b_ub=np.r_[upper[k], -lower[k]] + 1e-9
        ).status == 0  # fmt: skip
        assert found.attained[k] == feasible
        columns = np.hstack([A[k], -np.eye(16)])
        bounds = np.r_[np.zeros(24), lower[k] - 1e-12], np.r_[np.full(24, np.inf), upper[k] + 1e-12]
        best = lsq_linear(columns, np.zeros(16), bounds, method="bvls", tol=1e-14)
        violation = np.linalg.norm(found.missing[k])
        assert_allclose(violation, np.sqrt(2.0 * best.cost), atol=1e-5)
        assert_allclose(found.bound[k], violation if not feasible else 0.0, atol=1e-5)
    assert 0 < found.attained.sum() < 40


def test_one_sided_boxes():
    A, low, high = np.array([[[1.0, 2.0]]]), np.array([[3.0]]), np.array([[np.inf]])
    found = shares_for(A, everywhere(A), low, high)
    assert_allclose(found.shares @ A[0].T, [[3.0]], rtol=1e-6)
    found = shares_for(A, everywhere(A), np.array([[-np.inf]]), np.array([[-2.0]]))
    assert_allclose(found.missing, [[-2.0]])
    assert_allclose(found.bound, [2.0])


def test_the_slow_way_gives_the_same(monkeypatch):
    """With a search that decides nothing, each sample is solved on its own."""
    rng = np.random.default_rng(4)
    A, w = spread(rng, 20), rng.normal(size=(20, 6))
    fast = shares_for(A, everywhere(A), w, w)
    monkeypatch.setattr(cone_solver, "_STEPS", 0)
    monkeypatch.setattr(cone_solver, "_SOFTNESS", np.full(1, 1e-5))
    slow = shares_for(A, everywhere(A), w, w)
    assert_allclose(*(np.linalg.norm(x.missing, axis=1) for x in (fast, slow)), atol=1e-8)
    assert (fast.attained == slow.attained).all()
    assert_allclose(fast.bound, slow.bound, atol=1e-5)


def test_the_compiled_search_does_what_its_text_says():
    rng = np.random.default_rng(5)
    n, rows, columns = 3, 6, 9
    A, w = spread(rng, n, columns=columns), rng.normal(size=(n, rows))
    found = cone_solver._searched(A, everywhere(A), w, w, np.abs(w).max(axis=1), 1.0)
    sizes = (rows, rows, rows, columns, rows, rows * rows, rows * columns, rows, columns, columns)
    out = np.zeros(n * columns), np.zeros(n * rows), np.zeros(n), np.zeros(n, dtype=np.int64)
    cone_search.find_shares(
        A.ravel(), np.ones(n * columns, dtype=np.int64), n, rows, columns, w.ravel(), w.ravel(), w.ravel(),
        np.ones(rows), np.abs(w).max(axis=1), *(np.zeros(size) for size in sizes), cone_solver._SOFTNESS,
        len(cone_solver._SOFTNESS), cone_solver._ATTAINED, cone_solver._STEPS, cone_solver._LARGEST, *out,
    )  # fmt: skip
    assert_allclose(out[0].reshape(n, columns), found.shares, atol=1e-8)
    assert (out[3] == found.state).all()


def test_order_and_repetition_change_nothing():
    """Each sample begins where the one before ended: that must not be seen in the result."""
    rng = np.random.default_rng(6)
    A, w = spread(rng, 80), rng.normal(size=(80, 6))
    order = rng.permutation(80)
    one, other = shares_for(A, everywhere(A), w, w), shares_for(A[order], everywhere(A), w[order], w[order])
    assert_allclose(one.shares[order], other.shares, atol=1e-6)
    again = shares_for(A, everywhere(A), w, w)
    assert (again.shares == one.shares).all()


class Problem(NamedTuple):
    lift: np.ndarray
    load: np.ndarray
    friction: np.ndarray
    up: np.ndarray
    softness: np.ndarray

    @property
    def cones(self):
        return ConeForces(self.friction, self.up, self.softness)

    def solve(self):
        return self.cones.solve(self.lift, self.load)

    def cost(self, force):
        rest = self.lift @ force - self.load
        return 0.5 * force @ force + 0.5 * rest @ np.linalg.solve(self.softness, rest)


def problem(seed, corners=6, rows=6, friction=0.7, up=UP):
    rng = np.random.default_rng(seed)
    root = rng.standard_normal((rows, rows))
    return Problem(
        rng.standard_normal((rows, 3 * corners)),
        10.0 * rng.standard_normal(rows),
        np.full(corners, friction),
        up / np.linalg.norm(up),
        0.01 * (root @ root.T + np.eye(rows)),
    )


def by_nnls(item, rays=48):
    """The same least squares over many rays of each cone: inside the cone, nearly all of it."""
    side = np.linalg.svd(item.up[None])[2][1:]
    angles = 2.0 * np.pi * np.arange(rays) / rays
    ring = np.column_stack([np.cos(angles), np.sin(angles)]) @ side
    parts = [item.up + mu * ring for mu in item.friction]
    R = np.zeros((item.lift.shape[1], rays * len(parts)))
    for k, part in enumerate(parts):
        R[3 * k : 3 * k + 3, rays * k : rays * (k + 1)] = part.T
    half = np.linalg.inv(np.linalg.cholesky(item.softness))
    A = np.vstack([half @ item.lift @ R, R])
    weights, _ = nnls(A, np.concatenate([half @ item.load, np.zeros(len(R))]), maxiter=10000)
    return R @ weights


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize(("friction", "up"), [(0.7, UP), (0.2, np.array([0.3, -0.2, 1.0])), (2.0, UP)])
def test_no_forces_in_the_cones_are_better(seed, friction, up):
    item = problem(seed, friction=friction, up=up)
    force, rival = item.solve(), by_nnls(item)
    assert item.cones.holds(force)
    assert item.cost(force) <= item.cost(rival) * (1.0 + 1e-9)
    assert item.cost(force) >= item.cost(rival) * (1.0 - 0.02)
    assert np.linalg.norm(force - rival) <= 0.1 * np.linalg.norm(force)


@pytest.mark.parametrize("seed", [83, 177, 278])
def test_hard_loads_are_solved_to_optimality(seed):
    """Nearly exact loads, narrow cones: A f − b + S ν = 0 and f = P(Aᵀ ν), by Moreau's conditions of P."""
    rng = np.random.default_rng(seed)
    item = problem(seed, rows=int(rng.integers(6, 11)), friction=0.2)
    item = item._replace(softness=1e-4 * item.softness)
    force = item.solve()
    wanted = (item.lift.T @ np.linalg.solve(item.softness, item.load - item.lift @ force)).reshape(-1, 3)
    rest, f = force.reshape(-1, 3) - wanted, force.reshape(-1, 3)  # P(w) − w is in the dual cone, normal to P(w)
    size = np.abs(wanted).max()
    assert item.cones.holds(force)
    assert np.abs(np.sum(rest * f, axis=1)).max() <= 1e-6 * size**2
    assert (0.2 * np.hypot(rest[:, 0], rest[:, 1]) <= rest[:, 2] + 1e-6 * size).all()


@pytest.mark.parametrize("seed", range(5))
def test_without_friction_it_is_nonnegative_least_squares(seed):
    item = problem(seed, friction=0.0)
    rival = by_nnls(item, rays=1)
    assert_allclose(item.solve(), rival, atol=1e-6 * np.abs(rival).max())


def test_wide_cones_leave_the_smallest_forces():
    item = problem(3, corners=2)
    free = item.lift.T @ np.linalg.solve(item.lift @ item.lift.T + item.softness, item.load)
    turned = item.lift * np.tile(np.sign(free.reshape(-1, 3) @ UP)[:, None], 3).ravel()  # so that all of them push
    item = item._replace(lift=turned, friction=np.full(2, 1e6))
    wanted = turned.T @ np.linalg.solve(turned @ turned.T + item.softness, item.load)
    assert_allclose(item.solve(), wanted, rtol=1e-6, atol=1e-9)


def test_a_load_that_only_pulls_gets_nothing():
    lift = np.hstack([np.eye(3)] * 3)
    item = Problem(lift, np.array([0.0, 0.0, -5.0]), np.full(3, 0.7), UP, 1e-6 * np.eye(3))
    assert_allclose(item.solve(), 0.0, atol=1e-9)


def test_solutions_before_change_nothing_but_the_way():
    item, other = problem(1), problem(2)
    cones = item.cones
    force = cones.solve(item.lift, item.load)
    again = cones.solve(item.lift, item.load)
    cones.solve(other.lift, 100.0 * other.load)
    later = cones.solve(item.lift, item.load)
    cones.reset()
    assert_allclose(again, force, rtol=1e-9, atol=1e-12)
    assert_allclose(later, force, rtol=1e-5, atol=1e-6)
    assert (cones.solve(item.lift, item.load) == force).all()


def test_forces_of_another_shape_are_refused():
    item = problem(1)
    with pytest.raises(ShapeError, match="must be"):
        item.cones.solve(item.lift[:, 1:], item.load)


def test_holds():
    cones = ConeForces([0.5], UP, np.eye(6))
    assert cones.holds(np.array([0.3, 0.4, 1.0]))
    assert not cones.holds(np.array([0.3, 0.41, 1.0]))
    assert not cones.holds(np.array([0.0, 0.0, -1.0]))
    assert cones.holds(np.zeros(3))


def test_the_compiled_forces_do_what_their_text_says():
    item, rows, columns = problem(4), 6, 18
    A, b = item.cones._whiten @ item.lift, item.cones._whiten @ item.load
    sizes = (rows, rows, columns, rows, rows * rows, rows * columns, rows, columns)
    y, force = np.zeros(rows), np.zeros(columns)
    cone_search.find_forces(
        A.ravel(), np.ones(columns, dtype=np.int64), rows, columns, b, item.friction, np.tile(UP, 6),
        *(np.zeros(size) for size in sizes), 1e-9 * np.abs(b).max(), 200, y, force,
    )  # fmt: skip
    assert_allclose(force, item.solve(), rtol=1e-6, atol=1e-8)
