"""From the columns of all joints to matrices of the whole tree.

A subtree is contiguous in the tree, so the columns of all that a body carries lie side by side. Joints that copy
another (`mimic="reduce"`) first get rows and columns of their own, then these are added to those of the leading joint.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from surefoot import ops
from surefoot.dynamics.block_inertia import mirrored
from surefoot.dynamics.derivatives_motion import PlacedJoint
from surefoot.kinematics.per_body import PerBody
from surefoot.kinematics.recursion import dof_rows
from surefoot.ops import Array
from surefoot.robot.tree import NV, Tree

__all__ = ["gathered", "joint_space", "pair_matrix", "symmetric_pair_matrix"]


def gathered(
    tree: Tree, placed: Sequence[PlacedJoint], own: Sequence[Array], to_parent: Callable[[PlacedJoint, Array], Array]
) -> Sequence[Array]:
    """For every body, the columns (r, m) of its joint and of all joints beyond it, in its frame.

    Args:
        tree: The tree.
        placed: Its joints.
        own: Columns (r, k) of every joint, in the frame of its body.
        to_parent: to_parent(joint, columns (r, m)) takes columns to the frame of the parent.
    """

    def columns(i: int) -> Array:
        beyond = [to_parent(placed[child], out[child]) for child in reversed(tree.children(i))]
        return ops.concatenate([own[i], *beyond[::-1]], axis=1)

    out: Sequence[Array] = PerBody(tree.n, columns, outward=False)
    return out


def pair_matrix(tree: Tree, above: Sequence[Array], below: Sequence[Array]) -> Array:
    """A matrix (nv, nv) from what pairs of joints on one line do to each other.

    Args:
        tree: The tree.
        above: For every joint, its rows in the columns of itself and of all joints beyond it (k, m).
        below: For every joint, the rows of itself and of all joints beyond it in its columns (m, k).
    """
    starts = _starts(tree)
    out = ops.zeros((starts[-1], starts[-1]), like=[*above, *below])
    for i, (rows, columns) in enumerate(zip(above, below, strict=True)):
        start, own = starts[i], len(rows)
        end, skipped = start + rows.shape[1], 0 if own == 1 else own
        out[start:end, start : start + own] = columns
        out[start : start + own, start + skipped : end] = rows[:, skipped:]
    return _by_leaders(tree, out)


def symmetric_pair_matrix(tree: Tree, above: Sequence[Array]) -> Array:
    """The symmetric matrix (nv, nv) with these rows (k, m) of every joint in itself and in all joints beyond it."""
    starts = _starts(tree)
    out = ops.zeros((starts[-1], starts[-1]), like=list(above))
    for start, rows in zip(starts, above, strict=False):
        own, end = slice(start, start + len(rows)), start + rows.shape[1]
        out[start:end, own] = rows.T
        out[own, start:end] = rows
        out[own, own] = mirrored(rows[:, : len(rows)])
    return _by_leaders(tree, out)


def joint_space(tree: Tree, own: Sequence[Array]) -> Array:
    """The vector (nv,) with these entries (k,) of every joint."""
    out = ops.zeros(len(tree.armature), like=list(own))
    for i, entries in enumerate(own):
        out[dof_rows(tree, i)] = out[dof_rows(tree, i)] + entries
    return out


def _starts(tree: Tree) -> list[int]:
    """First row of every joint where followers have rows of their own, and the number of all."""
    return [0, *(int(end) for end in np.cumsum([NV[kind] for kind in tree.kinds]))]


def _by_leaders(tree: Tree, full: Array) -> Array:
    """Rows and columns of followers added to those of their leaders: (nv, nv)."""
    if not (tree.mimic_source >= 0).any():
        return full
    rows = np.concatenate([np.arange(*dof_rows(tree, i).indices(len(tree.armature))) for i in range(tree.n)])
    out = ops.zeros((len(tree.armature),) * 2, like=full)
    for i, row in zip(rows, full, strict=True):
        for j, entry in zip(rows, row, strict=True):
            out[i, j] = out[i, j] + entry
    return out
