"""Robots with other masses: payloads, and errors of its inertia."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pinocchio as pin
from numpy.typing import ArrayLike

from surefoot.errors import NotSupportedError, ShapeError
from surefoot.robot.model.robot import Robot


def carrying(robot: Robot, link: str, mass: float, position: ArrayLike = (0.0, 0.0, 0.0)) -> Robot:
    """The robot with a point mass fixed to a link.

    Args:
        robot: The robot.
        link: The link that carries it.
        mass: [kg], ≥ 0.
        position: (3,) in the frame of the link [m].
    """
    point = np.array(position, dtype=float)
    if point.shape != (3,) or not np.isfinite([*point, mass]).all() or mass < 0.0:
        raise ShapeError(
            "a payload needs a mass ≥ 0 and a position of three finite numbers",
            evidence={"mass": mass, "position": position},
        )
    i = robot.body_of(link)
    if i < 0:
        raise NotSupportedError(f"link `{link}` is fixed to the world; a payload does nothing there")
    T_body_link = robot.model.frames[robot.frame_id(link)].placement
    lump = pin.Inertia(mass, T_body_link.act(point), np.zeros((3, 3)))
    return _with_inertias(robot, {i: robot.model.inertias[i + 1] + lump})


def under_gravity(robot: Robot, gravity: ArrayLike) -> Robot:
    """The robot in a world with another gravity.

    Args:
        robot: The robot.
        gravity: (3,) in world [m/s²].
    """
    model = robot.model.copy()
    model.gravity.linear = np.array(gravity, dtype=float)
    return robot.replace(model=model, tree=replace(robot.tree, gravity=np.array(gravity, dtype=float)))


def with_inertia_error(
    robot: Robot, mass: float = 1.0, com: ArrayLike = (0.0, 0.0, 0.0), link: str | None = None
) -> Robot:
    """The robot as it might be in truth: heavier, and with its centres of mass elsewhere.

    Args:
        robot: The robot as it is described.
        mass: Factor on masses and moments of inertia, > 0.
        com: (3,) shift of the centres of mass in body axes [m].
        link: The link whose body is changed; all bodies if omitted.
    """
    shift = np.array(com, dtype=float)
    if shift.shape != (3,) or not np.isfinite(shift).all() or not (np.isfinite(mass) and mass > 0.0):
        raise ShapeError(
            "an error of inertia needs a factor > 0 and a shift of three finite numbers",
            evidence={"mass": mass, "com": com},
        )
    bodies = range(robot.tree.n) if link is None else [robot.body_of(link)]
    if -1 in bodies:
        raise NotSupportedError(f"link `{link}` is fixed to the world; its mass does not matter")
    old = {i: robot.model.inertias[i + 1] for i in bodies}
    return _with_inertias(
        robot,
        {i: pin.Inertia(mass * x.mass, x.lever + shift, mass * x.inertia) for i, x in old.items() if x.mass > 0.0},
    )


def _with_inertias(robot: Robot, changes: Mapping[int, pin.Inertia]) -> Robot:
    """The robot with other inertias of some bodies."""
    model = robot.model.copy()
    masses, coms, inertias = (np.array(x) for x in (robot.tree.masses, robot.tree.coms, robot.tree.inertias))
    for i, inertia in changes.items():
        model.inertias[i + 1] = inertia
        masses[i], coms[i], inertias[i] = inertia.mass, inertia.lever, inertia.inertia
    return robot.replace(model=model, tree=replace(robot.tree, masses=masses, coms=coms, inertias=inertias))
