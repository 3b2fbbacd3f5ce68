"""`Configuration`: every quantity against Pinocchio, computed once, frozen."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest

import surefoot as sf
from surefoot.errors import ShapeError, UnknownNameError
from surefoot.kinematics import REFERENCES, configuration
from tests.kinematics.examples import REFERENCE_OF_PINOCCHIO, assert_same, robot_named, state


@pytest.mark.parametrize("name", ["g1", "humanoid", "every joint", "panda"])
def test_against_pinocchio(name: str) -> None:
    robot = robot_named(name)
    q, v, _ = state(robot, 3)
    data = robot.model.createData()
    pin.computeJointJacobians(robot.model, data, q)
    pin.updateFramePlacements(robot.model, data)
    c = sf.Configuration(robot, q)
    for frame in (*robot.link_names[-3:], *(item.name for item in robot.frames)):
        i = robot.frame_id(frame)
        assert_same(c.placement(frame), data.oMf[i].homogeneous)
        for reference in REFERENCES:
            expected = pin.getFrameJacobian(robot.model, data, i, REFERENCE_OF_PINOCCHIO[reference])
            assert_same(c.jacobian(frame, reference=reference), expected)
    for i, T in enumerate(c.placements):
        assert_same(T, data.oMi[i + 1].homogeneous)
    assert_same(c.com, pin.centerOfMass(robot.model, data, q))
    assert_same(c.com_jacobian, pin.jacobianCenterOfMass(robot.model, data, q))
    assert_same(c.integrate(v, 0.1).q, pin.integrate(robot.model, q, 0.1 * v))


def test_contact_frames() -> None:
    robot = robot_named("g1")
    c, data, (_, v, _) = sf.Configuration(robot, robot.home), robot.model.createData(), state(robot, 4)
    for name, contact in robot.contacts.items():
        assert_same(c.contact_placement(name), robot.placements(robot.home)[contact.frame] @ contact.placement)
        pin.computeJointJacobians(robot.model, data, np.array(c.q))
        pin.updateFramePlacements(robot.model, data)
        i, local = robot.frame_id(contact.frame), pin.SE3(np.array(contact.placement))
        link = pin.getFrameJacobian(robot.model, data, i, pin.LOCAL)
        assert_same(c.contact_jacobian(name, "local") @ v, local.actInv(pin.Motion(link @ v)).vector)


def test_quantities_are_kept_and_frozen(monkeypatch: pytest.MonkeyPatch) -> None:
    robot = robot_named("g1")
    c, foot = sf.Configuration(robot, robot.home), robot.link_names[-1]
    first = (c.q, c.placements, c.com, c.com_jacobian, c.jacobian(foot), c.jacobian(foot, "local"))
    for name in ("com", "com_jacobian", "body_placements", "frame_jacobian"):
        monkeypatch.delattr(configuration, name)
    second = (c.q, c.placements, c.com, c.com_jacobian, c.jacobian(foot), c.jacobian(foot, "local"))
    assert all(a is b for a, b in zip(first, second, strict=True))
    for values in (*first, c.placement(foot)):
        with pytest.raises(ValueError, match="read-only"):
            values[...] = 0.0


def test_the_given_q_is_copied_and_checked() -> None:
    robot = robot_named("g1")
    q = np.array(robot.home)
    c = sf.Configuration(robot, q)
    q[0] = 7.0
    assert c.q[0] == robot.home[0]
    for wrong in (q[1:], 0.0 * q, q * np.nan):
        with pytest.raises(ShapeError):
            sf.Configuration(robot, wrong)
    for step in ((np.zeros(3), 0.1), (np.zeros(robot.nv), np.inf)):
        with pytest.raises(ShapeError):
            c.integrate(*step)
    for ask in (c.placement, c.jacobian, c.contact_placement, c.contact_jacobian):
        with pytest.raises(UnknownNameError):
            ask("left_wing")
