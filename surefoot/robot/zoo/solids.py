"""Solids of uniform density, and links made of them: mass, centre, inertia and shapes from one description."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from surefoot.arrays import Array
from surefoot.errors import ModelError
from surefoot.geometry import Box, Capsule, Cylinder, Shape, Sphere
from surefoot.robot.model import Geometry, Joint, Link, placement
from surefoot.spatial import inertia

Color = tuple[float, float, float, float]
_GREY: Color = (0.62, 0.65, 0.70, 1.0)


@dataclass(frozen=True)
class Solid:
    """A solid of uniform density, fixed to a link.

    Args:
        shape: Box, sphere, cylinder or capsule.
        mass: [kg].
        placement: T_link_shape, (4, 4).
        touches: Whether it is a collision shape too; shapes inside or between others are only looked at.
        color: RGBA in 0…1.
        friction: Coulomb coefficient; None to leave it open.
    """

    shape: Box | Sphere | Cylinder | Capsule
    mass: float
    placement: Array = field(default_factory=placement, compare=False)
    touches: bool = True
    color: Color = _GREY
    friction: float | None = None

    @property
    def spatial_inertia(self) -> Array:
        """(6, 6) at the origin of the link, in its axes."""
        match self.shape:
            case Box(size):
                about = inertia.box(self.mass, size)
            case Sphere(radius):
                about = inertia.sphere(self.mass, radius)
            case Cylinder(radius, length):
                about = inertia.cylinder(self.mass, radius, length)
            case Capsule(radius, length):
                about = inertia.capsule(self.mass, radius, length)
        return inertia.transform(self.placement, inertia.make(self.mass, np.zeros(3), about))


def block(mass: float, size: tuple[float, float, float], at: ArrayLike = (0.0, 0.0, 0.0), **looks: object) -> Solid:
    """A box.

    Args:
        mass: [kg].
        size: Edges along x, y, z of the link [m].
        at: Its centre in the link's frame, (3,) [m].
        **looks: `touches`, `color`, `friction` of the `Solid`.
    """
    return Solid(Box(size), mass, placement(at), **looks)  # type: ignore[arg-type]


def ball(mass: float, radius: float, at: ArrayLike = (0.0, 0.0, 0.0), **looks: object) -> Solid:
    """A sphere.

    Args:
        mass: [kg].
        radius: [m].
        at: Its centre in the link's frame, (3,) [m].
        **looks: `touches`, `color`, `friction` of the `Solid`.
    """
    return Solid(Sphere(radius), mass, placement(at), **looks)  # type: ignore[arg-type]


def bar(mass: float, radius: float, start: ArrayLike, end: ArrayLike, **looks: object) -> Solid:
    """A capsule whose tips are two points.

    Args:
        mass: [kg].
        radius: [m]; less than half the distance of the points.
        start: One tip in the link's frame, (3,) [m].
        end: The other tip, (3,) [m].
        **looks: `touches`, `color`, `friction` of the `Solid`.
    """
    T_link_axis, length = _along(start, end)
    if length <= 2.0 * radius:
        raise ModelError("a bar is shorter than it is thick", evidence={"length": length, "radius": radius})
    return Solid(Capsule(radius, length - 2.0 * radius), mass, T_link_axis, **looks)  # type: ignore[arg-type]


def drum(mass: float, radius: float, start: ArrayLike, end: ArrayLike, **looks: object) -> Solid:
    """A cylinder between the centres of its two faces.

    Args:
        mass: [kg].
        radius: [m].
        start: Centre of one face in the link's frame, (3,) [m].
        end: Centre of the other, (3,) [m].
        **looks: `touches`, `color`, `friction` of the `Solid`.
    """
    T_link_axis, length = _along(start, end)
    return Solid(Cylinder(radius, length), mass, T_link_axis, **looks)  # type: ignore[arg-type]


def _along(start: ArrayLike, end: ArrayLike) -> tuple[Array, float]:
    """T with z from start to end and its origin half way, and their distance [m]."""
    a, b = np.asarray(start, dtype=float), np.asarray(end, dtype=float)
    length = float(np.linalg.norm(b - a))
    if length < 1e-9:
        raise ModelError("start and end of a solid are one point", evidence={"point": a.tolist()})
    z = (b - a) / length
    aside = np.array([0.0, 1.0, 0.0]) if abs(z[1]) < 0.9 else np.array([1.0, 0.0, 0.0])
    x = np.cross(aside, z) / np.linalg.norm(np.cross(aside, z))
    return placement(0.5 * (a + b), np.column_stack([x, np.cross(z, x), z])), length


class MassProperties(NamedTuple):
    """Mass [kg], centre of mass (3,) [m] and inertia about it (3, 3) [kg m²] of several solids in one frame."""

    mass: float
    com: Array
    inertia: Array


def mass_properties(solids: Sequence[Solid]) -> MassProperties:
    """Mass properties of rigidly joined solids.

    Args:
        solids: At least one, all in one frame.
    """
    mass, com, about = inertia.split(inertia.combine([solid.spatial_inertia for solid in solids]))
    return MassProperties(float(mass), com, 0.5 * (about + about.T))


def shapes_of(link: str, solids: Sequence[Solid]) -> tuple[tuple[Geometry, ...], tuple[Geometry, ...]]:
    """Collision shapes and visuals of a link."""
    named = [(solid, f"{link}_{i}") for i, solid in enumerate(solids)]
    collisions = tuple(_geometry(name, link, s) for s, name in named if s.touches)
    return collisions, tuple(_geometry(f"{name}_visual", link, s) for s, name in named)


def _geometry(name: str, link: str, solid: Solid) -> Geometry:
    shape: Shape = solid.shape
    return Geometry(name, link, shape, solid.placement, solid.friction, solid.color)


def link_of(name: str, parent: str | None, joint: Joint | None, solids: Sequence[Solid]) -> Link:
    """A link made of solids.

    Args:
        name: Its name.
        parent: The link that it hangs on; None for the world.
        joint: What moves it; None for the base.
        solids: At least one, in the link's frame.
    """
    collisions, visuals = shapes_of(name, solids)
    return Link(name, parent, joint, *mass_properties(solids), collisions, visuals)
