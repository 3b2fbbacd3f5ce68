"""The joints of a robot in the order of a layout, each with its place in Pinocchio's arrays."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from surefoot.arrays import Array
from surefoot.errors import NotSupportedError, ShapeError, UnknownNameError, one_of
from surefoot.motion.exchange.joints import FORMATS, JointFormat, in_placement, unit_length
from surefoot.robot import Robot, Tree
from surefoot.spatial import se3

Part = tuple[Array, Array | None]
"""Positions (n, ·) and velocities (n, ·) of one joint in a layout."""
FOLLOWER_TOLERANCE = 1e-6


@dataclass(frozen=True, eq=False)
class Block:
    """One joint in a layout.

    Args:
        name: The joint.
        joint: Its index in the tree.
        format: How the layout writes it.
        q: Its entries in Pinocchio's q; of a follower those of its source.
        v: Its entries in Pinocchio's v; of a follower those of its source.
        ratio: n in q = c + n q_source of a follower, which has no coordinate of its own; None for other joints.
        offset: c of a follower.
        placement: T_world_joint (4, 4) where the layout has the pose in world and q has not; else None.
        in_layout: Entries (position, velocity) in the arrays of the layout.
    """

    name: str
    joint: int
    format: JointFormat
    q: slice
    v: slice
    ratio: float | None
    offset: float
    placement: Array | None
    in_layout: tuple[slice, slice]

    @property
    def is_follower(self) -> bool:
        """Whether the joint copies another one and has no coordinate of its own."""
        return self.ratio is not None


def joint_order(robot: Robot, joints: Iterable[str] | None) -> list[int]:
    """Tree indices in the order of the names.

    Args:
        robot: The robot.
        joints: Every joint once; an omitted base joint goes first, followers may be omitted.
            None for the robot's own order.

    Raises:
        UnknownNameError: A name is unknown, missing or twice there.
    """
    tree = robot.tree
    if joints is None:
        return list(range(tree.n))
    names = [str(name) for name in joints]
    order = [robot.joint_index(name) for name in names]
    base = robot.base_joint
    if base is not None and base not in order:
        order.insert(0, base)
    missing = [tree.joint_names[i] for i in range(tree.n) if i not in order and tree.mimic_source[i] < 0]
    repeated = sorted({name for name in names if names.count(name) > 1})
    if missing or repeated:
        raise UnknownNameError(
            f"the joint order does not fit `{robot.name}`",
            evidence={k: ", ".join(v) for k, v in (("missing", missing), ("twice", repeated)) if v},
            next_step="name every joint of the robot exactly once",
        )
    return order


def layout_blocks(robot: Robot, layout: str, joints: Sequence[str] | None = None) -> tuple[Block, ...]:
    """The joints in the order of a layout.

    Args:
        robot: The robot.
        layout: A key of `exchange_joints.FORMATS`.
        joints: As in `joint_order`.
    """
    if layout not in FORMATS:
        raise one_of("layout", layout, FORMATS)
    out: list[Block] = []
    position = velocity = 0
    for i in joint_order(robot, joints):
        if layout == "pinocchio" and robot.tree.mimic_source[i] >= 0:
            continue
        found = _block(robot, layout, i, position, velocity)
        position, velocity = found.in_layout[0].stop, found.in_layout[1].stop
        out.append(found)
    return tuple(out)


def _block(robot: Robot, layout: str, i: int, position: int, velocity: int) -> Block:
    tree = robot.tree
    own = FORMATS[layout][tree.kinds[i]]
    source = int(tree.mimic_source[i])
    k = source if source >= 0 else i
    at_q, at_v = int(tree.q_index[k]), int(tree.v_index[k])
    return Block(
        name=tree.joint_names[i],
        joint=i,
        format=own,
        q=slice(at_q, at_q + tree.nq_of(k)),
        v=slice(at_v, at_v + tree.nv_of(k)),
        ratio=float(tree.mimic_ratio[i]) if source >= 0 else None,
        offset=float(tree.mimic_offset[i]),
        placement=_world_placement(tree, layout, i),
        in_layout=(slice(position, position + len(own.position)), slice(velocity, velocity + len(own.velocity))),
    )


def _world_placement(tree: Tree, layout: str, i: int) -> Array | None:
    """T_world_joint of a free joint whose q is not the pose in world, though the layout's is."""
    if tree.kinds[i] != "free" or layout in ("pinocchio", "ros"):
        return None
    if layout == "mujoco" and tree.parents[i] >= 0:
        raise NotSupportedError(
            f"free joint `{tree.joint_names[i]}` hangs on another body, which MuJoCo does not have",
            next_step="use three slides and a ball joint",
        )
    on_world = tree.parents[i] < 0 and not np.array_equal(tree.placements[i], np.eye(4))
    return tree.placements[i] if on_world else None


def encode(blocks: Sequence[Block], q: Array, v: Array | None) -> list[Part]:
    """Each joint in the layout.

    Args:
        blocks: The joints.
        q: (n, nq) Pinocchio's.
        v: (n, nv) Pinocchio's, or None.
    """
    return [_encode(block, q[:, block.q], None if v is None else v[:, block.v]) for block in blocks]


def _encode(block: Block, q: Array, v: Array | None) -> Part:
    if block.ratio is not None:
        return block.offset + block.ratio * q, None if v is None else block.ratio * v
    if block.placement is not None:
        q = in_placement(block.placement, q)
    return block.format.to_position(q), None if v is None else block.format.to_velocity(q, v)


def decode(robot: Robot, blocks: Sequence[Block], parts: Sequence[Part]) -> tuple[Array, Array | None]:
    """Pinocchio's q (n, nq) and v (n, nv) from the layout's entries of each joint.

    Raises:
        ShapeError: A quaternion is not of unit length, or a follower does not follow.
    """
    n = len(parts[0][0]) if parts else 0
    q = np.zeros((n, robot.nq))
    v = np.zeros((n, robot.nv)) if all(part[1] is not None for part in parts) else None
    for block, (position, velocity) in zip(blocks, parts, strict=True):
        if block.is_follower:
            continue
        here = block.format.from_position(unit_length(position, block.format.unit, block.name))
        if v is not None and velocity is not None:
            v[:, block.v] = block.format.from_velocity(here, velocity)
        q[:, block.q] = here if block.placement is None else in_placement(se3.inverse(block.placement), here)
    for block, part in zip(blocks, parts, strict=True):
        if block.is_follower:
            _check_follower(block, part, q, v)
    return q, v


def _check_follower(block: Block, part: Part, q: Array, v: Array | None) -> None:
    """Refuse a follower that does not follow its source."""
    wanted = _encode(block, q[:, block.q], None if v is None else v[:, block.v])
    for what, got, want in zip(("position", "velocity"), part, wanted, strict=True):
        if got is None or want is None:
            continue
        wrong = np.flatnonzero(np.abs(got - want) > FOLLOWER_TOLERANCE * np.maximum(1.0, np.abs(want)))
        if len(wrong):
            k = int(wrong[0])
            raise ShapeError(
                f"{what} of joint `{block.name}` does not follow its source",
                evidence={"row": k, "given": float(got[k, 0]), "expected": float(want[k, 0])},
                next_step='load the robot with mimic="coupling" to give this joint a coordinate of its own',
            )
