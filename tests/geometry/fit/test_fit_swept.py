"""Volumes contain every point of every triangle, whatever the mesh; the same mesh gives the same volumes."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial import ConvexHull

from surefoot.errors import ShapeError
from surefoot.geometry import SweptFit, fit_swept
from surefoot.geometry.fit.cost import Found, Whole, support_points
from surefoot.geometry.fit.cut import Piece, best_cut, best_found
from surefoot.geometry.fit.nearest import nearest_weights, union_volume, volume_of
from surefoot.geometry.fit.swept import polished
from tests.geometry.mesh_examples import slotted_block


def sticking_out(fit: SweptFit, points: np.ndarray) -> float:
    """How far the worst of some points is outside of the union."""
    reach = [
        np.linalg.norm(points - nearest_weights(v.vertices, points) @ v.vertices, axis=1) - v.radius
        for v in fit.volumes
    ]
    return float(np.min(reach, axis=0).max())


def on_triangles(points: np.ndarray, triangles: np.ndarray, count: int, rng: np.random.Generator) -> np.ndarray:
    chosen = points[triangles[rng.integers(0, len(triangles), count)]]
    return np.einsum("nk,nkd->nd", rng.dirichlet(np.full(3, 0.7), count), chosen)


@cache
def block_fit(most: int) -> SweptFit:
    """The fit of the slotted block, made once."""
    return fit_swept(*slotted_block(), most=most)


def volume_of_fit(fit: SweptFit) -> float:
    return union_volume([(v.vertices, v.radius) for v in fit.volumes])


@pytest.mark.parametrize("most", [1, 2, 3, 5])
def test_every_point_of_every_triangle_is_inside(most, rng):
    points, faces = slotted_block()
    fit = block_fit(most)
    assert 1 <= len(fit.volumes) <= most
    assert fit.outside == 0.0
    assert sticking_out(fit, on_triangles(points, faces, 20_000, rng)) <= 0.0


def test_what_the_mesh_encloses_is_inside(rng):
    fit = block_fit(3)
    x, _, z = inner = rng.uniform([-0.5, -0.25, 0.0], [0.5, 0.25, 1.0], (20_000, 3)).T
    solid = (np.abs(x) >= 0.2) | (z <= 0.2)
    assert sticking_out(fit, inner.T[solid]) <= 0.0


def test_more_volumes_are_tighter_and_leave_the_slot_free():
    one, three = block_fit(1), block_fit(3)
    assert len(three.volumes) == 3
    assert volume_of_fit(three) < 0.8 * volume_of_fit(one)
    assert three.excess < one.excess


def test_the_same_mesh_gives_the_same_volumes():
    points, faces = slotted_block()
    first, second = block_fit(3), fit_swept(points, faces)
    assert len(first.volumes) == len(second.volumes)
    for a, b in zip(first.volumes, second.volumes, strict=True):
        assert_array_equal(a.vertices, b.vertices)
        assert a.radius == b.radius
    assert first.excess == second.excess


def test_moving_and_scaling_a_mesh_moves_and_scales_the_bounds():
    points, faces = slotted_block()
    fit, moved = block_fit(1), fit_swept(0.01 * points + [3.0, -2.0, 1.0], faces, most=1)
    assert moved.volumes[0].radius == pytest.approx(0.01 * fit.volumes[0].radius, rel=0.02)
    assert moved.excess == pytest.approx(0.01 * fit.excess, rel=0.08)


@pytest.mark.parametrize(
    ("points", "kind"),
    [
        ([[1.0, 2, 3]], "point"),
        ([[1.0, 2, 3]] * 5, "point"),
        ([[0.0, 0, 0], [1, 0, 0]], "line"),
        ([[0.0, 0, 0], [1, 0, 0], [0.4, 0, 0], [0.7, 0, 0]], "line"),
        ([[0.0, 0, 0], [1, 0, 0], [0.3, 0.8, 0.2]], "triangle"),
        ([[0.0, 0, 0], [1, 0, 0], [0.3, 0.8, 0.2], [0.4, 0.2, 0.05]], "triangle"),
    ],
)
def test_points_lines_and_triangles_are_their_own_volumes(points, kind):
    p = np.array(points)
    for triangles in (None, [[0, len(p) // 2, len(p) - 1]]) if len(p) < 4 else (None,):
        fit = fit_swept(p, triangles)
        assert [v.kind for v in fit.volumes] == [kind]
        assert fit.volumes[0].radius < 1e-6
        assert fit.outside == 0.0
        assert fit.excess < 0.01


def test_a_flat_square_is_two_triangles():
    square = np.array([[0.0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]])
    fit = fit_swept(square, [[0, 1, 2], [0, 2, 3]])
    assert [v.kind for v in fit.volumes] == ["triangle", "triangle"]
    assert max(v.radius for v in fit.volumes) < 1e-6


def test_clouds_are_contained_point_by_point(rng):
    cloud = np.vstack(
        [rng.standard_normal((300, 3)) * [0.1, 0.1, 1.0], rng.standard_normal((300, 3)) * 0.1 + [3, 0, 0]]
    )
    fit = fit_swept(cloud, most=2)
    assert sticking_out(fit, cloud) <= 0.0
    assert len(fit.volumes) == 2
    assert volume_of_fit(fit) < 0.5 * volume_of_fit(fit_swept(cloud, most=1))


def test_thousands_of_points_and_no_generator_is_better_by_chance(rng):
    """A bent rod with 8000 points: containment, and random changes of the vertices do not lower the volume."""
    t = np.linspace(-1.0, 1.0, 8000)
    turn = rng.uniform(0.0, 2.0 * np.pi, len(t))
    rod = np.column_stack([t, 0.05 * np.cos(turn), 0.3 * t**2 + 0.05 * np.sin(turn)])
    fit = fit_swept(rod, most=1)
    (volume,) = fit.volumes
    assert sticking_out(fit, rod) <= 0.0
    whole = Whole.of(rod)
    own = whole.cost([Found(volume.vertices, volume.radius)])
    for size in (1e-3, 1e-2, 0.1):
        for _ in range(60):
            g = volume.vertices + size * rng.standard_normal(volume.vertices.shape)
            radius = float(np.linalg.norm(rod - nearest_weights(g, rod) @ g, axis=1).max())
            assert whole.cost([Found(g, radius)]) > own - 1e-4


def test_search_finds_the_capsule_of_a_cylinder():
    """The best line lies on the axis; its length minimises the cost, which is a function of one number."""
    turn = np.linspace(0.0, 2.0 * np.pi, 128, endpoint=False)
    ring = np.column_stack([np.cos(turn), np.sin(turn), np.ones(128)])
    points = np.vstack([ring * [0.2, 0.2, 0.5], ring * [0.2, 0.2, -0.5]])
    whole = Whole.of(points)

    def on_axis(half: float) -> Found:
        return Found(np.array([[0.0, 0, -half], [0, 0, half]]), float(np.hypot(0.2, 0.5 - half)))

    best = min(whole.cost([on_axis(half)]) for half in np.linspace(0.1, 0.5, 401))
    (found,) = best_found(support_points(points, 64)[None], whole, gain=0.1)
    exact = polished(found, points, whole)
    assert len(exact.generator) == 2
    assert whole.cost([exact]) <= best + 2e-3
    assert np.abs(exact.generator[:, :2]).max() < 0.01


def test_a_cut_keeps_every_part_of_the_surface(rng):
    points, faces = slotted_block()
    piece = Piece(points, faces)
    cut = best_cut(piece, Whole.of(points), gain=0.1)
    assert cut is not None

    def area(part: Piece) -> float:
        a, b, c = (part.points[part.triangles[:, k]] for k in range(3))
        return float(np.linalg.norm(np.cross(b - a, c - a), axis=1).sum() / 2.0)

    assert sum(map(area, cut.pieces)) == pytest.approx(area(piece), rel=1e-12)
    hulls = [ConvexHull(part.points).equations for part in cut.pieces]
    p = on_triangles(points, faces, 5000, rng)
    heights = [(p @ hull[:, :3].T + hull[:, 3]).max(axis=1) for hull in hulls]
    assert np.min(heights, axis=0).max() < 1e-12


def test_a_volume_of_least_volume_is_no_larger_than_that_of_the_box(rng):
    points = rng.standard_normal((500, 3)) * [1.0, 0.4, 0.2]
    fit = fit_swept(points, most=1)
    middle, half = 0.5 * (points.max(axis=0) + points.min(axis=0)), 0.5 * np.ptp(points, axis=0)
    along = max(half[0] - half[1], 0.0) * np.array([1.0, 0, 0])
    simple = np.array([middle - along, middle + along])
    radius = np.linalg.norm(points - nearest_weights(simple, points) @ simple, axis=1).max()
    assert volume_of_fit(fit) < volume_of(simple, radius)
    assert_allclose(sticking_out(fit, points), 0.0, atol=1e-8)


@pytest.mark.parametrize(
    ("points", "triangles", "options", "message"),
    [
        (np.zeros((0, 3)), None, {}, "at least one"),
        (np.zeros((4, 2)), None, {}, "rows of three"),
        ([[0.0, 0, 0], [np.nan, 0, 0]], None, {}, "not finite"),
        ([[0.0, 0, 0], [np.inf, 0, 0]], None, {}, "not finite"),
        (np.zeros((3, 3)), [[0, 1, 3]], {}, "do not exist"),
        (np.zeros((3, 3)), [[0, 1, -1]], {}, "do not exist"),
        (np.zeros((3, 3)), [[0.0, 1.0, 2.0]], {}, "three indices"),
        (np.zeros((3, 3)), np.zeros((0, 3), dtype=int), {}, "three indices"),
        (np.eye(3), None, {"most": 0}, "most is 0"),
        (np.eye(3), None, {"most": 2.5}, "most is 2.5"),
        (np.eye(3), None, {"most": np.nan}, "most is nan"),
        (np.eye(3), None, {"gain": 0.0}, "gain is 0"),
    ],
)
def test_wrong_input_is_refused(points, triangles, options, message):
    with pytest.raises(ShapeError, match=message):
        fit_swept(points, triangles, **options)


def test_points_that_no_triangle_uses_do_not_count():
    points, faces = slotted_block()
    fit = fit_swept(np.vstack([points, [[100.0, 0, 0]]]), faces, most=1)
    assert fit.volumes[0].radius < 2.0
