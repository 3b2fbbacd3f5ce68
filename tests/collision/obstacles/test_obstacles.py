import coal
import numpy as np
import pytest

from surefoot.collision.obstacles.obstacles import placed_obstacle, world_obstacles
from surefoot.geometry import Box, Capsule, Cylinder, Ellipsoid, Plane, Sphere
from surefoot.motion.world.ground import GroundBox, GroundPlane, HeightField
from surefoot.motion.world.world import MovableObject, Obstacle, World
from surefoot.robot import placement
from surefoot.spatial import so3

FAR = np.inf
COAL = {
    Sphere(0.2): coal.Sphere(0.2),
    Box((0.3, 0.6, 0.2)): coal.Box(0.3, 0.6, 0.2),
    Capsule(0.1, 0.5): coal.Capsule(0.1, 0.5),
    Cylinder(0.15, 0.6): coal.Cylinder(0.15, 0.6),
    Ellipsoid((0.1, 0.2, 0.4)): coal.Ellipsoid(0.1, 0.2, 0.4),
}


def some_pose(rng):
    return placement(rng.uniform(-0.3, 0.3, 3), so3.random(rng))


@pytest.mark.parametrize("shape", COAL, ids=lambda x: type(x).__name__)
def test_distances_of_lines_are_those_of_coal(shape, rng):
    """Coal's capsule of radius 0 is not allowed, so the line gets a radius that is taken off."""
    rounded = {Cylinder: 0.01 * 0.15, Ellipsoid: 0.02 * 0.4}.get(type(shape), 1e-6)
    for _ in range(25):
        pose = some_pose(rng)
        ends = rng.uniform(-1.0, 1.0, (2, 3))
        z = (ends[1] - ends[0]) / np.linalg.norm(ends[1] - ends[0])
        x = np.cross(np.eye(3)[int(np.argmin(np.abs(z)))], z)
        x /= np.linalg.norm(x)
        T = coal.Transform3s(np.column_stack([x, np.cross(z, x), z]), ends.mean(axis=0))
        line = coal.Capsule(0.05, float(np.linalg.norm(ends[1] - ends[0])))
        expected = coal.distance(
            line,
            T,
            COAL[shape],
            coal.Transform3s(pose[:3, :3], pose[:3, 3]),
            coal.DistanceRequest(),
            coal.DistanceResult(),
        )
        found = placed_obstacle("x", shape, pose).nearest(ends[None], np.array([FAR])).distance[0] - 0.05
        if expected > 1e-3:
            assert expected - rounded - 1e-5 <= found <= expected + 1e-5


def test_inside_a_box_the_distance_is_minus_the_way_out(rng):
    pose = some_pose(rng)
    box = placed_obstacle("x", Box((1.0, 2.0, 3.0)), pose)
    point = np.array([0.4, 0.3, -0.2])
    found = box.nearest((pose[:3, :3] @ point + pose[:3, 3])[None, None], np.array([0.01]))
    assert found.distance == pytest.approx(-0.1)
    assert np.allclose(found.normal[0], -pose[:3, 0])
    assert np.allclose(found.point_b[0], pose[:3, :3] @ [0.5, 0.3, -0.2] + pose[:3, 3])


def test_the_distance_is_continuous_through_the_surface():
    box = placed_obstacle("x", Box((1.0, 1.0, 1.0)))
    heights = np.linspace(0.3, 0.7, 81)
    line = np.array([[-0.05, 0.0, 0.0], [0.05, 0.0, 0.0]])
    generators = line + np.column_stack([0 * heights, 0 * heights, heights])[:, None]
    found = box.nearest(generators, np.full(81, FAR))
    assert np.allclose(found.distance, heights - 0.5, atol=1e-12)
    assert np.allclose(found.normal[np.abs(heights - 0.5) > 1e-9], [0.0, 0.0, -1.0], atol=1e-6)


def test_half_spaces(rng):
    pose = some_pose(rng)
    plane = placed_obstacle("x", Plane(), pose)
    triangles = rng.standard_normal((30, 3, 3))
    found = plane.nearest(triangles, np.full(30, 0.1))
    height = (triangles - pose[:3, 3]) @ pose[:3, 2]
    assert np.allclose(found.distance, height.min(axis=1))
    assert np.allclose(found.point_b, found.point_a + found.distance[:, None] * found.normal)


def test_moving_an_obstacle_is_moving_what_looks_at_it(rng):
    obstacle = placed_obstacle("x", Box((0.2, 0.4, 0.3)), some_pose(rng))
    shift = some_pose(rng)
    lines = rng.standard_normal((20, 2, 3))
    there = obstacle.moved(shift @ obstacle.pose).nearest(lines @ shift[:3, :3].T + shift[:3, 3], np.full(20, FAR))
    assert np.allclose(there.distance, obstacle.nearest(lines, np.full(20, FAR)).distance, atol=1e-12)


def test_gaps_are_lower_bounds(rng):
    for obstacle in (
        placed_obstacle("x", Box((0.5, 0.4, 0.3)), some_pose(rng)),
        placed_obstacle("x", Plane(), some_pose(rng)),
    ):
        points = rng.uniform(-1.0, 1.0, (200, 3))
        exact = obstacle.nearest(points[:, None], np.full(200, FAR)).distance
        assert (obstacle.gaps(points, np.full(200, 0.1)) <= exact - 0.1 + 1e-12).all()


def test_everything_in_a_world_is_an_obstacle(rng):
    world = World(
        ground=(GroundPlane(np.array([0.0, 0.0, 0.2]), np.array([0.1, 0.0, 1.0])), GroundBox((1.0, 1.0, 0.2)),
                HeightField(np.zeros((3, 3)), 0.5)),
        obstacles=(Obstacle("post", Cylinder(0.1, 1.0)),),
        objects=(MovableObject("ball", Sphere(0.1), 1.0),),
    )  # fmt: skip
    found = world_obstacles(world)
    assert [x.name for x in found] == ["post", "ball", "ground 0", "ground 1", "ground 2"]
    assert [x.is_ground for x in found] == [False, False, True, True, True]
    point = rng.uniform(-0.2, 0.2, (1, 1, 3)) + np.array([0.0, 0.0, 0.6])
    plane = world.ground[0]
    assert found[2].nearest(point, np.array([FAR])).distance == pytest.approx(
        (point[0, 0] - plane.point) @ plane.normal
    )
    assert found[3].nearest(point, np.array([FAR])).distance == pytest.approx(point[0, 0, 2] - 0.1)
