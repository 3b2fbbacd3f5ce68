"""Convex pieces that together fill a mesh, by CoACD (Wei et al. 2022)."""

from __future__ import annotations

import functools
import hashlib
import importlib.metadata
import io
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefoot.arrays import Array
from surefoot.errors import ModelError, ShapeError
from surefoot.geometry.shapes import Mesh
from surefoot.processes import isolated_python

_CONVEX = 1.02  # volume of the hull over that of the mesh up to which the hull will do
_ROUNDING = 1e-6
_MOST_VERTICES = 100  # of a piece
_MOST_TRIANGLES = 3000  # of what CoACD cuts; larger meshes are decimated first
_COARSE = 50_000  # triangles from which on a mesh is decimated by halves
_CARE = 3  # of the decimation: steeper thresholds lose ten times as much
_HUGE = 400_000  # triangles from which on vertices are drawn into cells first
_MISSED_TARGET = 1.5  # a step that leaves more triangles than this times what it aimed at is the last one
_STALLED = 0.9  # a step that leaves more triangles than this share is the last one
_SPECK, _CELL = 1e-4, 1e-3  # shortest edge of a tiny triangle, and the cell into which vertices are drawn, for size 1
_LOST = 0.005  # how far a decimated mesh may be from the mesh, as a share of its size
_THICK = 1.0 / 60.0  # the same if it is not closed
_SHRINK = 1e-4  # by which a piece may be made smaller so that it stays within the hull
_SAMPLES = 4000  # vertices at which that is measured
_SPOTS = 20_000  # points of the decimated mesh near which they are looked for
_MANY = 20_000  # vertices of which only the outermost ones make the hull
_LOOKS = 2000  # directions in which they are looked for
_MISSED = 0.005  # of the volume of a hull by these
_OUTSIDE = 1e-9  # how far a piece may leave the hull, as a share of its size
_PROGRAM = Path(__file__).with_name("coacd_process.py")


def convex_pieces(mesh: Mesh, tolerance: float = 0.05, most: int = 16) -> list[Array]:
    """Convex pieces that together fill a mesh, none of them reaching outside its convex hull.

    X. Wei, M. Liu, Z. Ling, H. Su: "Approximate convex decomposition for 3D meshes with collision-aware concavity and
    tree search", 2022. A surface that is not closed is first made a closed one, a sixtieth of its size thick; what that
    adds outside of the hull is cut off. Same mesh, same pieces. Meshes of more than 3000 triangles are first decimated
    (Garland & Heckbert 1997), by at most 0.5 % of their size, a sixtieth if they are not closed. Takes seconds.

    Args:
        mesh: The mesh. Nearly convex ones, flat ones and those without triangles are one piece.
        tolerance: Concavity that a piece may keep, for a mesh scaled to −1…1; 0.01 to 1.
        most: Most pieces.

    Returns:
        Vertices of each piece, (n, 3) [m], at most 100.

    Raises:
        ShapeError: The tolerance or the number of pieces is out of range.
        ModelError: The mesh cannot be cut.
    """
    if not (0.01 <= tolerance <= 1.0 and most >= 1):
        raise ShapeError(f"tolerance is {tolerance}, most is {most}; expected 0.01 to 1, and 1 or more")
    vertices, triangles = _welded(mesh)
    whole = _hull(_outermost(vertices))
    if whole is None or not len(triangles):
        return [vertices if len(vertices) <= _MOST_VERTICES else _few(vertices)]
    if _fills(vertices, triangles, whole.volume):
        return [_few(whole.points[whole.vertices])]
    pieces = _cut(mesh, *_decimated(vertices, triangles), tolerance, most)
    planes = _planes(whole)
    return [_few(inside) for piece in pieces if len(inside := _within(_few(piece), planes))]


def is_nearly_convex(mesh: Mesh) -> bool:
    """Whether the hull of a mesh has at most 2 % more volume than the mesh; a mesh that is not closed has none."""
    vertices, triangles = _welded(mesh)
    hull = _hull(_outermost(vertices))
    return hull is not None and _fills(vertices, triangles, hull.volume)


def _fills(vertices: Array, triangles: NDArray[np.int64], volume: float) -> bool:
    """Whether a closed mesh fills its hull of that volume."""
    own, least = _volume(vertices, triangles), 1.0 - (_MISSED if len(vertices) > _MANY else _ROUNDING)
    return least * own <= volume <= _CONVEX * own and _is_closed(triangles, len(vertices))


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


def _hull(points: Array) -> Any:
    """The convex hull of points as SciPy has it; None for flat sets."""
    from scipy.spatial import ConvexHull, QhullError

    try:
        return ConvexHull(points)
    except (QhullError, ValueError):  # the latter for fewer points than a tetrahedron has
        return None


def _planes(hull: Any) -> Array:
    """Planes n·x + d ≤ 0 of a hull, (m, 4)."""
    return np.unique(np.round(hull.equations, 12), axis=0)


def _outermost(vertices: Array) -> Array:
    """All vertices; of many, those that are farthest in some thousands of directions, spread evenly by a spiral."""
    if len(vertices) <= _MANY:
        return vertices
    k = np.arange(_LOOKS) + 0.5
    height, turn = 1.0 - 2.0 * k / _LOOKS, np.pi * (1.0 + 5.0**0.5) * k
    around = np.sqrt(1.0 - height**2)
    looks = np.column_stack([around * np.cos(turn), around * np.sin(turn), height]).astype(np.float32)
    columns = np.ascontiguousarray((vertices - vertices.mean(axis=0)).T, dtype=np.float32)
    parts = [np.argmax(part @ columns, axis=1) for part in np.array_split(looks, _LOOKS * len(vertices) // 10**7 + 1)]
    return np.asarray(vertices[np.unique(np.concatenate(parts))])


def _decimated(vertices: Array, triangles: NDArray[np.int64]) -> tuple[Array, NDArray[np.int64]]:
    """The fewest triangles, of meshes that are ever coarser, within `_LOST` of the mesh at sampled vertices.

    A mesh that is not closed may lose as much as CoACD, which makes it thicker to close it. Flat faces of many small
    triangles can stop the decimation; it then begins again with the vertices drawn together in a grid.
    """
    size, count = float(np.ptp(vertices, axis=0).max()), len(triangles)
    sample = vertices[:: max(1, len(vertices) // _SAMPLES)]
    lost = size * (_LOST if _is_closed(triangles, len(vertices)) else _THICK)
    best = (vertices, triangles)
    for cell in (
        _CELL if count > _COARSE and (count > _HUGE or _has_specks(vertices / size, triangles)) else 0.0,
        _LOST,
    ):
        if len(best[1]) <= 2 * _MOST_TRIANGLES:
            break
        points, corners = _clustered(vertices / size, triangles, cell) if cell else (vertices / size, triangles)
        meshes = [(size * x, found) for x, found in _coarser(points, corners)]
        while meshes and _farthest(sample, *meshes[-1]) > lost:
            meshes.pop()
        best = min([best, *meshes[-1:]], key=lambda mesh: len(mesh[1]))
    return best


def _coarser(points: Array, corners: NDArray[np.int64]) -> Iterator[tuple[Array, NDArray[np.int64]]]:
    """Ever coarser meshes down to `_MOST_TRIANGLES`, until a step saves few triangles."""
    import fast_simplification

    while (count := len(corners)) > _MOST_TRIANGLES:
        target = max(_MOST_TRIANGLES, count // (2 if count <= _COARSE else 8))
        found = fast_simplification.simplify(
            np.ascontiguousarray(points), np.ascontiguousarray(corners, dtype=np.int32), target_count=target, agg=_CARE
        )
        points, corners = np.asarray(found[0], dtype=float), np.asarray(found[1], dtype=np.int64)
        if not 0 < len(corners) < _STALLED * count:
            return
        yield points, corners
        if len(corners) > _MISSED_TARGET * target:
            return


def _has_specks(points: Array, triangles: NDArray[np.int64]) -> bool:
    """Whether many triangles of a mesh of size 1 are too small to be collapsed one by one, as round a pole."""
    a, b, c = (points[triangles[:, k]] for k in range(3))
    shortest = np.min([np.einsum("ij,ij->i", edge, edge) for edge in (b - a, c - b, a - c)], axis=0)
    return bool(np.count_nonzero(shortest < _SPECK**2) > _MOST_TRIANGLES // 20)


def _clustered(points: Array, triangles: NDArray[np.int64], cell: float) -> tuple[Array, NDArray[np.int64]]:
    """A mesh whose vertices in one cell of a grid are one (Rossignac & Borrel 1993)."""
    x, y, z = np.round((points - points.min(axis=0)) / cell).astype(np.int64).T
    same = np.unique((x << 40) + (y << 20) + z, return_inverse=True)[1].reshape(-1)
    middles = np.column_stack([np.bincount(same, axis) for axis in points.T]) / np.bincount(same)[:, None]
    i, j, k = same[triangles].T
    return middles, same[triangles][(i != j) & (j != k) & (k != i)]


def _farthest(points: Array, vertices: Array, triangles: NDArray[np.int64]) -> float:
    """Largest distance of points from triangles, of those triangles that have the nearest spots [m]."""
    from scipy.spatial import cKDTree

    spots, owners = _spots(vertices, triangles)
    near = owners[cKDTree(spots).query(points, k=min(12, len(spots)))[1].reshape(len(points), -1)]
    a, b, c = (vertices[triangles[:, k]][near] for k in range(3))
    return float(_distances(points[:, None], a, b, c).min(axis=1).max())


def _spots(vertices: Array, triangles: NDArray[np.int64]) -> tuple[Array, NDArray[np.int64]]:
    """Points spread over triangles by their area, and at their middles (long ones have many); with their triangles."""
    a, b, c = (vertices[triangles[:, k]] for k in range(3))
    area = np.linalg.norm(np.cross(b - a, c - a), axis=1)
    rng = np.random.default_rng(0)
    share = area / max(float(area.sum()), np.finfo(float).tiny)
    owners = np.concatenate(
        [np.arange(len(triangles)), np.repeat(np.arange(len(triangles)), np.ceil(share * _SPOTS).astype(int))]
    )
    weights = rng.dirichlet(np.ones(3), size=len(owners))
    weights[: len(triangles)] = 1.0 / 3.0
    return np.einsum("ij,ijk->ik", weights, vertices[triangles[owners]]), owners


def _distances(p: Array, a: Array, b: Array, c: Array) -> Array:
    """Distances of points from triangles, (…): inside by the plane, else by the nearest edge."""
    normal = np.cross(b - a, c - a)
    normal /= np.maximum(np.linalg.norm(normal, axis=-1, keepdims=True), np.finfo(float).tiny)
    inside = np.ones(np.broadcast_shapes(p.shape, a.shape)[:-1], dtype=bool)
    edges = np.full(inside.shape, np.inf)
    for start, end in ((a, b), (b, c), (c, a)):
        along, away = end - start, p - start
        share = np.einsum("...k,...k", away, along) / np.maximum(np.einsum("...k,...k", along, along), 1e-300)
        edges = np.minimum(edges, np.linalg.norm(away - np.clip(share, 0.0, 1.0)[..., None] * along, axis=-1))
        inside &= np.einsum("...k,...k", np.cross(along, away), normal) >= 0.0
    return np.where(inside, np.abs(np.einsum("...k,...k", p - a, normal)), edges)


def _few(piece: Array) -> Array:
    """At most 100 corners of the hull of a piece: those that stick out most from the hull of the others."""
    whole = _hull(piece)
    if len(piece if whole is None else whole.vertices) <= _MOST_VERTICES:
        return piece if whole is None else np.asarray(piece[whole.vertices])
    corners = piece if whole is None else piece[whole.vertices]  # too flat for a hull: its outermost points
    kept = list(dict.fromkeys(np.argmax(corners @ _directions().T, axis=0).tolist()))
    while len(kept) < _MOST_VERTICES and (hull := _hull(corners[kept])) is not None:
        out = corners @ hull.equations[:, :3].T + hull.equations[:, 3]
        worst = np.unique(np.argmax(out, axis=0))  # one beyond each face
        order = worst[np.argsort(-out[worst].max(axis=1), kind="stable")]
        fresh = [int(i) for i in order if i not in kept][: _MOST_VERTICES - len(kept)]
        if not fresh:
            break
        kept += fresh
    return np.asarray(corners[kept])


@functools.cache
def _directions() -> Array:
    """(26, 3): towards faces, edges and corners of a cube."""
    grid = np.array([(x, y, z) for x in (-1, 0, 1) for y in (-1, 0, 1) for z in (-1, 0, 1) if x or y or z], dtype=float)
    return np.asarray(grid / np.linalg.norm(grid, axis=1, keepdims=True))


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

    own = _hull(piece)
    if own is None:
        return np.zeros((0, 3))
    size, middle = float(np.ptp(piece, axis=0).max()), piece.mean(axis=0)
    radius = float(np.linalg.norm(piece - middle, axis=1).max())
    hull = hull[hull[:, :3] @ middle + hull[:, 3] > -1.001 * radius]  # others are too far away to be crossed
    if (shrunk := _shrunk(piece, hull)) is not None:
        return shrunk
    crossed = hull[(piece @ hull[:, :3].T + hull[:, 3]).max(axis=0) > _OUTSIDE * size]
    if not len(crossed):
        return piece
    planes = np.vstack([_planes(own), crossed])
    centre, room = _largest_ball(planes)
    return HalfspaceIntersection(planes, centre).intersections if room > 1e-6 * size else np.zeros((0, 3))


def _shrunk(piece: Array, hull: Array) -> Array | None:
    """A piece that leaves a hull by rounding alone, made smaller about its middle until it is inside; else None."""
    middle = piece.mean(axis=0)
    room = -(hull[:, :3] @ middle + hull[:, 3])
    reach = ((piece - middle) @ hull[:, :3].T).max(axis=0)
    scale = float(np.min(room / np.maximum(reach, np.finfo(float).tiny), initial=1.0))
    return middle + scale * (piece - middle) if scale > 1.0 - _SHRINK else None


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
