"""Replay in MuJoCo: a squat survives, a lean over the toes does not."""

from __future__ import annotations

import numpy as np
from scipy.spatial import ConvexHull

from surefoot.feasibility import audit, replay
from surefoot.geometry import Box, Mesh
from surefoot.motion import Obstacle, Trajectory, World
from surefoot.robot import placement
from tests.feasibility.good_motions import loaded, squat


def test_a_squat_is_replayed_to_its_end() -> None:
    result = audit(squat("g1", 200.0, 2.0), loaded("g1"), collisions=False)
    assert result.replay is not None
    assert result.replay.survived
    assert np.nanmax(result.replay.base_error) < 0.01
    assert result.replay.joint_error.max() < 0.02
    assert result.passed


def test_of_a_long_motion_the_beginning_is_replayed(monkeypatch) -> None:
    """A limit of 0.3 s stands for the one of a minute: the cost does not grow with the motion, and the note says so."""
    monkeypatch.setattr(replay, "_LONGEST", 0.3)
    result = audit(squat("g1", 200.0, 2.0), loaded("g1"), collisions=False)
    assert result.replay is not None
    assert result.replay.survived
    assert abs(result.replay.until - 0.3) < 0.005
    assert "only the first 0.3 s of 2 s" in result.replay.note
    assert result.passed


def test_a_robot_that_leans_too_far_falls_and_the_time_is_told() -> None:
    result = audit(squat("g1", 200.0, 6.0, 0.08, 0.0, 0.13), loaded("g1"), collisions=False)
    assert result.replay is not None
    assert not result.replay.survived
    assert 0.5 < result.replay.until < 6.0
    assert not result.passed


def test_obstacles_that_are_hit_are_told() -> None:
    """An arm turns into a box that stands beside its hand."""
    robot = loaded("panda")
    time = np.linspace(0.0, 1.0, 101)
    q = np.tile(robot.home, (101, 1))
    q[:, 0] += 0.6 * np.sin(0.5 * np.pi * time) ** 2
    hand = robot.placements(q[70])["panda_hand"][:3, 3]
    box = Obstacle("box", Box((0.1, 0.1, 0.4)), placement(hand))
    motion = Trajectory.of(robot, time + 5.0, q)
    free, hit = (audit(motion, robot, World(ground=(), obstacles=things)).replay for things in ((), (box,)))
    assert free is not None
    assert "box" not in free.note
    assert hit is not None
    assert "and box from 5." in hit.note


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
