"""`WholeBodyFollower`: shifts of weight and of feet that are followed, and motions that say too little."""

from __future__ import annotations

import numpy as np
import pytest

from surefoot.control.legged import WholeBodyFollower
from surefoot.errors import NotSupportedError
from surefoot.motion import ContactSchedule, Spot, Stance, State, Trajectory, World
from surefoot.robot import Robot, load
from surefoot.sim import Settings, Simulation


@pytest.fixture(scope="module")
def robot() -> Robot:
    return load("humanoid")


def _shift(robot: Robot, way: float) -> Trajectory:
    """Both feet stand; ankles and hips roll the trunk to the side and back within 0.6 s."""
    time = np.linspace(0.0, 0.6, 61)
    phase = 0.5 * way * (1.0 - np.cos(2.0 * np.pi * time / 0.6))
    q = np.repeat(np.array(robot.home)[None], len(time), axis=0)
    height = float(robot.home[2]) - 0.1
    q[:, 1] += phase
    for side in ("left", "right"):
        for joint, sign in ((f"{side}_hip_roll", 1.0), (f"{side}_ankle_roll", -1.0)):
            q[:, int(robot.tree.q_index[robot.joint_index(joint)])] += sign * phase / height
    places = robot.placements(robot.home)
    spots = {name: Spot(places[s.frame] @ s.placement) for name, s in robot.contacts.items()}
    return Trajectory.of(robot, time, q, schedule=ContactSchedule.of([Stance(spots)], [0.0, 0.6]))


@pytest.mark.parametrize("way", [pytest.param(0.0, marks=pytest.mark.slow), 0.02])
def test_a_shift_of_the_weight_is_followed(robot: Robot, way: float) -> None:
    motion = _shift(robot, way)
    simulation = Simulation(
        robot, WholeBodyFollower(robot, motion), World(), Settings(duration=0.6, dt=0.002), [],
        State(0.0, motion.q[0], np.zeros(robot.nv)),
    )  # fmt: skip
    log = simulation.run()
    assert simulation.fall_time is None
    y = log["q"][:, 1]
    assert y[np.searchsorted(log.time, 0.3)] == pytest.approx(way, abs=0.009)
    assert y[-1] == pytest.approx(0.0, abs=0.009)
    assert np.abs(log["q"][-1, 2] - robot.home[2]) < 0.01


def test_contacts_must_be_known(robot: Robot) -> None:
    with pytest.raises(NotSupportedError, match="when contacts hold"):
        WholeBodyFollower(robot, Trajectory.of(robot, [0.0, 1.0], np.array([robot.home, robot.home])))
