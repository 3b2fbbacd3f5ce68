"""Soles in the air are turned as asked; legs know when they are at their limits."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest

import surefoot as sf
from surefoot.control.legged import LeggedBody
from surefoot.control.legged.legs import LegLimits, require_flat_feet
from surefoot.errors import NotSupportedError
from surefoot.robot import anatomy


@pytest.fixture(scope="module")
def robot():
    return sf.load("small-humanoid")


def turned(robot, q, swirl):
    """Angular acceleration of the left foot in the air, if it shall be turned so."""
    body = LeggedBody(robot, robot.home)
    _, _, poses = body.look(q, np.zeros(robot.nv))
    for k in range(2):
        body.hold(k, poses[k])
    body.release(0)
    body.lead(0, poses[0], np.zeros(4), np.array([0.0, 0.0, 0.0, swirl]))
    body.share([0.0, 1.0], [np.inf, np.inf])
    found = body.problem.solve(q, np.zeros(robot.nv))
    assert found.trouble is None
    data = robot.model.createData()
    pin.forwardKinematics(robot.model, data, q, np.zeros(robot.nv), found.acceleration)
    joint = robot.body_of(body.feet[0].link) + 1
    return pin.getAcceleration(robot.model, data, joint, pin.LOCAL_WORLD_ALIGNED).angular


def test_a_sole_in_the_air_is_turned_as_asked(robot):
    still, turning = (turned(robot, np.array(robot.home), swirl) for swirl in (0.0, 5.0))
    np.testing.assert_allclose(turning - still, [0.0, 0.0, 5.0], atol=0.5)


def test_a_leg_is_stopped_at_its_limits_and_on_the_way_to_them(robot):
    foot = anatomy(robot).feet[0]
    leg, q, v = LegLimits(robot, foot, 0.03), np.array(robot.home), np.zeros(robot.nv)
    assert not leg.stop(q, v)
    joint = robot.body_of(foot.link)
    entry, row = int(robot.tree.q_index[joint]), int(robot.tree.v_index[joint])
    q[entry] = robot.limits.upper[entry] - 0.04
    assert not leg.stop(q, v)
    v[row] = 1.0
    assert leg.stop(q, v)
    q[entry], v[row] = robot.limits.upper[entry] - 0.02, 0.0
    assert leg.stop(q, v)


@pytest.mark.parametrize(
    ("joint", "axis"),
    [
        ("right_ankle_roll_joint", 0),
        ("right_hip_roll_joint", 0),
        ("right_knee_joint", 1),
        ("right_hip_yaw_joint", None),
    ],
)
def test_a_foot_tips_about_the_axis_about_which_a_joint_of_its_leg_is_stopped(joint, axis):
    g1 = sf.load("g1")
    foot = next(foot for foot in anatomy(g1).feet if foot.side == "right")
    leg, q = LegLimits(g1, foot, 0.03), np.array(g1.home)
    assert leg.tipping_axis(q, np.zeros(g1.nv)) is None
    entry = int(g1.tree.q_index[g1.joint_index(joint)])
    q[entry] = g1.limits.upper[entry]
    assert leg.stop(q, np.zeros(g1.nv))
    assert leg.tipping_axis(q, np.zeros(g1.nv)) == axis


@pytest.mark.parametrize(
    ("locked", "words"),
    [
        (["left_ankle_roll", "right_ankle_roll"], "5 joints of each leg .* cannot shift the hip aside over"),
        (["left_ankle_pitch", "right_ankle_pitch"], "5 joints of each leg .* cannot shift the hip ahead over"),
        (["left_hip_yaw", "right_hip_yaw"], "5 joints of each leg .* cannot turn the hip over"),
    ],
)
def test_legs_that_lack_a_joint_for_steps_are_refused(locked, words):
    """What matters is not how many joints a leg has, but what they can do over a sole that rests."""
    robot = sf.load("humanoid").lock(locked)
    with pytest.raises(NotSupportedError, match=words):
        require_flat_feet(robot, anatomy(robot))


def test_legs_with_all_joints_are_not_refused(robot):
    require_flat_feet(robot, anatomy(robot))


def test_point_feet_are_refused():
    robot = sf.load("solo12")
    with pytest.raises(NotSupportedError, match="has no sole"):
        require_flat_feet(robot, anatomy(robot))


def test_a_foot_on_a_slope_is_held_and_led_along_its_normal(robot):
    """The cone of its forces and the sole in the air follow the ground; rates are those of world axes."""
    body, normal = LeggedBody(robot, robot.home), np.array([-0.1, 0.05, 1.0])
    body.normals[0] = normal / np.linalg.norm(normal)
    contact, pose = body.problem.contact(body.feet[0].contacts[0]), np.array([0.1, 0.2, 0.3, 0.4])
    to_foot = np.linalg.inv(body.to_contact[body.feet[0].contacts[0]])
    body.hold(0, pose)
    T = np.vstack([np.column_stack([contact.target[:9].reshape(3, 3), contact.target[9:]]), [0.0, 0.0, 0.0, 1.0]])
    np.testing.assert_allclose((T @ to_foot)[:3, 2:].T, [body.normals[0], pose[:3]], atol=1e-12)
    body.release(0)
    body.lead(0, pose, np.array([0.5, -0.3, 0.2, 0.0]), np.zeros(4))
    np.testing.assert_allclose(contact.target[:9].reshape(3, 3) @ contact.velocity[:3], [0.5, -0.3, 0.2], atol=1e-12)


def test_legs_are_led_by_their_joints_until_they_are_bent(robot):
    """Straight knees yield to either side: the posture comes first, the height of the centre of mass later."""
    q0 = np.array(robot.home)
    body = LeggedBody(robot, q0, 0.95 * float(pin.centerOfMass(robot.model, robot.model.createData(), q0)[2]))
    usual = body["posture"].scale.copy(), body["posture"].stiffness.copy(), body["com"].stiffness.copy()
    kept = body["posture"].target.copy()
    assert body.knees.lead(0.0) == 0.0
    assert body["com"].stiffness[2] == 0.0
    assert body["com"].slack[2] > 1e6
    assert (body["posture"].scale >= usual[0] - 1e-12).all()
    assert (body["posture"].scale / usual[0]).max() > 5.0
    np.testing.assert_allclose(body["posture"].target, q0)
    assert body.knees.lead(1.0) == 1.0
    for now, before in zip(
        (body["posture"].scale, body["posture"].stiffness, body["com"].stiffness), usual, strict=True
    ):
        np.testing.assert_allclose(now, before)
    np.testing.assert_allclose(body["posture"].target, kept)
    assert not body["com"].slack.any()
    assert not body["angular_momentum"].slack.any()
