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

_TURNED = 1e-6  # by which a rotation may miss orthogonality


def checked_robot(robot: Robot) -> Robot:
    """The robot; NotSupportedError for anything else."""
    if not isinstance(robot, Robot):
        raise NotSupportedError(
            f"expected a Robot as the first argument, got {_described(robot)}",
            next_step="pass the robot first: robot = surefoot.load(…)",
        )
    return robot


def checked_configuration(robot: Robot, q: ArrayLike) -> Array:
    """The configuration (nq,) as floats; ShapeError if its shape, a number or a quaternion is wrong."""
    return checked_robot(robot).checked_q(checked_numbers("q", q, f"give {robot.nq} numbers"))


def checked_numbers(name: str, values: ArrayLike, needed: str) -> Array:
    """The values as floats, of any shape; ShapeError, with `needed` as next step, if they are not real numbers."""
    try:
        found = np.asarray(values)
        if np.iscomplexobj(found):
            raise TypeError
        return np.asarray(found, dtype=float)
    except (TypeError, ValueError, OverflowError):
        raise ShapeError(f"`{name}` is {_described(values)}, which is not numeric", next_step=needed) from None


def checked_vector(name: str, values: ArrayLike, size: int) -> Array:
    """The vector (size,) as floats; ShapeError for another shape or numbers that are not finite."""
    found = checked_numbers(name, values, f"give {size} numbers")
    if found.shape != (size,):
        raise ShapeError(f"`{name}` has shape {found.shape}, expected ({size},)")
    if not np.isfinite(found).all():
        raise ShapeError(f"`{name}` is not finite", evidence={"entries": np.flatnonzero(~np.isfinite(found)).tolist()})
    return found


def checked_wrenches(tree: Tree, external: ArrayLike | None) -> Array | None:
    """Wrenches (n, 6) on all bodies as floats, None for None; ShapeError for another shape, or if not finite."""
    if external is None:
        return None
    needed = "give one wrench for each body, linear first, about its origin and in its axes"
    found = checked_numbers("external", external, needed)
    if found.shape != (tree.n, 6) or not np.isfinite(found).all():
        raise ShapeError(f"`external` has shape {found.shape}, expected ({tree.n}, 6) finite numbers", next_step=needed)
    return found


def checked_text(what: str, name: str) -> str:
    """A name; NotSupportedError if it is not text. `what` is the thing named, e.g. "the frame of a contact"."""
    if not isinstance(name, str):
        raise NotSupportedError(
            f"{what} is {_described(name)}, expected a name",
            next_step="pass a string, and check the order of arguments",
        )
    return name


def checked_names(what: str, names: Iterable[str]) -> list[str]:
    """A list of names; NotSupportedError for anything else, including one name without brackets."""
    if isinstance(names, str) or not isinstance(names, Iterable):
        raise NotSupportedError(
            f"expected a list of names ({what} each), got {_described(names)}", next_step='pass a list: ["…", "…"]'
        )
    return [checked_text(what, name) for name in names]


def checked_choice(what: str, name: str, known: Iterable[str]) -> str:
    """One of the known names; UnknownNameError for anything else. `what` is the thing named, e.g. "method"."""
    if not (isinstance(name, str) and name in known):
        raise one_of(what, name if isinstance(name, str) else _described(name), known)
    return name


def checked_frame(robot: Robot, what: str, name: str) -> Frame:
    """The link, joint, frame or contact surface of that name, or UnknownNameError; the world for "universe"."""
    return WORLD if checked_text(what, name) == "universe" else frame_of(robot, name)


def checked_placement(what: str, placement: ArrayLike) -> Array:
    """A placement (4, 4), a rotation and a position, of `what`, e.g. "constraint `loop`"; else ModelError."""
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
