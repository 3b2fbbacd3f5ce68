"""Ground, obstacles and objects as data for the page."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from surefoot.arrays import Array
from surefoot.geometry import Box, Plane
from surefoot.motion import Ground, GroundBox, GroundPlane, MovableObject, Obstacle
from surefoot.motion.ground import HeightField
from surefoot.report.decimation import decimated
from surefoot.report.evidence import Evidence
from surefoot.report.packing import packed, quantised, rounded
from surefoot.report.shape_mesh import Triangles, shape_triangles

__all__ = ["field_triangles", "world_data"]

_MOST_CELLS = 160
_MOST_TRIANGLES = 4000


def world_data(evidence: Evidence, rows: NDArray[np.int64]) -> dict[str, Any]:
    """`ground`, `obstacles` and `objects`, empty where there is no world.

    Args:
        evidence: The motion.
        rows: Rows that the replay shows.
    """
    world = evidence.world
    if world is None:
        return {"ground": [], "obstacles": [], "objects": []}
    return {
        "ground": [_ground(piece) for piece in world.ground],
        "obstacles": [_thing(item) for item in world.obstacles],
        "objects": [_thing(item) | _moves(evidence, item, rows) for item in world.objects],
    }


def _ground(piece: Ground) -> dict[str, Any]:
    match piece:
        case GroundPlane():
            return {"kind": "plane", "point": rounded(piece.point), "normal": rounded(piece.normal, 6)}
        case GroundBox():
            return {"kind": "box", "pose": _pose(piece.pose), **_packed_mesh(shape_triangles(Box(piece.size)))}
        case HeightField():
            return {"kind": "field", "pose": _pose(np.eye(4)), **_packed_mesh(field_triangles(piece))}


def field_triangles(field: HeightField) -> Triangles:
    """The surface of a height field, in world; of a fine one every second, third, … grid point.

    Args:
        field: The field.
    """
    every = max(1, int(np.ceil(max(field.heights.shape) / _MOST_CELLS)))
    rows, columns = (np.unique([*range(0, n, every), n - 1]) for n in field.heights.shape)
    x, y = np.meshgrid(rows * field.cell, columns * field.cell, indexing="ij")
    points = np.stack([x, y, field.heights[np.ix_(rows, columns)]], axis=-1).reshape(-1, 3) + field.origin
    index = np.arange(len(points)).reshape(len(rows), len(columns))
    a, b, c, d = (part.ravel() for part in (index[:-1, :-1], index[1:, :-1], index[1:, 1:], index[:-1, 1:]))
    return points, np.vstack([np.column_stack([a, b, c]), np.column_stack([a, c, d])]).astype(np.int64)


def _thing(item: Obstacle | MovableObject) -> dict[str, Any]:
    found = {"name": item.name, "pose": _pose(item.pose)}
    if isinstance(item.shape, Plane):
        return found | {"kind": "plane"}
    return found | {"kind": "mesh", **_packed_mesh(decimated(shape_triangles(item.shape), _MOST_TRIANGLES))}


def _moves(evidence: Evidence, item: MovableObject, rows: NDArray[np.int64]) -> dict[str, Any]:
    """Positions and quaternions of an object at the frames, where they are known."""
    if item.name not in evidence.objects:
        return {}
    T = evidence.objects[item.name][rows]
    turns = Rotation.from_matrix(T[:, :3, :3]).as_quat()
    return {"positions": packed(T[:, :3, 3], "f4"), "turns": packed(np.round(turns * 32767), "i2")}


def _packed_mesh(mesh: Triangles) -> dict[str, Any]:
    vertices, faces = mesh
    wide = len(vertices) > 65535
    return {"vertices": quantised(vertices), "faces": packed(faces, "u4" if wide else "u2"), "wide": wide}


def _pose(T: Array) -> list[float]:
    """Column after column, as three.js has it."""
    return rounded(np.asarray(T).T.ravel(), 6)
