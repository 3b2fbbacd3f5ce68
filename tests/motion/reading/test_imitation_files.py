"""Motions as imitation learning stores them: read in one go, or with the option that the message names."""

from __future__ import annotations

import pickle
import re
from pathlib import Path
from typing import Any

import numpy as np
import pinocchio as pin
import pytest

from surefoot.errors import FileFormatError, ShapeError, SurefootError, UnknownNameError
from surefoot.motion import Trajectory, World
from surefoot.motion.reading import (
    GivenMotion,
    heights_above,
    judge_joint_order,
    link_corners,
    link_placements,
    on_ground,
    read_motion,
)
from surefoot.motion.reading.joint_order import inner_joints, joint_orders, own_joints
from tests.feasibility.foot_motions import feet_motion
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


@pytest.mark.parametrize("name", ["humanoid", "small-humanoid"])
def test_isaac_lab_with_the_base_alone(name: str, tmp_path: Path) -> None:
    """Its place fits every order of the joints: the order is that of the simulator, and the remark says so."""
    motion = walk(name)
    with np.load(write_isaac(tmp_path / "all.npz", motion)) as file:
        arrays = dict(file)
    for key in ("body_pos_w", "body_quat_w", "body_lin_vel_w", "body_ang_vel_w"):
        arrays[key] = arrays[key][:, :1]
    np.savez(tmp_path / "base.npz", **arrays)
    found = read_motion(tmp_path / "base.npz", loaded(name))
    np.testing.assert_allclose(found.trajectory.q, motion.q, atol=1e-6)
    assert any("breadth-first order: that of Isaac Lab" in remark for remark in found.remarks)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(
    ("key", "change", "says"),
    [
        ("body_pos_w", lambda x: x[:5], "`body_pos_w` has shape (5, "),
        ("body_quat_w", lambda x: x[:5], "`body_quat_w` (5, "),
        ("body_quat_w", lambda x: x[:, :2], "`body_quat_w` (91, 2, 4)"),
        ("joint_pos", lambda x: x[:7], "`joint_pos` has 7 samples"),
        ("joint_pos", lambda x: x[:0], "`joint_pos` has 0 samples"),
        ("body_quat_w", np.zeros_like, "has length 0 in row 0"),
        ("body_quat_w", lambda x: np.full_like(x, 1e-300), "in row 0"),
        ("fps", lambda x: np.full_like(x, 1e300, dtype=float), "samples 0 and 1 are 1e-300 s apart"),
        ("fps", lambda x: np.full_like(x, 1e-300, dtype=float), "samples 0 and 1 are 1e+300 s apart"),
        ("time", lambda _: 1e-300 * np.arange(91), "samples 0 and 1 are 1e-300 s apart"),
    ],
)
def test_isaac_lab_arrays_that_contradict_each_other(key: str, change: Any, says: str, tmp_path: Path) -> None:
    with np.load(write_isaac(tmp_path / "walk.npz", walk("g1"))) as file:
        arrays = dict(file)
    arrays[key] = change(arrays.get(key))
    np.savez(tmp_path / "wrong.npz", **arrays)
    with pytest.raises(ShapeError, match=re.escape(says)):
        read_motion(tmp_path / "wrong.npz", loaded("g1"))


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("width", [0, 19, 36])
def test_files_without_samples(width: int, tmp_path: Path) -> None:
    np.save(tmp_path / "a.npy", np.zeros((0, width)))
    with pytest.raises(ShapeError, match="has no samples"):
        read_motion(tmp_path / "a.npy", loaded("g1"), rate=30.0)


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
        assert not judge_joint_order(robot, World(), walk(name).time, q).meant
        q[:, 2] -= 0.1  # sunk, hovering, lying: no other order cures that
        assert not judge_joint_order(robot, World(), walk(name).time, q).meant
        q[:, 2] += 0.3
        assert not judge_joint_order(robot, World(), walk(name).time, q).meant
        q[:, 3:7] = (0.0, np.sqrt(0.5), 0.0, np.sqrt(0.5))
        assert not judge_joint_order(robot, World(), walk(name).time, q).meant


@pytest.mark.parametrize("seed", range(4))
def test_an_order_that_nobody_knows_is_not_taken_for_a_better_one(seed: int, tmp_path: Path) -> None:
    robot, q = loaded("g1"), np.array(walk("g1").q)
    q[:, 7:] = q[:, 7 + np.random.default_rng(seed).permutation(q.shape[1] - 7)]
    np.savetxt(tmp_path / "mixed.csv", q, delimiter=",")
    found = read_motion(tmp_path / "mixed.csv", robot)
    np.testing.assert_allclose(found.trajectory.q[:, 7:], q[:, 7:])
    _says(found, "the joints may be in another order", "no known order fits", "--joint-order FILE")


@pytest.mark.parametrize("change", [lambda x: x.tolist(), lambda x: x[:, :, None], lambda x: [list(row) for row in x]])
def test_pickles_with_lists_and_with_one_number_in_each_entry(change: Any, tmp_path: Path) -> None:
    content = pickle.loads(write_asap(tmp_path / "walk.pkl", walk("g1")).read_bytes())
    content["0-walk_poses"]["dof"] = change(content["0-walk_poses"]["dof"])
    (tmp_path / "walk.pkl").write_bytes(pickle.dumps(content))
    _same(read_motion(tmp_path / "walk.pkl", loaded("g1")), walk("g1"))


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


def test_fewer_joints_may_be_in_another_order(tmp_path: Path) -> None:
    """Wrists omitted, level by level: told by the bodies of the file, by limits and feet, or by name."""
    robot, motion = loaded("g1"), walk("g1")
    some = inner_joints(robot, 23)
    assert some is not None
    order = [name for name in joint_orders(robot)["breadth-first"] if name in some]
    wanted = np.array(motion.q)
    for name in set(own_joints(robot)) - set(some):
        at = int(robot.tree.q_index[robot.joint_index(name)])
        wanted[:, at] = robot.home[at]
    held = Trajectory.of(robot, motion.time, wanted)
    joints = wanted[:, [int(robot.tree.q_index[robot.joint_index(name)]) for name in order]]
    np.savetxt(tmp_path / "walk.csv", np.hstack([wanted[:, :7], joints]), delimiter=",")
    for option in (None, "breadth-first"):
        _same(read_motion(tmp_path / "walk.csv", robot, missing="home", joint_order=option), held)
    bodies = dict(np.load(write_isaac(tmp_path / "all.npz", held)))
    bodies |= {"joint_pos": joints, "joint_vel": np.gradient(joints, motion.time, axis=0)}
    np.savez(tmp_path / "walk.npz", **bodies)
    found = read_motion(tmp_path / "walk.npz", robot, missing="home")
    _same(found, held)
    _says(found, "in breadth-first order, without left_wrist")
    with pytest.raises(SurefootError, match="6 joints are missing") as info:
        read_motion(tmp_path / "walk.csv", robot)
    assert "--joint-order FILE" in info.value.next_step


def test_exchanged_sides_are_told_by_feet_that_slide(tmp_path: Path) -> None:
    robot = loaded("go2")
    motion = feet_motion(robot, np.arange(61) / 30.0, tilt=0.5)
    assert not judge_joint_order(robot, World(), motion.time, motion.q).meant
    file = write_lafan(tmp_path / "sways.csv", motion, order="sides-swapped")
    found = read_motion(file, robot)
    _same(found, motion)
    _says(found, "sides-swapped order: as they are, feet slide")
    _same(read_motion(file, robot, joint_order="sides-swapped"), motion)


def test_bodies_by_name(tmp_path: Path) -> None:
    """As Isaac Lab writes motions of AMP: the base is the body of its name, wherever it is listed."""
    robot, motion = loaded("g1"), walk("g1")
    with np.load(write_isaac(tmp_path / "all.npz", motion)) as file:
        places, turns, joints = file["body_pos_w"], file["body_quat_w"], file["joint_pos"]
    np.savez(
        tmp_path / "amp.npz", fps=30, dof_names=joint_orders(robot)["breadth-first"], dof_positions=joints,
        body_names=["a", "pelvis"], body_positions=places[:, [5, 0]], body_rotations=1.004 * turns[:, [5, 0]],
    )  # fmt: skip
    found = read_motion(tmp_path / "amp.npz", robot)
    _same(found, motion)
    _says(found, "body `pelvis`")


@pytest.mark.parametrize("higher", [0.05, -0.04, 50.0])
def test_the_quaternion_of_feet_that_are_not_on_the_ground(higher: float, tmp_path: Path) -> None:
    motion = walk("g1", yaw=0.1)
    q = np.array(motion.q)
    q[:, 2] += higher
    wanted = Trajectory.of(loaded("g1"), motion.time, q)
    found = read_motion(write_lafan(tmp_path / "walk.csv", wanted), loaded("g1"))
    _same(found, wanted, 1e-5)
    _says(found, "feet then stay in place")


def test_the_quaternion_of_units_that_are_wrong_is_told_by_the_heading(tmp_path: Path) -> None:
    motion = walk("g1", yaw=0.1)
    wanted = Trajectory.of(loaded("g1"), motion.time, motion.q * np.r_[np.full(3, 1e3), np.ones(33)])
    found = read_motion(write_lafan(tmp_path / "walk.csv", wanted), loaded("g1"))
    _same(found, wanted, 1e-2)
    _says(found, "nothing but the heading tells")


def test_the_quaternion_of_a_robot_that_lies_is_told_by_its_lowest_point(tmp_path: Path) -> None:
    """On its belly, turned and rocking: the other order has it stand on its head or hang above the ground."""
    robot, n = loaded("g1"), 61
    q = np.tile(robot.home, (n, 1))
    links = list({item.link for item in robot.collisions})
    for k, roll in enumerate(0.1 * np.sin(0.3 * np.arange(n))):
        q[k, 3:7] = pin.Quaternion(pin.rpy.rpyToMatrix(roll, 1.5, 0.3)).coeffs()
        q[k, 2] = 0.0
        T = link_placements(robot, q[[k]], links)
        q[k, 2] -= min(heights_above(World(), T[:, i], link_corners(robot, link)).min() for i, link in enumerate(links))
    wanted = Trajectory.of(robot, np.arange(n) / 30.0, q)
    found = read_motion(write_lafan(tmp_path / "lies.csv", wanted), robot)
    _same(found, wanted, 1e-5)


def test_rows_of_another_robot_are_not_read_as_times(tmp_path: Path) -> None:
    file = write_lafan(tmp_path / "walk.csv", walk("g1"))
    with pytest.raises(FileFormatError, match="36 columns without names"):
        read_motion(file, loaded("g1").lock({"waist_yaw_joint": 0.0}))


def test_rows_may_be_counted_without_a_header(tmp_path: Path) -> None:
    motion = walk("g1")
    rows = [line.split(",") for line in write_lafan(tmp_path / "walk.csv", motion).read_text().splitlines()]
    (tmp_path / "n.csv").write_text("\n".join(",".join([f"{k}.0", *row]) for k, row in enumerate(rows)))
    found = read_motion(tmp_path / "n.csv", loaded("g1"))
    _same(found, motion)
    _says(found, "row numbers, q")
    numbered = [[f"{float(k):.6f}" for k in range(36)], *rows]
    (tmp_path / "h.csv").write_text("\n".join(",".join(row) for row in numbered))
    _same(read_motion(tmp_path / "h.csv", loaded("g1")), motion)


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
