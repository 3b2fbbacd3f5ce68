"""States as ROS messages have them: sensor_msgs/JointState by name, nav_msgs/Odometry for the base.

Joints with more than one axis that are not the base go as sensor_msgs/MultiDOFJointState does: pose and twist of the
child in the joint's frame, twist in child axes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, get_args

import numpy as np

from surefoot.arrays import Array, finite_array
from surefoot.errors import ShapeError, UnknownNameError, one_of
from surefoot.motion.exchange.blocks import Block, Part, decode, encode, layout_blocks
from surefoot.motion.exchange.joints import in_placement, rotate, rotate_back
from surefoot.robot import Robot
from surefoot.spatial import se3

BaseVelocity = Literal["body", "world", "mixed"]
_BASE_VELOCITIES: tuple[str, ...] = get_args(BaseVelocity)
ROS_KEYS = (
    "joint_names", "position", "velocity",
    "base_position", "base_orientation", "base_linear", "base_angular",
    "multi_dof_names", "multi_dof_position", "multi_dof_orientation", "multi_dof_linear", "multi_dof_angular",
)  # fmt: skip
_VELOCITIES = ("velocity", "base_linear", "base_angular", "multi_dof_linear", "multi_dof_angular")


def to_ros(
    robot: Robot, q: Array, v: Array | None, joints: Sequence[str] | None, base_velocity: BaseVelocity
) -> dict[str, Any]:
    """Message fields by name, time series (n, ·).

    Args:
        robot: The robot.
        q: (n, nq).
        v: (n, nv) or None.
        joints: Order of the joints.
        base_velocity: "body", "world" (twist about the world's origin) or "mixed" (world axes, at the base).
    """
    _check_frame(base_velocity)
    blocks = layout_blocks(robot, "ros", joints)
    parts = dict(zip((b.joint for b in blocks), encode(blocks, q, v), strict=True))
    base, single, multi = _sorted_by_message(robot, blocks)
    out: dict[str, Any] = {"joint_names": np.array([b.name for b in single], dtype=str)}
    out |= _joined([parts[b.joint] for b in single], len(q), v is not None)
    if base is not None:
        out |= _base_fields(robot, base, parts[base.joint], base_velocity)
    if multi:
        out |= _multi_fields(multi, [parts[b.joint] for b in multi])
    return out


def from_ros(
    robot: Robot, data: Mapping[str, Any], joints: Sequence[str] | None, base_velocity: BaseVelocity
) -> tuple[Array, Array | None]:
    """Configurations (n, nq) and velocities (n, nv) from message fields (n, ·); arguments as in `to_ros`."""
    _check_frame(base_velocity)
    blocks = layout_blocks(robot, "ros", _named_order(robot, data, joints))
    base, single, multi = _sorted_by_message(robot, blocks)
    _check_fields(data, base is not None, [b.name for b in single], [b.name for b in multi])
    parts: dict[int, Part] = {}
    with_v = any(name in data for name in _VELOCITIES)
    if single:
        position = finite_array(data["position"], (None, len(single)), "position")
        velocity = _optional(data, "velocity", position.shape) if with_v else None
        for k, b in enumerate(single):
            parts[b.joint] = (position[:, k : k + 1], None if velocity is None else velocity[:, k : k + 1])
    if base is not None:
        parts[base.joint] = _base_part(robot, base, data, base_velocity, with_v)
    for k, b in enumerate(multi):
        parts[b.joint] = _multi_part(data, k, len(multi), with_v)
    lengths = {len(part[0]) for part in parts.values()}
    if len(lengths) > 1:
        raise ShapeError("the message fields have different lengths", evidence={"lengths": sorted(lengths)})
    return decode(robot, blocks, [parts[b.joint] for b in blocks])


def _check_frame(base_velocity: str) -> None:
    if base_velocity not in _BASE_VELOCITIES:
        raise one_of("frame of the base velocity", base_velocity, _BASE_VELOCITIES)


def _sorted_by_message(robot: Robot, blocks: Sequence[Block]) -> tuple[Block | None, list[Block], list[Block]]:
    """Base, one-axis joints, other joints."""
    base = robot.base_joint
    rest = [b for b in blocks if b.joint != base]
    single = [b for b in rest if len(b.format.position) == 1]
    return next((b for b in blocks if b.joint == base), None), single, [b for b in rest if b not in single]


def _joined(parts: list[Part], n: int, with_v: bool) -> dict[str, Array]:
    out = {"position": np.hstack([np.zeros((n, 0)), *(p for p, _ in parts)])}
    return out | (
        {"velocity": np.hstack([np.zeros((n, 0)), *(v for _, v in parts if v is not None)])} if with_v else {}
    )


def _base_fields(robot: Robot, base: Block, part: Part, base_velocity: str) -> dict[str, Array]:
    pose = _in_world(robot, base, part[0])
    out = {"base_position": pose[:, :3], "base_orientation": pose[:, 3:]}
    if part[1] is None:
        return out
    linear, angular = part[1][:, :3], part[1][:, 3:]
    if base_velocity != "body":
        linear, angular = rotate(pose[:, 3:], linear), rotate(pose[:, 3:], angular)
    if base_velocity == "world":
        linear = linear + np.cross(pose[:, :3], angular)
    return {**out, "base_linear": linear, "base_angular": angular}


def _base_part(robot: Robot, base: Block, data: Mapping[str, Any], base_velocity: str, with_v: bool) -> Part:
    position = finite_array(data["base_position"], (None, 3), "base_position")
    turn = finite_array(data["base_orientation"], (len(position), 4), "base_orientation")
    pose = np.hstack([position, turn])
    velocity = None
    if with_v:
        linear = _optional(data, "base_linear", position.shape)
        angular = _optional(data, "base_angular", position.shape)
        if base_velocity == "world":
            linear = linear - np.cross(position, angular)
        if base_velocity != "body":
            unit = turn / np.linalg.norm(turn, axis=1, keepdims=True)
            linear, angular = rotate_back(unit, linear), rotate_back(unit, angular)
        velocity = np.hstack([linear, angular])
    return _in_world(robot, base, pose, back=True), velocity


def _in_world(robot: Robot, base: Block, pose: Array, back: bool = False) -> Array:
    """The pose of the base in world, or back from there in the frame of its joint."""
    T = robot.tree.placements[base.joint]
    if np.array_equal(T, np.eye(4)):
        return pose
    return in_placement(se3.inverse(T) if back else T, pose)


def _multi_fields(multi: list[Block], parts: list[Part]) -> dict[str, Any]:
    pose = np.stack([position for position, _ in parts], axis=1)
    out: dict[str, Any] = {"multi_dof_names": np.array([b.name for b in multi], dtype=str)}
    out |= {"multi_dof_position": pose[..., :3], "multi_dof_orientation": pose[..., 3:]}
    if parts[0][1] is not None:
        twist = np.stack([v for _, v in parts if v is not None], axis=1)
        out |= {"multi_dof_linear": twist[..., :3], "multi_dof_angular": twist[..., 3:]}
    return out


def _multi_part(data: Mapping[str, Any], k: int, count: int, with_v: bool) -> Part:
    position = finite_array(data["multi_dof_position"], (None, count, 3), "multi_dof_position")
    turn = finite_array(data["multi_dof_orientation"], (len(position), count, 4), "multi_dof_orientation")
    pose = np.hstack([position[:, k], turn[:, k]])
    if not with_v:
        return pose, None
    twist = [_optional(data, name, position.shape)[:, k] for name in ("multi_dof_linear", "multi_dof_angular")]
    return pose, np.hstack(twist)


def _optional(data: Mapping[str, Any], name: str, shape: tuple[int, ...]) -> Array:
    if name not in data:
        raise ShapeError(f"`{name}` is missing among the velocities", next_step="give all velocities or none")
    return finite_array(data[name], shape, name)


def _named_order(robot: Robot, data: Mapping[str, Any], joints: Sequence[str] | None) -> list[str]:
    """Names as the message lists them; from `joints` where it lists none."""
    if joints is not None and "joint_names" in data:
        raise ShapeError("joint names are given twice: in the data (`joint_names`) and as `joints`")
    base = robot.base_joint
    if joints is None and "joint_names" not in data:
        return [name for i, name in enumerate(robot.joint_names) if i != base]
    names = [str(name) for name in (joints if joints is not None else data["joint_names"])]
    return names + [name for name in map(str, data.get("multi_dof_names", ())) if name not in names]


def _check_fields(data: Mapping[str, Any], base: bool, single: list[str], multi: list[str]) -> None:
    for name in data:
        if name not in (*ROS_KEYS, "time"):
            raise one_of("field of the ros layout", name, ROS_KEYS)
    needed = ["position"] if single else []
    needed += ["base_position", "base_orientation"] if base else []
    needed += ["multi_dof_position", "multi_dof_orientation"] if multi else []
    if missing := [name for name in needed if name not in data]:
        raise UnknownNameError(
            f"the ros layout lacks {', '.join(missing)}", next_step="give these fields, or check the robot"
        )
    if multi and "multi_dof_names" in data and sorted(map(str, data["multi_dof_names"])) != sorted(multi):
        raise UnknownNameError("`multi_dof_names` does not fit the robot", evidence={"robot": ", ".join(multi)})
