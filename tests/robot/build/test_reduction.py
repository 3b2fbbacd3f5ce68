"""Reduced robots: the same motion and forces as the whole robot that holds those joints."""

import json

import numpy as np
import pytest

from surefoot.cli.main import main
from surefoot.dynamics import crba, rnea
from surefoot.errors import ModelError, NotSupportedError, ShapeError, UnknownNameError
from surefoot.robot import Coupling, Joint, Link, Robot, Spring, load

WAIST = {"waist_yaw_joint": 0.3, "waist_roll_joint": 0.0, "waist_pitch_joint": -0.1}


def whole_state(whole: Robot, small: Robot, q, held):
    """q of the whole robot, and the rows of v that the small one has."""
    out = whole.q_of(held)
    rows = []
    for name in small.joint_names:
        a, b = small.joint_index(name), whole.joint_index(name)
        size = whole.tree.nq_of(b)
        out[whole.tree.q_index[b] : whole.tree.q_index[b] + size] = q[small.tree.q_index[a] :][:size]
        rows += list(range(whole.tree.v_index[b], whole.tree.v_index[b] + whole.tree.nv_of(b)))
    return out, np.array(rows)


def test_a_locked_waist_moves_and_weighs_as_one_that_is_held():
    whole, rng = load("g1"), np.random.default_rng(0)
    small = whole.lock(WAIST)
    assert (small.nq, small.nu) == (whole.nq - 3, whole.nu - 3)
    assert small.contacts.keys() == whole.contacts.keys()
    q = np.array(small.home)
    q[7:] += 0.2 * rng.standard_normal(small.nq - 7)
    q_whole, rows = whole_state(whole, small, q, WAIST)
    for name in ("left_rubber_hand", "right_ankle_roll_link", "torso_link"):
        np.testing.assert_allclose(small.placements(q)[name], whole.placements(q_whole)[name], atol=1e-12)
    np.testing.assert_allclose(crba(small.tree, q), crba(whole.tree, q_whole)[np.ix_(rows, rows)], atol=1e-10)
    v, a = rng.standard_normal((2, small.nv))
    v_whole, a_whole = np.zeros((2, whole.nv))
    v_whole[rows], a_whole[rows] = v, a
    np.testing.assert_allclose(rnea(small.tree, q, v, a), rnea(whole.tree, q_whole, v_whole, a_whole)[rows], atol=1e-9)
    np.testing.assert_allclose(small.limits.effort, whole.limits.effort[rows])
    np.testing.assert_allclose(small.model.armature, whole.model.armature[rows])
    assert abs(min(c[:, 2].min() for c in small.contact_corners(small.home).values())) < 1e-9


def test_only_keeps_the_named_joints_and_the_base():
    whole = load("g1")
    small = whole.only(["left_shoulder_*", "left_elbow_joint"])
    assert small.nv == 6 + 4
    assert small.joint_names[1:] == tuple(
        n for n in whole.joint_names if "left_shoulder" in n or n == "left_elbow_joint"
    )
    np.testing.assert_allclose(
        small.home[7:], [whole.home[whole.tree.q_index[whole.joint_index(n)]] for n in small.joint_names[1:]]
    )


def hand() -> Robot:
    solid = {"mass": 1.0, "inertia": 0.1 * np.eye(3)}
    links = [Link("base")] + [
        Link(name, parent, Joint(f"j{name}", "revolute", axis=(0.0, 1.0, 0.0)), **solid)
        for name, parent in (("a", "base"), ("b", "a"), ("c", "b"))
    ]
    springs = (Spring("s", {"ja": 1.0, "jc": 2.0}, 5.0, rest=(0.1, 0.1)),)
    return Robot.from_tree("hand", links, couplings=(Coupling("jb", "ja", 2.0, 0.1),), springs=springs)


def test_coupled_joints_are_held_together_and_springs_keep_their_rest():
    small = hand().lock({"jb": 0.5})  # ja = 0.2
    assert small.joint_names == ("jc",)
    assert not small.couplings
    np.testing.assert_allclose(
        small.passive_forces([0.3], [0.0]), hand().passive_forces([0.2, 0.5, 0.3], np.zeros(3))[2:]
    )
    with pytest.raises(ModelError, match="held elsewhere"):
        hand().lock({"ja": 0.0, "jb": 0.7})


def test_what_cannot_be_held_is_refused():
    robot = load("g1")
    with pytest.raises(UnknownNameError, match="waist_yaw_join"):
        robot.lock({"waist_yaw_join": 0.0})
    with pytest.raises(NotSupportedError, match="base"):
        robot.lock({"root_joint": 0.0})
    assert robot.lock({}) is robot


def test_a_joint_held_outside_its_limits_is_reported():
    notes = [str(note) for note in load("g1", lock={"left_knee_joint": 9.0, "waist_yaw_joint": 0.1}).notes]
    (note,) = [text for text in notes if "held" in text]
    assert "left_knee_joint" in note
    assert "held at 9, outside its limits [-0.08727, 2.88]" in note


def test_on_the_command_line(capsys):
    with pytest.raises(SystemExit) as left:
        main(["check", "g1", "--lock", "waist_*=0.0", "--only", "waist_*,left_*", "--json"])
    found = json.loads(capsys.readouterr().out)
    assert left.value.code == 0
    assert not any("waist" in name or "right" in name for name in found["joints"])
    with pytest.raises(SystemExit) as left:
        main(["check", "g1", "--lock", "waist"])
    assert left.value.code == 2
    assert "JOINT=POSITION" in capsys.readouterr().err


@pytest.mark.parametrize("value", [float("nan"), float("inf"), "a", None, 10**400, 1j, [0.1, 0.2]])
def test_positions_that_are_not_finite_numbers_are_refused(value):
    """A NaN made a robot whose axes were NaN, and an internal error in `check`."""
    robot = load("panda")
    with pytest.raises(ShapeError, match="panda_joint1"):
        robot.q_of({"panda_joint1": value})
    if value is not None:  # held at home
        with pytest.raises(ShapeError, match="panda_joint1"):
            robot.lock({"panda_joint1": value})
