"""The manifold of configurations, known from the joint kinds alone."""

from __future__ import annotations

import functools
from collections.abc import Sequence

import numpy as np
import pinocchio as pin

from surefoot.arrays import Array
from surefoot.errors import ShapeError
from surefoot.motion.exchange.joints import FORMATS, unit_length
from surefoot.robot import Robot

__all__ = ["FOLLOWER", "joint_kinds", "manifold", "require_unit_length"]

_UNIT_TOLERANCE = 1e-6
FOLLOWER = "follower"  # a joint that copies another and has no coordinate of its own
_JOINTS = {
    "revolute": pin.JointModelRX, "prismatic": pin.JointModelPX, "helical": lambda: pin.JointModelHX(0.0),
    "continuous": pin.JointModelRUBX, "spherical": pin.JointModelSpherical, "planar": pin.JointModelPlanar,
    "translation": pin.JointModelTranslation, "free": pin.JointModelFreeFlyer,
}  # fmt: skip


def joint_kinds(robot: Robot) -> tuple[str, ...]:
    """The kind of every joint of a robot, `FOLLOWER` for one that has no coordinate."""
    tree = robot.tree
    return tuple(kind if tree.nq_of(i) else FOLLOWER for i, kind in enumerate(tree.kinds))


@functools.lru_cache(maxsize=64)
def manifold(kinds: tuple[str, ...]) -> pin.Model:
    """A model with these joints and no geometry: q and v are laid out, integrated and subtracted as the robot's.

    Args:
        kinds: Joint kinds in the order of q, as `joint_kinds` gives them.
    """
    unknown = sorted(set(kinds) - set(_JOINTS) - {FOLLOWER})
    if unknown:
        raise ShapeError(f"unknown joint kinds {unknown}", evidence={"known": sorted(_JOINTS)})
    model = pin.Model()
    for i, kind in enumerate(kinds):
        if kind != FOLLOWER:
            model.addJoint(0, _JOINTS[kind](), pin.SE3.Identity(), f"joint_{i}")
    return model


def require_unit_length(q: Array, joints: Sequence[str], kinds: tuple[str, ...]) -> None:
    """Refuse quaternions and (cos, sin) pairs that are not of unit length to 1e-6.

    Args:
        q: (n, nq) finite.
        joints: Names of the joints, for the message.
        kinds: Their kinds, as `joint_kinds` gives them.

    Raises:
        ShapeError: With the joint and the first row that is wrong.
    """
    for i, part in _unit_parts(kinds):
        length = np.linalg.norm(q[:, part], axis=1)
        wrong = np.flatnonzero(np.abs(length - 1.0) > _UNIT_TOLERANCE)
        if len(wrong):
            unit_length(q, part, joints[i])
            raise ShapeError(
                f"q of joint `{joints[i]}` is not of unit length to {_UNIT_TOLERANCE:g}",
                evidence={"row": int(wrong[0]), "length": float(length[wrong[0]])},
                next_step="normalise it",
            )


@functools.lru_cache(maxsize=64)
def _unit_parts(kinds: tuple[str, ...]) -> tuple[tuple[int, slice], ...]:
    """Joint index and entries of q of every part that is a unit vector."""
    moving = [i for i, kind in enumerate(kinds) if kind != FOLLOWER]
    starts = [int(joint.idx_q) for joint in list(manifold(kinds).joints)[1:]]
    units = [(i, start, FORMATS["pinocchio"][kinds[i]].unit) for i, start in zip(moving, starts, strict=True)]
    return tuple((i, slice(at + unit.start, at + unit.stop)) for i, at, unit in units if unit is not None)
