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

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from numbers import Real

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
from surefoot.dynamics.constraint_owner import require_owner
from surefoot.dynamics.constraint_parts import ConstraintPart, CoupledJoints, Tie, tilt_of
from surefoot.errors import ModelError, NotSupportedError, ShapeError, one_of
from surefoot.kinematics import Frame, contact_frame, frame_of, frame_placement
from surefoot.ops import Array
from surefoot.robot import Coupling, Loop, Robot
from surefoot.robot.tree import Tree

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
_KINDS = {
    "flat": (True,) * 6,
    "point": (True, True, True, False, False, False),
    "line": (True, True, True, True, False, True),
    "soft_finger": (True, True, True, False, False, True),
    "normal": (False, False, True, False, False, False),
}


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
        NotSupportedError: Something that is no constraint, or no list of them; or no robot.
        ModelError: Two of one name, a placement that is none, a coupling of joints with several axes, or constraints
            that were made for another robot.
    """
    checked_robot(robot)
    if isinstance(constraints, Constraints):
        for part in constraints.parts:
            _require_own(robot, part)
        return constraints
    if isinstance(constraints, str | Mapping | np.ndarray) or not isinstance(constraints, Iterable):
        raise NotSupportedError(
            f"constraints are a list, not one {type(constraints).__name__}",
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
    """The closed chains and couplings of the robot itself.

    Args:
        robot: The robot.
    """
    return constraints_of(robot, (*checked_robot(robot).loops, *robot.couplings))


def contact(robot: Robot, q: ArrayLike, frame: str, kind: str | Sequence[bool] = "flat", name: str = "") -> Loop:
    """A frame held to the world where it is: a loop between the world and the robot.

    Args:
        robot: The robot.
        q: (nq,) configuration in which the contact is made.
        frame: A contact surface, or else a link, joint or frame.
        kind: "flat" (held in all directions), "point" (free to turn), "line" (free to turn about y), "soft_finger"
            (point that cannot spin about z), "normal" (slides), or six booleans for (x, y, z, rx, ry, rz) of the frame.
        name: Of the constraint; that of the frame if left out.

    Raises:
        UnknownNameError: No such frame or kind.
        ShapeError: q, or the directions, have a wrong shape.
        NotSupportedError: The robot is none, or a name is no text.
    """
    checked_robot(robot)
    checked_text("the third argument of a contact, its frame,", frame)
    held = _KINDS[checked_choice("kind of contact", kind, _KINDS)] if isinstance(kind, str) else _directions(kind)
    is_surface = frame in robot.contacts
    place = contact_frame(robot, frame) if is_surface else frame_of(robot, frame)
    T = np.asarray(frame_placement(robot.tree, place, checked_configuration(robot, q)), dtype=float)
    link = robot.contacts[frame].frame if is_surface else frame
    placement = robot.contacts[frame].placement if is_surface else np.eye(4)
    x, y, z, rx, ry, rz = held
    own_name = checked_text("the name of a contact", name) or frame
    return Loop(own_name, "universe", link, T, np.asarray(placement), (x, y, z, rx, ry, rz))


def _directions(held: Sequence[bool]) -> tuple[bool, ...]:
    """Six booleans, of which one is true at least."""
    found = _six(held)
    if not any(found):
        raise ShapeError(
            "a contact has six directions, of which one is held at least",
            evidence={"kind": held},
            next_step="give six booleans for (x, y, z, rx, ry, rz), or one of " + ", ".join(_KINDS),
        )
    return found


def _six(held: Sequence[bool]) -> tuple[bool, ...]:
    """Six booleans; nothing where that is not what was given."""
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
        f"`{item if isinstance(item, str) else type(item).__name__}` is no constraint",
        next_step="give a Loop, a Coupling, or what `contact(robot, q, …)` makes",
    )


def _require_own(robot: Robot, part: ConstraintPart) -> None:
    """Refuse a part that was made for another robot."""
    owner = getattr(part, "tree", None)
    if owner is not robot.tree:
        require_owner(robot, f"constraint `{part.name}`", owner)


def _tie(robot: Robot, loop: Loop) -> Tie:
    name = checked_text("the name of a loop", loop.name)
    directions = _six(loop.directions)
    if not any(directions):
        raise ModelError(
            f"constraint `{name}` holds no direction, or has not six of them",
            evidence={"directions": loop.directions},
            next_step="give six booleans for (x, y, z, rx, ry, rz), of which one is true at least",
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
        raise ModelError(f"coupling `{name}` ties a joint to itself", next_step="name another joint that leads")
    numbers = (item.ratio, item.offset)
    if not all(isinstance(x, Real) and np.isfinite(x) for x in numbers):
        raise ModelError(
            f"coupling `{name}` is not finite", evidence={"ratio": item.ratio, "offset": item.offset},
            next_step="give numbers",
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
