"""Trajectories: samples are exact, operations keep what they promise."""

from __future__ import annotations

from dataclasses import replace

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
    motion = Trajectory.of(robot, whole.time, whole.q).as_given
    assert motion.v is None
    t = 0.5 * (motion.time[0] + motion.time[1])
    sample = motion.sample(t)
    assert distance(robot, pin.interpolate(robot.model, whole.q[0], whole.q[1], 0.5), sample.q) < 1e-12
    with pytest.raises(NotSupportedError):
        _ = sample.state


def test_velocities_are_computed_on_the_manifold(tmp_path):
    """A constant velocity from uneven steps, the base turning: integrated, differentiated, the same."""
    robot, rng = walker(), np.random.default_rng(3)
    v = rng.uniform(-1.0, 1.0, robot.nv)
    time = np.cumsum(rng.uniform(0.01, 0.03, 40))
    q = np.array([pin.integrate(robot.model, robot.home, v * t) for t in time])
    motion = Trajectory.of(robot, time, q)
    np.testing.assert_allclose(motion.v, np.tile(v, (40, 1)), atol=1e-9)
    assert motion.is_v_computed
    assert not Trajectory.of(robot, time, q, motion.v).is_v_computed
    motion.save(tmp_path / "m.npz")
    assert Trajectory.load(tmp_path / "m.npz").is_v_computed
    assert Trajectory.of(robot, time[:1], q[:1]).v.tolist() == [[0.0] * robot.nv]


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


def stepping(robot, start: float, end: float, times: list[float]) -> Trajectory:
    """A motion that stands on `left_foot`, then on `right_foot`, with a schedule at other times."""
    q, v = random_states(robot, 1)
    at = np.linspace(start, end, 5)
    schedule = ContactSchedule.of(
        [Stance({"left_foot": Spot(np.eye(4))}), Stance({"right_foot": Spot(np.eye(4))})], times
    )
    return Trajectory.of(robot, at, np.repeat(q, 5, axis=0), np.repeat(v, 5, axis=0), schedule=schedule)


def test_a_scaled_schedule_stays_with_its_trajectory():
    motion = stepping(walker(), 1.0, 2.0, [0.0, 1.5, 3.0])
    for factor in (0.5, 2.0):
        scaled = motion.time_scaled(factor)
        for t in (1.0, 1.4, 1.6, 2.0):
            assert scaled.schedule.at(1.0 + factor * (t - 1.0)).names == motion.schedule.at(t).names
    assert motion.time_scaled(2.0).schedule.switches == pytest.approx([2.0])
    single = motion.resample(times=[1.7])
    assert single.time_scaled(3.0).schedule.at(1.7).names == ("right_foot",)


def test_joined_schedules_stay_with_their_trajectories():
    robot = walker()
    first, second = stepping(robot, 0.0, 1.0, [-1.0, 0.5, 2.0]), stepping(robot, 5.0, 6.0, [4.0, 5.5, 9.0])
    both = first.concatenate(second)
    assert both.schedule.switches == pytest.approx([0.5, 1.0, 1.5])
    assert (both.schedule.start, both.schedule.end) == (0.0, 2.0)
    for t in (0.2, 0.7):
        assert both.schedule.at(t).names == first.schedule.at(t).names
        assert both.schedule.at(1.0 + t).names == second.schedule.at(5.0 + t).names
    one = first.resample(times=[1.0])
    assert one.concatenate(second).schedule.switches == pytest.approx([1.5])
    assert first.concatenate(second.resample(times=[5.0])).schedule.switches == pytest.approx([0.5])


def test_a_schedule_that_does_not_cover_the_trajectory_is_refused():
    for times in ([0.5, 0.6, 1.0], [0.0, 0.6, 0.9]):
        with pytest.raises(ShapeError, match="does not cover"):
            stepping(walker(), 0.0, 1.0, times)
    stepping(walker(), 0.0, 1.0, [5e-10, 0.6, 1.0 - 5e-10]).time_scaled(100.0)


@pytest.mark.parametrize("robot", [walker, every_kind])
def test_a_sample_is_the_same_as_resampling_there(robot):
    motion = a_trajectory(robot())
    bare = Trajectory.of(robot(), motion.time, motion.q)
    for t in np.sort(np.random.default_rng(5).uniform(0.0, 1.0, 9)):
        for item in (motion, bare):
            one, sample = item.resample(times=[t]), item.sample(float(t))
            for name in ("q", "v", "a", "tau"):
                if getattr(item, name) is not None:
                    np.testing.assert_array_equal(getattr(sample, name), getattr(one, name)[0])
                    assert not getattr(sample, name).flags.writeable
            for name in ("wrenches", "references"):
                for key, series in getattr(one, name).items():
                    np.testing.assert_array_equal(getattr(sample, name)[key], series[0])
    for wrong in (-1e-6, 1.1, np.nan, np.inf):
        with pytest.raises(ShapeError, match="outside"):
            motion.sample(wrong)


def test_sampling_one_time_builds_no_trajectory(monkeypatch):
    motion = a_trajectory()

    def refuse(_):
        raise AssertionError("a sample built a whole trajectory")

    monkeypatch.setattr(Trajectory, "__post_init__", refuse)
    assert motion.sample(0.5).t == 0.5


@pytest.mark.parametrize("robot", [walker, every_kind])
def test_unit_length_is_judged_as_pinocchio_does(robot):
    motion = a_trajectory(robot())
    model = robot().model
    for entry in range(model.nq):
        q = np.array(motion.q)
        q[4, entry] += 0.01
        if pin.isNormalized(model, q[4], 1e-6):
            assert replace(motion, q=q).q[4, entry] == q[4, entry]
        else:
            with pytest.raises(ShapeError, match="length"):
                replace(motion, q=q)


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
    from surefoot.motion.exchange.manifold import joint_kinds, manifold

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
