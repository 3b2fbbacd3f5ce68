"""Paths made calm: the same ends, no corner, nothing too fast."""

from __future__ import annotations

import numpy as np
import pinocchio as pin

import surefoot as sf
from surefoot.scenario.motions.reach import calm


def corner(n: int = 200) -> np.ndarray:
    """A joint that begins and ends at once, with a fast stretch in the middle."""
    q = np.zeros((n, 4))
    q[50:80, 0] = np.linspace(0.0, 1.5, 30)
    q[80:, 0] = 1.5
    q[20:180, 2] = np.linspace(0.0, 0.3, 160)
    q[180:, 2] = 0.3
    return q


def test_the_ends_stay_and_the_motion_is_slow() -> None:
    robot, dt = sf.load("arm4"), 0.01
    found = calm(robot, dt, corner(), 0.5)
    np.testing.assert_allclose(found.q[0], corner()[0], atol=1e-9)
    np.testing.assert_allclose(found.q[-1], corner()[-1], atol=1e-3)
    assert found.v is not None
    assert np.abs(found.v).max() <= 0.5 * 1.05
    assert np.abs(found.v[[0, -1]]).max() < 1e-6
    assert np.abs(np.diff(found.v, axis=0)).max() / dt < 10.0  # the path itself jumps to 5 rad/s
    assert found.duration > 199 * dt


def test_velocities_are_those_of_the_postures() -> None:
    robot, dt = sf.load("g1"), 0.01
    start, end = np.array(robot.home), pin.integrate(robot.model, robot.home, 0.2 * np.ones(robot.nv))
    way = pin.difference(robot.model, start, end)
    shares = np.clip(np.linspace(-0.3, 1.3, 160), 0.0, 1.0)
    found = calm(robot, dt, np.array([pin.integrate(robot.model, start, s * way) for s in shares]), 0.1)
    assert found.v is not None
    for k in range(5, len(found) - 5, 17):
        slope = pin.difference(robot.model, found.q[k - 1], found.q[k + 1]) / (found.time[k + 1] - found.time[k - 1])
        np.testing.assert_allclose(found.v[k], slope, atol=2e-3)


def test_rest_stays_rest() -> None:
    robot = sf.load("arm4")
    found = calm(robot, 0.01, np.tile(robot.home, (50, 1)), 0.5)
    np.testing.assert_allclose(found.q, np.tile(robot.home, (len(found), 1)), atol=1e-12)
