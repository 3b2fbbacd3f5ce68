"""Contacts, closed chains and gears as one kind of thing: frame pairs that are tied in selected directions.

A `Loop` ties two frames; a contact is a loop between the world and a frame of the robot (`contact`); a `Coupling` ties
two joints by a ratio, as a rigid gear does. Together they say

    r(q) = 0,    J(q) v = 0,    J(q) a + J̇(q, v) v = 0        [dyn.constraints]

J is the relative twist of the second frame as the first one sees it, in the axes of the first one, where the
directions are meant: for a contact, the axes of the ground. Jᵀ λ is what the ties do to the joints; λ acts on the
second frame. For directions that are held singly (one angle of three) the velocities cannot be integrated in general,
and r is the component of the rotation vector.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from surefoot import ops
from surefoot.errors import ModelError, NotSupportedError, ShapeError, one_of
from surefoot.kinematics import (
    WORLD,
    Frame,
    contact_frame,
    frame_of,
    frame_placement,
    relative_jacobian,
    relative_placement,
)
from surefoot.kinematics.recursion import dof_rows
from surefoot.kinematics.relative_bias import relative_bias
from surefoot.ops import Array
from surefoot.robot import Coupling, Loop, Robot
from surefoot.robot.tree import Tree
from surefoot.spatial import so3

__all__ = [
    "Constraint",
    "ConstraintPart",
    "Constraints",
    "CoupledJoints",
    "Tie",
    "constraints_of",
    "contact",
    "own_constraints",
    "tilt_of",
]

Constraint = Loop | Coupling
_AXES = ("x", "y", "z", "rx", "ry", "rz")
_KINDS = {
    "flat": (True,) * 6,
    "point": (True, True, True, False, False, False),
    "line": (True, True, True, True, False, True),
    "soft_finger": (True, True, True, False, False, True),
    "normal": (False, False, True, False, False, False),
}


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
    """

    name: str
    first: Frame
    second: Frame
    held: tuple[int, ...]

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
    """

    name: str
    joint: int
    source: int
    ratio: float
    offset: float

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


@dataclass(frozen=True, eq=False)
class Constraints:
    """All that holds at a time.

    Args:
        parts: The ties, in order.
    """

    parts: tuple[ConstraintPart, ...]

    @property
    def rows(self) -> tuple[str, ...]:
        """Names of all rows."""
        return tuple(row for part in self.parts for row in part.rows)

    def residual(self, tree: Tree, q: Array) -> Array:
        """The errors r (m,), m and rad; 0 where everything is closed.

        Args:
            tree: The tree.
            q: (nq,) configuration.
        """
        return _joined([part.residual(tree, q) for part in self.parts], np.zeros(0))

    def jacobian(self, tree: Tree, q: Array) -> Array:
        """J (m, nv).

        Args:
            tree: The tree.
            q: (nq,) configuration.
        """
        return _joined([part.jacobian(tree, q) for part in self.parts], np.zeros((0, len(tree.armature))))

    def bias(self, tree: Tree, q: Array, v: Array) -> Array:
        """J̇ v (m,).

        Args:
            tree: The tree.
            q: (nq,) configuration.
            v: (nv,) velocity.
        """
        return _joined([part.bias(tree, q, v) for part in self.parts], np.zeros(0))


def constraints_of(robot: Robot, constraints: Sequence[Constraint | ConstraintPart] | Constraints) -> Constraints:
    """Constraints, with their frames found in a robot.

    Args:
        robot: The robot.
        constraints: Loops, contacts and couplings; parts of constraints, such as `distance(…)`, stay as they are.

    Raises:
        UnknownNameError: A frame or joint that the robot does not have.
        NotSupportedError: Something that is no constraint, or no list of them.
        ModelError: Two of one name, a placement that is none, or a coupling of joints with several axes.
    """
    if isinstance(constraints, Constraints):
        return constraints
    if isinstance(constraints, str) or not isinstance(constraints, Iterable):
        raise NotSupportedError(
            f"constraints are a list, not one {type(constraints).__name__}",
            next_step="put it in brackets: [contact(robot, q, …)]",
        )
    parts: list[ConstraintPart] = []
    for item in constraints:
        if isinstance(item, Loop):
            parts.append(_tie(robot, item))
        elif isinstance(item, Coupling):
            parts.append(_coupled(robot, item))
        elif hasattr(item, "jacobian") and hasattr(item, "bias"):
            parts.append(item)
        else:
            raise NotSupportedError(
                f"`{item if isinstance(item, str) else type(item).__name__}` is no constraint",
                next_step="give a Loop, a Coupling, or what `contact(robot, q, …)` makes",
            )
    names = [part.name for part in parts]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise ModelError(f"two constraints are called `{twice[0]}`", evidence={"names": names})
    return Constraints(tuple(parts))


def own_constraints(robot: Robot) -> Constraints:
    """The closed chains and couplings of the robot itself.

    Args:
        robot: The robot.
    """
    return constraints_of(robot, (*robot.loops, *robot.couplings))


def contact(robot: Robot, q: ArrayLike, frame: str, kind: str | Sequence[bool] = "flat", name: str = "") -> Loop:
    """A frame held to the world where it is: a loop between the world and the robot.

    Args:
        robot: The robot.
        q: (nq,) configuration in which the contact is made.
        frame: A contact surface, or else a link, joint or frame.
        kind: "flat" (held in all directions), "point" (free to turn), "line" (free to turn about y), "soft_finger"
            (point that cannot spin about z), "normal" (slides), or six booleans for (x, y, z, rx, ry, rz) of the frame.
        name: Of the constraint; that of the frame if left out.
    """
    held = kind if not isinstance(kind, str) else _KINDS.get(kind, ())
    if isinstance(kind, str) and not held:
        raise one_of("kind of contact", kind, _KINDS)
    if len(held) != 6 or not any(held):
        raise ShapeError(
            "a contact has six directions, of which one is held at least",
            evidence={"kind": tuple(held)},
            next_step="give six booleans for (x, y, z, rx, ry, rz)",
        )
    is_surface = frame in robot.contacts
    place = contact_frame(robot, frame) if is_surface else frame_of(robot, frame)
    T = np.asarray(frame_placement(robot.tree, place, robot.checked_q(q)), dtype=float)
    link = robot.contacts[frame].frame if is_surface else frame
    placement = robot.contacts[frame].placement if is_surface else np.eye(4)
    x, y, z, rx, ry, rz = (bool(value) for value in held)
    return Loop(name or frame, "universe", link, T, np.asarray(placement), (x, y, z, rx, ry, rz))


def _tie(robot: Robot, loop: Loop) -> Tie:
    if len(loop.directions) != 6 or not any(loop.directions):
        raise ModelError(
            f"constraint `{loop.name}` holds no direction, or has not six of them",
            evidence={"directions": loop.directions},
            next_step="give six booleans for (x, y, z, rx, ry, rz), of which one is true at least",
        )
    first = _placed(robot, loop.name, loop.frame_a, loop.placement_a)
    second = _placed(robot, loop.name, loop.frame_b, loop.placement_b)
    return Tie(loop.name, first, second, tuple(k for k in range(6) if loop.directions[k]))


def _placed(robot: Robot, constraint: str, name: str, placement: NDArray[np.float64]) -> Frame:
    """The tied frame on a link; "universe" is the world."""
    base = WORLD if name == "universe" else frame_of(robot, name)
    T = np.asarray(placement, dtype=float)
    R = T[:3, :3] if T.shape == (4, 4) else np.zeros((3, 3))
    if not np.allclose(R @ R.T, np.eye(3), atol=_TURNED) or np.linalg.det(R) < 0.0:
        raise ModelError(
            f"constraint `{constraint}` has a placement on `{name}` that is none",
            evidence={"placement": T.tolist()},
            next_step="give (4, 4) with a rotation and a position: surefoot.robot.placement((x, y, z), R)",
        )
    return Frame(base.body, base.R @ R, base.p + base.R @ T[:3, 3])


def _coupled(robot: Robot, item: Coupling) -> CoupledJoints:
    name = f"{item.joint}~{item.source}"
    if item.joint == item.source:
        raise ModelError(f"coupling `{name}` ties a joint to itself", next_step="name another joint that leads")
    if not np.isfinite([item.ratio, item.offset]).all():
        raise ModelError(
            f"coupling `{name}` is not finite", evidence={"ratio": item.ratio, "offset": item.offset},
            next_step="give numbers",
        )  # fmt: skip
    joint, source = (_one_axis(robot, end) for end in (item.joint, item.source))
    return CoupledJoints(name, joint, source, item.ratio, item.offset)


def _one_axis(robot: Robot, name: str) -> int:
    """The body of a joint that can be coupled."""
    tree = robot.tree
    if name not in tree.joint_names:
        raise one_of("joint", name, tree.joint_names)
    i = tree.joint_names.index(name)
    if tree.mimic_source[i] >= 0:
        leader = tree.joint_names[int(tree.mimic_source[i])]
        raise ModelError(
            f"joint `{name}` copies `{leader}` and has no coordinate of its own to couple",
            next_step=f'couple `{leader}`, or load with mimic="coupling"',
        )
    if tree.nq_of(i) != 1:
        raise ModelError(
            f"joint `{name}` ({tree.kinds[i]}) has more than one coordinate and cannot be coupled",
            next_step="couple joints with one coordinate: revolute, prismatic or helical ones",
        )
    return i


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
_TURNED = 1e-6  # by which a rotation may be none


def _joined(parts: Sequence[Array], empty: Array) -> Array:
    return ops.concatenate(parts) if parts else empty
