"""The surfaces of a world that feet and hands may touch, as polygons and rods."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from surefoot.arrays import Array, finite_array
from surefoot.errors import ShapeError
from surefoot.geometry import Box, Capsule, Cylinder, contains, convex_hull, distance_inside
from surefoot.motion.world.ground import GroundBox, GroundPlane, HeightField
from surefoot.motion.world.terrain import is_inside
from surefoot.motion.world.world import World
from surefoot.robot import placement

_FACES = ("front", "back", "left", "right", "top", "bottom")
_GAP = 1e-3  # how far above a surface there must be nothing [m]
_INSET = 0.02  # share of a polygon by which its corners are moved to its middle to see whether it is covered


@dataclass(frozen=True, eq=False)
class TouchableSurface:
    """A flat polygon, or a rod, that a contact surface may touch.

    Args:
        name: Unique in a world: "ground 0", "ground 1 top", "rail".
        kind: "flat" or "rod".
        pose: T_world_surface, (4, 4). Flat: z points out of it. Rod: y is its axis, z points up as far as it can.
        polygon: (k, 2) corners in x and y, convex, counter-clockwise [m]; of a rod the two ends of its axis.
        friction: Coulomb coefficient.
        radius: Of a rod [m].
    """

    name: str
    kind: Literal["flat", "rod"]
    pose: Array
    polygon: Array
    friction: float
    radius: float = 0.0

    @property
    def normal(self) -> Array:
        """(3,) in world, out of the surface; of a rod where it looks up most."""
        return np.asarray(self.pose[:3, 2])

    @property
    def area(self) -> float:
        """[m²]; of a rod its mantle."""
        x, y = self.polygon.T
        if self.kind == "rod":
            return float(2.0 * np.pi * self.radius * np.ptp(y))
        return float(0.5 * np.sum(x * np.roll(y, -1) - y * np.roll(x, -1)))

    def points(self, places: ArrayLike) -> Array:
        """(n, 3) in world of places (n, 2) on the surface [m]; on a rod (angle about its axis from z [rad], y [m])."""
        at = np.asarray(places, dtype=float).reshape(-1, 2)
        local = np.column_stack([at, np.zeros(len(at))])
        if self.kind == "rod":
            local = np.column_stack([self.radius * np.sin(at[:, 0]), at[:, 1], self.radius * np.cos(at[:, 0])])
        return local @ self.pose[:3, :3].T + self.pose[:3, 3]

    def normals(self, places: ArrayLike) -> Array:
        """(n, 3) in world, at places as in `points`."""
        at = np.asarray(places, dtype=float).reshape(-1, 2)
        if self.kind == "flat":
            return np.tile(self.normal, (len(at), 1))
        local = np.column_stack([np.sin(at[:, 0]), np.zeros(len(at)), np.cos(at[:, 0])])
        return local @ self.pose[:3, :3].T

    def distance_inside(self, places: ArrayLike) -> Array:
        """(n,) from places (n, 2) to the nearest edge [m]; negative outside."""
        at = np.asarray(places, dtype=float).reshape(-1, 2)
        if self.kind == "rod":
            low, high = self.polygon[:, 1].min(), self.polygon[:, 1].max()
            return np.minimum(at[:, 1] - low, high - at[:, 1])
        return np.asarray(distance_inside(at, self.polygon))

    def sample(self, rng: np.random.Generator, count: int) -> Array:
        """(n, 2) places, uniform on the surface."""
        if self.kind == "rod":
            low, high = self.polygon[:, 1].min(), self.polygon[:, 1].max()
            return np.column_stack([rng.uniform(-np.pi, np.pi, count), rng.uniform(low, high, count)])
        a, b, c = self.polygon[0], self.polygon[1:-1], self.polygon[2:]
        areas = 0.5 * np.abs((b - a)[:, 0] * (c - a)[:, 1] - (b - a)[:, 1] * (c - a)[:, 0])
        which = rng.choice(len(areas), count, p=areas / areas.sum())
        s, t = rng.random((2, count, 1))
        root = np.sqrt(s)
        return np.asarray((1.0 - root) * a + root * ((1.0 - t) * b[which] + t * c[which]))


def touchable_surfaces(
    world: World, region: tuple[float, float, float, float] = (-5.0, -5.0, 5.0, 5.0)
) -> tuple[TouchableSurface, ...]:
    """What feet and hands may touch: ground, and obstacles that are touchable.

    Faces that other pieces cover entirely are omitted; `is_exposed` tells it point by point. A height field gives two
    triangles a cell. Balls and meshes give none.

    Args:
        world: The world.
        region: Least x and y, largest x and y in world [m]: endless planes and height fields end there.
    """
    x0, y0, x1, y1 = finite_array(region, (4,), "region")
    if x0 >= x1 or y0 >= y1:
        raise ShapeError("the region is empty", evidence={"x": (x0, x1), "y": (y0, y1)})
    corners = np.array([[x0, y0], [x1, y0], [x1, y1], [x0, y1]])
    out: list[TouchableSurface] = []
    for k, piece in enumerate(world.ground):
        mu, name = world.friction if piece.friction is None else piece.friction, f"ground {k}"
        match piece:
            case GroundPlane():
                out.append(_of_corners(name, np.column_stack([corners, piece.height(*corners.T)]), mu))
            case GroundBox():
                out += _of_box(name, piece.size, piece.pose, mu)
            case HeightField():
                out += _of_heights(name, piece, corners, mu)
    for item in world.obstacles:
        mu = world.friction if item.friction is None else item.friction
        if item.touchable and isinstance(item.shape, Box):
            out += _of_box(item.name, item.shape.size, item.pose, mu)
        elif item.touchable and isinstance(item.shape, Capsule | Cylinder):
            out.append(_of_rod(item.name, item.shape, item.pose, mu))
    return tuple(surface for surface in out if surface.kind == "rod" or _is_open(world, surface))


def is_exposed(world: World, points: ArrayLike, normals: ArrayLike, gap: float = _GAP) -> NDArray[np.bool_]:
    """(n,) whether nothing of the world lies just above points of its surfaces.

    Args:
        world: The world.
        points: (n, 3) in world [m].
        normals: (n, 3) unit vectors out of the surfaces.
        gap: How far above [m].
    """
    above = np.asarray(points, dtype=float) + gap * np.asarray(normals, dtype=float)
    covered = np.zeros(len(above), dtype=bool)
    for piece in world.ground:
        covered |= is_inside(piece, above)
    for item in world.obstacles:
        covered |= contains(item.shape, (above - item.pose[:3, 3]) @ item.pose[:3, :3])
    return ~covered


def _is_open(world: World, surface: TouchableSurface) -> bool:
    """Whether the middle or a corner of a polygon is exposed."""
    middle = surface.polygon.mean(axis=0)
    places = np.vstack([middle, (1.0 - _INSET) * surface.polygon + _INSET * middle])
    return bool(is_exposed(world, surface.points(places), surface.normals(places)).any())


def _axes(z: Array) -> Array:
    """R_world_surface (3, 3) with the given z; y points up on walls, x along world x on all else."""
    if abs(z[2]) < 0.5:
        y = np.array([0.0, 0.0, 1.0]) - z[2] * z
        y = y / np.linalg.norm(y)
        return np.column_stack([np.cross(y, z), y, z])
    x = np.array([1.0, 0.0, 0.0]) - z[0] * z
    x = x / np.linalg.norm(x)
    return np.column_stack([x, np.cross(z, x), z])


def _of_corners(name: str, corners: Array, friction: float) -> TouchableSurface:
    """The polygon of corners (k, 3) in one plane, counter-clockwise from outside."""
    middle = corners.mean(axis=0)
    normal = np.cross(corners[1] - corners[0], corners[2] - corners[0])
    T = placement(middle, _axes(normal / np.linalg.norm(normal)))
    flat = ((corners - middle) @ T[:3, :3])[:, :2]
    return TouchableSurface(name, "flat", T, convex_hull(flat), friction)


def _of_box(name: str, size: tuple[float, float, float], pose: Array, friction: float) -> Iterator[TouchableSurface]:
    half = 0.5 * np.asarray(size)
    for k, face in enumerate(_FACES):
        axis, sign = k // 2, 1.0 - 2.0 * (k % 2)
        u, w = [(1, 2), (2, 0), (0, 1)][axis]
        corners = np.zeros((4, 3))
        corners[:, axis] = sign * half[axis]
        corners[:, u] = half[u] * np.array([-1.0, 1.0, 1.0, -1.0])
        corners[:, w] = half[w] * sign * np.array([-1.0, -1.0, 1.0, 1.0])
        yield _of_corners(f"{name} {face}", corners @ pose[:3, :3].T + pose[:3, 3], friction)


def _of_heights(name: str, field: HeightField, region: Array, friction: float) -> Iterator[TouchableSurface]:
    nx, ny = field.heights.shape
    (x0, y0), (x1, y1) = region[0], region[2]
    for i in range(nx - 1):
        for j in range(ny - 1):
            at = np.array([[i, j], [i + 1, j], [i + 1, j + 1], [i, j + 1]])
            xy = field.origin[:2] + field.cell * at
            if xy[:, 0].min() >= x0 and xy[:, 0].max() <= x1 and xy[:, 1].min() >= y0 and xy[:, 1].max() <= y1:
                corners = np.column_stack([xy, field.origin[2] + field.heights[at[:, 0], at[:, 1]]])
                yield _of_corners(f"{name} {i} {j} a", corners[[0, 1, 2]], friction)
                yield _of_corners(f"{name} {i} {j} b", corners[[0, 2, 3]], friction)


def _of_rod(name: str, shape: Capsule | Cylinder, pose: Array, friction: float) -> TouchableSurface:
    y = pose[:3, 2]
    up = np.array([0.0, 0.0, 1.0]) if abs(y[2]) < 0.9 else np.array([1.0, 0.0, 0.0])
    z = up - (up @ y) * y
    z = z / np.linalg.norm(z)
    T = placement(pose[:3, 3], np.column_stack([np.cross(y, z), y, z]))
    ends = np.array([[0.0, -0.5 * shape.length], [0.0, 0.5 * shape.length]])
    return TouchableSurface(name, "rod", T, ends, friction, shape.radius)
