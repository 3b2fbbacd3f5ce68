"""Other engines: their answers in Pinocchio's coordinates, and the files that Drake gets."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pinocchio as pin
import pytest

from bench.cases.dynamics import CASES, expected_answers
from bench.check import end_frames, normwise_errors, random_states
from bench.peers import DrakePeer, MujocoPeer, PinocchioBatch, drake_script, write_bare_urdf
from bench.peers.coordinates import PeerCoordinates
from bench.peers.drake import drake_plan
from bench.timing import Effort
from surefoot.errors import NotSupportedError
from surefoot.robot.loading import load

SOME = Effort(repeats=1, seconds=0.0, passes=1)


@pytest.fixture(scope="module", params=["g1", "anymal", "panda"])
def setting(request):
    """A robot, its end frames and four states."""
    robot = load(request.param)
    return robot, end_frames(robot), random_states(robot, 4, np.random.default_rng(2))


def test_mujoco_agrees_with_pinocchio(setting):
    robot, frames, states = setting
    peer = MujocoPeer(robot, frames, states)
    for case in CASES:
        if case.name not in ("rnea", "aba", "crba", "frames"):
            continue
        expected = expected_answers(case, robot, peer.frames, states)
        if case.name == "frames":
            expected = [np.stack(expected[len(frames) :], axis=1)]
        assert normwise_errors([peer.answers(case.name, 4)], expected).max() < 1e-6, case.name


def test_mujoco_times_all_its_cases(setting):
    peer = MujocoPeer(*setting)
    assert all(peer.times(case, SOME).p50 > 0.0 for case in peer.calls)


def test_pinocchios_batch_agrees(setting):
    robot, _, states = setting
    peer = PinocchioBatch(robot, states)
    for case in CASES[:2]:
        expected = expected_answers(case, robot, (), states)
        np.testing.assert_allclose(peer.answers(case.name, 3), expected[0][:3], rtol=1e-9, atol=1e-9)


def test_pinocchios_batch_of_one_degree_of_freedom_is_refused():
    robot = load("pendulum")
    with pytest.raises(NotSupportedError):
        PinocchioBatch(robot, random_states(robot, 4, np.random.default_rng(0)))


@pytest.mark.parametrize("layout", ["mujoco", "drake"])
def test_power_and_motion_are_the_same_in_all_coordinates(layout):
    robot = load("g1")
    states = random_states(robot, 3, np.random.default_rng(5))
    at = PeerCoordinates(robot, layout, states)
    np.testing.assert_allclose(np.einsum("nij,nj->ni", at.map, states.v), at.velocities, atol=1e-12)
    power = np.einsum("ni,ni->n", at.forces, at.velocities)
    np.testing.assert_allclose(power, np.einsum("ni,ni->n", states.tau, states.v), atol=1e-9)
    step = 1e-5
    ahead = np.array([pin.integrate(robot.model, q, step * v) for q, v in zip(states.q, states.v, strict=True)])
    later = PeerCoordinates(robot, layout, type(states)(ahead, states.v + step * states.a, states.a, states.tau))
    np.testing.assert_allclose((later.velocities - at.velocities) / step, at.accelerations, atol=1e-3)


def test_a_robot_that_mujoco_changes_is_refused():
    robot = load("romeo")
    with pytest.raises(NotSupportedError, match="other masses"):
        MujocoPeer(robot, end_frames(robot), random_states(robot, 1, np.random.default_rng(0)))


@pytest.mark.parametrize(("name", "root"), [("g1", "pelvis"), ("talos", "base_link"), ("panda", "panda_link0")])
def test_drake_gets_masses_and_joints_only(tmp_path, name, root):
    robot = load(name)
    assert write_bare_urdf(Path(robot.source), tmp_path / "robot.urdf") == root
    tree = ElementTree.parse(tmp_path / "robot.urdf").getroot()
    assert {part.tag for part in tree} == {"link", "joint"}
    kept = {item.tag for part in tree for item in part}
    assert kept <= {"inertial", "origin", "parent", "child", "axis", "limit"}
    assert not tree.findall("joint[@type='floating']")


class _Joint:
    def __init__(self, q: int, v: int) -> None:
        self.q, self.v = q, v

    def position_start(self) -> int:
        return self.q

    floating_positions_start = position_start

    def velocity_start(self) -> int:
        return self.v

    floating_velocities_start_in_v = velocity_start


class _Plant:
    """A plant whose joints stand in the opposite order, the base last."""

    def __init__(self, robot) -> None:
        self.robot, nv = robot, robot.nv
        names = list(robot.tree.joint_names)[1:]
        self.joints = {name: _Joint(nv - 6 - 1 - k, nv - 6 - 1 - k) for k, name in enumerate(names)}

    def num_positions(self) -> int:
        return self.robot.nv + 1

    def num_velocities(self) -> int:
        return self.robot.nv

    def GetJointByName(self, name):
        return self.joints[name]

    def GetBodyByName(self, name):
        return _Joint(self.robot.nv - 6, self.robot.nv - 6)


def test_the_script_puts_joints_where_the_plant_has_them():
    robot = load("g1")
    plan = json.loads(json.dumps(drake_plan(robot, "pelvis", end_frames(robot), SOME)))
    order_q, order_v = drake_script._orders(_Plant(robot), plan)
    joints = robot.nv - 6
    assert order_v == [*reversed(range(6, robot.nv)), *range(6)]
    assert order_q[joints:] == list(range(7))
    own = np.arange(robot.nv)[order_v]
    assert (drake_script._in_robot_order("rnea", own[None], order_v)[0] == np.arange(robot.nv)).all()
    square = np.add.outer(100 * own, own)
    back = drake_script._in_robot_order("crba", square[None], order_v)[0]
    assert (back == np.add.outer(100 * np.arange(robot.nv), np.arange(robot.nv))).all()


def test_an_interpreter_that_is_not_there(tmp_path):
    robot = load("panda")
    states = random_states(robot, 2, np.random.default_rng(0))
    with pytest.raises(NotSupportedError, match="does not run Drake"):
        DrakePeer(tmp_path / "python", robot, end_frames(robot), states, SOME)
