"""Arguments of functions that are called with a robot, looked at before they are used.

Each returns the argument as it is needed, or raises an error that says what was given and what is needed.
"""

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

_TURNED = 1e-6  # by which a rotation may be none


def checked_robot(robot: Robot) -> Robot:
    """The robot, or a clear error for anything else.

    Args:
        robot: The robot.

    Raises:
        NotSupportedError: It is none.
    """
    if not isinstance(robot, Robot):
        raise NotSupportedError(
            f"the first argument is {_said(robot)}, a Robot is needed",
            next_step="give the robot first: robot = surefoot.load(…)",
        )
    return robot


def checked_configuration(robot: Robot, q: ArrayLike) -> Array:
    """The configuration (nq,) as floats, or a clear error.

    Args:
        robot: The robot.
        q: (nq,) configuration.

    Raises:
        NotSupportedError: The robot is none.
        ShapeError: It has another shape, is not finite, or holds a quaternion that is not of unit length.
    """
    return checked_robot(robot).checked_q(checked_numbers("q", q, f"give {robot.nq} numbers"))


def checked_numbers(name: str, values: ArrayLike, needed: str) -> Array:
    """The values as floats, of any shape.

    Args:
        name: What they are called.
        values: The values.
        needed: What to give, in words.

    Raises:
        ShapeError: They are no real numbers.
    """
    try:
        found = np.asarray(values)
        if np.iscomplexobj(found):
            raise TypeError
        return np.asarray(found, dtype=float)
    except (TypeError, ValueError):
        raise ShapeError(f"`{name}` is {_said(values)}, which is no number", next_step=needed) from None


def checked_vector(name: str, values: ArrayLike, size: int) -> Array:
    """The vector as floats, or a clear error.

    Args:
        name: What it is called.
        values: The vector.
        size: How many entries it must have.

    Raises:
        ShapeError: It has another shape, or is not finite.
    """
    found = checked_numbers(name, values, f"give {size} numbers")
    if found.shape != (size,):
        raise ShapeError(f"`{name}` has shape {found.shape}, ({size},) is needed")
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
        raise ShapeError(
            f"`external` has shape {found.shape}, ({tree.n}, 6) finite numbers are needed", next_step=needed
        )
    return found


def checked_text(what: str, name: str) -> str:
    """A name, or a clear error for what is no text.

    Args:
        what: What the name denotes, e.g. "the frame of a contact".
        name: The name.

    Raises:
        NotSupportedError: It is no text.
    """
    if not isinstance(name, str):
        raise NotSupportedError(
            f"{what} is {_said(name)}, a name is needed", next_step="give a text, and look at the order of arguments"
        )
    return name


def checked_names(what: str, names: Iterable[str]) -> list[str]:
    """A list of names, or a clear error for anything else, one name without brackets too.

    Args:
        what: What one name denotes, e.g. "a joint to hold".
        names: The names.

    Raises:
        NotSupportedError: It is no list of texts.
    """
    if isinstance(names, str) or not isinstance(names, Iterable):
        raise NotSupportedError(
            f"names are needed ({what} each), {_said(names)} was given", next_step='give a list: ["…", "…"]'
        )
    return [checked_text(what, name) for name in names]


def checked_choice(what: str, name: str, known: Iterable[str]) -> str:
    """One of the names that there are.

    Args:
        what: What the name denotes, e.g. "method".
        name: The name.
        known: The names that there are.

    Raises:
        UnknownNameError: It is none of them.
    """
    if not (isinstance(name, str) and name in known):
        raise one_of(what, name if isinstance(name, str) else _said(name), known)
    return name


def checked_frame(robot: Robot, what: str, name: str) -> Frame:
    """The frame of that name: a link, joint, frame or contact surface; the world for "universe".

    Args:
        robot: The robot.
        what: What the frame is, e.g. "an end of `rod`".
        name: Its name.

    Raises:
        NotSupportedError: The name is no text.
        UnknownNameError: The robot has none of that name.
    """
    return WORLD if checked_text(what, name) == "universe" else frame_of(robot, name)


def checked_placement(what: str, placement: ArrayLike) -> Array:
    """A placement (4, 4): a rotation and a position.

    Args:
        what: What has it, e.g. "constraint `loop`".
        placement: (4, 4).

    Raises:
        ModelError: It is none.
    """
    needed = "give (4, 4) with a rotation and a position: surefoot.robot.placement((x, y, z), R)"
    try:
        T = checked_numbers("placement", placement, needed)
    except ShapeError:
        T = np.zeros(0)
    R = T[:3, :3] if T.shape == (4, 4) and np.isfinite(T).all() else np.zeros((3, 3))
    if not np.allclose(R @ R.T, np.eye(3), atol=_TURNED) or np.linalg.det(R) < 0.0:
        raise ModelError(
            f"{what} has a placement that is none", evidence={"placement": _said(placement)}, next_step=needed
        )
    return T


def _said(value: object) -> str:
    """A value in a few words."""
    if isinstance(value, np.ndarray) and value.size > 16:
        return f"an array {value.shape}"
    text = " ".join(repr(value).split())
    return text if len(text) <= 60 else f"a {type(value).__name__}"
