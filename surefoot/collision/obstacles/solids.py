"""Distances of a robot's volumes from half-spaces, boxes and capsules in compiled kernels, for many postures a call.

    points = kernels.points(Q)                   # (n, vertices, 3), shared by all that follows
    kernels.to_box(points, pose, size)           # (n, groups): the smallest distance of each group of volumes

Where a solid is lies in the arguments, so nothing is compiled when the world changes. Distances are those from a
volume's surface to the solid; a volume whose generator reaches into a box has minus its radius.

Segment and box: f(t) = ½ |y − clamp(y, ±h)|², y = a + t v, is convex with a slope that is piecewise linear; its kinks
are where y crosses a face. The slope at the kinks and at both ends brackets the minimum within one linear piece, where
one interpolation is exact. Triangle and box: the nearest points lie on an edge of the triangle, or at the corner of the
box that is nearest to the triangle's plane; if the box pierces the triangle without touching an edge, then any point
that the box has in the plane lies inside the triangle.          [col.box]
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from surefoot import ops
from surefoot.arrays import Array
from surefoot.codegen import Kernel, compile_function
from surefoot.collision.volumes import VolumeMotion, source_text
from surefoot.geometry import generator_distance

_FAR = 1e30
_TINY = 1e-300


class SolidKernels:
    """Smallest distances of groups of volumes from single solids.

    Args:
        motion: The volumes.
        groups: Indices of the volumes of each group; a volume may be in several.
        allowance: (V,) what is taken off the distance of each volume [m]; nothing if omitted.

    Attributes:
        reduced_radii: (V,) radii of the volumes with their allowances [m].
    """

    def __init__(
        self, motion: VolumeMotion, groups: Sequence[Sequence[int]], allowance: ArrayLike | None = None
    ) -> None:
        self.motion, self.groups = motion, tuple(tuple(int(k) for k in group) for group in groups)
        taken = np.zeros(len(motion.radii)) if allowance is None else np.asarray(allowance, dtype=float)
        self.reduced_radii = motion.radii + taken

    def points(self, q: Array) -> Array:
        """(n, vertices, 3) vertices of the volumes in world [m].

        Args:
            q: (n, nq) configurations.
        """
        return self.motion.points(q)[:, : self.motion.count]

    def to_plane(self, points: Array, plane: ArrayLike) -> Array:
        """(n, groups) from a half-space [m].

        Args:
            points: (n, vertices, 3) as `points` gives them.
            plane: (4,) unit normal out of the half-space, and its offset: normal · x ≤ offset inside.
        """
        return self._run(self._plane, points, np.asarray(plane, dtype=float))

    def to_box(self, points: Array, pose: ArrayLike, size: ArrayLike) -> Array:
        """(n, groups) from a box [m].

        Args:
            points: (n, vertices, 3) as `points` gives them.
            pose: T_world_box of its centre, (4, 4).
            size: (3,) full edge lengths [m].
        """
        T = np.asarray(pose, dtype=float)
        numbers = np.concatenate([T[:3, :3].ravel(), T[:3, 3], 0.5 * np.asarray(size, dtype=float)])
        return self._run(self._box, points, numbers)

    def to_capsule(self, points: Array, ends: ArrayLike, radius: float) -> Array:
        """(n, groups) from a capsule, or from a ball whose ends are the same [m].

        Args:
            points: (n, vertices, 3) as `points` gives them.
            ends: (2, 3) ends of its line in world [m].
            radius: [m].
        """
        return self._run(self._capsule, points, np.append(np.asarray(ends, dtype=float).ravel(), radius))

    def _run(self, kernel: Kernel, points: Array, numbers: Array) -> Array:
        n = len(points)
        if not n:
            return np.zeros((0, len(self.groups)))
        found: Array = kernel(np.ascontiguousarray(points), np.tile(numbers, (n, 1)))
        return found

    # -- kernels --------------------------------------------------------------------------------------------------

    @cached_property
    def _plane(self) -> Kernel:
        def distance(generator: Array, plane: Array) -> Any:
            return _smallest([plane[:3] @ vertex for vertex in generator]) - plane[3]

        return self._compiled("plane", 4, distance)

    @cached_property
    def _box(self) -> Kernel:
        def distance(generator: Array, box: Array) -> Any:
            turn, centre, half = box[:9].reshape(3, 3), box[9:12], box[12:]
            return box_distance(ops.stack([turn.T @ (vertex - centre) for vertex in generator]), half)

        return self._compiled("box", 15, distance)

    @cached_property
    def _capsule(self) -> Kernel:
        def distance(generator: Array, capsule: Array) -> Any:
            return generator_distance(generator, capsule[:6].reshape(2, 3)).distance - capsule[6]

        return self._compiled("capsule", 7, distance)

    def _compiled(self, name: str, count: int, distance: Callable[[Array, Array], Any]) -> Kernel:
        motion, radii, used = self.motion, self.reduced_radii, sorted({k for group in self.groups for k in group})

        def clearances(points: Array, solid: Array) -> Array:
            rows = {k: points[motion.starts[k] : motion.starts[k] + motion.kinds[k]] for k in used}
            gaps = {k: distance(vertices, solid) - radii[k] for k, vertices in rows.items()}
            return ops.array([_smallest([gaps[k] for k in group]) if group else _FAR for group in self.groups])

        numbers = [np.array([*group, -1]) for group in self.groups]
        identity = (name, source_text(), motion.starts, motion.kinds, radii, *numbers)
        shapes = {"points": (motion.count, 3), "solid": (count,)}
        return compile_function(f"volumes to {name}", clearances, shapes, identity=identity)


def box_distance(generator: Array, half: Array) -> Any:
    """Distance of a point, line or triangle from a box at the origin [m]; 0 where they meet.

    Args:
        generator: (k, 3) vertices in the frame of the box [m]; numbers or symbols.
        half: (3,) half edge lengths [m].
    """
    if len(generator) == 1:
        return ops.sqrt(_square_outside(generator[0], half))
    edges = [(0, 1)] if len(generator) == 2 else [(0, 1), (1, 2), (2, 0)]
    squares = [_segment_square(generator[i], generator[j], half) for i, j in edges]
    if len(generator) == 3:
        squares.append(_face_square(generator, half))
    return ops.sqrt(_smallest(squares))


def _square_outside(point: Array, half: Array) -> Any:
    out = [ops.maximum(ops.absolute(point[i]) - half[i], 0.0) for i in range(3)]
    return out[0] * out[0] + out[1] * out[1] + out[2] * out[2]


def _segment_square(start: Array, end: Array, half: Array) -> Any:
    way = end - start
    times: list[Any] = [0.0, 1.0]
    for i in range(3):
        is_along = ops.less(_TINY, ops.absolute(way[i]))
        inverse = ops.where(is_along, 1.0, 0.0) / ops.where(is_along, way[i], 1.0)
        for side in (-1.0, 1.0):
            times.append(ops.minimum(ops.maximum((side * half[i] - start[i]) * inverse, 0.0), 1.0))

    def slope(t: Any) -> Any:
        total: Any = 0.0
        for i in range(3):
            y = start[i] + t * way[i]
            total = total + way[i] * (y - ops.minimum(ops.maximum(y, -half[i]), half[i]))
        return total

    before, after, below, above = 0.0, 1.0, -_FAR, _FAR
    for t in times:
        g = slope(t)
        falls = ops.less(g, _TINY)
        before = ops.maximum(before, ops.where(falls, t, 0.0))
        after = ops.minimum(after, ops.where(falls, 1.0, t))
        below = ops.maximum(below, ops.where(falls, g, -_FAR))
        above = ops.minimum(above, ops.where(falls, _FAR, g))
    best = before + (after - before) * (-below / ops.maximum(above - below, _TINY))
    return _square_outside(start + best * way, half)


def _face_square(triangle: Array, half: Array) -> Any:
    """Square of the distance between the inside of a triangle and the nearest corner of the box; else large."""
    a, b, c = triangle
    normal = ops.cross(b - a, c - a)
    area = ops.maximum(normal @ normal, _TINY)
    height = -(normal @ a)  # of the box's centre over the plane, times the length of the normal
    reach = sum((ops.absolute(normal[i]) * half[i] for i in range(3)), start=0.0)
    side = ops.where(ops.less(height, 0.0), -1.0, 1.0)
    # the point of the box nearest to the plane: a corner, or where the diagonal through it meets the plane
    share = ops.minimum(ops.absolute(height) / ops.maximum(reach, _TINY), 1.0)
    point = ops.stack([-side * share * half[i] * ops.where(ops.less(normal[i], 0.0), -1.0, 1.0) for i in range(3)])
    inside = [normal @ ops.cross(q - p, point - p) for p, q in ((a, b), (b, c), (c, a))]
    left = ops.maximum(ops.absolute(height) - reach, 0.0)
    return ops.where(ops.less(_smallest(inside), 0.0), _FAR, left * left / area)


def _smallest(values: Sequence[Any]) -> Any:
    out = values[0]
    for value in values[1:]:
        out = ops.minimum(out, value)
    return out
