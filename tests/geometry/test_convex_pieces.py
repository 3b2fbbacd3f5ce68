"""Pieces are convex, fill the mesh, stay within its hull and are the same each time."""

from __future__ import annotations

import subprocess
import sys

import coal
import numpy as np
import pytest
import trimesh
from numpy.testing import assert_allclose
from scipy.spatial import ConvexHull, Delaunay

from surefoot.collision.exact import _coal_shape
from surefoot.errors import ModelError, ShapeError
from surefoot.geometry import Box, Mesh, convex_pieces, is_nearly_convex, surface_points
from tests.geometry.mesh_examples import SLOTTED_VOLUME, slotted_block

cutting = sys.modules["surefoot.geometry.convex_pieces"]


def hull_mesh(points: np.ndarray) -> Mesh:
    """The hull of points with its triangles looking outwards."""
    hull = ConvexHull(points)
    faces = hull.simplices.copy()
    corners = points[faces]
    inwards = np.sum(np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]) * hull.equations[:, :3], 1)
    faces[inwards < 0.0] = faces[inwards < 0.0][:, ::-1]
    return Mesh(points=points, faces=faces)


def test_pieces_fill_the_mesh_and_leave_the_slot_free():
    points, faces = slotted_block()
    mesh = Mesh(points=points, faces=faces)
    pieces = convex_pieces(mesh)
    assert not is_nearly_convex(mesh)
    assert 2 <= len(pieces) <= 16
    assert_allclose(sum(ConvexHull(piece).volume for piece in pieces), SLOTTED_VOLUME, rtol=0.02)
    grid = np.stack(np.meshgrid(np.linspace(-0.5, 0.5, 13), [0.0], np.linspace(0.0, 1.0, 14), indexing="ij"), -1)
    x, z = grid[..., 0].ravel(), grid[..., 2].ravel()
    filled = np.any([Delaunay(piece).find_simplex(grid.reshape(-1, 3), tol=1e-6) >= 0 for piece in pieces], axis=0)
    assert not filled[(np.abs(x) < 0.18) & (z > 0.22)].any()
    assert filled[(np.abs(x) > 0.22) & (np.abs(x) < 0.49) & (z > 0.01) & (z < 0.99)].all()


def test_the_same_mesh_gives_the_same_pieces_also_inside_out():
    points, faces = slotted_block()
    first, second, turned = (convex_pieces(Mesh(points=points, faces=f)) for f in (faces, faces, faces[:, ::-1]))
    for other in (second, turned):
        assert len(other) == len(first)
        assert all(np.array_equal(a, b) for a, b in zip(first, other, strict=True))


def test_most_bounds_the_number_of_pieces():
    points, faces = slotted_block()
    assert len(convex_pieces(Mesh(points=points, faces=faces), most=2)) <= 2


@pytest.mark.slow
def test_a_mesh_with_a_hole_is_cut_too_and_stays_within_its_hull():
    points, faces = slotted_block()
    pieces = convex_pieces(Mesh(points=points, faces=faces[:-1]), tolerance=0.4, most=4)
    assert 1 <= len(pieces) <= 4
    hull = ConvexHull(points).equations
    assert max(float((piece @ hull[:, :3].T + hull[:, 3]).max()) for piece in pieces) < 1e-6


def test_what_is_convex_flat_or_without_triangles_is_one_piece_without_coacd(monkeypatch, rng):
    def never(*_args, **_kwargs):
        raise AssertionError("CoACD was called")

    monkeypatch.setattr(cutting.subprocess, "run", never)
    ball = rng.standard_normal((60, 3))
    solids = [hull_mesh(ball / np.linalg.norm(ball, axis=1)[:, None]), hull_mesh(surface_points(Box((1.0, 2.0, 3.0))))]
    assert all(is_nearly_convex(mesh) for mesh in solids)
    plate = Mesh(
        points=np.array([[0.0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]]), faces=np.array([[0, 1, 2], [0, 2, 3]])
    )
    cloud = Mesh(points=rng.standard_normal((20, 3)))
    assert not is_nearly_convex(plate)
    assert not is_nearly_convex(cloud)
    for mesh in (*solids, plate, cloud):
        (piece,) = convex_pieces(mesh)
        assert_allclose(np.sort(piece, axis=0), np.sort(mesh.vertices(), axis=0))


def test_overlapping_bodies_do_not_pass_for_convex():
    """Two shells in one place count double; the volume alone would call this block with a slot convex."""
    points, faces = slotted_block()
    twice = Mesh(points=points, faces=np.vstack([faces, faces]))
    assert not is_nearly_convex(twice)


def test_arguments_out_of_range_and_failures_are_told(monkeypatch):
    points, faces = slotted_block()
    mesh = Mesh(points=points, faces=faces)
    for wrong in ({"tolerance": 0.0}, {"tolerance": np.nan}, {"most": 0}):
        with pytest.raises(ShapeError, match="tolerance"):
            convex_pieces(mesh, **wrong)
    died = subprocess.CompletedProcess([], -11, b"", b"beyond it")
    monkeypatch.setattr(cutting.subprocess, "run", lambda *_args, **_kwargs: died)
    with pytest.raises(ModelError, match="convex pieces") as error:
        convex_pieces(mesh)
    assert error.value.evidence["said"] == "beyond it"


def test_coacd_is_not_loaded_into_this_process(monkeypatch):
    monkeypatch.delitem(sys.modules, "coacd", raising=False)  # other tests may have
    points, faces = slotted_block()
    convex_pieces(Mesh(points=points, faces=faces))
    assert "coacd" not in sys.modules


def bumpy_torus(rings: int, sides: int, bumps: tuple[int, int, float] = (9, 5, 0.002)) -> Mesh:
    """A closed mesh of rings · sides vertices; radii 0.3 and 0.1 m, with bumps (so many around, along, of a height)."""
    u, v = np.meshgrid(*(np.arange(n) * 2.0 * np.pi / n for n in (rings, sides)), indexing="ij")
    r = 0.1 + bumps[2] * np.sin(bumps[0] * u) * np.cos(bumps[1] * v)
    reach = 0.3 + r * np.cos(v)
    points = np.stack([reach * np.cos(u), reach * np.sin(u), r * np.sin(v)], axis=-1).reshape(-1, 3)
    a = np.arange(rings * sides).reshape(rings, sides)
    b, d = np.roll(a, -1, axis=0), np.roll(a, -1, axis=1)
    c = np.roll(b, -1, axis=1)
    quads = [np.stack(corners, axis=-1).reshape(-1, 3) for corners in ((a, b, c), (a, c, d))]
    return Mesh(points=points, faces=np.concatenate(quads))


@pytest.mark.slow
def test_large_meshes_are_cut_into_pieces_of_few_vertices():
    """The hole of the torus stays free, and the pieces fill its volume of 2 π² R r² to 10 %."""
    pieces = convex_pieces(bumpy_torus(1000, 700))
    assert max(len(piece) for piece in pieces) <= 100
    assert all(np.hypot(*piece.T[:2]).max() <= 0.403 for piece in pieces)
    volume = sum(ConvexHull(piece).volume for piece in pieces)
    assert volume == pytest.approx(2.0 * np.pi**2 * 0.3 * 0.1**2, rel=0.1)


@pytest.mark.parametrize("bumps", [(9, 5, 0.002), (20, 7, 0.02), (12, 0, 0.03), (0, 0, 0.0)], ids=str)
def test_large_meshes_are_decimated_by_a_bounded_error(bumps):
    """What is cut has few triangles and is near the mesh, by coal's distances from all of the triangles."""
    mesh = bumpy_torus(400, 150, bumps)
    points, triangles = cutting._decimated(mesh.vertices(), mesh.triangles())
    assert len(triangles) <= 6000
    surface = _coal_shape(Mesh(points=points, faces=triangles), hulls=False)
    ball, at, still = coal.Sphere(1e-9), coal.Transform3s(), coal.Transform3s()
    for vertex in mesh.vertices()[::97]:
        at.setTranslation(vertex)
        gap = coal.distance(ball, at, surface, still, coal.DistanceRequest(), coal.DistanceResult())
        assert gap <= 0.006 * 0.8


def test_the_corners_that_are_kept_are_those_that_stick_out():
    rng = np.random.default_rng(0)
    ball = rng.standard_normal((3000, 3))
    ball /= np.linalg.norm(ball, axis=1, keepdims=True)
    kept = cutting._few(ball)
    assert len(kept) == 100
    planes = ConvexHull(kept).equations
    assert (ball @ planes[:, :3].T + planes[:, 3]).max() < 0.06  # of 100 points on a ball, faces are this deep
    flat = np.column_stack([rng.standard_normal((3000, 2)), np.zeros(3000)])
    few = cutting._few(flat)  # no hull of a flat set
    assert 4 <= len(few) <= 100
    assert few[:, 0].max() == flat[:, 0].max()


def test_tiny_triangles_round_poles_do_not_stop_the_decimation():
    """A star of five arms on a grid of longitudes and latitudes, open at its poles by a fraction of a millimetre."""
    u, v = np.meshgrid(np.arange(300) * 2.0 * np.pi / 300, np.linspace(1e-3, np.pi - 1e-3, 120), indexing="ij")
    r = 0.2 + 0.08 * np.sin(5.0 * u) * np.sin(v) ** 2
    points = np.stack([r * np.sin(v) * np.cos(u), r * np.sin(v) * np.sin(u), 1.5 * r * np.cos(v)], axis=-1)
    a = np.arange(u.size).reshape(u.shape)
    a, d = a[:, :-1], a[:, 1:]
    b, c = np.roll(a, -1, axis=0), np.roll(d, -1, axis=0)
    faces = np.concatenate([np.stack(corners, axis=-1).reshape(-1, 3) for corners in ((a, b, c), (a, c, d))])
    found = cutting._decimated(points.reshape(-1, 3), faces)
    assert len(found[1]) <= 3000
    assert cutting._farthest(points.reshape(-1, 3)[::50], *found) <= 0.005 * 0.6


def test_flat_faces_of_many_triangles_do_not_stop_the_decimation():
    """A bar with teeth, each face a fine grid of coplanar triangles, its parts overlapping."""
    boxes = [trimesh.creation.box((1.0, 0.2, 0.1))]
    for k in range(8):
        boxes.append(trimesh.creation.box((0.05, 0.1, 0.1)).apply_translation((0.11 * k - 0.4, 0.14, 0.0)))
    solid = trimesh.util.concatenate(boxes)
    for _ in range(5):
        solid = solid.subdivide()
    points, faces = np.asarray(solid.vertices), np.asarray(solid.faces)
    assert len(faces) > 100_000
    found = cutting._decimated(points, faces)
    assert len(found[1]) <= 6000
    assert cutting._farthest(points[::50], *found) <= 0.005
