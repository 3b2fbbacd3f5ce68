"""Soles and standing: a shank is not a sole, and a posture that barely stands is named, with one that does."""

import json
from pathlib import Path

import numpy as np
import pinocchio as pin
import pytest

from surefoot.cli.main import main
from surefoot.geometry import Box
from surefoot.ik.analysis import standing_posture
from surefoot.robot import Geometry, Joint, Link, Robot, bend_straight_legs, load, placement, support_doubts
from surefoot.scenario import read_scenario
from surefoot.scenario.build import build_simulation


def four_legs(tilt: float) -> Robot:
    """Shanks of 210 × 22 × 22 mm, so far from lying on the ground as `tilt` says."""
    c, s = np.cos(tilt), np.sin(tilt)
    turn = np.array([[c, 0.0, s], [0.0, 1.0, 0.0], [-s, 0.0, c]])
    links = [Link("trunk", mass=5.0, inertia=0.1 * np.eye(3))]
    for k, (x, y) in enumerate([(0.3, 0.2), (0.3, -0.2), (-0.3, 0.2), (-0.3, -0.2)]):
        shape = Geometry(f"shank{k}", f"shank{k}", Box((0.21, 0.022, 0.022)), placement((0.105, 0.0, 0.0)))
        joint = Joint(f"knee{k}", "revolute", placement((x, y, -0.1), turn), axis=(0.0, 1.0, 0.0))
        links.append(Link(f"shank{k}", "trunk", joint, 0.5, (0.1, 0.0, 0.0), 0.01 * np.eye(3), collisions=(shape,)))
    return Robot.from_tree("legs", links, "floating")


@pytest.mark.parametrize("tilt", [0.0, 0.2, 0.5, 1.2])
def test_a_shank_touches_with_its_far_end(tilt):
    robot = four_legs(tilt)
    for name, contact in robot.contacts.items():
        size = np.ptp(contact.corners, axis=0)
        assert size.max() <= 0.022 + 1e-9, contact.kind
        reach = np.linalg.norm(robot.placements(robot.home)[name][:3, :3] @ contact.placement[:3, 3])
        assert reach == pytest.approx(0.21, abs=0.025)


def leaning(shift: float) -> Robot:
    """g1 with its trunk pitched back about its ankles until the centre of mass is `shift` from the heel."""
    robot = load("g1")
    rows = [int(robot.tree.q_index[robot.joint_index(f"{side}_ankle_pitch_joint")]) for side in ("left", "right")]
    low, high = 0.0, 0.4
    for _ in range(40):
        middle = 0.5 * (low + high)
        q = np.array(robot.home)
        q[rows] += middle
        turned = pin.exp3(np.array([0.0, -middle, 0.0])) @ pin.Quaternion(q[3:7]).toRotationMatrix()
        q[3:7] = pin.Quaternion(turned).coeffs()
        com = pin.centerOfMass(robot.model, robot.model.createData(), q)[0]
        heel = np.vstack(list(robot.contact_corners(q).values()))[:, 0].min()
        low, high = (middle, high) if com - heel > shift else (low, middle)
    return robot.replace(home=q)


def test_a_home_near_the_heel_is_named_and_a_better_one_is_found():
    robot = leaning(0.012)
    (doubt,) = support_doubts(robot, robot.home)
    assert "12 mm from the edge" in doubt
    q = standing_posture(robot)
    assert support_doubts(robot, q) == ()
    corners = np.vstack(list(robot.contact_corners(q).values()))
    np.testing.assert_allclose(corners[:, 2], 0.0, atol=1e-3)
    com = pin.centerOfMass(robot.model, robot.model.createData(), q)
    np.testing.assert_allclose(com[:2], corners.mean(axis=0)[:2], atol=0.02)
    assert ((q >= robot.limits.lower - 1e-9) & (q <= robot.limits.upper + 1e-9))[7:].all()


def test_on_the_command_line(tmp_path, capsys):
    robot = load("talos_legs")
    file = tmp_path / "legs.urdf"
    file.write_bytes(Path(robot.source).read_bytes())
    (tmp_path / "legs.surefoot.toml").write_text(
        'base = "floating"\n[home.joints]\nleg_left_5_joint = -0.15\nleg_right_5_joint = -0.15\n'
    )
    for home, expected in (("own", True), ("auto", False)):
        with pytest.raises(SystemExit):
            main(["check", str(file), "--json", "--home", home])
        found = json.loads(capsys.readouterr().out)
        texts = [item["message"] for item in found["findings"]]
        assert any("centre of mass" in text for text in texts) == expected
        assert any("home.joints = {" in text for text in texts) != expected


def leg_entries(robot: Robot) -> list[int]:
    legs = [name for name in robot.joint_names if any(word in name for word in ("hip", "knee", "ankle"))]
    return [int(robot.tree.q_index[robot.joint_index(name)]) for name in legs]


@pytest.mark.parametrize("name", ["g1", "talos", "anymal"])
def test_bent_legs_stay_as_they_are(name):
    robot = load(name)
    np.testing.assert_array_equal(bend_straight_legs(robot, robot.home), robot.home)


def test_straight_legs_are_bent_and_the_robot_stands_on_the_same_soles():
    robot = load("g1_with_hands")
    bent = bend_straight_legs(robot, robot.home)
    others = np.setdiff1d(np.arange(robot.nq), leg_entries(robot))
    np.testing.assert_array_equal(bent[others], robot.home[others])
    knee = int(robot.tree.q_index[robot.joint_index("left_knee_joint")])
    assert bent[knee] > robot.home[knee] + 0.1
    q = standing_posture(robot)
    np.testing.assert_array_equal(bend_straight_legs(robot, q), q)
    assert q[knee] > robot.home[knee] + 0.1
    assert not support_doubts(robot, q)
    for name, corners in robot.contact_corners(q).items():
        np.testing.assert_allclose(corners[:, :2], robot.contact_corners(robot.home)[name][:, :2], atol=1e-4)


@pytest.mark.slow
def test_a_run_that_balances_begins_on_bent_legs_unless_told_otherwise():
    given = read_scenario("stand")
    for home, is_bent in (("usual", True), ("own", False)):
        robot = given.robot.model_copy(update={"name": "g1_with_hands", "home": home})
        simulation = build_simulation(given.model_copy(update={"robot": robot}))
        assert any("straight" in note for note in simulation.notes) is is_bent
