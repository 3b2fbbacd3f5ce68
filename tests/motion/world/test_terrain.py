import numpy as np
import pytest

from surefoot.motion import GroundBox, GroundPlane, HeightField, World, stairs
from surefoot.motion.world.terrain import NOWHERE, contact_planes
from surefoot.robot import placement
from surefoot.spatial import so3


def heights(world, points):
    found = contact_planes(world, points)
    return np.sum(found[:, :3] * points, axis=1) - found[:, 3]


def test_a_plane_is_itself():
    plane = GroundPlane(np.array([0.0, 0.0, 0.3]), np.array([0.2, -0.1, 1.0]), friction=0.4)
    points = np.random.default_rng(0).standard_normal((20, 3))
    found = contact_planes(World(ground=(plane,)), points)
    np.testing.assert_allclose(found[:, :3], np.tile(plane.normal, (20, 1)))
    np.testing.assert_allclose(heights(World(ground=(plane,)), points), (points - plane.point) @ plane.normal)
    assert (found[:, 4] == 0.4).all()


def test_no_ground():
    found = contact_planes(World(ground=(), friction=0.6), np.zeros((2, 3)))
    assert (found[:, 3] == NOWHERE).all()
    assert (found[:, 4] == 0.6).all()
    field = HeightField(np.zeros((3, 3)), 0.1)
    assert contact_planes(World(ground=(field,)), [[5.0, 5.0, 0.0]])[0, 3] == NOWHERE


def test_normals_have_unit_length_and_are_the_gradient_of_the_height():
    """Off edges, moving a point by a little changes its height by the way along the normal."""
    rng = np.random.default_rng(1)
    T = placement((0.1, 0.2, 0.3), so3.exp(rng.standard_normal(3)))
    for world in (
        World(ground=(GroundBox((0.4, 0.6, 0.8), T),)),
        World(ground=(GroundPlane(), GroundBox((0.4, 0.6, 0.8), T))),
    ):
        points, step = 0.5 * rng.standard_normal((300, 3)), 1e-7 * rng.standard_normal((300, 3))
        found = contact_planes(world, points)
        np.testing.assert_allclose(np.linalg.norm(found[:, :3], axis=1), 1.0)
        change = heights(world, points + step) - heights(world, points)
        same = np.abs(contact_planes(world, points + step) - found).max(axis=1) < 1e-4
        assert same.mean() > 0.9
        np.testing.assert_allclose(change[same], np.sum(found[:, :3] * step, axis=1)[same], atol=1e-11)


def test_a_riser_pushes_sideways_and_a_tread_up():
    world = World(ground=(GroundPlane(), *stairs(2, 0.15, 0.3)))
    points = np.array([[0.001, 0.0, 0.1], [0.15, 0.0, 0.149], [0.301, 0.0, 0.25], [0.45, 0.0, 0.299]])
    expected = [[-1, 0, 0], [0, 0, 1], [-1, 0, 0], [0, 0, 1]]
    np.testing.assert_allclose(contact_planes(world, points)[:, :3], expected, atol=1e-12)
    np.testing.assert_allclose(heights(world, points), -0.001, atol=1e-12)


def test_seams_between_pieces_are_not_felt():
    tiles = tuple(GroundBox((1.0, 1.0, 0.2), placement((x, 0.0, -0.1))) for x in (-0.5, 0.5))
    points = np.array([[-1e-4, 0.0, -1e-3], [1e-4, 0.0, -1e-3], [0.2, 0.0, -1e-3]])
    found = contact_planes(World(ground=tiles), points)
    np.testing.assert_allclose(found[:, :3], np.tile([0.0, 0.0, 1.0], (3, 1)))
    standing = World(ground=(GroundPlane(), GroundBox((1.0, 1.0, 0.2), placement((0.0, 0.0, 0.1)))))
    deep = contact_planes(standing, [[0.0, 0.0, 0.001]])  # not down into the ground on which the box stands
    np.testing.assert_allclose(deep[0, :4], [0.0, 0.0, 1.0, 0.2])


def test_a_box_in_the_air_pushes_down_from_below():
    shelf = GroundBox((1.0, 1.0, 0.2), placement((0.0, 0.0, 2.0)))
    found = contact_planes(World(ground=(GroundPlane(), shelf)), [[0.0, 0.0, 1.901]])
    np.testing.assert_allclose(found[0, :3], [0.0, 0.0, -1.0])


def test_a_height_field_is_its_tangent_plane():
    rng = np.random.default_rng(2)
    field = HeightField(0.1 * rng.standard_normal((6, 5)), 0.2, np.array([-0.3, 0.1, 0.4]), friction=0.3)
    world = World(ground=(field,))
    xy = np.column_stack([rng.uniform(-0.25, 0.65, 50), rng.uniform(0.15, 0.85, 50)])
    top = np.column_stack([xy, field.height(xy[:, 0], xy[:, 1])])
    np.testing.assert_allclose(heights(world, top), 0.0, atol=1e-12)
    d = 1e-6
    normal = contact_planes(world, top)[:, :3]
    for axis, other in ((0, (d, 0.0)), (1, (0.0, d))):
        slope = (field.height(*(xy + other).T) - field.height(*(xy - other).T)) / (2.0 * d)
        good = np.abs(slope) < 10.0
        np.testing.assert_allclose((-normal[:, axis] / normal[:, 2])[good], slope[good], atol=0.05)


@pytest.mark.parametrize("order", [1, -1])
def test_the_highest_piece_counts(order):
    pieces = (GroundPlane(friction=0.1), GroundPlane(np.array([0.0, 0.0, 0.2]), friction=0.9))[::order]
    found = contact_planes(World(ground=pieces), [[0.0, 0.0, 0.1], [0.0, 0.0, 5.0]])
    np.testing.assert_allclose(found[:, 3:], [[0.2, 0.9], [0.2, 0.9]])
