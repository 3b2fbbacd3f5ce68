"""A walk of any biped by inverse kinematics, sampled as motion sets are, and written in their layouts."""

from __future__ import annotations

import pickle
from functools import lru_cache
from pathlib import Path

import numpy as np
import pinocchio as pin

from surefoot.motion import Trajectory
from surefoot.motion.reading.joint_order import joint_orders, own_joints
from surefoot.robot import Robot
from tests.feasibility.good_motions import loaded

STEP, LENGTH, LIFT, DIP = 0.6, 0.12, 0.04, 0.06  # [s], [m], of the base while it walks


@lru_cache(maxsize=8)
def walk(name: str, rate: float = 30.0, duration: float = 3.0, yaw: float = 0.4) -> Trajectory:
    """Steps in place that go on ahead, arms and wrists swinging; feet flat and still while they stand."""
    robot = loaded(name)
    n = int(rate * duration) + 1
    time = np.arange(n) / rate
    scale = robot.home[2] / 0.78
    feet = list(robot.contacts.values())[:2]
    left = [np.array(robot.placements(robot.home)[foot.frame]) for foot in feet]
    q, rows = robot.home.copy(), []
    for t in time:
        phase, count = t / STEP % 1.0, int(t / STEP)
        base = np.eye(4)
        way = scale * LENGTH * t / STEP
        shift = scale * 0.03 * np.cos(np.pi * t / STEP)
        base[:3, 3] = robot.home[:3] + np.array([way, shift, -scale * DIP])
        targets = []
        for k, home in enumerate(left):
            swings = count % 2 == k
            done = count // 2 + (1 if count % 2 > k else 0)  # swings of this foot that are over
            x = 2.0 * scale * LENGTH * (done - 0.25)
            T = home.copy()
            smooth = phase * phase * (3.0 - 2.0 * phase)
            T[0, 3] += x + (2.0 * scale * LENGTH * smooth if swings else 0.0)
            T[2, 3] += scale * LIFT * np.sin(np.pi * phase) ** 2 if swings else 0.0
            targets.append(T)
        q = _solved(robot, q, base, [foot.frame for foot in feet], targets)
        rows.append(_with_arms(robot, q, t))
    turn = np.array([0.0, 0.0, np.sin(0.5 * yaw), np.cos(0.5 * yaw)])
    return Trajectory.of(robot, time, _turned(np.array(rows), turn, yaw))


def _solved(robot: Robot, q: np.ndarray, base: np.ndarray, frames: list[str], targets: list[np.ndarray]) -> np.ndarray:
    model, data = robot.model, robot.model.createData()
    q = q.copy()
    q[:3], q[3:7] = base[:3, 3], (0.0, 0.0, 0.0, 1.0)
    for _ in range(20):
        pin.computeJointJacobians(model, data, q)
        errors, rows = [], []
        for frame, T in zip(frames, targets, strict=True):
            M = pin.updateFramePlacement(model, data, robot.frame_id(frame))
            errors.append(pin.log6(M.actInv(pin.SE3(T))).vector)
            rows.append(pin.getFrameJacobian(model, data, robot.frame_id(frame), pin.LOCAL))
        error, J = np.concatenate(errors), np.vstack(rows)
        J[:, :6] = 0.0
        if np.abs(error).max() < 1e-9:
            break
        q = pin.integrate(model, q, J.T @ np.linalg.solve(J @ J.T + 1e-8 * np.eye(len(error)), error))
    return np.asarray(q)


def _with_arms(robot: Robot, q: np.ndarray, t: float) -> np.ndarray:
    out = q.copy()
    for name in own_joints(robot):
        i = robot.joint_index(name)
        at = int(robot.tree.q_index[i])
        if any(word in name for word in ("shoulder", "elbow", "arm", "wrist")):
            low, high = robot.limits.lower[at], robot.limits.upper[at]
            swing = 0.15 * np.sin(np.pi * t / STEP + (0.0 if "left" in name else np.pi))
            out[at] = np.clip(robot.home[at] + swing, low + 0.01, high - 0.01)
    return out


def _turned(q: np.ndarray, turn: np.ndarray, yaw: float) -> np.ndarray:
    """The whole motion about the vertical."""
    c, s = np.cos(yaw), np.sin(yaw)
    out = q.copy()
    out[:, :2] = q[:, :2] @ np.array([[c, s], [-s, c]])
    out[:, 3:7] = turn
    return out


def joint_columns(robot: Robot, q: np.ndarray, order: str = "robot") -> np.ndarray:
    at = [int(robot.tree.q_index[robot.joint_index(name)]) for name in joint_orders(robot)[order]]
    return np.asarray(q[:, at])


def write_lafan(path: Path, motion: Trajectory, header: bool = False, order: str = "robot") -> Path:
    """Rows xyz, xyzw, joints; no header, no times."""
    robot = loaded(motion.robot)
    rows = np.hstack([motion.q[:, :7], joint_columns(robot, motion.q, order)])
    text = [",".join(map(str, range(rows.shape[1])))] if header else []
    path.write_text("\n".join([*text, *(",".join(f"{x:.6f}" for x in row) for row in rows)]) + "\n")
    return path


def write_asap(path: Path, motion: Trajectory, joints: list[str] | None = None, protocol: int = 4) -> Path:
    """{name: {root_trans_offset, root_rot (xyzw), dof, fps, …}}."""
    robot = loaded(motion.robot)
    names = own_joints(robot) if joints is None else joints
    at = [int(robot.tree.q_index[robot.joint_index(name)]) for name in names]
    entry = {
        "root_trans_offset": motion.q[:, :3],
        "pose_aa": np.zeros((len(motion), 27, 3), dtype=np.float32),
        "dof": motion.q[:, at].astype(np.float32),
        "root_rot": motion.q[:, 3:7],
        "fps": 30,
    }
    path.write_bytes(pickle.dumps({"0-walk_poses": entry}, protocol=protocol))
    return path


def write_isaac(path: Path, motion: Trajectory) -> Path:
    """joint_pos, joint_vel breadth-first, body_pos_w, body_quat_w (wxyz), fps."""
    robot = loaded(motion.robot)
    model, data = robot.model, robot.model.createData()
    level = sorted(range(robot.tree.n), key=lambda i: len(robot.tree.ancestors(i)))
    position, turn = [], []
    for q in motion.q:
        pin.forwardKinematics(model, data, q)
        placed = [data.oMi[i + 1] for i in level]
        position.append([M.translation.copy() for M in placed])
        turn.append([np.roll(pin.Quaternion(M.rotation).coeffs(), 1) for M in placed])
    joints = joint_columns(robot, motion.q, "breadth-first")
    rate = 1.0 / float(motion.time[1] - motion.time[0])
    np.savez(
        path, fps=np.array([rate]), joint_pos=joints, joint_vel=np.gradient(joints, motion.time, axis=0),
        body_pos_w=np.array(position, dtype=np.float32), body_quat_w=np.array(turn, dtype=np.float32),
        body_lin_vel_w=np.zeros((len(joints), len(level), 3)), body_ang_vel_w=np.zeros((len(joints), len(level), 3)),
    )  # fmt: skip
    return path


def write_amass(path: Path, motion: Trajectory) -> Path:
    """trans, root_orient (rotation vectors), dof_pos, mocap_framerate."""
    robot = loaded(motion.robot)
    vectors = [pin.log3(pin.Quaternion(x).matrix()) for x in motion.q[:, 3:7]]
    rate = 1.0 / float(motion.time[1] - motion.time[0])
    np.savez(
        path, trans=motion.q[:, :3], root_orient=np.array(vectors), dof_pos=joint_columns(robot, motion.q),
        mocap_framerate=rate, gender=np.array("neutral"),
    )  # fmt: skip
    return path


def write_qpos(path: Path, motion: Trajectory) -> Path:
    """MuJoCo's qpos, quaternions wxyz, as one array."""
    np.save(path, np.hstack([motion.q[:, :3], np.roll(motion.q[:, 3:7], 1, axis=1), motion.q[:, 7:]]))
    return path
