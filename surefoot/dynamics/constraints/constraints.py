"""Contacts, closed chains and gears as one kind of thing: frame pairs that are tied in selected directions.

A `Loop` ties two frames; a contact is a loop between the world and a frame of the robot (`contact`); a `Coupling` ties
two joints by a ratio, as a rigid gear does. Together they hold

    r(q) = 0,    J(q) v = 0,    J(q) a + J̇(q, v) v = 0        [dyn.constraints]

J is the relative twist of the second frame as the first one sees it, in the axes of the first one, where the
directions are meant: for a contact, the axes of the ground. Jᵀ λ is what the ties do to the joints; λ acts on the
second frame. For directions that are held singly (one angle of three) the velocities cannot be integrated in general,
and r is the component of the rotation vector.

Every kind of constraint is a `ConstraintPart` with r, J and J̇ v of its rows; `Constraints` puts parts together. Their
frames are found in a robot once and are indices of bodies and placements from then on, so that a part is refused where
it is used with another robot.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from numbers import Real
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from surefoot import ops
from surefoot.dynamics.checked_arguments import (
    checked_choice,
    checked_configuration,
    checked_frame,
    checked_placement,
    checked_robot,
    checked_text,
)
from surefoot.errors import ModelError, NotSupportedError, ShapeError, one_of
from surefoot.kinematics import Frame, contact_frame, frame_placement, relative_jacobian
from surefoot.kinematics.frames import frame_of, relative_bias, relative_placement
from surefoot.kinematics.recursion import dof_rows
from surefoot.ops import Array
from surefoot.robot import Coupling, Loop, Robot, Tree
from surefoot.spatial import so3

_AXES = ("x", "y", "z", "rx", "ry", "rz")
_FLIPPED = 1e-9  # of 1 + cos θ, below which a frame counts as turned over
_NAMES = ("joint_names", "body_names", "kinds")
_NUMBERS = ("parents", "placements", "axes", "pitches", "mimic_source", "mimic_ratio", "mimic_offset")


class ConstraintPart(Protocol):
    """One constraint: r, J and J̇ v of its rows, for numbers and for symbols."""

    @property
    def name(self) -> str:
        """Its name."""

    @property
    def rows(self) -> tuple[str, ...]:
        """Names of its rows."""

    @property
    def numbers(self) -> tuple[Any, ...]:
        """Texts and arrays that determine its J, J̇ v and r, besides the tree and an anchor in the world."""

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
    """Rotation (3,), rad, of R_first_second: the rotation vector, or 2 tan(θ/2) where `held` leaves one angle free."""
    angles = [k - 3 for k in held if k >= 3]
    if len(angles) != 2:
        return so3.log(R) if angles else np.zeros(3)
    free = ({0, 1, 2} - set(angles)).pop()
    axis = np.eye(3)[free]
    tilted = R[:, free]
    return ops.cross(axis, tilted) * (2.0 / ops.maximum(1.0 + tilted[free], _FLIPPED))


Constraint = Loop | Coupling
_KINDS = {
    "flat": (True,) * 6,
    "point": (True, True, True, False, False, False),
    "line": (True, True, True, True, False, True),
    "soft_finger": (True, True, True, False, False, True),
    "normal": (False, False, True, False, False, False),
}


@dataclass(frozen=True, eq=False)
class Constraints:
    """All constraints that are active at a time."""

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
        UnknownNameError: The robot lacks a frame or joint that is named.
        NotSupportedError: The robot is not a Robot, or the constraints are not a list of constraints.
        ModelError: Two have one name, a placement is invalid, a joint with several axes is coupled, or constraints
            were made for another robot.
    """
    checked_robot(robot)
    if isinstance(constraints, Constraints):
        for part in constraints.parts:
            _require_own(robot, part)
        return constraints
    if isinstance(constraints, str | Mapping | np.ndarray) or not isinstance(constraints, Iterable):
        raise NotSupportedError(
            f"expected a list of constraints, got a {type(constraints).__name__}",
            next_step="put it in brackets: [contact(robot, q, …)]",
        )
    parts = [_part(robot, item) for item in constraints]
    names = [part.name for part in parts]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise ModelError(
            f"two constraints are called `{twice[0]}`",
            evidence={"names": names},
            next_step="give one of them another name",
        )
    return Constraints(tuple(parts))


def own_constraints(robot: Robot) -> Constraints:
    """The closed chains and couplings of the robot itself."""
    return constraints_of(robot, (*checked_robot(robot).loops, *robot.couplings))


def held_constraints(robot: Robot, constraints: Sequence[Constraint] | Constraints | None) -> Constraints:
    """The given constraints, or the robot's own loops and couplings if None."""
    return own_constraints(robot) if constraints is None else constraints_of(robot, constraints)


def contact(robot: Robot, q: ArrayLike, frame: str, kind: str | Sequence[bool] | None = None, name: str = "") -> Loop:
    """A frame held to the world where it is: a loop between the world and the robot.

    Args:
        robot: The robot.
        q: (nq,) configuration in which the contact is made.
        frame: A contact surface, or else a link, joint or frame.
        kind: "flat" (held in all directions), "point" (free to turn), "line" (free to turn about y), "soft_finger"
            (point that cannot spin about z), "normal" (slides), or six booleans for (x, y, z, rx, ry, rz) of the frame.
            By default a contact surface is held as its own kind and friction say, anything else in all directions.
        name: Of the constraint; that of the frame if omitted.

    Raises:
        UnknownNameError: No such frame or kind.
        ShapeError: q, or the directions, have a wrong shape.
        NotSupportedError: The robot is not a Robot, or a name is not text.
    """
    checked_robot(robot)
    checked_text("the third argument of a contact, its frame,", frame)
    is_surface = frame in robot.contacts
    if kind is None:
        kind = robot.contacts[frame].tied if is_surface else "flat"
    held = _KINDS[checked_choice("kind of contact", kind, _KINDS)] if isinstance(kind, str) else _directions(kind)
    place = contact_frame(robot, frame) if is_surface else frame_of(robot, frame)
    T = np.asarray(frame_placement(robot.tree, place, checked_configuration(robot, q)), dtype=float)
    link = robot.contacts[frame].frame if is_surface else frame
    placement = robot.contacts[frame].placement if is_surface else np.eye(4)
    x, y, z, rx, ry, rz = held
    own_name = checked_text("the name of a contact", name) or frame
    return Loop(own_name, "universe", link, T, np.asarray(placement), (x, y, z, rx, ry, rz))


def _directions(held: Sequence[bool]) -> tuple[bool, ...]:
    """Six booleans, at least one of them true."""
    found = _six(held)
    if not any(found):
        raise ShapeError(
            "a contact needs six directions, at least one of them held",
            evidence={"kind": held},
            next_step="pass six booleans for (x, y, z, rx, ry, rz), or one of " + ", ".join(_KINDS),
        )
    return found


def _six(held: Sequence[bool]) -> tuple[bool, ...]:
    """Six booleans; an empty tuple for anything else."""
    found = tuple(held) if isinstance(held, Iterable) else ()
    sound = len(found) == 6 and all(isinstance(x, bool | np.bool_ | int) and x in (0, 1) for x in found)
    return tuple(bool(x) for x in found) if sound else ()


def _part(robot: Robot, item: Constraint | ConstraintPart) -> ConstraintPart:
    """One constraint, with its frames found."""
    if isinstance(item, Loop):
        return _tie(robot, item)
    if isinstance(item, Coupling):
        return _coupled(robot, item)
    if all(hasattr(item, name) for name in ("name", "rows", "residual", "jacobian", "bias")):
        _require_own(robot, item)
        return item
    raise NotSupportedError(
        f"expected a constraint, got `{item if isinstance(item, str) else type(item).__name__}`",
        next_step="pass a Loop, a Coupling, or a contact: contact(robot, q, …)",
    )


def _require_own(robot: Robot, part: ConstraintPart) -> None:
    """Refuse a part that was made for another robot."""
    require_owner(robot, f"constraint `{part.name}`", getattr(part, "tree", None))


def require_owner(robot: Robot, what: str, owner: Tree | None) -> None:
    """Refuse `what` if its owner has other joints than the robot; masses, drives and gravity may differ."""
    if owner is None or owner is robot.tree:
        return
    difference = _difference(owner, robot.tree)
    if difference:
        raise ModelError(
            f"{what} was made for another robot than `{robot.name}`",
            evidence={"they differ in": difference},
            next_step="make it again with this robot",
        )


@lru_cache(maxsize=64)
def _difference(one: Tree, other: Tree) -> str:
    """The first difference of two trees, in words; empty where constraints of one mean the same in the other."""
    for name in _NAMES:
        ours, theirs = getattr(one, name), getattr(other, name)
        if ours != theirs:
            unlike = [f"`{a}` for `{b}`" for a, b in zip(ours, theirs, strict=False) if a != b]
            return f"{name}: {', '.join(unlike[:3]) or f'{len(ours)} for {len(theirs)}'}"
    changed = [name for name in _NUMBERS if not np.array_equal(getattr(one, name), getattr(other, name))]
    return ", ".join(changed)


def _tie(robot: Robot, loop: Loop) -> Tie:
    name = checked_text("the name of a loop", loop.name)
    directions = _six(loop.directions)
    if not any(directions):
        raise ModelError(
            f"constraint `{name}` holds no direction, or does not have six",
            evidence={"directions": loop.directions},
            next_step="pass six booleans for (x, y, z, rx, ry, rz), at least one of them true",
        )
    first = _placed(robot, name, loop.frame_a, loop.placement_a)
    second = _placed(robot, name, loop.frame_b, loop.placement_b)
    return Tie(name, first, second, tuple(k for k in range(6) if directions[k]), robot.tree)


def _placed(robot: Robot, constraint: str, name: str, placement: NDArray[np.float64]) -> Frame:
    """The tied frame on a link; "universe" is the world."""
    base = checked_frame(robot, f"a frame of constraint `{constraint}`", name)
    T = checked_placement(f"constraint `{constraint}` on `{name}`", placement)
    return Frame(base.body, base.R @ T[:3, :3], base.p + base.R @ T[:3, 3])


def _coupled(robot: Robot, item: Coupling) -> CoupledJoints:
    for end in (item.joint, item.source):
        checked_text("a joint of a coupling", end)
    name = f"{item.joint}~{item.source}"
    if item.joint == item.source:
        raise ModelError(f"coupling `{name}` ties a joint to itself", next_step="name another joint as the source")
    numbers = (item.ratio, item.offset)
    if not all(isinstance(x, Real) and np.isfinite(x) for x in numbers):
        raise ModelError(
            f"coupling `{name}` is not finite", evidence={"ratio": item.ratio, "offset": item.offset},
            next_step="pass finite numbers",
        )  # fmt: skip
    joint, source = (_one_axis(robot, end) for end in (item.joint, item.source))
    return CoupledJoints(name, joint, source, float(item.ratio), float(item.offset), robot.tree)


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


def _joined(parts: Sequence[Array], empty: Array) -> Array:
    return ops.concatenate(parts) if parts else empty
