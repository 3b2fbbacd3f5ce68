"""Shapes as triangles: closed, outward, with the volume of the shape."""

from __future__ import annotations

import numpy as np
import pytest

from surefoot.geometry import Box, Capsule, Cylinder, Ellipsoid, Mesh, Plane, Sphere, SweptVolume
from surefoot.report.scene.shape_mesh import hull_triangles, shape_triangles, volume_triangles

SHAPES = [
    (Box((0.2, 0.4, 0.6)), 0.048),
    (Sphere(0.3), 4 / 3 * np.pi * 0.027),
    (Cylinder(0.2, 0.5), np.pi * 0.04 * 0.5),
    (Capsule(0.1, 0.4), np.pi * 0.01 * 0.4 + 4 / 3 * np.pi * 0.001),
    (Ellipsoid((0.1, 0.2, 0.3)), 4 / 3 * np.pi * 0.006),
]


def volume(mesh: tuple[np.ndarray, np.ndarray]) -> float:
    a, b, c = np.moveaxis(mesh[0][mesh[1]], 1, 0)
    return float(np.einsum("ij,ij->i", a, np.cross(b, c)).sum() / 6.0)


def is_closed(faces: np.ndarray) -> bool:
    """Every edge is there once in each direction."""
    edges = [tuple(e) for f in faces for e in ((f[0], f[1]), (f[1], f[2]), (f[2], f[0]))]
    return len(set(edges)) == len(edges) and all((b, a) in set(edges) for a, b in edges)


@pytest.mark.parametrize(("shape", "expected"), SHAPES, ids=[type(s).__name__ for s, _ in SHAPES])
def test_surfaces_are_closed_and_point_outward(shape, expected) -> None:
    mesh = shape_triangles(shape)
    assert is_closed(mesh[1])
    assert volume(mesh) == pytest.approx(expected, rel=0.04)


def test_planes_and_flat_points_have_no_surface() -> None:
    assert len(shape_triangles(Plane())[1]) == 0
    assert len(hull_triangles(np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0], [1, 1, 0]]))[1]) == 0
    assert len(hull_triangles(np.zeros((2, 3)))[1]) == 0


def test_points_without_faces_become_their_hull(rng) -> None:
    corners = np.array([[x, y, z] for x in (0, 1) for y in (0, 1) for z in (0, 1)], dtype=float)
    mesh = shape_triangles(Mesh(points=np.vstack([corners, rng.uniform(0.2, 0.8, (20, 3))])))
    assert len(mesh[0]) == 8
    assert volume(mesh) == pytest.approx(1.0)


def test_a_mirrored_mesh_still_points_outward(tmp_path) -> None:
    stl = tmp_path / "tetra.stl"
    p = np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]])
    rows = []
    for f in ([0, 2, 1], [0, 1, 3], [1, 2, 3], [0, 3, 2]):
        rows.append("facet normal 0 0 0\nouter loop")
        rows += [f"vertex {' '.join(map(str, p[i]))}" for i in f]
        rows.append("endloop\nendfacet")
    stl.write_text("solid t\n" + "\n".join(rows) + "\nendsolid t\n", encoding="utf-8")
    assert volume(shape_triangles(Mesh(str(stl)))) == pytest.approx(1 / 6, rel=1e-6)
    assert volume(shape_triangles(Mesh(str(stl), (1.0, -1.0, 1.0)))) == pytest.approx(1 / 6, rel=1e-6)


@pytest.mark.parametrize("count", [1, 2, 3])
def test_swept_volumes_lie_within_their_radius(rng, count) -> None:
    sweep = SweptVolume(rng.normal(size=(count, 3)), 0.3)
    vertices, faces = volume_triangles(sweep)
    nearest = np.linalg.norm(vertices[:, None] - sweep.vertices, axis=2).min(axis=1)
    np.testing.assert_allclose(nearest, 0.3, atol=1e-9)
    assert is_closed(faces)
