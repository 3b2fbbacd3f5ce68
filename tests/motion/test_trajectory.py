"""Trajectories: samples are exact, operations keep what they promise."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest

from surefoot.errors import NotSupportedError, ShapeError
from surefoot.motion import ContactSchedule, Spot, Stance, Trajectory
from tests.motion.examples import distance, every_kind, random_states, walker


def a_trajectory(robot=None, n: int = 8, seed: int = 0, **others) -> Trajectory:
    robot = robot or walker()
    rng = np.random.default_rng(seed)
    q, v = random_states(robot, n, seed)
    names = list(robot.contacts) or ["tip"]
    schedule = ContactSchedule.of([Stance({names[0]: Spot(np.eye(4))}), Stance()], [0.0, 0.3, 1.0])
    fields = {
        "a": rng.normal(size=(n, robot.nv)),
        "tau": rng.normal(size=(n, robot.nu)),
        "wrenches": {name: rng.normal(size=(n, 6)) for name in names},
        "references": {"com": rng.normal(size=(n, 3))},
        "schedule": schedule,
    }
    return Trajectory.of(robot, np.linspace(0.0, 1.0, n) ** 1.3, q, v, **{**fields, **others})


def test_samples_at_the_knots_are_exact_and_between_them_linear():
    robot, motion = walker(), a_trajectory()
    for k, t in enumerate(motion.time):
        sample = motion.sample(robot, float(t))
        for name in ("q", "v", "a", "tau"):
            np.testing.assert_array_equal(getattr(sample, name), getattr(motion, name)[k])
        np.testing.assert_array_equal(sample.references["com"], motion.references["com"][k])
    t = 0.25 * motion.time[2] + 0.75 * motion.time[3]
    np.testing.assert_allclose(motion.sample(robot, t).v, 0.25 * motion.v[2] + 0.75 * motion.v[3])
    assert pin.isNormalized(robot.model, motion.sample(robot, t).q, 1e-12)
    assert motion.sample(robot, t).state.t == t


def test_without_velocities_a_sample_is_geodesic_and_no_state():
    robot, whole = walker(), a_trajectory()
    motion = Trajectory.of(robot, whole.time, whole.q)
    t = 0.5 * (motion.time[0] + motion.time[1])
    sample = motion.sample(robot, t)
    assert distance(robot, pin.interpolate(robot.model, whole.q[0], whole.q[1], 0.5), sample.q) < 1e-12
    with pytest.raises(NotSupportedError):
        _ = sample.state


def test_resampling_at_its_own_times_changes_nothing():
    robot, motion = walker(), a_trajectory()
    same = motion.resample(robot, times=motion.time)
    for name in ("time", "q", "v", "a", "tau"):
        np.testing.assert_array_equal(getattr(same, name), getattr(motion, name))
    fine = motion.resample(robot, dt=0.3)
    np.testing.assert_allclose(fine.time, [0.0, 0.3, 0.6, 0.9, 1.0])
    assert len(motion.resample(robot, dt=0.1)) == 11
    assert motion.resample(robot, dt=0.1).end == 1.0
    for wrong in ({}, {"times": [0.5], "dt": 0.1}, {"times": [2.0]}, {"dt": 0.0}, {"times": [0.5, 0.4]}):
        with pytest.raises(ShapeError):
            motion.resample(robot, **wrong)


def test_concatenation_meets_and_goes_on_in_time():
    robot, motion = walker(), a_trajectory()
    whole = motion.resample(robot, times=motion.time[:5]).concatenate(
        robot, motion.resample(robot, times=motion.time[4:])
    )
    for name in ("time", "q", "v", "a", "tau"):
        np.testing.assert_allclose(getattr(whole, name), getattr(motion, name), atol=1e-15)
    np.testing.assert_array_equal(whole.wrenches["left_foot"], motion.wrenches["left_foot"])
    with pytest.raises(ShapeError, match="does not begin where"):
        motion.concatenate(robot, motion)
    twice = motion.concatenate(robot, motion, tolerance=None)
    assert twice.duration == pytest.approx(2.0 * motion.duration)
    assert twice.schedule.end == pytest.approx(2.0)
    bare = Trajectory.of(robot, motion.time, motion.q)
    with pytest.raises(ShapeError, match="only one"):
        motion.concatenate(robot, bare, tolerance=None)


def test_time_scaling_keeps_the_path_and_scales_the_rates():
    robot, motion = walker(), a_trajectory()
    slow = motion.time_scaled(2.0)
    for t in (0.1, 0.35, 0.8):
        assert distance(robot, motion.sample(robot, t).q, slow.sample(robot, 2.0 * t).q) < 1e-12
    np.testing.assert_allclose(slow.v, motion.v / 2.0)
    np.testing.assert_allclose(slow.a, motion.a / 4.0)
    assert slow.tau is None
    assert not slow.wrenches
    assert slow.schedule.switches == pytest.approx([0.6])
    assert motion.time_scaled(1.0).tau is motion.tau


def test_wrong_trajectories_are_refused():
    robot, motion = walker(), a_trajectory()
    bent = np.array(motion.q)
    bent[2, 3:7] *= 1.01
    for q, v, others in [
        (bent, None, {}),
        (motion.q[:-1], None, {}),
        (motion.q, motion.v[:, :-1], {}),
        (motion.q, motion.v, {"tau": np.zeros((8, 3))}),
        (motion.q, motion.v, {"a": np.zeros((8, 3))}),
        (motion.q, motion.v, {"wrenches": {"left_foot": np.zeros((8, 3))}}),
        (motion.q, motion.v, {"references": {"x": np.full((8, 3), np.nan)}}),
    ]:
        with pytest.raises(ShapeError):
            Trajectory.of(robot, motion.time, q, v, **others)
    with pytest.raises(ShapeError, match="does not fit robot"):
        motion.sample(every_kind(), 0.1)
