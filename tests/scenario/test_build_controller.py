"""Controllers of scenario files."""

from __future__ import annotations

import numpy as np
import pytest

from surefoot.control import ForceSchedule, HandReach, JointPath, JointPd, JointWaves, ReactionlessMotion
from surefoot.control.classic import ClassicController
from surefoot.control.layered import CartPoleSwingUp
from surefoot.errors import NotSupportedError, ScenarioError, ShapeError, UnknownNameError
from surefoot.motion import State, Trajectory, World
from surefoot.robot.loading import load
from surefoot.scenario.build.hands import hand_of
from surefoot.scenario.build.simulation import build_controller
from surefoot.scenario.motions import Plan, PlannedFollower
from surefoot.scenario.schema import ControllerTable, Scenario
from tests.control.walking.random_biped import random_biped

HEXAPOD, HUMANOID = load("hexapod"), load("small-humanoid")
ARMS = [
    f"{side}_{joint}"
    for side in ("left", "right")
    for joint in ("shoulder_pitch", "shoulder_roll", "shoulder_yaw", "elbow")
]
BENT = {"left_shoulder_pitch": -0.8, "left_shoulder_roll": 0.4, "left_elbow": -1.2, "right_shoulder_pitch": 0.3,
        "right_shoulder_roll": -0.7, "right_elbow": -0.8}  # fmt: skip


def built(table, robot, q, plan=None):
    return build_controller(Scenario(name="mine", controller=table), robot, World(), q, plan)


def posture(robot, joints) -> np.ndarray:
    q = np.array(robot.home)
    for name, value in joints.items():
        q[robot.tree.q_index[robot.joint_index(name)]] = value
    return q


CASES = [
    (HEXAPOD, {"kind": "joint_pd", "bandwidth": 20.0}, JointPd),
    (HEXAPOD, {"kind": "limp"}, ForceSchedule),
    (HEXAPOD, {"kind": "joint_path", "keyframes": [{"time": 1.0, "joints": {"left_rear_coxa": 0.2}}]}, JointPath),
    (HEXAPOD, {"kind": "joint_waves", "waves": {"left_rear_coxa": {"amplitude": 0.1, "frequency": 2.0}}}, JointWaves),
    (HUMANOID, {"kind": "reactionless", "joints": ARMS, "speed": 0.5}, ReactionlessMotion),
    (HUMANOID, {"kind": "hand_reach", "frame": "left_grip", "displacement": (0.01, 0.0, 0.0)}, HandReach),
    (HEXAPOD, {"kind": "follow", "bandwidth": 20.0}, PlannedFollower),
    (HEXAPOD, {"kind": "force_schedule", "points": [{"time": 0.0, "torques": {"left_rear_coxa": 0.3}}]}, ForceSchedule),
    (HUMANOID, {"kind": "classic", "method": "hyon"}, ClassicController),
    (load("cartpole"), {"kind": "swing_up", "error": 0.1}, CartPoleSwingUp),
]


@pytest.mark.parametrize(("robot", "table", "kind"), CASES, ids=[case[1]["kind"] for case in CASES])
def test_every_kind_gives_commands_that_fit(robot, table, kind):
    q = posture(robot, BENT if robot is HUMANOID else {})
    still = Trajectory.of(robot, [0.0, 1.0], np.array([q, q]), np.zeros((2, robot.nv)))
    controller = built(ControllerTable(**table), robot, q, Plan(still))
    assert isinstance(controller, kind)
    for t in (0.0, 0.5):
        command = controller.command(t, State.of(robot, q))
        assert command.size == robot.nu
    if command.position is not None:
        first = controller.command(0.0, State.of(robot, q)).position
        np.testing.assert_allclose(first, q[-robot.nu :], atol=1e-9)  # it begins where the robot is


ELSEWHERE = {"walk", "balance", "follow_body", "inversion", "layered_walk", "mpc"}  # each has tests of its own


def test_every_kind_of_the_schema_is_built():
    assert {case[1]["kind"] for case in CASES} == set(ControllerTable.KEYS) - ELSEWHERE


def test_there_must_be_something_to_follow():
    with pytest.raises(ScenarioError, match="motion"):
        built(ControllerTable(kind="follow"), HEXAPOD, HEXAPOD.home)


def test_limp_is_no_torque():
    command = built(ControllerTable(kind="limp"), HEXAPOD, HEXAPOD.home).command(1.0, State.of(HEXAPOD))
    assert not command.torque.any()
    assert command.position is None


def test_forces_run_straight_from_point_to_point():
    points = [{"time": 1.0, "torques": {"left_rear_coxa": 1.0}}, {"time": 3.0, "torques": {"left_rear_coxa": 2.0}}]
    controller = built(ControllerTable(kind="force_schedule", points=points), HEXAPOD, HEXAPOD.home)
    joint = [drive.joint for drive in HEXAPOD.drives].index("left_rear_coxa")
    found = [controller.command(t, State.of(HEXAPOD)).torque[joint] for t in (0.0, 1.5, 5.0)]
    np.testing.assert_allclose(found, [1.0, 1.25, 2.0])


def test_a_path_goes_through_its_keyframes_and_stays():
    frames = [{"time": 1.0, "joints": {"left_rear_coxa": 0.2}}, {"time": 2.0, "joints": {"left_rear_coxa": -0.1}}]
    controller = built(ControllerTable(kind="joint_path", keyframes=frames), HEXAPOD, HEXAPOD.home)
    joint = [drive.joint for drive in HEXAPOD.drives].index("left_rear_coxa")
    found = [controller.command(t, State.of(HEXAPOD)).position[joint] for t in (0.0, 1.0, 2.0, 9.0)]
    np.testing.assert_allclose(found, [0.0, 0.2, -0.1, -0.1], atol=1e-9)


@pytest.mark.parametrize(
    ("table", "error", "word"),
    [
        ({"kind": "joint_path", "keyframes": []}, ShapeError, "keyframes"),
        ({"kind": "joint_path", "keyframes": [{"time": 1.0, "joints": {"hip": 1.0}}]}, UnknownNameError, "hip"),
        ({"kind": "joint_waves", "waves": {}}, ShapeError, "waves"),
        ({"kind": "force_schedule", "points": [{"time": 1.0, "torques": {"body": 1.0}}]}, UnknownNameError, "body"),
    ],
)
def test_what_the_robot_cannot_do_is_named(table, error, word):
    with pytest.raises(error, match=word):
        built(ControllerTable(**table), HEXAPOD, HEXAPOD.home)


def test_an_arm_that_turns_about_one_axis_has_no_hand_to_reach_with(tmp_path):
    file = tmp_path / "biped.urdf"
    file.write_text(random_biped(901))
    robot = load(str(file))
    assert hand_of(robot)
    with pytest.raises(NotSupportedError, match="no hands that could reach"):
        hand_of(robot, directions=2)
    assert hand_of(load("g1"), directions=3) == "left_rubber_hand"
