"""`check`: every defect, with its place, and never a traceback."""

from __future__ import annotations

import pytest

from surefoot.errors import SurefootError
from surefoot.robot.check import inspect_robot
from tests.robot.sample_files import ARM_MJCF, ARM_URDF, write


def inspected(folder, text, name="arm.urdf"):
    return inspect_robot(str(write(folder, name, text)))


def messages(inspection, level):
    return [item.message for item in inspection.findings if item.level == level]


def test_a_sound_file(tmp_path):
    inspection = inspected(tmp_path, ARM_URDF)
    assert inspection.sound
    assert inspection.robot is not None
    assert inspected(tmp_path, ARM_MJCF, "arm.xml").sound


@pytest.mark.parametrize(
    ("old", "new", "level", "message"),
    [
        ('izz="0.025"', 'izz="0.2"', "warning", "triangle inequality"),
        ('ixx="0.02"', 'ixx="-0.02"', "warning", "not positive definite"),
        ('<mass value="0.7"/>', '<mass value="0"/>', "error", "has no mass"),
        ('lower="-1.5"', 'lower="2.5"', "error", "lower limit"),
        ('mass value="2.5"', 'mass value="nan"', "error", "finite"),
        ('link name="tip"', 'link name="lower"', "error", "repeats"),
        ('<parent link="base"/>', '<parent link="slider"/>', "error", "cycle"),
        ('<box size="0.1 0.1 0.3"/>', '<mesh filename="gone.stl"/>', "warning", "gone.stl"),
        ('effort="50"', 'effort="0"', "warning", "effort limit is 0"),
        ('lower="-1.5" upper="2.0"', 'lower="0.5" upper="0.5"', "warning", "cannot move"),
        ('<axis xyz="0 1 0"/>', '<axis xyz="0 2 0"/>', "warning", "length 2"),
        ('lower="-1.5" upper="2.0"', 'lower="-90" upper="90"', "warning", "degrees?"),
        ('radius="0.05"', 'radius="-0.05"', "error", "expected positive"),
        ('izz="0.004"', 'izz="4000"', "warning", "triangle"),
    ],
)
def test_defects_and_doubts_have_their_level(tmp_path, old, new, level, message):
    text = ARM_URDF.replace(old, new)
    assert text != ARM_URDF
    if '0"/>' in new and "mass" in new:
        text = text.replace(
            'ixx="0.003" ixy="0" ixz="0" iyy="0.003" iyz="0" izz="0.003"',
            'ixx="0" ixy="0" ixz="0" iyy="0" iyz="0" izz="0"',
        )
    inspection = inspected(tmp_path, text)
    assert any(message in found for found in messages(inspection, level)), inspection.findings
    assert inspection.sound == (level != "error")


def test_a_home_on_or_outside_a_limit_is_told(tmp_path):
    assert not [text for text in messages(inspected(tmp_path, ARM_URDF), "note") if "limit" in text]
    at_limit = ARM_URDF.replace('lower="-1.5" upper="2.0"', 'lower="0.0" upper="2.0"')
    (note,) = (text for text in messages(inspected(tmp_path, at_limit), "note") if "limit" in text)
    assert "a joint is at a position limit: `shoulder` at 0 of [0, 2]" in note
    assert "`[home.joints]`" in note
    write(tmp_path, "arm.surefoot.toml", "[home.joints]\nshoulder = 2.5\n")
    (warning,) = messages(inspected(tmp_path, at_limit), "warning")
    assert "home position 2.5 is outside its limits [0, 2]" in warning
    assert "`[home.joints]`" in warning


@pytest.mark.parametrize(("text", "name"), [(ARM_URDF, "arm.urdf"), (ARM_MJCF, "arm.xml")])
def test_a_home_that_must_move_keeps_off_the_limit(tmp_path, text, name):
    changed = text.replace('lower="-1.5" upper="2.0"', 'lower="0.5" upper="2.5"').replace("-1.5 2", "0.5 2.5")
    inspection = inspected(tmp_path, changed, name)
    assert inspection.robot.home[0] == pytest.approx(0.6)
    assert not [found for found in inspection.findings if "limit" in found.message]


def test_several_defects_are_listed_together(tmp_path):
    text = ARM_URDF.replace('value="2.5"', 'value="x"').replace('xyz="0 0 0.3"', 'xyz="0 0"')
    errors = [item for item in inspected(tmp_path, text).findings if item.level == "error"]
    assert len(errors) == 2
    assert all(item.line > 0 for item in errors)


def test_a_singular_mass_matrix_makes_an_inertia_an_error(tmp_path):
    """Without inertia about the last joint's axis nothing can accelerate it."""
    old = '<mass value="1.5"/>\n      <inertia ixx="0.01" ixy="0" ixz="0" iyy="0.01" iyz="0" izz="0.004"/>'
    text = ARM_URDF.replace(
        old, '<mass value="1.5"/>\n      <inertia ixx="0" ixy="0" ixz="0" iyy="0" iyz="0" izz="0"/>'
    )
    slider = '<mass value="0.7"/>\n      <inertia ixx="0.003" ixy="0" ixz="0" iyy="0.003" iyz="0" izz="0.003"/>'
    text = (
        text.replace('<origin xyz="0 0 0.15"/>', "")
        .replace('xyz="0 0 0.3"', 'xyz="0 0 0"')
        .replace(slider, '<mass value="0.7"/>\n      <inertia ixx="0" ixy="0" ixz="0" iyy="0" iyz="0" izz="0"/>')
        .replace('<axis xyz="1 0 0"/>', '<axis xyz="0 0.6 0.8"/>')
    )
    inspection = inspected(tmp_path, text)
    assert not inspection.sound
    assert any("not positive definite" in m for m in messages(inspection, "error"))


def test_what_is_no_robot_file_is_refused(tmp_path):
    for name, text in (("a.urdf", "hello"), ("b.urdf", "<html/>"), ("d.urdf", b"\x00\x01")):
        with pytest.raises(SurefootError):
            inspected(tmp_path, text, name)
    with pytest.raises(SurefootError, match="no such file"):
        inspect_robot(str(tmp_path / "none.urdf"))


@pytest.mark.parametrize("name", ["g1", "talos", "hyq", "pendulum", "panda"])
def test_robots_of_the_zoo_are_sound(name):
    inspection = inspect_robot(name)
    assert inspection.sound, messages(inspection, "error")
