"""Side files: what they add, and errors that name key and line."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from surefoot.errors import SurefootError
from surefoot.robot.build.assemble import drives_on_leaders
from surefoot.robot.loading import load
from surefoot.robot.model.loops import Coupling
from surefoot.robot.side_file import (
    AnatomyTable,
    CollisionTable,
    ContactTable,
    CouplingTable,
    DriveTable,
    HomeTable,
    JointTable,
    LoopTable,
    SideFile,
    read_side_file,
)
from surefoot.robot.zoo.catalogue import _SIDE_FILES
from surefoot.spatial import quaternion
from tests.robot.sample_files import ARM_MJCF, ARM_URDF, write

SIDE = """base = "floating"
passive = ["rail"]

[home.joints]
shoulder = 0.3

[contacts.palm]
frame = "tip"
kind = "rectangle"
position = [0.0, 0.0, -0.1]
rpy = [3.141592653589793, 0.0, 0.0]
size = [0.2, 0.1]
friction = 0.4

[drives.shoulder]
gear_ratio = 100.0
rotor_inertia = 2e-5
gear = "rigid"
torque_limit = 60.0
corner_speed = 1.0

[loops.closing]
frame_a = "tip"
frame_b = "upper"
directions = ["x", "z"]

[couplings.rail]
source = "shoulder"
ratio = 0.1

[joints.elbow]
kind = "spherical"

[collisions.hull]
link = "upper"
shape = "capsule"
radius = 0.06
length = 0.3
"""


def load_with(folder, side: str, urdf: str = ARM_URDF):
    write(folder, "arm.surefoot.toml", side)
    return load(write(folder, "arm.urdf", urdf))


def test_everything_that_a_side_file_can_say(tmp_path):
    robot = load_with(tmp_path, SIDE)
    assert robot.base == "floating"
    assert robot.tree.kinds == ("free", "revolute", "spherical", "prismatic")
    assert [d.joint for d in robot.drives] == ["shoulder", "elbow"]
    assert robot.drives[0].armature == pytest.approx(0.2)
    assert robot.tree.armature[6] == pytest.approx(0.2)
    assert robot.drives[0].torque_limit == 60.0
    assert robot.drives[0].viscous_friction == 0.1  # still from the URDF
    assert robot.drives[0].torque_at_speed(2.0) == pytest.approx(30.0)
    assert robot.contacts["palm"].corners.shape == (4, 3)
    assert robot.contacts["palm"].friction == 0.4
    assert (robot.loops[0].frame_a, robot.loops[0].size) == ("tip", 2)
    assert robot.couplings[0].ratio == 0.1
    assert robot.home[7] == 0.3
    assert [g.shape.radius for g in robot.collisions if g.link == "upper"] == [0.06]


def test_a_spherical_joint_of_the_side_file_turns_freely(tmp_path, rng):
    robot = load_with(tmp_path, '[joints.elbow]\nkind = "spherical"\n')
    q = np.array(robot.neutral)
    q[1:5] = turn = quaternion.random(rng)
    T = robot.placements(robot.neutral)["upper"]
    elbow = T @ np.array([0, 0, 0.4, 1.0])
    moved = robot.placements(q)["lower"]
    np.testing.assert_allclose(moved[:3, 3], elbow[:3], atol=1e-12)
    np.testing.assert_allclose(moved[:3, :3], T[:3, :3] @ quaternion.to_matrix(turn), atol=1e-12)


def test_mjcf_files_have_side_files_too(tmp_path):
    write(tmp_path, "arm.surefoot.toml", "[home.joints]\nshoulder = 0.5\n[drives.elbow]\ntorque_limit = 3.0\n")
    robot = load(write(tmp_path, "arm.xml", ARM_MJCF))
    assert robot.home[0] == 0.5
    assert {d.joint: d.torque_limit for d in robot.drives}["elbow"] == 3.0


SERVO = """
[drives.shoulder]
servo_stiffness = 20.0
servo_damping = 0.3
servo_dead_band = 0.01
servo_step = 0.008
"""


def test_servos_and_how_their_leader_feels_them(tmp_path):
    servo = load_with(tmp_path, SERVO).drives[0]
    assert (servo.servo_stiffness, servo.servo_damping) == (20.0, 0.3)
    assert (servo.servo_dead_band, servo.servo_step) == (0.01, 0.008)
    (seen,) = drives_on_leaders([servo], [Coupling("shoulder", "elbow", -2.0)])
    assert seen.servo_stiffness == pytest.approx(80.0)  # equal energy at half the angle
    assert seen.servo_damping == pytest.approx(1.2)
    assert (seen.servo_dead_band, seen.servo_step) == pytest.approx((0.005, 0.004))


@pytest.mark.parametrize(
    ("side", "line", "words"),
    [
        ('[contacts.palm]\nframe = "tip"\nkind = "rectangl"\nsize = [1.0, 1.0]\n', 3, ["contacts.palm.kind"]),
        ('[contacts.palm]\nframe = "tip"\nkind = "rectangle"\nsise = [1.0, 1.0]\n', 4, ["did you mean `size`"]),
        ("[drives.shoulder]\nservo_step = -0.1\n", 2, ["drives.shoulder.servo_step"]),
        ("[drives.shoulder]\ntorque_limit = -3.0\n", 2, ["drives.shoulder.torque_limit", "greater than 0"]),
        ('[contacts.palm]\nframe = "tip"\nkind = "rectangle"\nsize = [-1.0, 1.0]\n', 4, ["contacts.palm.size.0"]),
        ('[drives.shoulder]\ngear = "elastic"\n', 1, ["needs `stiffness`"]),
        ('[joints.elbow]\nkind = "helical"\n', 1, ["needs `pitch`"]),
        ("[drives.sholder]\ntorque_limit = 3.0\n", None, ["no joint `sholder`", "did you mean `shoulder`"]),
        ('[joints.elbo]\nkind = "spherical"\n', None, ["did you mean `elbow`"]),
        ("[home.joints]\nelbowe = 1.0\n", None, ["did you mean `elbow`"]),
        ('[contacts.palm]\nframe = "tipp"\nkind = "point"\n', None, ["no frame `tipp`"]),
    ],
)
def test_errors_name_key_and_line(tmp_path, side, line, words):
    with pytest.raises(SurefootError) as caught:
        load_with(tmp_path, side)
    for word in words:
        assert word in str(caught.value)
    if line is not None:
        assert caught.value.line == line
        assert caught.value.file.endswith("arm.surefoot.toml")


@pytest.mark.parametrize("path", sorted(_SIDE_FILES.glob("*.toml")), ids=lambda path: path.name)
def test_side_files_of_the_package_are_valid(path):
    side = read_side_file(path)
    assert side.home is not None or side.contacts


@pytest.mark.parametrize(
    ("side", "line", "words"),
    [
        ('[loops.a]\nframe_a = "tip"\nframe_b = "uper"\n', 3, "no frame `uper`; did you mean `upper`"),
        ('[home.joints]\nelbow = 0.1\n[loops.a]\nframe_a = "elbo"\nframe_b = "tip"\n', 4, "no frame `elbo`"),
        ('[drives.tip]\n[contacts.a]\nkind = "point"\nframe = "tip"\n', 1, "no joint `tip`"),
        ("[home.joints]\nshoulder = 0.1\nelbo = 0.1\n", 3, "no joint `elbo`; did you mean `elbow`"),
        ('[couplings.rail]\nratio = 2.0\nsource = "sholder"\n', 3, "did you mean `shoulder`"),
        ('passive = [\n"rial"]\n', 2, "did you mean `rail`"),
        ('[collisions.a]\nlink = "uper"\nshape = "sphere"\nradius = 0.1\n', 2, "did you mean `upper`"),
        ('\n[contacts.a]\nframe = "tip"\nkind = "rectangle"\n', 2, "needs `corners` or `size`"),
    ],
)
def test_wrong_names_are_told_with_file_and_line(tmp_path, side, line, words):
    with pytest.raises(SurefootError) as caught:
        load_with(tmp_path, side)
    assert caught.value.place == f"{tmp_path / 'arm.surefoot.toml'}:{line}"
    assert words in caught.value.message


@pytest.mark.parametrize(
    ("rest", "words"),
    [
        ('kind = "point"\nfriction = 1e9', "has friction 1e+09, expected a number of 0…1000"),
        ('kind = "polygon"\ncorners = [[0.1, 0], [0.1, 0], [0.1, 0]]', "encloses no area"),
        ('kind = "polygon"\ncorners = [[0, 0], [0.1, 0], [0.2, 0]]', "encloses no area"),
    ],
)
def test_contacts_that_cannot_be(tmp_path, rest, words):
    with pytest.raises(SurefootError, match=re.escape(words)) as caught:
        load_with(tmp_path, f'[contacts.a]\nframe = "tip"\n{rest}\n')
    assert caught.value.file.endswith("arm.surefoot.toml")


def test_errors_of_the_robot_file_stay_there(tmp_path):
    """A name that the URDF gets wrong does not stand in the side file."""
    with pytest.raises(SurefootError) as caught:
        load_with(
            tmp_path, "[home.joints]\nshoulder = 0.1\n", ARM_URDF.replace('parent link="upper"', 'parent link="x"')
        )
    assert "arm.urdf" in caught.value.place


def test_the_page_shows_every_key():
    page = (Path(__file__).parents[2] / "docs" / "side-file.md").read_text(encoding="utf-8")
    tables = [
        AnatomyTable,
        HomeTable,
        ContactTable,
        DriveTable,
        LoopTable,
        CouplingTable,
        JointTable,
        CollisionTable,
        SideFile,
    ]
    keys = {key for table in tables for key in table.model_fields}
    assert not {key for key in keys if not re.search(rf"\b{key}\b", page)}
