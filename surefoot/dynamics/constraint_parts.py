"""Kinds of constraints: frames that are tied in selected directions, and joints that follow others by a ratio.

What a constraint has to give to all methods is a `ConstraintPart`; `surefoot.dynamics.constraints` puts parts together.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from surefoot import ops
from surefoot.kinematics import Frame, relative_jacobian, relative_placement
from surefoot.kinematics.recursion import dof_rows
from surefoot.kinematics.relative_bias import relative_bias
from surefoot.ops import Array
from surefoot.robot.tree import Tree
from surefoot.spatial import so3

__all__ = ["ConstraintPart", "CoupledJoints", "Tie", "tilt_of"]

_AXES = ("x", "y", "z", "rx", "ry", "rz")


class ConstraintPart(Protocol):
    """What one constraint gives to all: r, J and J̇ v of its rows; for numbers and for symbols."""

    @property
    def name(self) -> str:
        """Its name."""

    @property
    def rows(self) -> tuple[str, ...]:
        """Names of its rows."""

    @property
    def numbers(self) -> tuple[Any, ...]:
        """All that its J, J̇ v and r depend on, beside the tree and an anchor in the world: texts and arrays."""

    def residual(self, tree: Tree, q: Array) -> Array:
        """The errors r (rows,), m and rad."""

    def jacobian(self, tree: Tree, q: Array) -> Array:
        """J (rows, nv)."""

    def bias(self, tree: Tree, q: Array, v: Array) -> Array:
        """J̇ v (rows,)."""


@dataclass(frozen=True, eq=False)
class Tie:
    """Two frames of a tree, tied in some directions.

    Args:
        name: Its name.
        first: The frame in whose axes the directions are.
        second: The frame on which the forces act.
        held: Indices among (x, y, z, rx, ry, rz) that are held.
        tree: The tree in which the frames were found; None where that is not known.
    """

    name: str
    first: Frame
    second: Frame
    held: tuple[int, ...]
    tree: Tree | None = field(default=None, repr=False)

    @property
    def rows(self) -> tuple[str, ...]:
        """Names of its rows."""
        return tuple(f"{self.name}.{_AXES[k]}" for k in self.held)

    @property
    def is_contact(self) -> bool:
        """Whether its first frame is fixed in the world."""
        return self.first.body < 0

    @property
    def numbers(self) -> tuple[Any, ...]:
        """As `ConstraintPart.numbers`."""
        ends = (self.second,) if self.is_contact else (self.first, self.second)
        return (f"tied {[end.body for end in ends]} {self.held}", *(x for end in ends for x in (end.R, end.p)))

    def residual(self, tree: Tree, q: Array) -> Array:
        """Gaps r (rows,), m and rad, and the rotation between the frames."""
        T = relative_placement(tree, self.first, self.second, q)
        return ops.concatenate([T[:3, 3], tilt_of(T[:3, :3], self.held)])[list(self.held)]

    def jacobian(self, tree: Tree, q: Array) -> Array:
        """J (rows, nv)."""
        return relative_jacobian(tree, self.first, self.second, q)[list(self.held)]

    def bias(self, tree: Tree, q: Array, v: Array) -> Array:
        """J̇ v (rows,)."""
        return relative_bias(tree, self.first, self.second, q, v)[list(self.held)]


@dataclass(frozen=True)
class CoupledJoints:
    """One joint that follows another by a ratio.

    Args:
        name: Its name.
        joint: Body whose joint follows.
        source: Body whose joint leads.
        ratio: n in q_i = c + n q_j.
        offset: c.
        tree: The tree in which the joints were found; None where that is not known.
    """

    name: str
    joint: int
    source: int
    ratio: float
    offset: float
    tree: Tree | None = field(default=None, repr=False, compare=False)

    @property
    def rows(self) -> tuple[str, ...]:
        """The name of its row."""
        return (self.name,)

    @property
    def numbers(self) -> tuple[Any, ...]:
        """As `ConstraintPart.numbers`."""
        return (f"coupled {self.joint} {self.source} {self.ratio!r} {self.offset!r}",)

    def residual(self, tree: Tree, q: Array) -> Array:
        """The error r (1,) = q_i - c - n q_j."""
        i, j = int(tree.q_index[self.joint]), int(tree.q_index[self.source])
        return ops.stack([q[i] - self.offset - self.ratio * q[j]])

    def jacobian(self, tree: Tree, q: Array) -> Array:
        """J (1, nv)."""
        J = ops.zeros((1, len(tree.armature)), like=q)
        J[0, dof_rows(tree, self.joint)] = 1.0
        J[0, dof_rows(tree, self.source)] = -self.ratio
        return J

    def bias(self, tree: Tree, q: Array, v: Array) -> Array:
        """J̇ v = 0."""
        return np.zeros(1)


def tilt_of(R: Array, held: tuple[int, ...]) -> Array:
    """How far one frame is turned against another (3,), rad: the rotation vector; 2 tan(θ/2) where one angle is free.

    Args:
        R: (3, 3) R_first_second.
        held: Indices among (x, y, z, rx, ry, rz) that are held.
    """
    angles = [k - 3 for k in held if k >= 3]
    if len(angles) != 2:
        return so3.log(R) if angles else np.zeros(3)
    free = ({0, 1, 2} - set(angles)).pop()
    axis = np.eye(3)[free]
    tilted = R[:, free]
    return ops.cross(axis, tilted) * (2.0 / ops.maximum(1.0 + tilted[free], _FLIPPED))


_FLIPPED = 1e-9
