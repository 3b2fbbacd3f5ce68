"""Distances of hulls by another way: all faces, each by a singular value decomposition; and proofs of optimality."""

from __future__ import annotations

from itertools import combinations, product

import numpy as np


def faces(count):
    """Subsets of so many vertices that are not empty."""
    return [list(face) for size in range(1, count + 1) for face in combinations(range(count), size)]


def oracle_distance(A, B):
    """Distance (n,) of hulls A (n, k, 3) and B (n, l, 3): the least over all pairs of faces.

    On each pair of faces the nearest points of their affine hulls are found by singular values, and moved into the
    hulls: so that every value is at least the distance, and that of the right faces is the distance.
    """
    A, B = A - A[:, :1], B - A[:, :1]
    best = np.full(len(A), np.inf)
    for one, two in product(faces(A.shape[1]), faces(B.shape[1])):
        if len(one) + len(two) <= 5:  # two whole triangles: some edge serves as well
            best = np.minimum(best, _on_faces(A[:, one], B[:, two]))
    return best


def _on_faces(A, B):
    offset = A[:, 0] - B[:, 0]
    along_a, along_b = A[:, 1:] - A[:, :1], B[:, 1:] - B[:, :1]
    columns = np.concatenate([-along_a, along_b], axis=1).transpose(0, 2, 1)
    weights = _least_squares(columns, offset) if columns.shape[2] else np.zeros((len(A), 0))
    split = along_a.shape[1]
    s, t = (_into_hull(x) for x in (weights[:, :split], weights[:, split:]))
    gap = offset + np.einsum("ni,nij->nj", s, along_a) - np.einsum("ni,nij->nj", t, along_b)
    return np.linalg.norm(gap, axis=1)


def _least_squares(columns, right):
    """The shortest x (n, m) for which columns (n, 3, m) x is nearest to `right` (n, 3), once refined."""
    U, sizes, V = np.linalg.svd(columns, full_matrices=False)
    good = sizes > 1e-16 * sizes.max(axis=1, keepdims=True)
    x = np.zeros(V.shape[::2])
    for _ in range(2):
        rest = right - np.einsum("nij,nj->ni", columns, x)
        along = np.einsum("nij,ni->nj", U, rest)
        x = x + np.einsum("nij,ni->nj", V, np.where(good, along / np.where(good, sizes, 1.0), 0.0))
    return x


def _into_hull(weights):
    """Not negative, with a sum of at most 1."""
    weights = np.maximum(weights, 0.0)
    return weights / np.maximum(weights.sum(axis=1, keepdims=True), 1.0)


def lower_bound(A, B, point_a, point_b):
    """What the distance (n,) is at least: the width of the slab between the hulls across the line of the points."""
    gap = point_a - point_b
    direction = gap / np.linalg.norm(gap, axis=1, keepdims=True)
    origin = point_b[:, None]
    heights_a = np.einsum("nij,nj->ni", A - origin, direction)
    heights_b = np.einsum("nij,nj->ni", B - origin, direction)
    return heights_a.min(axis=1) - heights_b.max(axis=1)


def hull_points(rng, vertices):
    """A random point (n, 3) of every hull (n, k, 3)."""
    weights = rng.dirichlet(np.ones(vertices.shape[1]), len(vertices))
    return np.einsum("ni,nij->nj", weights, vertices)
