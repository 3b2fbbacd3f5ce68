"""Consistency of q, v and a: planted misfits are found, sampling and integration schemes are not."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from surefoot.feasibility.case import Case
from surefoot.feasibility.rates.consistency import check_consistency, misfit
from surefoot.feasibility.series import Series
from surefoot.motion import Trajectory, World
from tests.feasibility.good_motions import loaded, squat
from tests.feasibility.stages import judge

ROBOTS = ("g1", "anymal", "hexapod")


def _checked(name: str, motion: Trajectory) -> tuple[Series, Series]:
    velocity, acceleration = judge(check_consistency, Case(loaded(name), World(), motion))
    return velocity, acceleration


def _sine(rate: float) -> Trajectory:
    robot, t = loaded("panda"), np.arange(0.0, 2.0, 1.0 / rate)
    one = np.ones(robot.nv)
    w = 6.0
    return Trajectory.of(
        robot, t, robot.home + 0.3 * np.sin(w * t)[:, None], 0.3 * w * np.cos(w * t)[:, None] * one,
        a=-0.3 * w * w * np.sin(w * t)[:, None] * one,
    )  # fmt: skip


@pytest.mark.parametrize("name", ROBOTS)
def test_exact_rates_pass(name: str) -> None:
    for series in _checked(name, squat(name)):
        assert len(series.parts) == loaded(name).nv
        assert not series.failed.any()
        assert np.nanmax(series.value) < 0.02 * np.max(series.upper)


@pytest.mark.parametrize("rate", [25.0, 100.0, 1000.0])
def test_sampling_does_not_matter(rate: float) -> None:
    for series in _checked("panda", _sine(rate)):
        assert not series.failed.any()


def test_semi_implicit_integration_and_impacts_pass() -> None:
    """Velocities that jump, positions integrated from the later velocity."""
    robot, t = loaded("panda"), np.arange(0.0, 1.0, 0.01)
    v = np.where(t[:, None] < 0.5, 1.0, -2.0) * np.ones(robot.nv)
    q = robot.home + 0.01 * np.cumsum(v, axis=0)
    assert not _checked("panda", Trajectory.of(robot, t, q, v))[0].failed.any()


def test_a_wrong_velocity_is_found_for_its_joint_and_time() -> None:
    motion = squat("g1")
    v = np.array(motion.v)
    v[300:360, 10] += 0.5
    series = _checked("g1", replace(motion, v=v))[0]
    assert set(np.flatnonzero(series.failed.any(axis=0))) == {10}
    rows = np.flatnonzero(series.failed[:, 10])
    assert series.time[rows[0]] == pytest.approx(motion.time[300], abs=0.02)
    assert series.time[rows[-1]] == pytest.approx(motion.time[360], abs=0.02)
    assert series.value.max() == pytest.approx(0.5, abs=0.05)
    assert series.bodies is not None
    assert series.bodies[10] == Case(loaded("g1"), World(), motion).velocity_bodies[10]


def test_a_base_velocity_in_world_axes_is_found() -> None:
    """The same motion of a base that looks sideways; its velocity as if it looked ahead."""
    motion = squat("g1")
    q = np.array(motion.q)
    q[:, 3:7] = [0.0, 0.0, np.sqrt(0.5), np.sqrt(0.5)]
    v = np.array(motion.v)
    v[:, 1] += 1.0
    q[:, 1] += motion.time
    failed = _checked("g1", replace(motion, q=q, v=v))[0].failed.any(axis=0)
    assert failed[:2].all()
    assert not failed[2:].any()


def test_a_wrong_acceleration_is_found() -> None:
    motion = squat("g1")
    a = np.array(motion.a)
    a[300:360, 10] += 5.0
    velocity, acceleration = _checked("g1", replace(motion, a=a))
    assert not velocity.failed.any()
    assert set(np.flatnonzero(acceleration.failed.any(axis=0))) == {10}


def test_accelerations_are_not_judged_where_contacts_switch() -> None:
    """A jump of v when the robot takes off does not fail what was recorded before and after."""
    motion = squat("g1")
    rise = 0.5 * np.maximum(motion.time - 2.0, 0.0)
    q, v = np.array(motion.q), np.array(motion.v)
    q[:, 2] += rise
    v[:, 2] += np.where(motion.time > 2.0, 0.5, 0.0)
    acceleration = _checked("g1", replace(motion, q=q, v=v))[1]
    at = np.isnan(acceleration.value[:, 2])
    assert 0.0 < at.mean() < 0.05
    assert not acceleration.failed.any()


def test_without_rates_nothing_is_judged() -> None:
    motion = squat("g1")
    notes = [series.note for series in _checked("g1", replace(motion, v=None, a=None))]
    assert notes == ["no velocities given", "no accelerations given"]


def test_the_last_digit_of_positions_is_no_velocity() -> None:
    motion = _sine(1000.0)
    rounded = replace(motion, q=np.round(motion.q, 4))
    assert not _checked("panda", rounded)[0].failed.any()


def test_misfit_is_zero_between_the_rates_and_the_distance_outside() -> None:
    time = np.array([0.0, 1.0, 2.0])
    rates = np.array([[0.0], [1.0], [2.0]])
    middle, value = misfit(time, np.array([[0.7], [2.5]]), rates, 0.1)
    np.testing.assert_allclose(middle, [0.5, 1.5])
    np.testing.assert_allclose(value, [[0.0], [0.5]])


def test_rates_that_bend_may_go_beyond_their_ends_inside_a_step() -> None:
    """Means of a sine between coarse samples lie outside the rates at the samples round its peaks."""
    time = np.linspace(0.0, 2.0 * np.pi, 13) + 0.26
    rates, steps = np.cos(time)[:, None], np.diff(np.sin(time))[:, None]
    assert (steps[:, 0] / np.diff(time) > np.maximum(rates[1:, 0], rates[:-1, 0])).any()
    assert misfit(time, steps, rates, 0.1)[1] == pytest.approx(0.0)


@pytest.mark.parametrize("rate", [20.0, 30.0, 100.0])
def test_central_differences_of_quick_motions_belong_to_them_and_shifted_ones_do_not(rate):
    rng, t = np.random.default_rng(0), np.arange(0.0, 4.0, 1.0 / rate)
    waves = [np.sin(2.0 * np.pi * f * t[:, None] + rng.uniform(0.0, 6.0, 5)) for f in (0.5, 1.5, 4.0, 6.0)]
    q = np.sum([wave * rng.normal(size=5) for wave in waves], axis=0)
    v = np.gradient(q, t, axis=0)
    assert misfit(t, np.diff(q, axis=0), v, 0.02)[1].max() < 1e-9
    assert misfit(t, np.diff(q, axis=0), np.roll(v, 1, axis=0), 0.02)[1].max() > 0.1 * np.abs(v).max() * 20.0 / rate
