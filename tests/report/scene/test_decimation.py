"""Fewer triangles: within the budget, near the surface, small parts kept."""

from __future__ import annotations

import numpy as np
import pytest

from surefoot.geometry import Sphere
from surefoot.report.scene.shape_mesh import ball_points, decimated, hull_triangles, shape_triangles, shares, welded


def volume(mesh: tuple[np.ndarray, np.ndarray]) -> float:
    a, b, c = np.moveaxis(mesh[0][mesh[1]], 1, 0)
    return float(np.einsum("ij,ij->i", a, np.cross(b, c)).sum() / 6.0)


def test_a_ball_keeps_its_shape() -> None:
    fine = hull_triangles(ball_points(120))
    few = decimated(fine, 600)
    assert len(fine[1]) > 6000
    assert len(few[1]) <= 3 * 600
    assert np.abs(np.linalg.norm(few[0], axis=1) - 1.0).max() < 0.02
    assert volume(few) == pytest.approx(volume(fine), rel=0.02)


def test_a_small_mesh_is_left_alone() -> None:
    mesh = shape_triangles(Sphere(1.0))
    assert decimated(mesh, 10_000) is mesh


def test_loose_triangles_are_joined_before_they_collapse() -> None:
    """A file with three vertices for each triangle (STL) is the same surface."""
    vertices, faces = hull_triangles(ball_points(60))
    loose = vertices[faces].reshape(-1, 3), np.arange(3 * len(faces)).reshape(-1, 3)
    joined = welded(loose)
    assert len(joined[0]) == len(vertices)
    assert volume(joined) == pytest.approx(volume((vertices, faces)), rel=1e-9)
    assert len(decimated(loose, 300)[1]) <= 3 * 300


def test_shares_add_up_and_small_parts_stay(rng: np.random.Generator) -> None:
    sizes = [1.0, 0.5, 0.02]
    meshes = [(s * vertices, faces) for s in sizes for vertices, faces in [hull_triangles(ball_points(100))]]
    found = shares(meshes, 3000)
    assert sum(found) <= 3000
    assert found[0] > found[1] > found[2] >= 160
    assert shares(meshes, 10**6) == [len(faces) for _, faces in meshes]
