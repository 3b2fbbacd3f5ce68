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
        sample = motion.sample(float(t))
        for name in ("q", "v", "a", "tau"):
            np.testing.assert_array_equal(getattr(sample, name), getattr(motion, name)[k])
        np.testing.assert_array_equal(sample.references["com"], motion.references["com"][k])
    t = 0.25 * motion.time[2] + 0.75 * motion.time[3]
    np.testing.assert_allclose(motion.sample(t).v, 0.25 * motion.v[2] + 0.75 * motion.v[3])
    assert pin.isNormalized(robot.model, motion.sample(t).q, 1e-12)
    assert motion.sample(t).state.t == t


def test_without_velocities_a_sample_is_geodesic_and_no_state():
    robot, whole = walker(), a_trajectory()
    motion = Trajectory.of(robot, whole.time, whole.q)
    t = 0.5 * (motion.time[0] + motion.time[1])
    sample = motion.sample(t)
    assert distance(robot, pin.interpolate(robot.model, whole.q[0], whole.q[1], 0.5), sample.q) < 1e-12
    with pytest.raises(NotSupportedError):
        _ = sample.state


def test_resampling_at_its_own_times_changes_nothing():
    motion = a_trajectory()
    same = motion.resample(times=motion.time)
    for name in ("time", "q", "v", "a", "tau"):
        np.testing.assert_array_equal(getattr(same, name), getattr(motion, name))
    fine = motion.resample(dt=0.3)
    np.testing.assert_allclose(fine.time, [0.0, 0.3, 0.6, 0.9, 1.0])
    assert len(motion.resample(dt=0.1)) == 11
    assert motion.resample(dt=0.1).end == 1.0
    for wrong in ({}, {"times": [0.5], "dt": 0.1}, {"times": [2.0]}, {"dt": 0.0}, {"times": [0.5, 0.4]}):
        with pytest.raises(ShapeError):
            motion.resample(**wrong)


def test_concatenation_meets_and_goes_on_in_time():
    robot, motion = walker(), a_trajectory()
    whole = motion.resample(times=motion.time[:5]).concatenate(motion.resample(times=motion.time[4:]))
    for name in ("time", "q", "v", "a", "tau"):
        np.testing.assert_allclose(getattr(whole, name), getattr(motion, name), atol=1e-15)
    np.testing.assert_array_equal(whole.wrenches["left_foot"], motion.wrenches["left_foot"])
    with pytest.raises(ShapeError, match="does not begin where"):
        motion.concatenate(motion)
    twice = motion.concatenate(motion, tolerance=None)
    assert twice.duration == pytest.approx(2.0 * motion.duration)
    assert twice.schedule.end == pytest.approx(2.0)
    bare = Trajectory.of(robot, motion.time, motion.q)
    with pytest.raises(ShapeError, match="only one"):
        motion.concatenate(bare, tolerance=None)


def test_time_scaling_keeps_the_path_and_scales_the_rates():
    robot, motion = walker(), a_trajectory()
    slow = motion.time_scaled(2.0)
    for t in (0.1, 0.35, 0.8):
        assert distance(robot, motion.sample(t).q, slow.sample(2.0 * t).q) < 1e-12
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
        motion.require(every_kind())


@pytest.mark.parametrize("suffix", [".npz", ".parquet"])
def test_a_saved_trajectory_can_be_sampled_without_its_robot(tmp_path, suffix):
    motion = a_trajectory(every_kind())
    motion.save(tmp_path / f"motion{suffix}")
    back = Trajectory.load(tmp_path / f"motion{suffix}")
    for t in np.linspace(motion.start, motion.end, 7):
        np.testing.assert_array_equal(back.sample(float(t)).q, motion.sample(float(t)).q)


def test_the_manifold_of_the_kinds_is_that_of_the_robot():
    from surefoot.motion.manifold import joint_kinds, manifold

    for robot in (every_kind(), walker()):
        model = manifold(joint_kinds(robot))
        q, v = random_states(robot, 5, 3)
        assert (model.nq, model.nv) == (robot.nq, robot.nv)
        for k in range(5):
            np.testing.assert_allclose(
                pin.integrate(model, q[k], v[k]), pin.integrate(robot.model, q[k], v[k]), atol=1e-14
            )
            np.testing.assert_allclose(
                pin.difference(model, q[k], q[k - 1]), pin.difference(robot.model, q[k], q[k - 1]), atol=1e-14
            )
