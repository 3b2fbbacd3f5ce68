"""Support functions of shapes, by themselves and through a portal refinement that knows nothing else of the shapes."""

from __future__ import annotations

import coal
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from surefoot.collision.exact import _coal_shape
from surefoot.errors import ShapeError
from surefoot.geometry import (
    Box,
    Capsule,
    Cylinder,
    Ellipsoid,
    Mesh,
    Plane,
    Sphere,
    contains,
    farthest_points,
    surface_points,
)

SHAPES = [
    Sphere(0.3),
    Box((0.2, 0.4, 0.6)),
    Cylinder(0.2, 0.5),
    Capsule(0.1, 0.4),
    Ellipsoid((0.1, 0.2, 0.3)),
    Mesh(points=np.array([[0.3, 0, 0], [0, 0.3, 0], [0, 0, 0.3], [-0.2, -0.2, -0.2]]), faces=np.array([[0, 1, 2]])),
]
NAMES = [type(shape).__name__ for shape in SHAPES]


@pytest.mark.parametrize("shape", SHAPES, ids=NAMES)
def test_no_point_of_the_surface_lies_farther(shape, rng):
    directions = rng.standard_normal((200, 3))
    found = farthest_points(shape, directions)
    reach, others = np.sum(found * directions, axis=1), (surface_points(shape, 64) @ directions.T).max(axis=0)
    assert (reach >= others - 1e-12).all()
    assert_allclose(reach, others, rtol=0.01)  # of round shapes the surface's points are some of them all
    if not isinstance(shape, Mesh):
        assert contains(shape, found * (1.0 - 1e-12)).all()


def test_of_a_whole_edge_or_face_it_is_the_middle():
    axes = np.eye(3)
    assert_array_equal(farthest_points(Cylinder(0.2, 0.5), axes), [[0.2, 0, 0], [0, 0.2, 0], [0, 0, 0.25]])
    assert_array_equal(farthest_points(Box((0.2, 0.4, 0.6)), axes), np.diag([0.1, 0.2, 0.3]))
    assert_allclose(farthest_points(Capsule(0.1, 0.4), axes), [[0.1, 0, 0], [0, 0.1, 0], [0, 0, 0.3]])
    assert_array_equal(farthest_points(Sphere(0.3), np.zeros((1, 3))), [[0, 0, 0]])


def test_planes_have_none():
    with pytest.raises(ShapeError, match="plane"):
        farthest_points(Plane(), np.eye(3))


def overlap(a, Ta, b, Tb) -> bool:
    """Minkowski portal refinement: G. Snethen, "XenoCollide: complex collision made simple", 2008."""

    def farthest(d):
        on_a = Ta[:3, :3] @ farthest_points(a, (Ta[:3, :3].T @ d)[None])[0] + Ta[:3, 3]
        on_b = Tb[:3, :3] @ farthest_points(b, -(Tb[:3, :3].T @ d)[None])[0] + Tb[:3, 3]
        return on_a - on_b

    inner = Ta[:3, 3] - Tb[:3, 3]
    inner = inner if np.linalg.norm(inner) > 0.0 else np.array([1e-9, 0.0, 0.0])
    first = farthest(-inner)
    if first @ -inner <= 0.0:
        return False
    normal = np.cross(inner, first)
    if np.linalg.norm(normal) < 1e-14:
        return True  # the origin lies between the inner point and the farthest one
    second = farthest(normal)
    if second @ normal <= 0.0:
        return False
    normal = np.cross(first - inner, second - inner)
    if normal @ inner > 0.0:
        first, second, normal = second, first, -normal
    for _ in range(100):  # find a portal: a triangle that the ray from the inner point to the origin passes
        third = farthest(normal)
        if third @ normal <= 0.0:
            return False
        if np.cross(first, third) @ inner < 0.0:
            second = third
        elif np.cross(third, second) @ inner < 0.0:
            first = third
        else:
            break
        normal = np.cross(first - inner, second - inner)
    for _ in range(100):  # refine it until it is the surface
        normal = np.cross(second - first, third - first)
        normal /= np.linalg.norm(normal)
        if normal @ first >= 0.0:
            return True
        fourth = farthest(normal)
        if fourth @ normal < 0.0 or (fourth - third) @ normal < 1e-9:
            return False
        side = np.cross(fourth, inner)
        if first @ side > 0.0:
            first, third = (fourth, third) if second @ side > 0.0 else (first, fourth)
        else:
            first, second = (first, fourth) if third @ side > 0.0 else (fourth, second)
    raise AssertionError("no end")


@pytest.mark.parametrize("b", SHAPES, ids=NAMES)
@pytest.mark.parametrize("a", SHAPES, ids=NAMES)
def test_portal_refinement_finds_the_overlaps_that_coal_finds(a, b, rng):
    """Turned at random, and square to each other, where farthest points are middles of edges and faces."""
    seen = set()
    for k in range(60):
        Ta, Tb = np.eye(4), np.eye(4)
        if k % 2:
            Ta[:3, :3], Tb[:3, :3] = (np.linalg.qr(rng.standard_normal((3, 3)))[0] for _ in range(2))
            Ta[:3, :3] *= np.linalg.det(Ta[:3, :3])
            Tb[:3, :3] *= np.linalg.det(Tb[:3, :3])
        Tb[:3, 3] = rng.uniform(-0.6, 0.6, 3) * (rng.integers(0, 2, 3) if k % 4 == 0 else 1.0)
        request = coal.DistanceRequest()
        poses = [coal.Transform3s(T[:3, :3], T[:3, 3]) for T in (Ta, Tb)]
        shapes = [_coal_shape(shape, hulls=True) for shape in (a, b)]
        gap = coal.distance(shapes[0], poses[0], shapes[1], poses[1], request, coal.DistanceResult())
        if abs(gap) > 1e-4:
            assert overlap(a, Ta, b, Tb) == (gap < 0.0)
            seen.add(gap < 0.0)
    assert len(seen) == 2
