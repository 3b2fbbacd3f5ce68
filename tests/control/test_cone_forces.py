import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import nnls

from surefoot.control.cone_forces import ConeProblem, within_cones

UP = np.array([0.0, 0.0, 1.0])


def problem(seed, corners=6, rows=6, friction=0.7, up=UP, load=None):
    rng = np.random.default_rng(seed)
    root = rng.standard_normal((rows, rows))
    return ConeProblem(
        rng.standard_normal((rows, 3 * corners)),
        10.0 * rng.standard_normal(rows) if load is None else load,
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


def cost(item, force):
    rest = item.lift @ force - item.load
    return 0.5 * force @ force + 0.5 * rest @ np.linalg.solve(item.softness, rest)


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize(("friction", "up"), [(0.7, UP), (0.2, np.array([0.3, -0.2, 1.0])), (2.0, UP)])
def test_no_forces_in_the_cones_are_better(seed, friction, up):
    item = problem(seed, friction=friction, up=up)
    force, _ = item.solve()
    rival = by_nnls(item)
    assert within_cones(force, item.friction, item.up)
    assert cost(item, force) <= cost(item, rival) * (1.0 + 1e-9)
    assert cost(item, force) >= cost(item, rival) * (1.0 - 0.02)
    assert np.linalg.norm(force - rival) <= 0.1 * np.linalg.norm(force)


@pytest.mark.parametrize("seed", range(5))
def test_without_friction_it_is_nonnegative_least_squares(seed):
    item = problem(seed, friction=0.0)
    force, _ = item.solve()
    rival = by_nnls(item, rays=1)
    assert_allclose(force, rival, atol=1e-6 * np.abs(rival).max())


def test_wide_cones_leave_the_smallest_forces():
    item = problem(3, corners=2)
    free = item.lift.T @ np.linalg.solve(item.lift @ item.lift.T + item.softness, item.load)
    turned = item.lift * np.tile(np.sign(free.reshape(-1, 3) @ UP)[:, None], 3).ravel()  # so that all of them push
    item = item._replace(lift=turned, friction=np.full(2, 1e6))
    wanted = turned.T @ np.linalg.solve(turned @ turned.T + item.softness, item.load)
    assert_allclose(item.solve()[0], wanted, rtol=1e-6, atol=1e-9)


def test_a_load_that_only_pulls_gets_nothing():
    lift = np.hstack([np.eye(3)] * 3)
    item = ConeProblem(lift, np.array([0.0, 0.0, -5.0]), np.full(3, 0.7), UP, 1e-6 * np.eye(3))
    assert_allclose(item.solve()[0], 0.0, atol=1e-9)


def test_a_guess_changes_nothing_but_the_way():
    item = problem(1)
    force, multiplier = item.solve()
    again, same = item.solve(multiplier)
    other, _ = item.solve(np.full(6, 100.0))
    assert_allclose(again, force, rtol=1e-9, atol=1e-12)
    assert_allclose(same, multiplier)
    assert_allclose(other, force, rtol=1e-5, atol=1e-6)


def test_within_cones():
    friction = np.array([0.5])
    assert within_cones(np.array([0.3, 0.4, 1.0]), friction, UP)
    assert not within_cones(np.array([0.3, 0.41, 1.0]), friction, UP)
    assert not within_cones(np.array([0.0, 0.0, -1.0]), friction, UP)
    assert within_cones(np.zeros(3), friction, UP)
