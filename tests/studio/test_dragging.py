"""A hand that is pulled: it comes along, and the feet stay."""

from __future__ import annotations

import numpy as np
import pytest

from surefoot.robot import Loop, zoo
from surefoot.studio.scene.dragging import Dragging, closed, held_contacts, placement_of_frame
from surefoot.studio.scene.handles import drag_choices

HAND = "left_rubber_hand"


@pytest.fixture(scope="module")
def robot():
    return zoo.load("g1")


def corners(robot, q):
    return np.vstack(list(robot.contact_corners(q).values()))


@pytest.fixture(scope="module")
def pulled(robot):
    held = held_contacts(robot, robot.home, drag_choices(robot)[HAND])
    assert len(held) == 2
    return Dragging(robot, HAND, robot.home, held)


@pytest.mark.parametrize("way", [(0.1, 0.0, 0.1), (0.2, 0.1, 0.3), (0.0, 0.15, -0.1)])
def test_the_hand_reaches_its_target_and_the_feet_stay(robot, pulled, way):
    target = placement_of_frame(robot, robot.home, HAND).copy()
    target[:3, 3] += way
    q, is_there = pulled.solve(robot.home, target)
    assert is_there
    np.testing.assert_allclose(placement_of_frame(robot, q, HAND), target, atol=1e-3)
    np.testing.assert_allclose(corners(robot, q), corners(robot, robot.home), atol=1e-3)


def test_out_of_reach_the_feet_stay_and_the_hand_comes_nearer(robot, pulled):
    target = placement_of_frame(robot, robot.home, HAND).copy()
    start = target[:3, 3].copy()
    target[:3, 3] += (1.5, 0.0, 0.5)
    q, is_there = pulled.solve(robot.home, target)
    assert not is_there
    np.testing.assert_allclose(corners(robot, q), corners(robot, robot.home), atol=1e-3)
    after = placement_of_frame(robot, q, HAND)[:3, 3]
    assert np.linalg.norm(after - target[:3, 3]) < 0.8 * np.linalg.norm(start - target[:3, 3])


def test_a_foot_that_is_dragged_is_not_held(robot):
    assert held_contacts(robot, robot.home, drag_choices(robot)["left_ankle_roll_link"]) == ("right_ankle_roll_link",)


def test_the_pelvis_moves_over_feet_that_stay(robot):
    held = held_contacts(robot, robot.home, drag_choices(robot)["pelvis"])
    target = placement_of_frame(robot, robot.home, "pelvis").copy()
    target[2, 3] -= 0.1
    q, is_there = Dragging(robot, "pelvis", robot.home, held).solve(robot.home, target)
    assert is_there
    assert q[2] == pytest.approx(robot.home[2] - 0.1, abs=1e-3)
    np.testing.assert_allclose(corners(robot, q), corners(robot, robot.home), atol=1e-3)


def test_with_nothing_held_the_base_stays(robot):
    target = placement_of_frame(robot, robot.home, HAND).copy()
    target[:3, 3] += (0.1, 0.0, 0.1)
    q, is_there = Dragging(robot, HAND, robot.home, turns=False).solve(robot.home, target)
    assert is_there
    np.testing.assert_allclose(q[:7], robot.home[:7])
    np.testing.assert_allclose(placement_of_frame(robot, q, HAND)[:3, 3], target[:3, 3], atol=1e-3)


def test_without_loops_a_posture_is_left_as_it_is(robot):
    assert closed(robot, robot.home, robot.joint_names[3]) is robot.home


def test_a_slider_in_a_closed_chain_moves_the_others_with_it():
    arm = zoo.load("arm4")
    tip = arm.link_names[-1]
    T = arm.placements(arm.home)[tip]
    axes = (True, False, True, False, False, False)
    robot = arm.replace(loops=(Loop("tip", tip, "universe", placement_b=T, directions=axes),))
    q = np.array(robot.home)
    q[1] += 0.1
    found = closed(robot, q, robot.joint_names[1])
    assert found[1] == pytest.approx(q[1], abs=1e-3)
    gap = robot.placements(found)[tip][:3, 3] - T[:3, 3]
    open_gap = robot.placements(q)[tip][:3, 3] - T[:3, 3]
    held = T[:3, :3][:, [0, 2]].T
    assert np.abs(held @ gap).max() < 1e-3 < np.abs(held @ open_gap).max()
