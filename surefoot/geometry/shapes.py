"""Collision and visual shapes, each in its own frame with its centre at the origin."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from surefoot.arrays import Array
from surefoot.errors import ShapeError
from surefoot.geometry.meshes import load_triangles, load_vertices


@dataclass(frozen=True)
class Sphere:
    """A ball of `radius` [m]."""

    radius: float


@dataclass(frozen=True)
class Box:
    """A cuboid with full edge lengths `size` = (x, y, z) [m]."""

    size: tuple[float, float, float]


@dataclass(frozen=True)
class Cylinder:
    """A cylinder along z: `radius` and full `length` [m]."""

    radius: float
    length: float


@dataclass(frozen=True)
class Capsule:
    """A cylinder along z with half balls on its ends; `length` [m] is that of the cylindrical part."""

    radius: float
    length: float


@dataclass(frozen=True)
class Ellipsoid:
    """An ellipsoid with half axes `radii` = (x, y, z) [m]."""

    radii: tuple[float, float, float]


@dataclass(frozen=True)
class Plane:
    """The half space below z = 0 of its frame."""


@dataclass(frozen=True)
class Mesh:
    """Triangles from a file, or given by their vertices.

    Args:
        path: The file, or "" if the vertices are given.
        scale: Factor per axis, not 0; negative ones mirror.
        points: Vertices [m], (n, 3), already scaled; only where there is no file.
        faces: Triangles between the points, (m, 3) indices; without them only the hull of the points is known.
    """

    path: str = ""
    scale: tuple[float, float, float] = (1.0, 1.0, 1.0)
    points: Array | None = field(default=None, compare=False, repr=False)
    faces: NDArray[np.int64] | None = field(default=None, compare=False, repr=False)

    def __post_init__(self) -> None:
        if not all(np.isfinite(self.scale)) or 0.0 in self.scale:
            raise ShapeError(f"a mesh has scale {self.scale}, expected finite factors other than 0")
        if self.faces is not None:
            object.__setattr__(
                self, "faces", _checked_faces(self.faces, 0 if self.points is None else len(self.points))
            )

    def vertices(self) -> Array:
        """The scaled vertices, (n, 3) [m]; read from the file when first asked for."""
        return self.points if self.points is not None else load_vertices(self.path, self.scale)

    def triangles(self) -> NDArray[np.int64]:
        """Indices of three vertices each, (m, 3); none where only points are given."""
        if self.points is None:
            return load_triangles(self.path, self.scale)
        return self.faces if self.faces is not None else np.zeros((0, 3), dtype=np.int64)


def _checked_faces(faces: NDArray[np.int64], count: int) -> NDArray[np.int64]:
    """Faces as read-only indices of so many points."""
    found = np.array(faces)
    if found.ndim != 2 or found.shape[1] != 3 or found.dtype.kind not in "iu":
        raise ShapeError("faces of a mesh are rows of three whole numbers", evidence={"shape": found.shape})
    if len(found) and not 0 <= int(found.min()) <= int(found.max()) < count:
        raise ShapeError("faces of a mesh name points that it does not have", evidence={"number of points": count})
    found = found.astype(np.int64)
    found.setflags(write=False)
    return found


Shape = Sphere | Box | Cylinder | Capsule | Ellipsoid | Plane | Mesh


def require_size(shape: Shape) -> None:
    """Refuse sizes that are negative or no numbers.

    Raises:
        ShapeError: A length is negative or not finite.
    """
    sizes: tuple[float, ...] = ()
    match shape:
        case Box(size):
            sizes = size
        case Cylinder(radius, length) | Capsule(radius, length):
            sizes = radius, length
        case Sphere(radius):
            sizes = (radius,)
        case Ellipsoid(radii):
            sizes = radii
    if not all(np.isfinite(s) and s >= 0.0 for s in sizes):
        raise ShapeError("sizes of a shape must be finite and not negative", evidence={"shape": shape})


def surface_points(shape: Shape, around: int = 32) -> Array:
    """Points on the surface whose hull is the shape, or lies within 0.5 % of the radius of it.

    Args:
        shape: A bounded shape (a plane has no such points).
        around: Number of points on each circle of round shapes.

    Returns:
        (n, 3) [m], in the frame of the shape.
    """
    turn = np.linspace(0.0, 2.0 * np.pi, around, endpoint=False)
    ring = np.column_stack([np.cos(turn), np.sin(turn), np.zeros(around)])
    match shape:
        case Box(size):
            corners = np.array(np.meshgrid([-0.5, 0.5], [-0.5, 0.5], [-0.5, 0.5])).reshape(3, -1).T
            return corners * np.array(size)
        case Sphere(radius):
            return radius * _ball(around)
        case Ellipsoid(radii):
            return _ball(around) * np.array(radii)
        case Cylinder(radius, length):
            half = np.array([0.0, 0.0, 0.5 * length])
            return np.vstack([radius * ring + half, radius * ring - half])
        case Capsule(radius, length):
            half = np.array([0.0, 0.0, 0.5 * length])
            ball = radius * _ball(around)
            return np.vstack([ball[ball[:, 2] >= 0] + half, ball[ball[:, 2] <= 0] - half])
        case Mesh():
            return shape.vertices()
        case Plane():
            return np.zeros((0, 3))


def _ball(around: int) -> Array:
    """Points on the unit sphere on circles of latitude, poles included."""
    rows = []
    for latitude in np.linspace(-0.5 * np.pi, 0.5 * np.pi, around // 2 + 1):
        turn = np.linspace(0.0, 2.0 * np.pi, around if abs(latitude) < 1.57 else 1, endpoint=False)
        c = np.cos(latitude)
        rows.append(np.column_stack([c * np.cos(turn), c * np.sin(turn), np.full(len(turn), np.sin(latitude))]))
    return np.vstack(rows)


def farthest_points(shape: Shape, directions: Array) -> Array:
    """Support function: the points of a convex shape that lie farthest in given directions.

    Where a whole edge or face does, its middle (sign(0) = 0), so that shapes that stand square to each other behave the
    same from all sides. A mesh counts as its hull.

    Args:
        shape: A bounded shape.
        directions: (n, 3) in its frame, of any length.

    Returns:
        (n, 3) in its frame [m].

    Raises:
        ShapeError: The shape is a plane.
    """
    d = np.atleast_2d(np.asarray(directions, dtype=float))
    up = np.zeros_like(d)
    up[:, 2] = np.sign(d[:, 2])
    match shape:
        case Sphere(radius):
            return radius * _unit(d)
        case Box(size):
            return np.asarray(0.5 * np.sign(d) * size)
        case Cylinder(radius, length):
            return radius * _unit(d * [1.0, 1.0, 0.0]) + 0.5 * length * up
        case Capsule(radius, length):
            return radius * _unit(d) + 0.5 * length * up
        case Ellipsoid(radii):
            return _unit(d * radii) * np.array(radii)
        case Mesh():
            return np.asarray(shape.vertices()[np.argmax(d @ shape.vertices().T, axis=1)])
    raise ShapeError("a plane has no farthest points", next_step="pass a bounded shape")


def _unit(d: Array) -> Array:
    """Rows of length one; those of no length stay."""
    length = np.linalg.norm(d, axis=1, keepdims=True)
    return np.asarray(np.divide(d, length, out=np.zeros_like(d), where=length > 0.0))


def contains(shape: Shape, points: Array) -> NDArray[np.bool_]:
    """(n,) whether points lie in a shape; never in a mesh.

    Args:
        shape: The shape.
        points: (n, 3) in its frame [m].
    """
    x, y, z = np.asarray(points, dtype=float).T
    match shape:
        case Sphere(radius):
            inside = x**2 + y**2 + z**2 <= radius**2
        case Box(size):
            inside = (abs(x) <= size[0] / 2) & (abs(y) <= size[1] / 2) & (abs(z) <= size[2] / 2)
        case Cylinder(radius, length):
            inside = (x**2 + y**2 <= radius**2) & (abs(z) <= length / 2)
        case Capsule(radius, length):
            inside = x**2 + y**2 + np.maximum(abs(z) - length / 2, 0.0) ** 2 <= radius**2
        case Ellipsoid((a, b, c)):
            inside = (x / a) ** 2 + (y / b) ** 2 + (z / c) ** 2 <= 1.0
        case Plane():
            inside = z <= 0.0
        case _:
            inside = np.zeros(len(points), dtype=bool)
    return np.asarray(inside)
