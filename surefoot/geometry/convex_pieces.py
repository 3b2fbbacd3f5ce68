"""Convex pieces that together fill a mesh, by CoACD (Wei et al. 2022)."""

from __future__ import annotations

import functools
import hashlib
import importlib.metadata
import io
import os
import subprocess
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from surefoot.arrays import Array
from surefoot.errors import ModelError, ShapeError
from surefoot.geometry.shapes import Mesh
from surefoot.processes import isolated_python

_CONVEX = 1.02  # volume of the hull over that of the mesh up to which the hull will do
_ROUNDING = 1e-6
_OUTSIDE = 1e-9  # how far a piece may leave the hull, as a share of its size
_PROGRAM = Path(__file__).with_name("coacd_process.py")


def convex_pieces(mesh: Mesh, tolerance: float = 0.05, most: int = 16) -> list[Array]:
    """Convex pieces that together fill a mesh, none of them reaching outside its convex hull.

    X. Wei, M. Liu, Z. Ling, H. Su: "Approximate convex decomposition for 3D meshes with collision-aware concavity and
    tree search", 2022. A surface that is not closed is first made a closed one, a sixtieth of its size thick; what that
    adds outside of the hull is cut off. Same mesh, same pieces. Takes a second for simple meshes, up to a minute for
    such as are not closed or have fine hollows.

    Args:
        mesh: The mesh. Nearly convex ones, flat ones and those without triangles are one piece.
        tolerance: Concavity that a piece may keep, for a mesh scaled to −1…1; 0.01 to 1.
        most: Most pieces.

    Returns:
        Vertices of each piece, (n, 3) [m].

    Raises:
        ShapeError: The tolerance or the number of pieces is out of range.
        ModelError: The mesh cannot be cut.
    """
    if not (0.01 <= tolerance <= 1.0 and most >= 1):
        raise ShapeError(f"tolerance is {tolerance}, most is {most}; expected 0.01 to 1, and 1 or more")
    vertices, triangles = _welded(mesh)
    hull = _hull_planes(vertices)
    if hull is None or not len(triangles) or is_nearly_convex(mesh):
        return [vertices]
    return [inside for piece in _cut(mesh, vertices, triangles, tolerance, most) if len(inside := _within(piece, hull))]


def is_nearly_convex(mesh: Mesh) -> bool:
    """Whether the hull of a mesh has at most 2 % more volume than the mesh; a mesh that is not closed has none."""
    from scipy.spatial import ConvexHull

    vertices, triangles = _welded(mesh)
    if not _is_closed(triangles, len(vertices)) or _hull_planes(vertices) is None:
        return False
    ratio = ConvexHull(vertices).volume / max(_volume(vertices, triangles), np.finfo(float).tiny)
    return bool(1.0 - _ROUNDING <= ratio <= _CONVEX)


@functools.cache
def method_version() -> str:
    """What decides about the pieces beside the arguments: the version of CoACD and the text of this code."""
    code = b"".join(path.read_bytes() for path in (Path(__file__), _PROGRAM))
    return f"coacd {importlib.metadata.version('coacd')} {hashlib.sha256(code).hexdigest()}"


def _welded(mesh: Mesh) -> tuple[Array, NDArray[np.int64]]:
    """Vertices, each once, and triangles between three of them, looking outwards."""
    vertices, same = np.unique(mesh.vertices(), axis=0, return_inverse=True)
    triangles = same.reshape(-1)[mesh.triangles()]
    a, b, c = triangles.T
    triangles = triangles[(a != b) & (b != c) & (c != a)]
    return vertices, triangles[:, ::-1] if _volume(vertices, triangles) < 0.0 else triangles


def _is_closed(triangles: NDArray[np.int64], count: int) -> bool:
    """Whether every edge is passed as often in one direction as in the other."""
    start, end = triangles[:, [0, 1, 2]].ravel(), triangles[:, [1, 2, 0]].ravel()
    return len(triangles) > 0 and np.array_equal(np.sort(start * count + end), np.sort(end * count + start))


def _volume(vertices: Array, triangles: NDArray[np.int64]) -> float:
    """Volume [m³] within closed triangles, by the divergence theorem."""
    a, b, c = (vertices[triangles[:, k]] - vertices.mean(axis=0) for k in range(3))
    return float(np.einsum("ij,ij->", a, np.cross(b, c))) / 6.0


def _hull_planes(points: Array) -> Array | None:
    """Planes n·x + d ≤ 0 of the convex hull, (m, 4); None for flat sets."""
    from scipy.spatial import ConvexHull, QhullError

    try:
        return np.unique(np.round(ConvexHull(points).equations, 12), axis=0)
    except (QhullError, ValueError):  # the latter for fewer points than a tetrahedron has
        return None


def _cut(mesh: Mesh, vertices: Array, triangles: NDArray[np.int64], tolerance: float, most: int) -> list[Array]:
    """The pieces as CoACD gives them; it runs in a process of its own (see there)."""
    task = io.BytesIO()
    np.savez(task, vertices=vertices, triangles=triangles, tolerance=tolerance, most=most)
    with isolated_python(str(_PROGRAM)) as process:
        done = subprocess.run(
            **process, input=task.getvalue(), capture_output=True, check=False,
            env={**os.environ, "OMP_NUM_THREADS": "1"},
        )  # fmt: skip
    if done.returncode:
        raise ModelError(
            "a mesh cannot be cut into convex pieces",
            evidence={"exit code": done.returncode, "said": done.stderr.decode(errors="replace")[-500:].strip()},
            next_step="repair the mesh, or use its hull",
            file=mesh.path or None,
        )
    return unpack_pieces(done.stdout)


def _within(piece: Array, hull: Array) -> Array:
    """Corners of what of a piece lies within a hull, (n, 3); none if they do not meet.

    Args:
        piece: Vertices, (n, 3).
        hull: Planes of the hull, (m, 4).
    """
    from scipy.spatial import HalfspaceIntersection

    planes = _hull_planes(piece)
    if planes is None:
        return np.zeros((0, 3))
    size = float(np.ptp(piece, axis=0).max())
    crossed = hull[(piece @ hull[:, :3].T + hull[:, 3]).max(axis=0) > _OUTSIDE * size]
    if not len(crossed):
        return piece
    planes = np.vstack([planes, crossed])
    centre, radius = _largest_ball(planes)
    return HalfspaceIntersection(planes, centre).intersections if radius > 1e-6 * size else np.zeros((0, 3))


def _largest_ball(planes: Array) -> tuple[Array, float]:
    """Centre and radius of the largest ball behind planes (m, 4) with unit normals; the radius < 0 if there is none."""
    from scipy.optimize import linprog

    room = np.column_stack([planes[:, :3], np.ones(len(planes))])
    found = linprog([0.0, 0.0, 0.0, -1.0], room, -planes[:, 3], bounds=[(None, None)] * 4)
    return (found.x[:3], float(found.x[3])) if found.success else (np.zeros(3), -1.0)


def pack_pieces(pieces: list[Array]) -> bytes:
    """Pieces as bytes, numbers only; `unpack_pieces` gives them back."""
    out = io.BytesIO()
    np.savez(out, points=np.vstack(pieces), counts=np.array([len(piece) for piece in pieces], dtype=np.int64))
    return out.getvalue()


def unpack_pieces(content: bytes) -> list[Array]:
    """Vertices of each piece, (n, 3) [m], from `pack_pieces`."""
    with np.load(io.BytesIO(content), allow_pickle=False) as data:
        return np.split(data["points"].astype(float), np.cumsum(data["counts"])[:-1])
