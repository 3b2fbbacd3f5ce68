"""Triangles of hulls of every dimension."""

from __future__ import annotations

import numpy as np
import pytest

from surefoot.geometry.fit.excess import hull_planes, hull_triangles


def area(points: np.ndarray, triangles: np.ndarray) -> float:
    a, b, c = (points[triangles[:, k]] for k in range(3))
    return float(np.linalg.norm(np.cross(b - a, c - a), axis=1).sum() / 2.0)


def test_solid_flat_straight_and_single(rng):
    cube = np.array(np.meshgrid([0, 1], [0, 1], [0, 1])).reshape(3, -1).T.astype(float)
    assert area(cube, hull_triangles(cube)) == pytest.approx(6.0)
    turned = np.linalg.qr(rng.standard_normal((3, 3)))[0]
    square = np.vstack([cube[cube[:, 2] == 0], [[0.5, 0.5, 0.0], [0.5, 0.0, 0.0]]]) @ turned + [5.0, 6.0, 7.0]
    assert area(square, hull_triangles(square)) == pytest.approx(1.0)
    line = np.outer([0.2, 1.0, 0.0, 0.6], [1.0, 2.0, 3.0])
    assert set(hull_triangles(line)[0].tolist()) == {1, 2}
    assert hull_triangles(np.ones((1, 3))).tolist() == [[0, 0, 0]]
    assert len(hull_planes(cube)) == 12
    for flat in (square, line, np.ones((1, 3))):
        assert len(hull_planes(flat)) == 0
