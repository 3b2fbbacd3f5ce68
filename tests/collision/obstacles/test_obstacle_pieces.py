import numpy as np
import pytest

from surefoot.collision.obstacles.pieces import PointCloud, height_field_pieces, shape_pieces
from surefoot.collision.pairs.kernels import generator_distances
from surefoot.errors import NotSupportedError, ShapeError
from surefoot.geometry import Box, Capsule, Cylinder, Ellipsoid, Mesh, Plane, Sphere, surface_points
from surefoot.motion.world.ground import HeightField


def inside(shape, points):
    """Whether points lie inside a shape, from its own definition."""
    x, y, z = points.T
    match shape:
        case Box(size):
            return (np.abs(points) < 0.5 * np.array(size)).all(axis=1)
        case Cylinder(radius, length):
            return (np.hypot(x, y) < radius) & (np.abs(z) < 0.5 * length)
        case Ellipsoid(radii):
            return ((points / np.array(radii)) ** 2).sum(axis=1) < 1.0


def block_with_a_hole():
    """A closed mesh that is not convex: a square block with a square hole along z, normals outwards."""
    ring = np.array([[1, 1], [-1, 1], [-1, -1], [1, -1]], dtype=float)
    points = np.array([[s * x, s * y, z] for s in (2.0, 1.0) for z in (-1.0, 1.0) for x, y in ring])
    outer_low, outer_high, inner_low, inner_high = (np.arange(4) + 4 * k for k in range(4))
    quads = []
    for i in range(4):
        j = (i + 1) % 4
        quads += [(outer_low[i], outer_low[j], outer_high[j], outer_high[i])]
        quads += [(inner_low[j], inner_low[i], inner_high[i], inner_high[j])]
        quads += [(outer_high[i], outer_high[j], inner_high[j], inner_high[i])]
        quads += [(outer_low[j], outer_low[i], inner_low[i], inner_low[j])]
    faces = np.array([face for a, b, c, d in quads for face in ((a, b, c), (a, c, d))])
    return Mesh(points=points, faces=faces)


@pytest.mark.parametrize("shape", [Box((0.3, 0.5, 0.2)), Cylinder(0.2, 0.7), Ellipsoid((0.1, 0.3, 0.5))])
def test_polyhedra_contain_their_shape_and_little_more(shape, rng):
    pieces = shape_pieces(shape)
    points = rng.uniform(-0.6, 0.6, (400, 3))
    truly, found = inside(shape, points), pieces.contains(points)
    assert found[truly].all()
    assert not found[~truly & ~inside(grown(shape, 1.03), points)].any()


def grown(shape, factor):
    match shape:
        case Box(size):
            return Box(tuple(factor * x for x in size))
        case Cylinder(radius, length):
            return Cylinder(factor * radius, factor * length)
        case Ellipsoid(radii):
            return Ellipsoid(tuple(factor * x for x in radii))


def test_triangles_of_a_box_are_its_surface(rng):
    size = np.array([0.4, 0.2, 0.6])
    pieces = shape_pieces(Box(tuple(size)))
    points = rng.uniform(-1.0, 1.0, (200, 3))
    out = np.maximum(np.abs(points) - 0.5 * size, 0.0)
    expected = np.where(
        inside(Box(tuple(size)), points), (0.5 * size - np.abs(points)).min(axis=1), np.linalg.norm(out, axis=1)
    )
    found = [generator_distances(np.repeat(p[None, None], 12, axis=0), pieces.vertices).min() for p in points]
    assert len(pieces.vertices) == 12
    assert np.allclose(found, expected, atol=1e-12)


def test_meshes_with_holes(rng):
    mesh = block_with_a_hole()
    pieces = shape_pieces(mesh)
    points = rng.uniform(-2.5, 2.5, (500, 3))
    x, y, z = np.abs(points).T
    expected = (np.maximum(x, y) < 2.0) & (np.maximum(x, y) > 1.0) & (z < 1.0)
    assert pieces.solid
    assert np.array_equal(pieces.contains(points), expected)


def test_open_meshes_have_no_inside():
    mesh = block_with_a_hole()
    pieces = shape_pieces(Mesh(points=mesh.points, faces=mesh.faces[1:]))
    assert not pieces.solid
    assert not pieces.contains(np.array([[1.5, 0.0, 0.0]])).any()


def test_points_without_faces_become_their_hull():
    pieces = shape_pieces(Mesh(points=surface_points(Box((1.0, 1.0, 1.0)))))
    assert pieces.solid
    assert pieces.contains(np.zeros((1, 3))).all()


def test_balls_capsules_and_clouds_are_exact():
    assert shape_pieces(Sphere(0.3)).radii.tolist() == [0.3]
    assert shape_pieces(Capsule(0.1, 0.8)).vertices[0, :, 2].tolist() == [-0.4, 0.4]
    cloud = shape_pieces(PointCloud(np.ones((5, 3)), 0.02))
    assert cloud.vertices.shape == (5, 1, 3)
    assert cloud.radii.tolist() == [0.02] * 5
    assert shape_pieces(np.zeros((4, 3))).vertices.shape == (4, 1, 3)


def test_height_fields_hold_the_surface_between_their_points(rng):
    ground = HeightField(rng.uniform(0.0, 0.4, (6, 5)), 0.3, np.array([-0.5, 0.2, 0.1]))
    pieces = height_field_pieces(ground)
    low = ground.origin[:2]
    xy = rng.uniform(low, low + 0.3 * np.array([5, 4]), (300, 2))
    points = np.column_stack([xy, ground.height(xy[:, 0], xy[:, 1])])
    gaps = [
        (generator_distances(np.repeat(p[None, None], len(pieces.radii), axis=0), pieces.vertices) - pieces.radii).min()
        for p in points
    ]
    assert max(gaps) < 1e-9
    above, below = points + np.array([0.0, 0.0, 0.5]), points - np.array([0.0, 0.0, 0.5])
    assert pieces.solid
    assert not pieces.contains(above).any()
    assert pieces.contains(below).all()
    beside = np.array([low[0] - 0.01, low[1] + 0.5, 0.0])
    assert not pieces.contains(beside[None]).any()


def test_wrong_ones_are_refused():
    with pytest.raises(NotSupportedError, match="Plane has no pieces"):
        shape_pieces(Plane())
    with pytest.raises(ShapeError, match="finite"):
        PointCloud(np.array([[0.0, np.nan, 0.0]]))
    with pytest.raises(ShapeError, match="radius"):
        PointCloud(np.zeros((1, 3)), -1.0)
    with pytest.raises(ShapeError, match="no hull"):
        shape_pieces(Mesh(points=np.eye(3)))
    assert PointCloud(np.zeros((0, 3))).points.shape == (0, 3)
    with pytest.raises(ShapeError, match="mesh are not finite"):
        shape_pieces(Mesh(points=np.full((3, 3), np.nan), faces=np.array([[0, 1, 2]])))


@pytest.mark.parametrize(
    "shape",
    [Sphere(-0.1), Sphere(np.nan), Sphere(np.inf), Capsule(0.1, -1.0), Box((-1.0, 1.0, 1.0)), Cylinder(-1.0, 1.0),
     Ellipsoid((-1.0, 1.0, 1.0))],
    ids=str,
)  # fmt: skip
def test_sizes_that_are_none_are_refused(shape):
    with pytest.raises(ShapeError, match="sizes"):
        shape_pieces(shape)
