"""Events of a walk: a foot that meets the ground early or late, a posture that is not home, a command to stop."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

import surefoot as sf
from surefoot.control.walking import WalkingController
from surefoot.control.walking.walker import DOUBLE, STAND, SWING
from surefoot.gait import GoalSteps, StepLimits, VelocitySteps, stance_of
from surefoot.robot import anatomy

ROBOT = "small-humanoid"


@pytest.fixture(scope="module")
def robot():
    return sf.load(ROBOT)


class Marching:
    """A walker whose robot does not move, told what its feet touch."""

    def __init__(self, robot) -> None:
        source = GoalSteps.from_stance(StepLimits.of(robot), stance_of(robot, robot.home), (0.3, 0.0, 0.0))
        self.walker, self.t = WalkingController(robot, source), 0.0
        feet = anatomy(robot).feet
        self._contacts = [[list(robot.contacts).index(name) for name in foot.contacts] for foot in feet]
        self._state = np.array(robot.home), np.zeros(robot.nv)

    def advance(self, swing_touches: bool) -> None:
        """A hundredth of a second."""
        touching = np.ones(len(self.walker.robot.contacts))
        if self.walker.phase == SWING and not swing_touches:
            touching[self._contacts[1 - self.walker.ahead.support]] = 0.0
        self.walker.observe(SimpleNamespace(touching=touching, readings={}))
        self.walker.command(self.t, sf.State(self.t, *self._state))
        self.t += 0.01

    def lift_off(self) -> float:
        """Go on until a foot leaves; returns how long the swing is planned [s]."""
        while self.walker.phase != SWING:
            self.advance(False)
            assert self.t < 5.0
        return self.walker._length


def test_a_foot_that_meets_the_ground_early_stands_at_once(robot):
    marching = Marching(robot)
    planned, walker = marching.lift_off(), marching.walker
    support, start = walker.ahead.support, marching.t
    while marching.t < start + 0.5 * planned:  # still near where it left
        marching.advance(True)
        assert walker.phase == SWING
    while marching.t < start + 0.8 * planned:
        marching.advance(False)
    assert (walker.phase, walker.steps) == (SWING, 0)
    left = walker._length - walker._clock - 0.01
    assert left > 0.02
    marching.advance(True)
    assert (walker.phase, walker.steps, walker.ahead.support) == (DOUBLE, 1, 1 - support)
    assert walker._length == pytest.approx(left + walker.settings.double)  # the time gained is spent on two feet


def test_a_foot_that_is_late_goes_on_down(robot):
    marching = Marching(robot)
    planned, walker = marching.lift_off(), marching.walker
    end, heights = marching.t + planned + 0.2, []
    while marching.t < end:
        marching.advance(False)
        heights.append(float(walker._swing.position[2]))
    assert walker.phase == SWING
    late = {channel.name: channel for channel in walker.channels}["late"].read()
    assert late == pytest.approx(walker._clock - walker._length)
    assert late > 0.05
    assert np.diff(heights[-5:]) == pytest.approx(-0.01 * walker.settings.landing_speed)
    marching.advance(True)
    assert walker.steps == 1


def crouched(robot, ahead: float, down: float):
    """The feet apart along the way, on bent legs."""
    feet, frames = anatomy(robot).feet, robot.placements(robot.home)
    base, tasks = robot.tree.body_names[robot.base_joint], []
    for foot, way in zip(feet, (0.5 * ahead, -0.5 * ahead), strict=True):
        T = frames[foot.link].copy()
        T[:3, 3] += way * (frames[foot.link] @ foot.placement)[:3, 0]
        tasks.append(sf.tasks.FramePose(foot.link, T, name=foot.name))
    T = frames[base].copy()
    T[2, 3] -= down
    found = sf.ik.solve(robot, [*tasks, sf.tasks.FramePose(base, T)], robot.home)
    assert found.success
    return found.q


@pytest.mark.slow
def test_a_walk_from_a_staggered_crouch_is_soft_and_stops_within_a_step(robot):
    """One run in MuJoCo on true states: begins apart and low, follows a command, stops on zero with the feet closed."""
    limits, stop = StepLimits.of(robot), 4.05
    q = crouched(robot, 0.3 * limits.leg, 0.1 * limits.leg)
    speed = 0.2 * limits.leg / 0.5
    source = VelocitySteps(limits, [(1.0, speed, 0.0, 0.0), (stop, 0.0, 0.0, 0.0)], 0.475)
    walker = WalkingController(robot, source, q0=q)
    log = sf.simulate(robot, walker, sf.World(), 6.0, initial=sf.State(0.0, q, np.zeros(robot.nv)))
    assert log.metadata["fall_time_s"] is None
    phase, steps, t = log["control.phase"], log["control.steps"], log.time
    assert steps[t < stop][-1] >= 4
    lifts = t[1:][(phase[1:] == SWING) & (phase[:-1] != SWING)]
    assert (lifts > stop).sum() <= 1
    assert steps[-1] - steps[t < stop][-1] <= 2  # the one in the air, and the one that closes
    assert phase[-1] == STAND
    left, right = (np.linalg.inv(foot.T) for foot in stance_of(robot, log["q"][-1]))
    assert abs((left @ np.linalg.inv(right))[0, 3]) < 0.03 * limits.leg
    forces = sum(log[f"contact.{name}.wrench"][:, 2] for name in robot.contacts)
    assert forces[t > 0.3].max() < 1.3 * robot.mass * 9.81
