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


def test_legs_that_cannot_keep_a_sole_flat_are_refused(robot, monkeypatch):
    """A leg with five joints: on two flat soles it cannot shift its weight."""
    monkeypatch.setattr("surefoot.control.legged.legs.leg_bodies", lambda robot, foot: list(range(1, 6)))
    with pytest.raises(NotSupportedError, match="5 joints"):
        require_flat_feet(robot, anatomy(robot))
