"""Gains of joint controllers from the robot's own inertia, so that no robot needs tuning."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from surefoot.robot import Robot, Tree

__all__ = ["moved_inertia"]

Array = NDArray[np.float64]


def moved_inertia(robot: Robot, q: Array, standing: Sequence[str] = ()) -> Array:
    """(nu,) the inertia [kg m²] or [kg] that each drive moves, all other joints held.

    A joint divides the robot in two. Of a limb that hangs in the air the far part moves. Of a limb that stands, the far
    part stays on the ground and the rest of the robot moves; the standing limbs share it.

    Args:
        robot: The robot.
        q: (nq,) the posture.
        standing: Names of the contact surfaces that stand.
    """
    model, data, tree = robot.model, robot.model.createData(), robot.tree
    pin.computeJointJacobians(model, data, np.array(q))
    in_world = [data.oMi[i + 1].act(model.inertias[i + 1]) for i in range(tree.n)]
    far = list(in_world)
    for i in reversed(range(tree.n)):
        if tree.parents[i] >= 0:
            far[tree.parents[i]] = far[tree.parents[i]] + far[i]
    feet = [model.frames[robot.frame_id(robot.contacts[name].frame)].parentJoint - 1 for name in standing]
    whole = sum((item.matrix() for item in in_world), np.zeros((6, 6)))
    out = np.zeros(robot.nv)
    for i in range(tree.n):
        rows = slice(int(tree.v_index[i]), int(tree.v_index[i]) + tree.nv_of(i))
        moved = _moved_part(tree, i, far[i].matrix(), whole, feet)
        axes = data.J.reshape(6, -1)[:, rows]
        out[rows] = np.einsum("ik,ij,jk->k", axes, moved, axes) + tree.armature[rows]
    return out[robot.driven]


def _moved_part(tree: Tree, i: int, far: Array, whole: Array, feet: Sequence[int]) -> Array:
    """Spatial inertia (6, 6) of what joint i moves."""
    carried = sum(1 for foot in feet if foot == i or i in tree.ancestors(foot))
    return far if carried == 0 else (whole - far) * carried / len(feet)
