"""Balls and capsules are their own volumes; other shapes are contained, and their excess is bounded."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from surefoot.errors import MissingMeshError, NotSupportedError, ShapeError
from surefoot.geometry import Box, Capsule, Cylinder, Ellipsoid, Mesh, Plane, Sphere
from surefoot.geometry.fit import fit_shapes
from surefoot.spatial import se3
from tests.geometry.fit.test_fit_excess import points_of
from tests.geometry.fit.test_fit_swept import sticking_out
from tests.geometry.mesh_examples import slotted_block

EYE = np.eye(4)
SOLIDS = [
    Box((0.3, 0.2, 0.1)),
    Box((0.1, 0.1, 0.1)),
    Cylinder(0.03, 0.2),
    Cylinder(0.1, 0.02),
    Ellipsoid((0.1, 0.05, 0.03)),
]


def inside_points(shape, count, rng):
    """Points of a shape, many on its boundary, and a function that gives a lower bound of the distance from it."""
    ball = rng.standard_normal((count, 3))
    ball /= np.linalg.norm(ball, axis=1)[:, None]
    match shape:
        case Box(size):
            half = 0.5 * np.array(size)
            return np.clip(rng.uniform(-1.5, 1.5, (count, 3)), -1, 1) * half, lambda p: np.linalg.norm(
                np.maximum(np.abs(p) - half, 0.0), axis=1
            )
        case Cylinder(radius, length):
            ring = ball[:, :2] / np.linalg.norm(ball[:, :2], axis=1)[:, None]
            z = np.clip(rng.uniform(-1.5, 1.5, count), -1, 1) * 0.5 * length

            def beyond(p):
                side = np.maximum(np.linalg.norm(p[:, :2], axis=1) - radius, 0.0)
                return np.hypot(side, np.maximum(np.abs(p[:, 2]) - 0.5 * length, 0.0))

            return np.column_stack([radius * ring, z]), beyond
        case Ellipsoid(radii):
            r = np.array(radii)
            # outside, the distance is at least that along the gradient of the form, which is convex
            return ball * r, lambda p: np.maximum(np.linalg.norm(p / r, axis=1) - 1.0, 0.0) * r.min()


def test_a_ball_is_a_point_and_a_capsule_is_a_line(rng):
    T = se3.random(rng)
    fit = fit_shapes([(Sphere(0.1), T)])
    assert fit.volumes[0].kind == "point"
    assert fit.volumes[0].radius == 0.1
    assert_allclose(fit.volumes[0].vertices[0], T[:3, 3])
    assert (fit.outside, fit.excess) == (0.0, 0.0)
    fit = fit_shapes([(Capsule(0.03, 0.4), T)])
    assert fit.volumes[0].radius == 0.03
    assert_allclose(fit.volumes[0].vertices, [T[:3, 3] + 0.2 * T[:3, 2], T[:3, 3] - 0.2 * T[:3, 2]])
    assert (fit.outside, fit.excess) == (0.0, 0.0)


@pytest.mark.parametrize("shape", SOLIDS, ids=str)
def test_solids_are_contained_and_the_excess_is_true(shape, rng):
    T = se3.random(rng)
    fit = fit_shapes([(shape, T)])
    points, beyond = inside_points(shape, 20_000, rng)
    assert fit.outside == 0.0
    assert sticking_out(fit, points @ T[:3, :3].T + T[:3, 3]) <= 0.0
    volume_points = np.vstack([points_of(volume, 20_000, rng) for volume in fit.volumes])
    sampled = beyond((volume_points - T[:3, 3]) @ T[:3, :3]).max()
    assert sampled <= fit.excess + 1e-12
    if not isinstance(shape, Ellipsoid):  # there the oracle is only a lower bound
        assert fit.excess <= 1.1 * sampled + 1e-3


def test_a_flat_box_is_two_triangles_without_excess():
    fit = fit_shapes([(Box((0.3, 0.2, 0.0)), EYE)])
    assert [v.kind for v in fit.volumes] == ["triangle", "triangle"]
    assert fit.excess < 1e-6


@pytest.mark.slow
def test_far_shapes_keep_volumes_of_their_own_and_too_many_are_put_together(rng):
    places = [se3.make(np.eye(3), [x, 0.0, 0.0]) for x in (0.0, 1.0, 5.0, 6.0)]
    balls = [(Sphere(0.1), T) for T in places]
    four = fit_shapes(balls, most=4)
    assert sorted(v.vertices[0, 0] for v in four.volumes) == [0.0, 1.0, 5.0, 6.0]
    assert four.excess == 0.0
    two = fit_shapes(balls, most=2)
    assert [v.kind for v in two.volumes] == ["line", "line"]
    surface = np.vstack([points_of(volume, 3000, rng) for volume in four.volumes])
    assert sticking_out(two, surface) <= 1e-12
    assert 0.35 <= two.excess <= 0.5  # the middle between two balls is 0.4 m from both


def test_shapes_inside_others_cost_no_volume():
    fit = fit_shapes([(Capsule(0.1, 0.5), EYE), (Sphere(0.05), EYE), (Box((0.05, 0.05, 0.3)), EYE)])
    assert [v.kind for v in fit.volumes] == ["line"]
    assert fit.volumes[0].radius == pytest.approx(0.1, rel=0.02)


def test_meshes_with_and_without_triangles(rng):
    points, faces = slotted_block()
    T = se3.random(rng)
    closed, hull = (fit_shapes([(Mesh(points=points, faces=f), T)]) for f in (faces, None))
    for fit in (closed, hull):
        assert sticking_out(fit, points @ T[:3, :3].T + T[:3, 3]) <= 0.0
    between = np.array([[0.0, 0.0, 0.9]]) @ T[:3, :3].T + T[:3, 3]
    assert sticking_out(hull, between) <= 0.0


def test_what_cannot_be_contained_is_told():
    with pytest.raises(NotSupportedError, match="no end"):
        fit_shapes([(Plane(), EYE)])
    with pytest.raises(ShapeError, match="no shape"):
        fit_shapes([])
    with pytest.raises(ShapeError, match="not negative"):
        fit_shapes([(Sphere(-1.0), EYE)])
    with pytest.raises(ShapeError, match="not negative"):
        fit_shapes([(Box((1.0, np.nan, 1.0)), EYE)])
    with pytest.raises(ShapeError, match="placement"):
        fit_shapes([(Sphere(1.0), np.eye(3))])
    with pytest.raises(ShapeError, match="placement"):
        fit_shapes([(Sphere(1.0), np.diag([2.0, 2.0, 2.0, 1.0]))])
    with pytest.raises(MissingMeshError):
        fit_shapes([(Mesh("/nowhere/mesh.stl"), EYE)])
