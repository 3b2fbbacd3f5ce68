"""Objects of a world as robots of one free body, with the points by which they touch the ground."""

from __future__ import annotations

import numpy as np

from surefoot.arrays import Array
from surefoot.errors import NotSupportedError
from surefoot.geometry import Box, Capsule, Cylinder, Shape, Sphere, surface_points
from surefoot.motion import MovableObject
from surefoot.robot import ContactSurface, Link, Robot, placement

__all__ = ["object_robot"]

_AROUND = 8  # points on each rim of a cylinder


def object_robot(thing: MovableObject, friction: float) -> Robot:
    """A free body of the object's mass and shape.

    Args:
        thing: The object.
        friction: Coulomb coefficient of its surface.

    Raises:
        NotSupportedError: The shape is no box, ball, cylinder or capsule.
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
