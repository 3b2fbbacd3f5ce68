"""Checks of arguments of functions that take a robot: each returns the argument as it is used, or raises an error."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import ArrayLike

from surefoot.arrays import Array
from surefoot.errors import ModelError, NotSupportedError, ShapeError, one_of
from surefoot.kinematics import Frame
from surefoot.kinematics.frames import WORLD, frame_of
from surefoot.robot import Robot, Tree

__all__ = [
    "checked_choice",
    "checked_configuration",
    "checked_frame",
    "checked_names",
    "checked_numbers",
    "checked_placement",
    "checked_robot",
    "checked_text",
    "checked_vector",
    "checked_wrenches",
]

_TURNED = 1e-6  # by which a rotation may miss orthogonality


def checked_robot(robot: Robot) -> Robot:
    """The robot, or a clear error for anything else.

    Args:
        robot: The robot.

    Raises:
        NotSupportedError: It is not a Robot.
    """
    if not isinstance(robot, Robot):
        raise NotSupportedError(
            f"expected a Robot as the first argument, got {_described(robot)}",
            next_step="pass the robot first: robot = surefoot.load(…)",
        )
    return robot


def checked_configuration(robot: Robot, q: ArrayLike) -> Array:
    """The configuration (nq,) as floats, or a clear error.

    Args:
        robot: The robot.
        q: (nq,) configuration.

    Raises:
        NotSupportedError: The robot is not a Robot.
        ShapeError: It has another shape, is not finite, or holds a quaternion that is not of unit length.
    """
    return checked_robot(robot).checked_q(checked_numbers("q", q, f"give {robot.nq} numbers"))


def checked_numbers(name: str, values: ArrayLike, needed: str) -> Array:
    """The values as floats, of any shape.

    Args:
        name: Their name in messages.
        values: The values.
        needed: The next step in messages: the numbers to give.

    Raises:
        ShapeError: They are not real numbers.
    """
    try:
        found = np.asarray(values)
        if np.iscomplexobj(found):
            raise TypeError
        return np.asarray(found, dtype=float)
    except (TypeError, ValueError):
        raise ShapeError(f"`{name}` is {_described(values)}, which is not numeric", next_step=needed) from None


def checked_vector(name: str, values: ArrayLike, size: int) -> Array:
    """The vector as floats, or a clear error.

    Args:
        name: Its name in messages.
        values: The vector.
        size: Number of entries.

    Raises:
        ShapeError: It has another shape, or is not finite.
    """
    found = checked_numbers(name, values, f"give {size} numbers")
    if found.shape != (size,):
        raise ShapeError(f"`{name}` has shape {found.shape}, expected ({size},)")
    if not np.isfinite(found).all():
        raise ShapeError(f"`{name}` is not finite", evidence={"entries": np.flatnonzero(~np.isfinite(found)).tolist()})
    return found


def checked_wrenches(tree: Tree, external: ArrayLike | None) -> Array | None:
    """Wrenches (n, 6) on all bodies as floats; None stays None.

    Args:
        tree: The tree.
        external: (n, 6) wrench on every body, or None.

    Raises:
        ShapeError: They have another shape, or are not finite.
    """
    if external is None:
        return None
    needed = "give one wrench for each body, linear first, about its origin and in its axes"
    found = checked_numbers("external", external, needed)
    if found.shape != (tree.n, 6) or not np.isfinite(found).all():
        raise ShapeError(f"`external` has shape {found.shape}, expected ({tree.n}, 6) finite numbers", next_step=needed)
    return found


def checked_text(what: str, name: str) -> str:
    """A name, or a clear error for anything that is not text.

    Args:
        what: The thing named, e.g. "the frame of a contact".
        name: The name.

    Raises:
        NotSupportedError: It is not text.
    """
    if not isinstance(name, str):
        raise NotSupportedError(
            f"{what} is {_described(name)}, expected a name",
            next_step="pass a string, and check the order of arguments",
        )
    return name


def checked_names(what: str, names: Iterable[str]) -> list[str]:
    """A list of names, or a clear error for anything else, including one name without brackets.

    Args:
        what: The thing that one name denotes, e.g. "a joint to hold".
        names: The names.

    Raises:
        NotSupportedError: It is not a list of strings.
    """
    if isinstance(names, str) or not isinstance(names, Iterable):
        raise NotSupportedError(
            f"expected a list of names ({what} each), got {_described(names)}", next_step='pass a list: ["…", "…"]'
        )
    return [checked_text(what, name) for name in names]


def checked_choice(what: str, name: str, known: Iterable[str]) -> str:
    """One of the known names, or a clear error.

    Args:
        what: The thing named, e.g. "method".
        name: The name.
        known: The names to choose from.

    Raises:
        UnknownNameError: It is not one of them.
    """
    if not (isinstance(name, str) and name in known):
        raise one_of(what, name if isinstance(name, str) else _described(name), known)
    return name


def checked_frame(robot: Robot, what: str, name: str) -> Frame:
    """The frame of that name: a link, joint, frame or contact surface; the world for "universe".

    Args:
        robot: The robot.
        what: Its role, e.g. "an end of `rod`".
        name: Its name.

    Raises:
        NotSupportedError: The name is not text.
        UnknownNameError: The robot has no frame of that name.
    """
    return WORLD if checked_text(what, name) == "universe" else frame_of(robot, name)


def checked_placement(what: str, placement: ArrayLike) -> Array:
    """A placement (4, 4): a rotation and a position.

    Args:
        what: Its owner, e.g. "constraint `loop`".
        placement: (4, 4).

    Raises:
        ModelError: It is not a placement.
    """
    needed = "pass (4, 4) with a rotation and a position: surefoot.robot.placement((x, y, z), R)"
    try:
        T = checked_numbers("placement", placement, needed)
    except ShapeError:
        T = np.zeros(0)
    R = T[:3, :3] if T.shape == (4, 4) and np.isfinite(T).all() else np.zeros((3, 3))
    if not np.allclose(R @ R.T, np.eye(3), atol=_TURNED) or np.linalg.det(R) < 0.0:
        raise ModelError(
            f"{what} has an invalid placement", evidence={"placement": _described(placement)}, next_step=needed
        )
    return T


def _described(value: object) -> str:
    """A value in a few words."""
    if isinstance(value, np.ndarray) and value.size > 16:
        return f"an array {value.shape}"
    text = " ".join(repr(value).split())
    return text if len(text) <= 60 else f"a {type(value).__name__}"
