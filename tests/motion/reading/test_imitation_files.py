"""Motions as imitation learning stores them: read in one go, or with the option that the message names."""

from __future__ import annotations

import pickle
from pathlib import Path

import numpy as np
import pinocchio as pin
import pytest

from surefoot.errors import FileFormatError, SurefootError, UnknownNameError
from surefoot.motion import Trajectory, World
from surefoot.motion.reading import GivenMotion, judge_joint_order, on_ground, read_motion
from surefoot.motion.reading.joint_order import inner_joints, joint_orders, own_joints
from tests.feasibility.good_motions import loaded
from tests.motion.reading.walks import walk, write_amass, write_asap, write_isaac, write_lafan, write_qpos

ROBOTS = ("g1", "small-humanoid")


def _same(found: GivenMotion, wanted: Trajectory, atol: float = 1e-6) -> None:
    q = np.array(found.trajectory.q)
    q[:, 3:7] *= np.sign(np.sum(q[:, 3:7] * wanted.q[:, 3:7], axis=1, keepdims=True))
    np.testing.assert_allclose(q, wanted.q, atol=atol)
    np.testing.assert_allclose(found.trajectory.time, wanted.time, atol=1e-9)


def _says(found: GivenMotion, *texts: str) -> None:
    for text in texts:
        assert any(text in remark for remark in found.remarks), (text, found.remarks)


@pytest.mark.parametrize("name", ROBOTS)
@pytest.mark.parametrize("header", [False, True])
def test_rows_of_base_and_joints_at_30_hz(name: str, header: bool, tmp_path: Path) -> None:
    found = read_motion(write_lafan(tmp_path / "walk.csv", walk(name), header), loaded(name))
    _same(found, walk(name))
    _says(found, "30 samples per second", "read as xyzw")


def test_a_column_that_counts_rows(tmp_path: Path) -> None:
    lines = write_lafan(tmp_path / "walk.csv", walk("g1"), True).read_text().splitlines()
    text = ["," + lines[0], *(f"{k},{line}" for k, line in enumerate(lines[1:]))]
    (tmp_path / "frame.csv").write_text("\n".join(text))
    _same(read_motion(tmp_path / "frame.csv", loaded("g1")), walk("g1"))


@pytest.mark.parametrize("name", ROBOTS)
def test_pickles_by_name_of_the_motion(name: str, tmp_path: Path) -> None:
    found = read_motion(write_asap(tmp_path / "walk.pkl", walk(name)), loaded(name))
    _same(found, walk(name))
    both = pickle.loads((tmp_path / "walk.pkl").read_bytes())
    both["other"] = both["0-walk_poses"] | {"root_trans_offset": walk(name).q[:, :3] + 1.0}
    (tmp_path / "two.pkl").write_bytes(pickle.dumps(both))
    with pytest.raises(FileFormatError, match="2 motions") as info:
        read_motion(tmp_path / "two.pkl", loaded(name))
    assert "--motion 0-walk_poses" in info.value.next_step
    _same(read_motion(tmp_path / "two.pkl", loaded(name), motion="0-walk_poses"), walk(name))


@pytest.mark.parametrize("name", ROBOTS)
def test_isaac_lab_breadth_first(name: str, tmp_path: Path) -> None:
    found = read_motion(write_isaac(tmp_path / "walk.npz", walk(name)), loaded(name))
    _same(found, walk(name))
    _says(found, "breadth-first order", "wxyz")
    assert found.trajectory.v is not None


@pytest.mark.parametrize("name", ROBOTS)
def test_rotation_vectors(name: str, tmp_path: Path) -> None:
    found = read_motion(write_amass(tmp_path / "walk.npz", walk(name)), loaded(name))
    _same(found, walk(name))
    _says(found, "rotation vectors", "mocap_framerate")
    np.savez(tmp_path / "human.npz", trans=walk(name).q[:, :3], poses=np.zeros((91, 156)), betas=np.zeros(16))
    with pytest.raises(FileFormatError, match="human body"):
        read_motion(tmp_path / "human.npz", loaded(name))


@pytest.mark.parametrize("name", ROBOTS)
def test_qpos_alone(name: str, tmp_path: Path) -> None:
    file = write_qpos(tmp_path / "walk.npy", walk(name))
    with pytest.raises(FileFormatError, match="no times") as info:
        read_motion(file, loaded(name))
    assert "--rate" in info.value.next_step
    found = read_motion(file, loaded(name), rate=30.0)
    _same(found, walk(name))
    _says(found, "read as wxyz")


@pytest.mark.parametrize("name", ROBOTS)
def test_a_wrong_joint_order_is_recognised(name: str, tmp_path: Path) -> None:
    robot = loaded(name)
    found = read_motion(write_lafan(tmp_path / "walk.csv", walk(name), order="breadth-first"), robot)
    _same(found, walk(name))
    _says(found, "breadth-first order", "beyond their limits")
    (tmp_path / "order.txt").write_text("# joints\n- " + "\n- ".join(joint_orders(robot)["breadth-first"]))
    for order in ("breadth-first", str(tmp_path / "order.txt")):
        _same(read_motion(tmp_path / "walk.csv", robot, joint_order=order), walk(name))
    with pytest.raises(UnknownNameError, match="joint order"):
        read_motion(tmp_path / "walk.csv", robot, joint_order="depth")


def test_a_right_joint_order_is_left_alone() -> None:
    for name in ROBOTS:
        robot, q = loaded(name), np.array(walk(name).q)
        assert not judge_joint_order(robot, World(), q).meant
        q[:, 2] -= 0.1  # sunk, hovering, lying: no other order cures that
        assert not judge_joint_order(robot, World(), q).meant
        q[:, 2] += 0.3
        assert not judge_joint_order(robot, World(), q).meant
        q[:, 3:7] = (0.0, np.sqrt(0.5), 0.0, np.sqrt(0.5))
        assert not judge_joint_order(robot, World(), q).meant


def test_missing_joints_stay_at_home(tmp_path: Path) -> None:
    robot, motion = loaded("g1"), walk("g1")
    names = inner_joints(robot, 23)
    assert names is not None
    assert not any("wrist" in name for name in names)
    wanted = np.array(motion.q)
    for name in own_joints(robot):
        if name not in names:
            at = int(robot.tree.q_index[robot.joint_index(name)])
            wanted[:, at] = robot.home[at]
    held = Trajectory.of(robot, motion.time, wanted)
    file = write_asap(tmp_path / "walk.pkl", motion, names)
    with pytest.raises(SurefootError, match="6 joints are missing") as info:
        read_motion(file, robot)
    assert "--missing home" in info.value.next_step
    _same(read_motion(file, robot, missing="home"), held)
    at = [int(robot.tree.q_index[robot.joint_index(name)]) for name in names]
    np.savetxt(tmp_path / "walk.csv", np.hstack([motion.q[:, :7], motion.q[:, at]]), delimiter=",")
    _same(read_motion(tmp_path / "walk.csv", robot, missing="home"), held)
    columns = ["base.x", "base.y", "base.z", "base.qx", "base.qy", "base.qz", "base.qw", *names]
    numbers = np.hstack([motion.q[:, :7], motion.q[:, at]])
    np.savetxt(tmp_path / "named.csv", numbers, delimiter=",", header=",".join(columns), comments="")
    found = read_motion(tmp_path / "named.csv", robot, rate=30.0, missing="home")
    _same(found, held)
    _says(found, "held at home: left_wrist_roll_joint")
    np.savez(tmp_path / "q.npz", qpos=np.hstack([motion.q[:, :3], motion.q[:, [6, 3, 4, 5]], motion.q[:, at]]), fps=30)
    _same(read_motion(tmp_path / "q.npz", robot, missing="home"), held)


def test_a_clearly_better_quaternion_order_is_chosen(tmp_path: Path) -> None:
    """A base that leans and turns while its feet hover: only the tilt tells."""
    robot, motion = loaded("g1"), walk("g1")
    yaw, lean = 1.45, 0.1
    q = np.array(motion.q)
    q[:, 2] += 0.06
    q[:, 3:7] = pin.Quaternion(pin.rpy.rpyToMatrix(lean, 0.0, yaw)).coeffs()
    wanted = Trajectory.of(robot, motion.time, q)
    found = read_motion(write_lafan(tmp_path / "lean.csv", wanted), robot)
    _same(found, wanted, 1e-5)
    _says(found, "upright (tilt 6°, otherwise 83°)")


def test_the_ground_is_shifted_or_fitted() -> None:
    robot, motion = loaded("g1"), walk("g1")
    q = np.array(motion.q)
    q[:, 2] += 0.034
    given = GivenMotion(Trajectory.of(robot, motion.time, q))
    for ground in ("0.034", 0.034, "fit"):
        found = on_ground(given, robot, World(), ground)
        np.testing.assert_allclose(found.trajectory.q, motion.q, atol=2e-4)
        _says(found, "moved by -0.034")
    with pytest.raises(SurefootError, match="neither"):
        on_ground(given, robot, World(), "low")
