"""Jacobians of all bodies at once, without the columns that are zero."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from surefoot import ops
from surefoot.kinematics.bodies import bodies, joint_subspace
from surefoot.kinematics.fk import JOINT_PLACEMENTS
from surefoot.kinematics.recursion import dof_rows, run
from surefoot.ops import Array
from surefoot.robot.tree import Tree

__all__ = ["BodyJacobian", "body_jacobians"]


@dataclass(frozen=True, eq=False)
class BodyJacobian:
    """The columns of a body's Jacobian that are not zero by structure.

    Args:
        columns: (k,) their places in v, ascending.
        block: (6, k) twist of the body at its origin, in its axes, for unit rates.
    """

    columns: NDArray[np.int64]
    block: Array

    def dense(self, nv: int) -> Array:
        """The whole Jacobian (6, nv)."""
        J = ops.zeros((6, nv), like=self.block)
        J[:, self.columns] = self.block
        return J


def body_jacobians(tree: Tree, q: Array) -> list[BodyJacobian]:
    """The Jacobian of every body, in its axes at its origin, from its parent's.

    J_i = X_ip J_p + S_i        [kin.body-jacobians]   Buschmann 2014, section 2.4 (ancestor lists)

    Args:
        tree: The tree.
        q: (nq,) configuration.
    """
    fields, _ = run(JOINT_PLACEMENTS, tree, {"q": q})
    out: list[BodyJacobian] = []
    nothing = BodyJacobian(np.zeros(0, dtype=np.int64), ops.zeros((6, 0), like=q))
    for i, body in enumerate(bodies(tree)):
        parent = out[tree.parents[i]] if tree.parents[i] >= 0 else nothing
        carried = _carried(fields[i]["R"], fields[i]["p"], parent.block)
        rows = dof_rows(tree, i)
        out.append(_with_joint(parent.columns, carried, np.arange(rows.start, rows.stop), joint_subspace(body)))
    return out


def _carried(R: Array, p: Array, block: Array) -> Array:
    """Twists (6, k) of the parent, in the child."""
    linear = [column[:3] + ops.cross(column[3:], p) for column in block.T]
    moved = ops.stack(linear, axis=1) if linear else block[:3]
    return ops.concatenate([R.T @ moved, R.T @ block[3:]])


def _with_joint(columns: NDArray[np.int64], carried: Array, own: NDArray[np.int64], S: Array) -> BodyJacobian:
    """Add the joint's own columns; a follower may add to one that is already there."""
    together = np.union1d(columns, own)
    block = ops.zeros((6, len(together)), like=carried)
    block[:, np.searchsorted(together, columns)] = carried
    places = np.searchsorted(together, own)
    block[:, places] = block[:, places] + S
    return BodyJacobian(together, block)
