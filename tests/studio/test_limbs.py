"""Every body belongs to one limb; what can be dragged exists."""

from __future__ import annotations

import pytest

from surefoot.robot import zoo
from surefoot.studio.scene.handles import drag_choices
from surefoot.studio.scene.limbs import limbs_of, words


@pytest.mark.parametrize("name", ["g1", "panda", "talos", "anymal", "hexapod", "allegro_right_hand", "tiago"])
def test_every_body_belongs_to_one_limb(name):
    robot = zoo.load(name)
    limbs = limbs_of(robot)
    assert sorted(body for limb in limbs for body in limb.bodies) == list(range(robot.tree.n))
    for limb in limbs:
        assert limb.title
        assert all(limb.short(robot.tree.joint_names[i]) for i in limb.bodies)
    for frame in drag_choices(robot):
        assert robot.model.existFrame(frame) or frame in robot.contacts


def test_a_humanoid_has_two_arms_two_legs_and_a_trunk():
    titles = [limb.title for limb in limbs_of(zoo.load("g1"))]
    assert titles == [
        "Trunk",
        "Left hip … ankle",
        "Right hip … ankle",
        "Left shoulder … wrist",
        "Right shoulder … wrist",
    ]
    assert list(drag_choices(zoo.load("g1"))) == [
        "left_rubber_hand", "right_rubber_hand", "left_ankle_roll_link", "right_ankle_roll_link", "pelvis"
    ]  # fmt: skip


def test_an_arm_can_be_dragged_by_its_hand():
    assert next(iter(drag_choices(zoo.load("panda")))) == "panda_hand_tcp"


def test_words_of_names():
    assert words("LeftHip_pitch_joint") == ("left", "hip", "pitch")
    assert words("joint") == ("joint",)
