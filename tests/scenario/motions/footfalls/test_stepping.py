"""Execution of footfalls from the measured state."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import surefoot as sf
from surefoot.motion import Command, State, World
from surefoot.planning import StancePlanner, TimedPlan, timed_plan
from surefoot.scenario.motions import ServoLead
from surefoot.scenario.motions.footfalls import Stepping, Steps


@pytest.fixture(scope="module")
def planned() -> tuple[StancePlanner, TimedPlan]:
    robot = sf.load("hexapod")
    planner = StancePlanner(robot, World())
    return planner, timed_plan(planner.plan(np.array(robot.home), (0.0, 0.08, 0.0), seed=0))


def test_a_robot_on_its_plan_is_led_along_it(planned: tuple[StancePlanner, TimedPlan]) -> None:
    planner, timed = planned
    stepping = Stepping(planner.model.chart, timed)
    for t in np.arange(0.0, timed.trajectory.end, 0.02):
        k = np.searchsorted(timed.trajectory.time, t)
        t = float(timed.trajectory.time[k])
        q = np.array(timed.trajectory.q[k])
        np.testing.assert_allclose(stepping.configuration(t, State(t, q, np.zeros(24)))[7:], q[7:], atol=2e-4)
    assert stepping.error < 1e-4


def test_a_base_that_is_off_is_led_back_and_a_foot_lands_in_its_place(
    planned: tuple[StancePlanner, TimedPlan],
) -> None:
    """The robot stands as planned, its base 5 mm ahead: the base is sent back, a swinging foot to its own place."""
    planner, timed = planned
    chart, stepping, time = planner.model.chart, Stepping(planner.model.chart, timed), timed.trajectory.time
    last = np.flatnonzero(timed.swings >= 0)
    end = int(last[np.flatnonzero(np.diff(last) > 1)[0]])  # the first swing is nearly over
    leg = int(timed.swings[end])
    for k in range(0, end):
        state = timed.states[k].copy()
        state[0] += 0.005
        q = chart.lift(state[None]).q[0]
        told = stepping.configuration(float(time[k]), State(float(time[k]), q, np.zeros(24)))
    assert chart.state_of(told)[0] < timed.states[end - 1, 0]
    from_measured = np.r_[q[:7], told[7:]]
    foot = chart.state_of(from_measured)[6 + 3 * leg : 9 + 3 * leg]
    np.testing.assert_allclose(foot, timed.states[end - 1, 6 + 3 * leg : 9 + 3 * leg], atol=1e-3)


def test_a_foot_that_slid_down_a_slope_is_followed_along_the_ground(planned: tuple[StancePlanner, TimedPlan]) -> None:
    """Neither lifted off the slope nor pressed into it, which would unload or load it."""
    planner, timed = planned
    chart, normal, down = planner.model.chart, np.array([0.0, -0.6, 0.8]), np.array([0.0, -0.8, -0.6])
    sloping = replace(timed, normals=np.broadcast_to(normal, timed.normals.shape))
    stepping, time = Stepping(chart, sloping), timed.trajectory.time
    state = timed.states[0].copy()
    state[6:9] += 0.004 * down
    q = chart.lift(state[None]).q[0]
    for t in np.arange(0.0, time[1], 0.01):
        told = stepping.configuration(float(t), State(float(t), q, np.zeros(24)))
    moved = (chart.state_of(told) - timed.states[0])[6:9]
    assert abs(moved @ normal) < 1e-9
    assert 0.002 < moved @ down < 0.004


def test_another_plan_is_asked_for_once_the_robot_has_come_to_rest(planned: tuple[StancePlanner, TimedPlan]) -> None:
    planner, timed = planned
    asked: list[np.ndarray] = []

    def again(q: np.ndarray) -> TimedPlan:
        asked.append(q)
        return timed

    steps = Steps(planner.model.chart, timed, again, tolerance=0.02)
    aside = np.array(timed.trajectory.q[0])
    aside[0] += 0.05
    fast = np.zeros(24)
    fast[0] = 1.0
    for t in np.arange(0.0, 0.3, 0.01):
        steps.now(t, State(t, aside, fast))
    assert not asked, "while it slides"
    for t in np.arange(0.3, 1.0, 0.01):
        steps.now(t, State(t, aside, np.zeros(24)))
    assert len(asked) == 1
    assert steps.times == pytest.approx([0.5], abs=0.06)
    np.testing.assert_array_equal(asked[0], aside)


def test_a_servo_that_is_led_ends_where_it_should() -> None:
    """Spring and damper of a servo at the wanted position and rate give the torque that is asked for."""
    robot = sf.load("hexapod")
    lead, rng = ServoLead(robot), np.random.default_rng(0)
    torque = np.sign(rng.normal(size=18)) * rng.uniform(0.5, 0.9, size=18)
    rate, position = rng.normal(size=18), rng.normal(size=18)
    gains = np.zeros(18)
    told = np.asarray(lead.added_to(Command(torque, position, rate, gains, gains)).position)
    drive = robot.drives[0]
    error = told - position
    spring = drive.servo_stiffness * (error - np.clip(error, -drive.servo_dead_band, drive.servo_dead_band))
    given = spring - drive.servo_damping * rate
    big = np.abs(torque + drive.servo_damping * rate) > 0.6  # beyond the soft edge of the dead band
    np.testing.assert_allclose(given[big], torque[big], atol=0.02)
