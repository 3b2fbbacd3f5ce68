"""Between samples: torques by their control law, positions and speeds by their rates."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import surefoot as sf
from surefoot.errors import SurefootError
from surefoot.feasibility.limits import cubic_extremes, parabola_extremes
from surefoot.motion import Trajectory
from surefoot.robot import load


def _cart(rates: np.ndarray, control: str) -> Trajectory:
    """A cart pushed by a force whose rates at four nodes are given, integrated exactly."""
    robot, time = load("cartpole:50"), np.linspace(0.0, 1.5, len(rates))
    h = np.diff(time)
    tau = np.concatenate([[0.0], np.cumsum(0.5 * h * (rates[1:] + rates[:-1]))])
    q = np.tile(robot.home, (len(time), 1))
    named = {"tau": tau[:, None], "control": control}
    return Trajectory.of(robot, time, q, np.zeros((len(time), robot.nv)), **named, tau_rate=rates[:, None])


def test_an_overshoot_between_nodes_is_found() -> None:
    """49 N at the nodes, 59 N between them, against 50 N."""
    rates = np.array([98.0 * 2.0 - 80.0, 80.0, -80.0, -116.0])
    motion = _cart(rates, "integrated")
    assert motion.tau is not None
    np.testing.assert_allclose(motion.tau[:, 0], [0.0, 49.0, 49.0, 0.0], atol=1e-12)
    assert motion.sample(0.75).tau == pytest.approx(59.0)
    dense = motion.resample(np.linspace(0.0, 1.5, 3001))
    assert np.max(np.asarray(dense.tau)) == pytest.approx(59.0)
    item = sf.audit(motion, load("cartpole:50"), replay=False, collisions=False).item("joint_torque")
    assert (item.status, item.value) == ("failed", pytest.approx(59.0))
    assert item.worst_time == pytest.approx(0.75)
    for control in ("linear", "hold"):
        other = replace(motion, control=control, tau_rate=None)
        held = sf.audit(other, load("cartpole:50"), replay=False, collisions=False).item("joint_torque")
        assert (held.status, held.value) == ("passed", pytest.approx(49.0))
    assert replace(motion, control="hold", tau_rate=None).sample(0.49).tau == pytest.approx(0.0)


def test_a_speed_between_samples_is_found() -> None:
    """By accelerations at its ends, a speed that is 0.8 of its limit at the samples is 1.3 of it between them."""
    robot, h = load("panda"), 0.2
    limit, v, a = float(robot.limits.velocity[0]), np.zeros((6, robot.nv)), np.zeros((6, robot.nv))
    v[2:4, 0], a[2, 0], a[3, 0] = 0.8 * limit, 2.0 * limit / h, -2.0 * limit / h
    q = np.tile(robot.home, (6, 1))
    q[1:, 0] += np.cumsum(0.5 * h * (v[1:, 0] + v[:-1, 0]) + h * h * (a[:-1, 0] - a[1:, 0]) / 12.0)
    time = h * np.arange(6)
    item = sf.audit(Trajectory.of(robot, time, q, v, a=a), robot, replay=False, collisions=False).item("joint_velocity")
    assert (item.status, item.value) == ("failed", pytest.approx(1.3 * limit))
    assert item.worst_time == pytest.approx(0.5)
    slow = sf.audit(Trajectory.of(robot, time, q, v), robot, replay=False, collisions=False).item("joint_velocity")
    assert slow.status == "passed"  # without accelerations nothing is known there


def test_control_laws_are_kept(tmp_path) -> None:
    motion = _cart(np.array([116.0, 80.0, -80.0, -116.0]), "integrated")
    for suffix in ("npz", "parquet"):
        motion.save(tmp_path / f"m.{suffix}")
        again = Trajectory.load(tmp_path / f"m.{suffix}")
        assert again.control == "integrated"
        np.testing.assert_array_equal(again.tau_rate, motion.tau_rate)
    assert motion.time_scaled(2.0).control == "linear"
    with pytest.raises(SurefootError, match="tau_rate"):
        replace(motion, tau_rate=None)
    with pytest.raises(SurefootError, match="control law"):
        replace(motion, control="spline")


def test_extremes_against_dense_sampling() -> None:
    rng = np.random.default_rng(1)
    time = np.cumsum(rng.uniform(0.1, 0.3, 30))
    value, rate = rng.normal(size=(30, 4)), 3.0 * rng.normal(size=(30, 4))
    s = np.linspace(0.0, 1.0, 20001)[:, None, None]
    h = np.diff(time)[:, None]
    y0, y1, m0, m1 = value[:-1], value[1:], h * rate[:-1], h * rate[1:]
    a, b = (1 + 2 * s) * (1 - s) ** 2 * y0 + s * (1 - s) ** 2 * m0, s * s * (3 - 2 * s) * y1 + s * s * (s - 1) * m1
    cubic, middle = a + b, 0.5 * (y0 + y1)
    found = cubic_extremes(time, value, rate)
    high, low = cubic.max(axis=0), cubic.min(axis=0)
    wanted = np.where(high - middle > middle - low, high, low)
    outside = (wanted > np.maximum(y0, y1) + 1e-9) | (wanted < np.minimum(y0, y1) - 1e-9)
    np.testing.assert_array_equal(np.isfinite(found), outside)
    np.testing.assert_allclose(found[outside], wanted[outside], atol=1e-7)
    parabola = y0 + h * s * (rate[:-1] + 0.5 * s * (rate[1:] - rate[:-1]))
    top = parabola_extremes(time, value, rate)
    turns = rate[:-1] * rate[1:] < 0.0
    ends = np.where(rate[:-1] > 0.0, parabola.max(axis=0), parabola.min(axis=0))
    np.testing.assert_array_equal(np.isfinite(top), turns)
    np.testing.assert_allclose(top[turns], ends[turns], atol=1e-7)


def test_a_joint_that_swings_through_its_limit_between_samples() -> None:
    robot = load("arm4")
    upper = float(robot.limits.upper[0])
    t = np.array([0.0, 0.1, 0.2])
    q, v = np.tile(robot.home, (3, 1)), np.zeros((3, robot.nv))
    q[:, 0], v[:, 0] = upper - 0.01, (1.0, -1.0, 1.0)
    item = sf.audit(Trajectory.of(robot, t, q, v), robot, replay=False, collisions=False).item("joint_position")
    assert item.status == "failed"
    assert item.value == pytest.approx(upper - 0.01 + 0.025)  # h/4 above two equal ends with slopes ±1
