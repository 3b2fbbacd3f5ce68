"""How far legs reach, and which postures they take."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pinocchio as pin
import pytest

import surefoot as sf
from surefoot.control.legged import leg_reach, posture_at_height
from surefoot.errors import NotSupportedError
from surefoot.robot import anatomy


def with_knees(robot, torque):
    effort = np.array(robot.limits.effort)
    effort[[int(robot.tree.v_index[robot.joint_index(f"{side}_knee")]) for side in ("left", "right")]] = torque
    return robot.replace(limits=replace(robot.limits, effort=effort))


def test_legs_with_weak_knees_are_bent_less():
    """At the height of a usual step, the knee of a leg that carries the robot alone needs 60 % of its torque."""
    robot = sf.load("humanoid")
    strong, weak = (leg_reach(r, anatomy(r)) for r in (robot, with_knees(robot, 80.0)))
    assert (strong.bent, leg_reach(with_knees(robot, 10.0), anatomy(robot)).bent) == (0.94, 0.97)
    assert 0.94 < weak.bent < 0.97
    assert weak.com_height(0.3) > strong.com_height(0.3)
    thigh = 0.5 * weak.length  # both parts are about as long; the force passes through hip and ankle
    torque = robot.mass * 9.81 * thigh * np.sqrt(1.0 - weak.bent**2)
    assert torque == pytest.approx(0.6 * 80.0, rel=0.01)


def test_the_knee_torque_is_that_of_statics():
    """Oracle: the force at the ankle along the leg, through the Jacobian of Pinocchio."""
    robot = sf.load("humanoid")
    reach, q, data = leg_reach(robot, anatomy(robot)), np.array(robot.home), robot.model.createData()
    knee, hip, ankle = (robot.joint_index(f"left_{name}") for name in ("knee", "hip_pitch", "ankle_pitch"))
    best = None
    for angle in np.linspace(0.05, 1.2, 400):
        q[int(robot.tree.q_index[knee])] = angle
        pin.computeJointJacobians(robot.model, data, q)
        way = data.oMi[ankle + 1].translation - data.oMi[hip + 1].translation
        J = pin.getJointJacobian(robot.model, data, ankle + 1, pin.LOCAL_WORLD_ALIGNED)[:3]
        torque = abs(robot.mass * 9.81 * J[:, int(robot.tree.v_index[knee])] @ way / np.linalg.norm(way))
        share = float(np.linalg.norm(way)) / reach.length
        best = min(best or (np.inf, 0.0), (abs(share - 0.955), torque))
    weak = leg_reach(with_knees(robot, best[1] / 0.6), anatomy(robot))
    assert weak.bent == pytest.approx(0.955, abs=0.003)


def test_a_posture_that_legs_cannot_take_names_their_limits():
    robot = sf.load("simple_humanoid")  # its file shifts the limits of the legs by one row
    with pytest.raises(NotSupportedError) as error:
        posture_at_height(robot, robot.home, ["torso", "base_link"], 0.7)
    assert "RLEG_ANKLE_P" in str(error.value)
