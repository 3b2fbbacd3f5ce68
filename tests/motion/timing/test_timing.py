"""Time parametrisation against closed forms, a linear program and a dense check of all limits."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest
from scipy.optimize import linprog

import surefoot as sf
from surefoot.errors import NotSupportedError, ShapeError
from surefoot.motion.timing import Path, PathLimits, path_through, spline_curve, time_path


@pytest.fixture(scope="module")
def arm() -> sf.Robot:
    return sf.load("arm4")


@pytest.fixture(scope="module")
def hexapod() -> sf.Robot:
    return sf.load("hexapod")


def wander(robot: sf.Robot, seed: int, count: int = 5, step: float = 0.4) -> np.ndarray:
    rng = np.random.default_rng(seed)
    rows = [np.array(robot.home)]
    for _ in range(count - 1):
        rows.append(pin.integrate(robot.model, rows[-1], step * rng.standard_normal(robot.nv)))
    return np.array(rows)


@pytest.mark.parametrize(("way", "v", "a"), [(1.0, 10.0, 4.0), (1.0, 0.5, 4.0), (0.02, 1.0, 9.0)])
def test_straight_line_is_bang_bang(arm: sf.Robot, way: float, v: float, a: float) -> None:
    """From rest to rest: 2 √(d/a) without, d/v + v/a with a phase at full speed."""
    q = np.zeros((2, 4))
    q[1, 2] = way
    timing = time_path(path_through(arm, q), PathLimits(velocity=v, acceleration=a))
    expected = 2.0 * np.sqrt(way / a) if way < v * v / a else way / v + v / a
    assert timing.success
    assert timing.duration == pytest.approx(expected, rel=2e-3)
    assert timing.duration >= expected * (1.0 - 1e-9)


def test_profile_is_that_of_a_linear_program(arm: sf.Robot) -> None:
    """The fastest profile has nearly the largest Σ x of all that keep the same rows; solved by HiGHS."""
    path = path_through(arm, wander(arm, 1))
    v, a = np.array([1.0, 2.0, 1.5, 3.0]), np.array([4.0, 3.0, 8.0, 5.0])
    timing = time_path(path, PathLimits(v, a), intervals=60)
    s = timing.s
    n = len(s)
    rows, limits = [], []
    for k in range(n - 1):
        half = 0.5 / (s[k + 1] - s[k])
        ends = (path.at(s[[k]]), path.at(s[[k + 1]], before=True))
        for end, point in enumerate(ends):
            row = np.zeros((4, n))
            row[:, k] -= half * point.first[0]
            row[:, k + 1] += half * point.first[0]
            row[:, k + end] += point.second[0]
            rows += [row, -row]
            limits += [a, a]
    ceiling = ((v / np.abs(path.at(s).first)) ** 2).min(axis=1)
    bounds = [(0.0, c) for c in ceiling]
    bounds[0] = bounds[-1] = (0.0, 0.0)
    best = linprog(-np.ones(n), np.vstack(rows), np.concatenate(limits), bounds=bounds, method="highs")
    assert best.success
    x = timing.speed**2
    assert (np.vstack(rows) @ x - np.concatenate(limits)).max() < 1e-9
    assert (x <= ceiling + 1e-9).all()
    assert x.sum() == pytest.approx(best.x.sum(), rel=1e-4)


@pytest.mark.parametrize("seed", [0, 1, 2])
@pytest.mark.parametrize("deviation", [None, 0.02])
def test_limits_hold_everywhere_and_one_of_them_binds(hexapod: sf.Robot, seed: int, deviation: float | None) -> None:
    path = path_through(hexapod, wander(hexapod, seed), deviation)
    v, a = np.linspace(1.0, 4.0, 24), np.linspace(20.0, 5.0, 24)
    timing = time_path(path, PathLimits(v, a))
    t = np.linspace(0.0, timing.duration, 4001)
    s, speed, u = timing.at(t)
    point = path.at(s)
    rates = np.abs(point.first * speed[:, None]) / v
    accelerations = np.abs(point.first * u[:, None] + point.second * speed[:, None] ** 2) / a
    assert rates.max() <= 1.002
    assert np.quantile(accelerations.max(axis=1), 0.99) <= 1.02
    binds = np.maximum(rates.max(axis=1), accelerations.max(axis=1))
    assert np.quantile(binds, 0.05) > 0.95


def test_trajectory_is_consistent_on_the_manifold(hexapod: sf.Robot) -> None:
    rows = wander(hexapod, 5)
    path = path_through(hexapod, rows)
    timing = time_path(path, PathLimits(3.0, 10.0))
    motion = timing.trajectory(dt=0.001)
    ends = [pin.difference(hexapod.model, motion.q[k], rows[k]) for k in (0, -1)]
    assert np.abs(ends).max() < 1e-9
    steps = np.array([pin.difference(hexapod.model, a, b) for a, b in zip(motion.q[:-2], motion.q[2:], strict=True)])
    assert motion.v is not None
    assert motion.a is not None
    np.testing.assert_allclose(steps[:-1] / 0.002, motion.v[1:-2], atol=0.01)
    error = np.abs((motion.v[2:-1] - motion.v[:-3]) / 0.002 - motion.a[1:-2]).max(axis=1)
    assert np.median(error) < 1e-3
    for k, place in enumerate(path.curve.breaks):
        assert np.abs(pin.difference(hexapod.model, path.configurations([place])[0], rows[k])).max() < 1e-9


def test_own_chart_gives_the_derivatives_of_its_lift(arm: sf.Robot) -> None:
    curve = spline_curve(np.random.default_rng(0).uniform(-1.0, 1.0, (4, 2)))

    def lift(x: np.ndarray) -> np.ndarray:
        return np.stack([np.sin(x[:, 0]), x[:, 1] ** 2, x[:, 0] * x[:, 1], x[:, 0]], axis=1)

    s = np.linspace(curve.breaks[0], curve.breaks[-1], 7)
    (x, y), (dx, dy), (ddx, ddy) = (part.T for part in curve.at(s))
    point = Path(arm, curve, lift).at(s)
    first = np.stack([np.cos(x) * dx, 2.0 * y * dy, dx * y + x * dy, dx], axis=1)
    second = np.stack(
        [np.cos(x) * ddx - np.sin(x) * dx**2, 2.0 * (dy**2 + y * ddy), ddx * y + 2.0 * dx * dy + x * ddy, ddx], axis=1
    )
    np.testing.assert_allclose(point.first, first, atol=1e-6)
    np.testing.assert_allclose(point.second, second, atol=2e-5)


def test_turns_beyond_half_a_revolution_are_followed() -> None:
    robot = sf.load("block")
    angles = np.linspace(0.0, 4.5, 8)
    rows = np.tile(robot.home, (8, 1))
    rows[:, 3:7] = np.stack([0 * angles, 0 * angles, np.sin(0.5 * angles), np.cos(0.5 * angles)], axis=1)
    path = path_through(robot, rows)
    np.testing.assert_allclose(path.at(np.linspace(0.0, path.end, 50)).first[:, 5], 1.0, atol=1e-6)
    long = np.linspace(0.0, 20.0, 30)
    rows = np.tile(robot.home, (30, 1))
    rows[:, 3:7] = np.stack([0 * long, 0 * long, np.sin(0.5 * long), np.cos(0.5 * long)], axis=1)
    with pytest.raises(ShapeError, match="one chart"):
        path_through(robot, rows)


def test_speeds_at_the_ends_and_what_is_refused(arm: sf.Robot) -> None:
    path = path_through(arm, wander(arm, 2))
    timing = time_path(path, PathLimits(2.0, 5.0), start_speed=0.3, end_speed=0.2)
    assert (timing.speed[0], timing.speed[-1]) == pytest.approx((0.3, 0.2))
    failed = time_path(path, PathLimits(2.0, 5.0), start_speed=50.0)
    assert not failed.success
    assert "start speed" in failed.cause
    assert not time_path(path, PathLimits(2.0, 5.0), end_speed=50.0).success
    with pytest.raises(NotSupportedError, match="no timing"):
        failed.trajectory()
    with pytest.raises(ShapeError, match="positive"):
        time_path(path, PathLimits(-1.0))
