"""The manifold of configurations, known from the joint kinds alone."""

from __future__ import annotations

import functools

import pinocchio as pin

from surefoot.errors import ShapeError
from surefoot.robot import Robot

__all__ = ["FOLLOWER", "joint_kinds", "manifold"]

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
