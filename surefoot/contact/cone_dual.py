"""Faces of a polyhedral cone from its spans, and spans from faces."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.linalg import null_space, orth
from scipy.spatial import ConvexHull

from surefoot.arrays import Array
from surefoot.errors import ShapeError

_FLAT = 1e-9  # relative: below this a direction is missing, a point lies on a face


def faces_of_spans(spans: ArrayLike) -> Array:
    """(m, d): rows with rows @ x ≥ 0 for exactly the x = spans @ λ, λ ≥ 0.

    [contact.face-span]   What Nenchev & Konno 2019, §3.3.2, take from a library of double description: lines that the
    cone contains are split off, the rest is cut by a plane, and the facets of that section are found by Quickhull
    (Barber et al. 1996). Every facet is then fitted anew to the spans that lie on it. Where the spans leave directions
    out, a face and its opposite say so. Columns may have any scale, and rows of the space too (forces and moments).

    Args:
        spans: (d, k), k ≥ 1.

    Raises:
        ShapeError: Values are not finite, or there are none.
    """
    S = np.asarray(spans, dtype=float)
    if S.ndim != 2 or not np.isfinite(S).all() or not S.any():
        raise ShapeError("a cone needs spans (d, k) that are finite and not all zero", evidence={"shape": S.shape})
    return _faces(S.tobytes(), len(S)).copy()


@lru_cache(maxsize=64)
def _faces(content: bytes, rows: int) -> Array:
    """`faces_of_spans` of the bytes of an array; the feet of a robot are often alike."""
    S = np.frombuffer(content).reshape(rows, -1)
    scale = np.abs(S).max(axis=1)
    scale[scale == 0.0] = 1.0
    unit = S / scale[:, None]
    unit = unit[:, np.abs(unit).max(axis=0) > 0.0]
    unit = unit / np.linalg.norm(unit, axis=0)
    missing = null_space(unit.T, rcond=_FLAT).T
    basis = orth(unit, rcond=_FLAT)
    inner = _facets(basis.T @ unit) @ basis.T
    rows = np.vstack([inner, missing, -missing]) / scale
    return rows / np.maximum(np.abs(rows).max(axis=1, keepdims=True), np.finfo(float).tiny)


def spans_of_faces(faces: ArrayLike) -> Array:
    """(d, k): spans of the cone of all x with faces @ x ≥ 0; a line is a span and its opposite.

    The faces of the cone that the rows of `faces` span (its dual) are the spans of the cone itself.

    Args:
        faces: (m, d), m ≥ 1.
    """
    return faces_of_spans(np.asarray(faces, dtype=float).T).T


def _facets(unit: Array) -> Array:
    """(m, d) inner normals of the facets of a cone with unit spans (d, k) of full rank."""
    d = len(unit)
    upright = _upright(unit)
    lines = unit[:, upright @ unit < 0.5]
    if not lines.size:
        return _facets_of_pointed(unit, upright)
    across = null_space(orth(lines, rcond=_FLAT).T, rcond=_FLAT)  # what the lines leave
    if not across.size:
        return np.zeros((0, d))
    rest = across.T @ unit
    rest = rest[:, np.linalg.norm(rest, axis=0) > _FLAT]
    rest = rest / np.linalg.norm(rest, axis=0)
    return np.asarray(_facets_of_pointed(rest, across.T @ upright) @ across.T)


def _upright(unit: Array) -> Array:
    """A direction with a positive product with as many spans as there is one for; 0 with those that form lines.

    max Σ t_i  with  w · s_i ≥ t_i, 0 ≤ t_i ≤ 1.  Spans inside lines have w · s = 0 for every w of the dual cone, the
    others reach t = 1 by a long enough w.
    """
    from scipy.optimize import linprog  # slow to import, and seldom needed

    d, k = unit.shape
    cost = np.r_[np.zeros(d), -np.ones(k)]
    above = np.hstack([-unit.T, np.eye(k)])
    found = linprog(cost, above, np.zeros(k), bounds=[(None, None)] * d + [(0.0, 1.0)] * k)
    if not found.success:
        raise ShapeError("no section of the cone was found", evidence={"reason": found.message})
    return np.asarray(found.x[:d])


def _facets_of_pointed(unit: Array, upright: Array) -> Array:
    """(m, d) inner normals of a cone without lines: the facets of its section upright · x = 1."""
    d = len(unit)
    if d == 1:
        return np.sign(unit[:, :1]).T
    points = unit / (upright @ unit)
    middle = points.mean(axis=1, keepdims=True)
    plane = null_space(upright[None])
    flat = plane.T @ (points - middle)
    u, s, _ = np.linalg.svd(flat, full_matrices=False)
    flat = np.linalg.lstsq(np.asarray(u * s), flat, rcond=None)[0]  # as wide one way as the other
    touching = _touching(flat)
    normals = [null_space(unit[:, on].T, rcond=1e-7) for on in touching]
    rows = np.array([normal[:, 0] for normal in normals if normal.shape[1] == 1])
    rows = rows * np.sign(rows @ middle)
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def _touching(points: Array) -> NDArray[np.bool_]:
    """(m, k): for each facet of the hull of points (d, k) around the origin the points that lie on it."""
    if len(points) == 1:
        ends = points[0]
        return np.array([ends == ends.min(), ends == ends.max()])
    hull = ConvexHull(points.T)
    away = hull.equations[:, :-1] @ points + hull.equations[:, -1:]
    size = float(np.abs(points).max())
    return np.unique(np.abs(away) <= _FLAT * 100.0 * size, axis=0)
