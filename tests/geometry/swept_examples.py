"""Random hulls of one, two or three vertices, many of them degenerate."""

from __future__ import annotations

import numpy as np

from tests.geometry.swept_oracle import hull_points

PAIRS = [
    ("point", "point"),
    ("point", "line"),
    ("line", "line"),
    ("point", "triangle"),
    ("line", "triangle"),
    ("triangle", "triangle"),
]
COUNT = {"point": 1, "line": 2, "triangle": 3}


def random_pairs(rng, k, m, n):
    """Hulls A (n, k, 3) and B (n, m, 3) of 1 mm to 10 m; all but a quarter are degenerate or meet, or nearly so."""
    A, B = _random(rng, k, n), _random(rng, m, n)
    B += (rng.uniform(0.0, 3.0, n) * (_size(A) + _size(B)))[:, None, None] * _unit(rng, n)[:, None]
    kinds = [lambda A, B: None, *(lambda A, B, make=make: make(rng, A, B) for make in _MAKERS)]
    which = rng.permutation(np.arange(n) % (4 * len(_MAKERS) // 3))
    for kind, make in enumerate(kinds):
        rows = np.flatnonzero(which == kind)
        a, b = A[rows], B[rows]
        make(a, b)
        A[rows], B[rows] = a, b
    far = np.where(rng.random(n) < 0.3, 10.0 ** rng.uniform(-1.0, 3.0, n), 0.0)[:, None, None] * _unit(rng, n)[:, None]
    return A + far, B + far


def random_turns(rng, n):
    """Rotations (n, 3, 3)."""
    q, r = np.linalg.qr(rng.standard_normal((n, 3, 3)))
    q *= np.sign(np.diagonal(r, axis1=1, axis2=2))[:, None]
    return q * np.linalg.det(q)[:, None, None]


def _random(rng, k, n):
    sizes = 10.0 ** rng.uniform(-3.0, 1.0, n)
    return sizes[:, None, None] * rng.uniform(-0.5, 0.5, (n, k, 3))


def _unit(rng, n):
    x = rng.standard_normal((n, 3))
    return x / np.linalg.norm(x, axis=1, keepdims=True)


def _size(A):
    return np.ptp(A, axis=1).max(axis=1)


def _slightly(rng, like):
    """Noise of 0 or 1e-17 to 1e-4 of the size."""
    n = len(like)
    share = np.where(rng.random(n) < 0.4, 0.0, 10.0 ** rng.uniform(-17.0, -4.0, n))
    return (share * _size(like))[:, None] * rng.uniform(-1.0, 1.0, (n, 3))


def _parallel(rng, A, B):
    if A.shape[1] > 1 and B.shape[1] > 1:
        scale = rng.uniform(-2.0, 2.0, len(A))[:, None]
        B[:, -1] = B[:, 0] + scale * (A[:, -1] - A[:, 0]) + _slightly(rng, A)


def _collinear(rng, A, B):
    """All vertices on one line."""
    base, along = A[:, 0].copy(), _unit(rng, len(A)) * _size(np.concatenate([A, B], axis=1))[:, None]
    for X in (A, B):
        for vertex in range(X.shape[1]):
            X[:, vertex] = base + rng.uniform(-1.0, 1.0, len(A))[:, None] * along + _slightly(rng, X)


def _needles(rng, A, B):
    for X in (A, B):
        if X.shape[1] == 3:
            X[:, 1] = X[:, 0] + rng.uniform(-1.0, 2.0, len(X))[:, None] * (X[:, 2] - X[:, 0]) + _slightly(rng, X)
            X[:] = X[:, rng.permutation(3)]


def _meeting_needles(rng, A, B):
    _needles(rng, A, B)
    _meeting(rng, A, B)


def _short(rng, A, B):
    """Vertices that coincide."""
    for X in (A, B):
        one, two = rng.integers(0, X.shape[1], 2)
        X[:, one] = X[:, two] + _slightly(rng, X)


def _points(rng, A, B):
    """All vertices of one hull in one place."""
    A[:] = A[:, :1]


def _meeting(rng, A, B):
    B += (hull_points(rng, A) - hull_points(rng, B) + _slightly(rng, A))[:, None]


def _sharing_vertex(rng, A, B):
    B += (A[:, -1] - B[:, 0] + _slightly(rng, A))[:, None]


def _coplanar(rng, A, B):
    normal, base = _unit(rng, len(A)), A[:, 0].copy()
    B += (base - B[:, 0])[:, None] * rng.uniform(0.0, 1.0, len(A))[:, None, None]
    for X in (A, B):
        for vertex in range(X.shape[1]):
            height = np.einsum("nj,nj->n", X[:, vertex] - base, normal)
            X[:, vertex] -= height[:, None] * normal + _slightly(rng, X)


def _on_grid(rng, A, B):
    """Few whole numbers: exactly parallel, collinear, coplanar and touching ones."""
    for X in (A, B):
        X[:] = rng.integers(0, 3, X.shape)


def _along(rng, A, B):
    """One inside the other's longest direction, and both slightly off."""
    _meeting(rng, A, B)
    _parallel(rng, A, B)


_MAKERS = [
    _parallel, _collinear, _needles, _meeting_needles, _short, _points, _meeting, _sharing_vertex, _coplanar, _on_grid,
    _along,
]  # fmt: skip
