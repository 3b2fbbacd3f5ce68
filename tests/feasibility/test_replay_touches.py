"""Obstacles of a replay: meshes that are hit are named, and those that are replayed as hulls, too."""

from __future__ import annotations

import numpy as np
from scipy.spatial import ConvexHull

from surefoot.feasibility import audit
from surefoot.geometry import Mesh
from surefoot.motion import Obstacle, Trajectory, World
from surefoot.robot import placement
from tests.feasibility.good_motions import loaded

CORNERS = np.array([[x, y, z] for x in (-0.5, 0.5) for y in (-0.5, 0.5) for z in (-0.5, 0.5)])


def box(size: tuple[float, float, float], at: tuple[float, float, float] = (0.0, 0.0, 0.0)) -> Mesh:
    points, hull = CORNERS * size + at, ConvexHull(CORNERS * size)
    normals = [np.cross(*(hull.points[face[1:]] - hull.points[face[0]])) for face in hull.simplices]
    inwards = np.einsum("fi,fi->f", normals, hull.equations[:, :3]) < 0.0
    return Mesh(points=points, faces=np.where(inwards[:, None], hull.simplices[:, ::-1], hull.simplices).astype(int))


def two_walls() -> Mesh:
    """Two walls 1 m apart as one mesh: its hull fills what is between them."""
    walls = [box((0.05, 0.6, 0.6), (x, 0.0, 0.0)) for x in (-0.5, 0.5)]
    points = np.vstack([wall.points for wall in walls])
    return Mesh(points=points, faces=np.vstack([walls[0].faces, walls[1].faces + 8]))


def note(shape: Mesh, shift: tuple[float, float, float]) -> str:
    """What the replay says of an arm that turns by 0.6 rad beside an obstacle."""
    robot, time = loaded("panda"), np.linspace(0.0, 1.0, 51)
    q = np.tile(robot.home, (51, 1))
    q[:, 0] += 0.6 * np.sin(0.5 * np.pi * time) ** 2
    at = robot.placements(q[-1])["panda_hand"][:3, 3] + shift
    world = World(ground=(), obstacles=(Obstacle("thing", shape, placement(at)),))
    replay = audit(Trajectory.of(robot, time + 5.0, q), robot, world, collisions=False).replay
    assert replay is not None
    return replay.note


def test_a_mesh_that_is_hit_is_named_with_the_time() -> None:
    said = note(box((0.05, 0.05, 0.3)), (0.0, 0.0, 0.0))
    assert "and thing from 5." in said
    assert "convex hull" not in said  # it is its own hull


def test_a_mesh_out_of_reach_is_not_named() -> None:
    assert "thing" not in note(box((0.05, 0.05, 0.3)), (1.5, 0.0, 0.0))


def test_a_mesh_that_is_not_convex_is_said_to_be_replayed_as_its_hull() -> None:
    assert "`thing` touches by the convex hull" in note(two_walls(), (0.0, 0.0, 3.0))
