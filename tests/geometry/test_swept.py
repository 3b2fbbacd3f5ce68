"""Volumes move with placements, and nothing else can be made of them."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from surefoot.errors import ShapeError
from surefoot.geometry import SweptVolume
from surefoot.spatial import se3


@pytest.mark.parametrize(("count", "kind"), [(1, "point"), (2, "line"), (3, "triangle")])
def test_placed_volumes_keep_their_kind_size_and_radius(count, kind, rng):
    volume, T = SweptVolume(rng.standard_normal((count, 3)), 0.1), se3.random(rng)
    moved = volume.placed(T)
    assert (moved.kind, moved.radius) == (kind, 0.1)
    assert_allclose(moved.placed(se3.inverse(T)).vertices, volume.vertices, atol=1e-12)
    assert_allclose(moved.vertices[0], se3.transform_point(T, volume.vertices[0]), atol=1e-12)


@pytest.mark.parametrize(
    "T",
    [np.eye(3), np.full((4, 4), np.nan), np.diag([2.0, 2, 2, 1]), np.diag([1.0, 1, -1, 1]), np.diag([1.0, 1, 1, 2])],
    ids=["too small", "no numbers", "larger", "mirrored", "last row"],
)
def test_what_is_no_placement_is_refused(T):
    with pytest.raises(ShapeError, match="placement"):
        SweptVolume(np.zeros((1, 3)), 0.1).placed(T)


@pytest.mark.parametrize(
    ("vertices", "radius"),
    [(np.zeros((4, 3)), 0.1), (np.zeros((0, 3)), 0.1), (np.zeros(3), 0.1), ([[np.nan, 0, 0]], 0.1),
     (np.zeros((1, 3)), -0.1), (np.zeros((1, 3)), np.inf)],
)  # fmt: skip
def test_wrong_volumes_are_refused(vertices, radius):
    with pytest.raises(ShapeError):
        SweptVolume(vertices, radius)
