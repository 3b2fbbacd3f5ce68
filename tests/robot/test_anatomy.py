"""Forward, torso and feet of the legged robots of the zoo; what the side file gives."""

from __future__ import annotations

import re

import numpy as np
import pytest

from surefoot.errors import SurefootError
from surefoot.gait import other_foot
from surefoot.robot import Robot, anatomy, load

X, BACK = (1.0, 0.0, 0.0), (-1.0, 0.0, 0.0)
BIPEDS = {  # name: forward, torso, left foot, length and width of its soles [m] as the files have them
    "g1": (X, "torso_link", "left_ankle_roll_link", (0.17, 0.06)),
    "g1_with_hands": (X, "torso_link", "left_ankle_roll_link", (0.17, 0.06)),
    "talos": (X, "torso_2_link", "leg_left_6_link", (0.211, 0.124)),
    "talos_legs": (X, "base_link", "leg_left_6_link", (0.211, 0.124)),
    "talos_full": (X, "torso_2_link", "leg_left_6_link", (0.211, 0.124)),
    "humanoid": (X, "torso", "left_foot", (0.24, 0.14)),
    "humanoid:elastic-ankle": (X, "torso", "left_foot", (0.24, 0.14)),
    "small-humanoid": (X, "trunk", "left_foot", (0.098, 0.063)),
    "lola": (X, "torso", "left_foot", (0.282, 0.12)),
    "lola:elastic": (X, "torso", "left_foot", (0.282, 0.12)),
    "icub": (BACK, "chest", "left_foot", (0.157, 0.061)),
    "icub_reduced": (BACK, "chest", "left_foot", (0.157, 0.061)),
    "romeo": (X, "torso", "l_ankle", (0.194, 0.126)),
    "simple_humanoid": (X, "torso", "left_foot", (0.24, 0.14)),
    "bolt": (X, "base_link", "FL_FOOT", (0.0, 0.0)),
    "biped": (X, "base", "left_foot", (0.2, 0.0)),
}
ON_POINTS = {  # name: torso, number of feet
    "anymal": ("base", 4),
    "go2": ("base", 4),
    "hyq": ("base_link", 4),
    "solo12": ("base_link", 4),
    "hexapod": ("body", 6),
}


@pytest.mark.parametrize("name", BIPEDS)
def test_bipeds(name: str) -> None:
    forward, torso, left, size = BIPEDS[name]
    robot = load(name)
    found = anatomy(robot)
    np.testing.assert_array_equal(found.forward, forward)
    assert found.torso == torso
    assert {foot.side: foot.name for foot in found.feet}["left"] == left
    links = [foot.link for foot in found.feet]
    assert links == [other_foot(robot, links[1]), other_foot(robot, links[0])]
    np.testing.assert_allclose(np.ptp(found.foot(left).sole, axis=0), size, atol=1e-3)
    assert anatomy(robot) is found


@pytest.mark.parametrize("name", ON_POINTS)
def test_feet_of_quadrupeds_and_hexapods_are_points(name: str) -> None:
    robot = load(name)
    found = anatomy(robot)
    assert (found.torso, len(found.feet)) == ON_POINTS[name]
    np.testing.assert_array_equal(found.forward, X)
    assert all(len(foot.contacts) == len(foot.sole) == 1 for foot in found.feet)
    assert [foot.name for foot in found.feet] == list(robot.contacts)


@pytest.mark.parametrize("name", [*BIPEDS, *ON_POINTS])
def test_foot_frames_lie_on_the_ground_in_the_middle_of_the_soles(name: str) -> None:
    robot = load(name)
    frames, corners, found = robot.placements(robot.home), robot.contact_corners(robot.home), anatomy(robot)
    for foot in found.feet:
        T = frames[foot.link] @ foot.placement
        local = (np.vstack([corners[contact] for contact in foot.contacts]) - T[:3, 3]) @ T[:3, :3]
        np.testing.assert_allclose(local.min(axis=0)[:2], -local.max(axis=0)[:2], atol=1e-9)
        assert np.abs(local[:, 2]).max() < 1e-6  # flat on the sole
        assert T[:3, 0] @ found.forward > 0.9999
        assert T[2, 2] > 0.9999
        np.testing.assert_allclose(T[:3, :3].T @ T[:3, :3], np.eye(3), atol=1e-12)
        assert np.linalg.det(T[:3, :3]) > 0.0
        sign = {"left": 1.0, "right": -1.0}[foot.side]
        assert sign * (np.cross((0.0, 0.0, 1.0), found.forward) @ T[:3, 3]) > 0.0


def test_foot_and_toe_are_one_foot() -> None:
    assert [foot.contacts for foot in anatomy(load("lola")).feet] == [
        ("left_foot", "left_toe"),
        ("right_foot", "right_toe"),
    ]


@pytest.mark.parametrize("name", ["block", "panda", "human"])
def test_a_robot_without_feet_looks_along_x_of_its_base(name: str) -> None:
    found = anatomy(load(name))
    assert found.feet == ()
    np.testing.assert_array_equal(found.forward, X)


LEG = """<link name="{n}_thigh"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/>
</inertial></link><link name="{n}_shank"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0"
 iyz="0"/></inertial><collision><origin xyz="{toe} -0.5"/><geometry><box size="0.1 0.1 0.02"/></geometry></collision>
</link><joint name="{n}_hip" type="revolute"><parent link="body"/><child link="{n}_thigh"/><origin xyz="{at} 0"/>
<axis xyz="0 1 0"/><limit effort="9" velocity="9" lower="-1" upper="1"/></joint><joint name="{n}_knee" type="revolute">
<parent link="{n}_thigh"/><child link="{n}_shank"/><axis xyz="0 1 0"/>
<limit effort="9" velocity="9" lower="-1" upper="1"/></joint>"""
BODY = """<link name="body"><inertial><mass value="9"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/>
</inertial></link>"""


def two_legged(folder, names: tuple[str, str], at: tuple[str, str], toe: str = "0 0", side: str = "") -> Robot:
    legs = "".join(LEG.format(n=name, at=place, toe=toe) for name, place in zip(names, at, strict=True))
    (folder / "r.urdf").write_text(f'<robot name="r">{BODY}{legs}</robot>')
    (folder / "r.surefoot.toml").write_text('base = "floating"\n' + side)
    return load(folder / "r.urdf")


@pytest.mark.parametrize(
    ("names", "at", "toe", "forward"),
    [
        (("left", "right"), ("0.2 0.01", "-0.2 -0.01"), "0 0", (0, -1, 0)),  # sides go first
        (("front", "rear"), ("0 0.3", "0 -0.3"), "0.2 0", (0, 1, 0)),  # then front and rear
        (("a", "b"), ("0 0.3", "0 -0.3"), "-0.2 0", (-1, 0, 0)),  # then soles
        (("a", "b"), ("0 0.3", "0 -0.3"), "0 0", (1, 0, 0)),  # then across the line between the feet
        (("a", "b"), ("0.3 0", "-0.3 0"), "0 0", (0, 1, 0)),
    ],
)
def test_forward_without_sides(tmp_path, names, at, toe, forward) -> None:
    np.testing.assert_array_equal(anatomy(two_legged(tmp_path, names, at, toe)).forward, forward)


@pytest.mark.parametrize(("toe", "left"), [("0.2 0", "a_shank"), ("-0.2 0", "b_shank")])
def test_sides_by_place_where_names_do_not_tell(tmp_path, toe, left) -> None:
    """Arms too: two limbs of the same masses; the left hand first."""
    arms = LEG.replace("-0.5", "0.5")
    arms = "".join(arms.format(n=name, at=place, toe="0 0") for name, place in (("c", "0 -0.2"), ("d", "0 0.2")))
    legs = "".join(LEG.format(n=name, at=place, toe=toe) for name, place in zip("ab", AT, strict=True))
    (tmp_path / "r.urdf").write_text(f'<robot name="r">{BODY}{legs}{arms}</robot>')
    robot = load(tmp_path / "r.urdf", base="floating")
    found = anatomy(robot)
    assert {foot.side: foot.link for foot in found.feet}["left"] == left
    links = [foot.link for foot in found.feet]
    assert links == [other_foot(robot, links[1]), other_foot(robot, links[0])]
    assert found.torso == "body"
    assert found.hands == (("d_shank", "c_shank") if left == "a_shank" else ("c_shank", "d_shank"))


AT = ("0 0.3", "0 -0.3")


def test_the_side_file_goes_before_what_is_found(tmp_path) -> None:
    side = '[anatomy]\nforward = [0, 2, 0]\ntorso = "a_thigh"\nfeet.both = ["a_shank", "b_shank"]\n'
    found = anatomy(two_legged(tmp_path, ("a", "b"), AT, side=side))
    np.testing.assert_array_equal(found.forward, (0, 1, 0))
    assert found.torso == "a_thigh"
    assert [(foot.name, foot.link, foot.contacts) for foot in found.feet] == [("both", "body", ("a_shank", "b_shank"))]
    np.testing.assert_allclose(np.ptp(found.feet[0].sole, axis=0), (0.7, 0.1))  # along y, which is forward


@pytest.mark.parametrize(
    ("side", "text"),
    [
        ("forward = [0, 0, 1]", "r.surefoot.toml:3: forward [0.0, 0.0, 1.0] is not a horizontal direction"),
        ('torso = "a_thig"', "r.surefoot.toml:3: there is no link `a_thig`; did you mean `a_thigh`"),
        ('feet.a = ["a_shan"]', "r.surefoot.toml:3: there is no contact `a_shan`; did you mean `a_shank`"),
        ('feet = {a = ["a_shank"], b = ["a_shank"]}', "r.surefoot.toml:3: contact `a_shank` belongs to two feet"),
    ],
)
def test_wrong_hints_are_refused_with_their_line(tmp_path, side: str, text: str) -> None:
    with pytest.raises(SurefootError, match=re.escape(text)):
        two_legged(tmp_path, ("a", "b"), AT, side=f"[anatomy]\n{side}\n")
