"""The world of the native engine: changes of the ground, notes on its limits, and objects.

An object is a robot of one free body, with the points by which it touches the ground.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from surefoot.arrays import Array, number
from surefoot.errors import NotSupportedError, ShapeError
from surefoot.geometry import Box, Capsule, Cylinder, Shape, Sphere, surface_points
from surefoot.motion import Ground, MovableObject, World
from surefoot.robot import ContactSurface, Link, Robot, placement


def with_friction(world: World | None, friction: float, pieces: Sequence[int] | None) -> World | None:
    """The world with another Coulomb coefficient of pieces of ground.

    Args:
        world: The world; None for empty space.
        friction: ≥ 0.
        pieces: Their indices; None for all.
    """
    ground = [] if world is None else list(world.ground)
    chosen = range(len(ground)) if pieces is None else [int(k) for k in pieces]
    if wrong := [k for k in chosen if not 0 <= k < len(ground)]:
        raise ShapeError(
            "there are no such pieces of ground", evidence={"pieces": wrong, "number of pieces": len(ground)}
        )
    value = number(friction, "friction of the ground")
    for k in chosen:
        ground[k] = replace(ground[k], friction=value)
    return None if world is None else replace(world, ground=tuple(ground))


def with_ground(world: World | None, ground: Sequence[Ground]) -> World | None:
    """The world with other ground.

    Args:
        world: The world; None for empty space.
        ground: As many pieces of the same kinds as before.

    Raises:
        NotSupportedError: Another number of pieces, or other kinds.
    """
    old = () if world is None else world.ground
    before, after = ([type(piece).__name__ for piece in pieces] for pieces in (old, ground))
    if before != after:
        raise NotSupportedError(
            "ground can be replaced only by as many pieces of the same kinds",
            evidence={"before": before, "after": after},
            next_step="build the world with all pieces that will be needed; boxes can wait below the ground",
        )
    return None if world is None else replace(world, ground=tuple(ground))


def notes_of(robots: Sequence[Robot], world: World | None, self_collision: bool) -> tuple[str, ...]:
    """What is simulated otherwise than described.

    Args:
        robots: The robots.
        world: The world; None for empty space.
        self_collision: Whether robots should touch themselves.
    """
    out = []
    if world is not None and world.ground:
        out.append("robots touch the ground by the points of their contact surfaces, and nothing else")
    things = 0 if world is None else len(world.objects)
    if len(robots) + things > 1:
        out.append("robots and objects do not touch each other in the native engine")
    if world is not None and any(not item.touchable for item in world.obstacles):
        out.append("obstacles are not touched in the native engine, except by contact surfaces if they are touchable")
    if self_collision:
        out.append("robots do not touch themselves in the native engine")
    for robot in robots:
        names = [contact.name for contact in robot.contacts.values() if robot.body_of(contact.frame) < 0]
        out += [f"contact surface `{name}` of {robot.name} is fixed to the world" for name in names]
    return tuple(out)


_AROUND = 8  # points on each rim of a cylinder


def object_robot(thing: MovableObject, friction: float) -> Robot:
    """A free body of the object's mass and shape.

    Args:
        thing: The object.
        friction: Coulomb coefficient of its surface.

    Raises:
        NotSupportedError: The shape is not a box, ball, cylinder or capsule.
    """
    body = Link(thing.name, mass=thing.mass, inertia=np.diag(_moments(thing.shape, thing.mass, thing.name)))
    surface = _surface(thing.shape, thing.name, friction)
    return Robot.from_tree(f"object {thing.name}", [body], "floating", contacts=(surface,))


def _surface(shape: Shape, name: str, friction: float) -> ContactSurface:
    """Corners, or balls whose centres stand one radius above the corners."""
    match shape:
        case Sphere(radius):
            return ContactSurface(name, name, "point", placement((0.0, 0.0, -radius)), friction=friction, radius=radius)
        case Capsule(radius, length):
            ends = np.array([[0.0, 0.0, 0.5 * length - radius], [0.0, 0.0, -0.5 * length - radius]])
            return ContactSurface(name, name, "line", corners=ends, friction=friction, radius=radius)
        case _:
            corners = surface_points(shape, around=_AROUND)
            return ContactSurface(name, name, "polygon", corners=corners, friction=friction)


def _moments(shape: Shape, mass: float, name: str) -> Array:
    """Principal moments of inertia (3,) of a homogeneous shape about its centre [kg m²]."""
    match shape:
        case Box(size):
            squares = np.square(size)
            return mass / 12.0 * (squares.sum() - squares)
        case Sphere(radius):
            return np.full(3, 0.4 * mass * radius**2)
        case Cylinder(radius, length):
            across = mass * (3.0 * radius**2 + length**2) / 12.0
            return np.array([across, across, 0.5 * mass * radius**2])
        case Capsule(radius, length):
            return _capsule_moments(mass, radius, length)
    raise NotSupportedError(
        f"object `{name}` is a {type(shape).__name__.lower()}, which the native engine does not move",
        next_step='use a box, sphere, cylinder or capsule, or the engine "mujoco"',
    )


def _capsule_moments(mass: float, r: float, length: float) -> Array:
    """Of a cylinder with a half ball on each end; the centre of a half ball lies ⅜ r from its plane."""
    tube, ball = r**2 * length, 4.0 / 3.0 * r**3
    m_tube, m_ball = mass * tube / (tube + ball), mass * ball / (tube + ball)
    along = 0.5 * m_tube * r**2 + 0.4 * m_ball * r**2
    ends = m_ball * (0.4 * r**2 + 0.25 * length**2 + 0.375 * length * r)
    across = m_tube * (3.0 * r**2 + length**2) / 12.0 + ends
    return np.array([across, across, along])
