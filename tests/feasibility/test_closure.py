"""Closed chains and couplings of motions."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import surefoot as sf
from surefoot.feasibility.case import Case
from surefoot.feasibility.contact_motion import check_closure
from surefoot.motion import Trajectory, World
from surefoot.robot import Coupling, Loop


def motion_of(robot: sf.Robot) -> Trajectory:
    t = np.linspace(0.0, 1.0, 51)
    q = np.tile(robot.home, (51, 1))
    q[:, 1] += 0.2 * np.sin(2.0 * t)
    return Trajectory.of(robot, t, q)


def test_the_gap_of_a_loop_is_the_way_between_its_ends() -> None:
    arm = sf.load("arm4")
    tip = arm.link_names[-1]
    T = arm.placements(arm.home)[tip]
    robot = replace(arm, loops=(Loop("tip", tip, "universe", placement_b=T, directions=(True,) * 3 + (False,) * 3),))
    motion = motion_of(robot)
    gap = check_closure(Case(robot, World(ground=()), motion))[0]
    ends = np.array([robot.placements(q)[tip][:3, 3] for q in motion.q])
    assert gap.value[:, 0] == pytest.approx(np.linalg.norm(ends - T[:3, 3], axis=1), abs=1e-12)
    assert gap.failed.any()
    still = Trajectory.of(robot, motion.time, np.tile(robot.home, (51, 1)))
    assert not check_closure(Case(robot, World(ground=()), still))[0].failed.any()


def test_followers_that_do_not_follow_are_found() -> None:
    arm = sf.load("arm4")
    first, second = arm.joint_names[:2]
    robot = replace(arm, couplings=(Coupling(second, first, 1.0, float(arm.home[1] - arm.home[0])),))
    errors = check_closure(Case(robot, World(ground=()), motion_of(robot)))[1]
    assert errors.failed.any()
    assert errors.parts == (second,)
