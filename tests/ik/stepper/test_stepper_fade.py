"""Fades: no jump larger than the profile of the activation permits, and no trace of what is off."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import surefoot as sf
from surefoot.errors import ShapeError
from surefoot.ik.stepper.fade import Fade
from surefoot.ik.stepper.stepper import Stepper
from surefoot.robot import Robot
from surefoot.tasks import FrameOrientation, FramePosition, JointAccelerations, JointSpeeds, Posture, Task

DT, DURATION = 1e-3, 0.2
STEEPEST = 1.875 / DURATION  # slope of the quintic in its middle
HAND = "panda_hand"
BENT, STRAIGHT = [0.0, -0.8, 0.0, -2.2, 0.0, 1.6, 0.8], [0.3, 0.2, 0.0, -0.08, 0.0, 0.5, 0.0]


@pytest.fixture(scope="module")
def panda() -> Robot:
    return sf.load("panda")


def posture(robot: Robot, joints: list[float]) -> np.ndarray:
    q = robot.home.copy()
    q[: len(joints)] = joints
    return q


def tasks_of(robot: Robot, fading: Task) -> list[Task]:
    """A task that fades, one beside it, and what is wanted besides."""
    there = posture(robot, [1.0, 0.5, 0.5, -1.0, 0.3, 1.0, 0.2])
    turn = FrameOrientation(HAND, np.eye(3), name="turn", gain=0.5, mask="X", priority=1)
    return [fading, turn, Posture(robot, there, gain=0.5, priority=2)]


def fading_task(robot: Robot, q: np.ndarray, kind: str) -> Task:
    goal = sf.compile(robot).frames(q, [HAND])[0][:3, 3] + np.array([0.1, 0.1, 0.05])
    kinds: dict[str, Task] = {
        "equation": FramePosition(HAND, goal, name="fading", gain=2.0),
        "tolerance": FramePosition(HAND, goal, name="fading", gain=2.0, below=0.02, above=0.02),
        "inequality": FramePosition(HAND, goal, name="fading", gain=5.0, above=np.inf),
        "speeds": JointSpeeds(robot, name="fading", below=0.3, above=0.3),
        "accelerations": JointAccelerations.limits(robot, 20.0, name="fading"),
        "lower priority": JointSpeeds(robot, name="fading", below=0.3, above=0.3, priority=1),
    }
    return kinds[kind]


KINDS = ["equation", "tolerance", "inequality", "speeds", "accelerations", "lower priority"]


def faded(stepper: Stepper, q: np.ndarray, end: float, duration: float) -> tuple[np.ndarray, int]:
    """Velocities at one posture through a fade, and how many directions were damped."""
    stepper.fade("fading", end, duration)
    found = [stepper.step(q) for _ in range(round(duration / DT) + 2)]
    assert stepper.activation("fading") == end
    return np.array([tick.v for tick in found]), sum(tick.damped for tick in found)


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "accelerations"])
@pytest.mark.parametrize("joints", [BENT, STRAIGHT], ids=["bent", "straight"])
@pytest.mark.parametrize("method", ["hierarchy", "weighted"])
def test_no_jump_is_larger_than_the_profile_permits(panda: Robot, method: str, joints: list[float], kind: str) -> None:
    """At one posture, from without the task to with it and back: in proportion to the activation for equations.

    For inequalities the proportion changes with what binds; a fade of twice the time then has half of the steps.
    """
    q = posture(panda, joints)
    tasks = tasks_of(panda, fading_task(panda, q, kind))
    without = Stepper(panda, tasks[1:], DT, method=method, damping=0.3).step(q).v
    stepper = Stepper(panda, [replace(tasks[0], activation=0.0), *tasks[1:]], DT, method=method, damping=0.3)
    np.testing.assert_allclose(stepper.step(q).v, without, rtol=0.0, atol=1e-9)
    for end in (1.0, 0.0):
        v, damped = faded(stepper, q, end, DURATION)
        span, largest = np.abs(v[-1] - v[0]).max(), np.abs(np.diff(v, axis=0)).max()
        assert span > 0.05
        assert largest <= (1.0 + 1e-6 if kind == "equation" else 8.0) * STEEPEST * DT * span
        assert damped or method == "weighted" or kind != "equation"
    np.testing.assert_allclose(v[-1], without, rtol=0.0, atol=1e-9)
    slower, _ = faded(stepper, q, 1.0, 2.0 * DURATION)
    assert np.abs(np.diff(slower, axis=0)).max() <= 0.55 * largest


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("joints", [BENT, STRAIGHT], ids=["bent", "straight"])
def test_fades_that_overlap_have_the_same_ends(panda: Robot, joints: list[float], kind: str) -> None:
    """Beside another one that is half-way, almost off is off and almost on is on."""
    q = posture(panda, joints)
    fading, beside, rest = tasks_of(panda, fading_task(panda, q, kind))
    beside = replace(beside, activation=0.4, gain=2.0)

    def velocity(activation: float) -> np.ndarray:
        tasks = [replace(fading, activation=activation), beside, rest]
        return np.asarray(Stepper(panda, tasks, DT, damping=0.3).step(q).v)

    gone = Stepper(panda, [beside, rest], DT, damping=0.3).step(q).v
    np.testing.assert_allclose(velocity(0.0), gone, rtol=0.0, atol=1e-9)
    np.testing.assert_allclose(velocity(1e-9), gone, rtol=0.0, atol=1e-7)
    np.testing.assert_allclose(velocity(1.0 - 1e-9), velocity(1.0), rtol=0.0, atol=1e-7)


def test_what_is_above_does_not_feel_a_fade(panda: Robot) -> None:
    """Also if it cannot be reached, and if bounds bind."""
    q = posture(panda, BENT)
    hand = FramePosition(HAND, [3.0, 0.5, 0.5], name="hand", gain=2.0)
    turn = FrameOrientation(HAND, np.eye(3), name="turn", gain=2.0, priority=1)
    rest = Posture(panda, name="rest", priority=2)
    misses = []
    for activation in (0.0, 0.3, 0.8, 1.0):
        tasks = [hand, replace(turn, activation=activation), rest]
        misses.append(Stepper(panda, tasks, DT, speed_share=0.2).step(q).violation("hand"))
    assert np.abs(misses[0]).max() > 0.1
    for one, other in pairwise(misses):
        np.testing.assert_allclose(one, other, rtol=0.0, atol=1e-9)


def test_activation_is_where_a_fade_begins(panda: Robot) -> None:
    """Half of the motion for half of the activation, from the task or from a fade that is over."""
    task = FramePosition(HAND, [0.4, 0.2, 0.5], name="hand")
    full = Stepper(panda, [task], DT).step(panda.home).v
    given = Stepper(panda, [replace(task, activation=0.5)], DT)
    moved = Stepper(panda, [task], DT)
    moved.fade("hand", 0.5, 0.0)
    assert given.activation("hand") == 0.5
    np.testing.assert_allclose(given.step(panda.home).v, 0.5 * full, atol=1e-12)
    np.testing.assert_array_equal(moved.step(panda.home).v, given.step(panda.home).v)
    given.fade("hand", 1.0, 0.1)
    given.reset(panda.home)
    assert given.activation("hand") == 1.0
    np.testing.assert_allclose(given.step().v, full, atol=1e-12)


def test_a_task_that_is_off_leaves_damping_as_it_is(panda: Robot) -> None:
    """Its light weight would lower the threshold of its level; many rows would take it away."""
    q = posture(panda, STRAIGHT)
    hand = FramePosition(HAND, [0.2, 0.2, 0.5], name="hand", gain=2.0)
    for other in (Posture(panda, name="off", priority=0), FrameOrientation(HAND, np.eye(3), name="off", weight=1e-8)):
        with_it = Stepper(panda, [hand, replace(other, activation=0.0)], DT, damping=0.5).step(q)
        without = Stepper(panda, [hand], DT, damping=0.5).step(q)
        assert without.damped > 0
        np.testing.assert_allclose(with_it.v, without.v, rtol=0.0, atol=1e-9)


@given(st.floats(0.0, 1.0), st.floats(0.0, 1.0), st.floats(0.01, 2.0))
def test_the_profile_is_twice_smooth_and_stays_between_its_ends(begin: float, end: float, duration: float) -> None:
    fade = Fade(1.0, duration, begin, end)
    t = 1.0 + duration * np.linspace(-0.2, 1.2, 1401)
    alpha = np.array([fade.activation(x) for x in t])
    assert alpha.min() >= min(begin, end) - 1e-12
    assert alpha.max() <= max(begin, end) + 1e-12
    h = 1e-3
    rate, second = np.diff(alpha) / h, np.diff(alpha, 2) / h**2
    assert np.abs(rate).max() <= 1.875 * abs(end - begin) + 1e-9
    assert np.abs(np.diff(second)).max() <= 61.0 * h * abs(end - begin) + 1e-9
    assert (alpha[0], alpha[-1]) == (begin, end)


def test_odd_fades_are_refused(panda: Robot) -> None:
    stepper = Stepper(panda, [Posture(panda)], DT)
    for activation, duration in ((1.5, 0.1), (-0.1, 0.1), (np.nan, 0.1), (1.0, -1.0), (1.0, np.inf), (1.0, np.nan)):
        with pytest.raises(ShapeError):
            stepper.fade("posture", activation, duration)
    assert stepper.activation("posture") == 1.0
