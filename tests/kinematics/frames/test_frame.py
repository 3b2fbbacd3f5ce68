import numpy as np
import pytest

from surefoot.errors import ShapeError, UnknownNameError
from surefoot.kinematics import Frame, contact_frame, frame_jacobian, frame_placement
from surefoot.kinematics.frames import frame_of
from surefoot.kinematics.frames.frame import require_reference
from tests.kinematics.examples import assert_same, robot_named, state


@pytest.mark.parametrize("name", ["g1", "talos", "panda", "pr2", "every joint"])
def test_every_name_of_a_frame(name):
    robot = robot_named(name)
    q, _, _ = state(robot, 4)
    placements = robot.placements(q)
    for frame in robot.frame_names:
        assert_same(frame_placement(robot.tree, frame_of(robot, frame), q), placements[frame])


def test_contact_surfaces():
    robot = robot_named("icub")
    q, _, _ = state(robot, 5)
    corners = robot.contact_corners(q)
    assert set(corners) - set(robot.frame_names)
    for name, contact in robot.contacts.items():
        T = frame_placement(robot.tree, contact_frame(robot, name), q)
        assert_same(contact.corners @ T[:3, :3].T + T[:3, 3], corners[name])
        if name not in robot.frame_names:
            assert_same(frame_placement(robot.tree, frame_of(robot, name), q), T)


def test_a_link_goes_before_a_contact_of_its_name():
    robot = robot_named("talos")
    assert "leg_left_6_link" in robot.contacts
    assert_same(frame_of(robot, "leg_left_6_link").p, np.zeros(3))
    assert np.abs(contact_frame(robot, "leg_left_6_link").p).max() > 0.01


def test_wrong_names():
    robot = robot_named("talos")
    with pytest.raises(UnknownNameError, match="leg_left_6_link"):
        frame_of(robot, "leg_left_6_lnk")
    with pytest.raises(UnknownNameError, match="leg_right_6_link"):
        contact_frame(robot, "leg_right_6_lin")
    with pytest.raises(UnknownNameError, match="local"):
        require_reference("locl")
    with pytest.raises(UnknownNameError, match="world"):
        frame_jacobian(robot.tree, Frame(0), np.array(robot.home), "wrld")


def test_wrong_frames():
    with pytest.raises(ShapeError, match="R"):
        Frame(0, np.eye(4))
    with pytest.raises(ShapeError, match="p"):
        Frame(0, p=np.array([0.0, np.nan, 0.0]))
    robot = robot_named("panda")
    with pytest.raises(ShapeError, match="no body 40"):
        frame_placement(robot.tree, Frame(40), np.array(robot.home))
