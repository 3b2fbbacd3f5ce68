"""From the columns of all joints to matrices of the whole tree.

A subtree is contiguous in the tree, so the columns of all that a body carries lie side by side. Joints that copy
another (`mimic="reduce"`) first get rows and columns of their own, then these are added to those of the leading joint.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import overload

import numpy as np

from surefoot import ops
from surefoot.dynamics.block_inertia import mirrored
from surefoot.dynamics.derivatives_motion import PlacedJoint
from surefoot.kinematics.recursion import dof_rows
from surefoot.ops import Array
from surefoot.robot.tree import NV, Tree

__all__ = ["Columns", "joint_space", "pair_matrix", "symmetric_pair_matrix"]


class Columns(Sequence[Array]):
    """For every body, the columns (r, m) of its joint and of all joints beyond it, in its frame.

    Args:
        tree: The tree.
        placed: Its joints.
        own: Columns (r, k) of every joint, in the frame of its body.
        to_parent: to_parent(joint, columns (r, m)) takes columns to the frame of the parent.
    """

    def __init__(
        self,
        tree: Tree,
        placed: Sequence[PlacedJoint],
        own: Sequence[Array],
        to_parent: Callable[[PlacedJoint, Array], Array],
    ) -> None:
        self._tree, self._placed, self._own, self._to_parent = tree, placed, own, to_parent
        self._known: list[dict[int, Array]] = [{} for _ in range(tree.n)]

    def __len__(self) -> int:
        return self._tree.n

    def walk(self, j: int) -> None:
        """Take the columns of joint j to all bodies that carry it."""
        columns = self._known[j][j] = self._own[j]
        for i in self._tree.ancestors(j):
            columns = self._known[i][j] = self._to_parent(self._placed[self._child(i, j)], columns)

    def _child(self, i: int, j: int) -> int:
        """The child of body i on the way to body j."""
        while (parent := int(self._tree.parents[j])) != i:
            j = parent
        return j

    @overload
    def __getitem__(self, i: int) -> Array: ...
    @overload
    def __getitem__(self, i: slice) -> Sequence[Array]: ...
    def __getitem__(self, i: int | slice) -> Array | Sequence[Array]:
        if isinstance(i, slice):
            return [self[k] for k in range(*i.indices(len(self)))]
        return ops.concatenate([self._known[i][j] for j in sorted(self._known[i])], axis=1)


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
