"""The ground under contact points: a local plane for each, from planes, boxes and height fields.

A point is given the plane of the piece of ground that counts for it, and moves against that plane for a step. Inside a
box the nearest face counts, so that a riser pushes sideways; among several pieces the one in which a point is deepest,
or to which it is nearest.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from surefoot.arrays import Array
from surefoot.geometry import Box, Capsule, Cylinder, Sphere
from surefoot.motion.world.ground import Ground, GroundBox, GroundPlane, HeightField
from surefoot.motion.world.world import World

Planes = tuple[Array, Array, NDArray[np.bool_]]  # normals, offsets, and where the piece is
NOWHERE = -1e9
"""Offset [m] of the plane under a point that has no ground."""
_UPWARD = 0.7  # z of the normal of a face that one can stand on
_BEYOND = 1e-6  # [m]
_ROOT = 0.1  # how far a box that stands on other ground reaches into it [m]


class _Rod(NamedTuple):
    """A touchable rod or ball: points within a distance of a segment; its ends are round."""

    start: Array
    end: Array
    radius: float
    friction: float | None


def contact_planes(world: World, point: ArrayLike) -> Array:
    """(n, 5): unit normal, offset and friction of the ground under each point; its height above it is n·p − offset.

    Where pieces overlap the highest counts, that is the one above which a point is least high. Touchable boxes, rods
    and balls among the obstacles count as ground does.

    Args:
        world: The world; its ground, its touchable obstacles and friction count.
        point: (n, 3) in world [m].
    """
    return ground_under(world, point)[0]


def ground_under(world: World, point: ArrayLike) -> tuple[Array, NDArray[np.int64]]:
    """As `contact_planes`, and (n,) which piece of ground counts; those beyond the last are touchable, −1 is none.

    Args:
        world: The world.
        point: (n, 3) in world [m].
    """
    p = np.asarray(point, dtype=float).reshape(-1, 3)
    best = np.tile([0.0, 0.0, 1.0, NOWHERE, world.friction], (len(p), 1))
    least, owner = np.full(len(p), np.inf), np.full(len(p), -1, dtype=np.int64)
    pieces = _with_roots(world)
    for k, piece in enumerate(pieces):
        normal, offset, here = _under(piece, p, pieces)
        height = np.sum(normal * p, axis=1) - offset
        nearer = here & (height < least)
        least[nearer], owner[nearer] = height[nearer], k
        best[nearer, :3], best[nearer, 3] = normal[nearer], offset[nearer]
        best[nearer, 4] = world.friction if piece.friction is None else piece.friction
    return best, owner


@lru_cache(maxsize=16)
def _with_roots(world: World) -> tuple[Ground | _Rod, ...]:
    """The ground; boxes that stand on other ground reach into it, so that who has sunk in there still meets them."""
    out: list[Ground | _Rod] = list(world.ground)
    for k, piece in enumerate(world.ground):
        if isinstance(piece, GroundBox):
            up, _ = _top_of_box(piece)
            axis = int(np.argmax(np.abs(piece.pose[:3, :3].T @ up)))
            below = piece.pose[:3, 3] - (0.5 * piece.size[axis] + _BEYOND) * up
            others = (other for other in world.ground if other is not piece)
            if any(is_inside(other, below[None])[0] for other in others):
                size, pose = np.array(piece.size), piece.pose.copy()
                size[axis] += _ROOT
                pose[:3, 3] -= 0.5 * _ROOT * up
                x, y, z = (float(edge) for edge in size)
                out[k] = replace(piece, size=(x, y, z), pose=pose)
    return (*out, *_touchable(world))


def _touchable(world: World) -> list[GroundBox | _Rod]:
    """Obstacles that contact surfaces may touch; meshes and other shapes are not among them."""
    out: list[GroundBox | _Rod] = []
    for item in world.obstacles:
        if item.touchable and isinstance(item.shape, Box):
            x, y, z = item.shape.size
            out.append(GroundBox((x, y, z), item.pose, item.friction))
        elif item.touchable and isinstance(item.shape, Capsule | Cylinder | Sphere):
            half = 0.0 if isinstance(item.shape, Sphere) else 0.5 * item.shape.length
            axis, centre = item.pose[:3, 2], item.pose[:3, 3]
            out.append(_Rod(centre - half * axis, centre + half * axis, item.shape.radius, item.friction))
    return out


def _under(piece: Ground | _Rod, p: Array, pieces: Sequence[Ground | _Rod]) -> Planes:
    """The plane of one piece. Out of a box one does not go by a face that another piece covers, but by the top."""
    if isinstance(piece, _Rod):
        away, distance = _from_axis(piece, p)
        normal = np.where(distance[:, None] > 1e-12, away / np.maximum(distance, 1e-300)[:, None], [0.0, 0.0, 1.0])
        return normal, np.sum(normal * p, axis=1) - distance + piece.radius, np.ones(len(p), dtype=bool)
    if not isinstance(piece, GroundBox):
        return _of_plane(piece, p) if isinstance(piece, GroundPlane) else _of_heights(piece, p)
    normal, offset, here = _of_box(piece, p)
    depth = offset - np.sum(normal * p, axis=1)
    doubtful = np.flatnonzero((depth > 0.0) & (normal[:, 2] < _UPWARD))
    if len(doubtful) and len(pieces) > 1:
        ways_out = p[doubtful] + (depth[doubtful, None] + _BEYOND) * normal[doubtful]
        covered = np.zeros(len(doubtful), dtype=bool)
        for other in pieces:
            if other is not piece:
                covered |= is_inside(other, ways_out)
        rows = doubtful[covered]
        normal[rows], offset[rows] = _top_of_box(piece)
    return normal, offset, here


def _from_axis(rod: _Rod, p: Array) -> tuple[Array, Array]:
    """Vectors (n, 3) from the nearest points of the segment, and their lengths (n,)."""
    along = rod.end - rod.start
    share = np.clip((p - rod.start) @ along / max(float(along @ along), 1e-300), 0.0, 1.0)
    away = p - rod.start - share[:, None] * along
    return away, np.linalg.norm(away, axis=1)


def is_inside(piece: Ground | _Rod, p: Array) -> NDArray[np.bool_]:
    """Which points (n, 3) lie under the surface of a piece."""
    if isinstance(piece, _Rod):
        return np.asarray(_from_axis(piece, p)[1] <= piece.radius)
    if isinstance(piece, GroundBox):
        own = (p - piece.pose[:3, 3]) @ piece.pose[:3, :3]
        return np.asarray((np.abs(own) <= 0.5 * np.asarray(piece.size)).all(axis=1))
    return np.asarray(piece.height(p[:, 0], p[:, 1]) >= p[:, 2])


def _top_of_box(piece: GroundBox) -> tuple[Array, float]:
    """Normal and offset of the face that looks up most."""
    R = piece.pose[:3, :3]
    axis = int(np.argmax(np.abs(R[2])))
    normal = R[:, axis] * (1.0 if R[2, axis] > 0.0 else -1.0)
    return normal, float(normal @ piece.pose[:3, 3]) + 0.5 * piece.size[axis]


def _of_plane(piece: GroundPlane, p: Array) -> Planes:
    n = len(p)
    return np.tile(piece.normal, (n, 1)), np.full(n, float(piece.normal @ piece.point)), np.ones(n, dtype=bool)


def _of_box(piece: GroundBox, p: Array) -> Planes:
    """Inside, the face that is nearest; outside, the plane across the shortest way to the box."""
    R, centre, half = piece.pose[:3, :3], piece.pose[:3, 3], 0.5 * np.asarray(piece.size)
    own = (p - centre) @ R
    reach = np.abs(own) - half
    inside = (reach <= 0.0).all(axis=1)
    axis = np.argmax(reach, axis=1)
    rows = np.arange(len(p))
    face = np.zeros_like(own)
    face[rows, axis] = np.where(own[rows, axis] < 0.0, -1.0, 1.0)
    away = np.maximum(reach, 0.0) * np.sign(own)
    distance = np.linalg.norm(away, axis=1)
    outward = away / np.where(distance > 0.0, distance, 1.0)[:, None]
    normal = np.where((inside | (distance == 0.0))[:, None], face, outward)
    height = np.where(inside, reach[rows, axis], distance)
    world = normal @ R.T
    return world, np.sum(world * p, axis=1) - height, np.ones(len(p), dtype=bool)


def _of_heights(piece: HeightField, p: Array) -> Planes:
    """The tangent plane of the bilinear patch below or above a point."""
    nx, ny = piece.heights.shape
    u, w = ((p[:, k] - piece.origin[k]) / piece.cell for k in (0, 1))
    here = (u >= 0.0) & (u <= nx - 1) & (w >= 0.0) & (w <= ny - 1)
    i = np.clip(u, 0, nx - 2).astype(int)
    j = np.clip(w, 0, ny - 2).astype(int)
    s, t, h = u - i, w - j, piece.heights
    along_x = ((1.0 - t) * (h[i + 1, j] - h[i, j]) + t * (h[i + 1, j + 1] - h[i, j + 1])) / piece.cell
    along_y = ((1.0 - s) * (h[i, j + 1] - h[i, j]) + s * (h[i + 1, j + 1] - h[i + 1, j])) / piece.cell
    height = (1.0 - s) * ((1.0 - t) * h[i, j] + t * h[i, j + 1]) + s * ((1.0 - t) * h[i + 1, j] + t * h[i + 1, j + 1])
    steep = np.stack([-along_x, -along_y, np.ones(len(p))], axis=1)
    normal = steep / np.linalg.norm(steep, axis=1)[:, None]
    top = np.column_stack([p[:, :2], piece.origin[2] + height])
    return normal, np.sum(normal * top, axis=1), here
