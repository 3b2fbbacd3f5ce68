"""A* over steps in worlds whose ways are known; every step is checked by points on soles and body."""

from __future__ import annotations

import numpy as np
import pytest

from surefoot.errors import NotSupportedError
from surefoot.gait import PlannedSteps, StepLimits, all_steps, first_support, plan_steps
from surefoot.gait.steps import BodyBox, Obstacles
from surefoot.gait.steps.footing import Footing
from surefoot.geometry import Box, Cylinder, Plane
from surefoot.motion import GroundBox, GroundPlane, Obstacle, World, stairs
from surefoot.robot import placement
from tests.gait.steps.walks import limits_of, require_lawful, robot_of, standing


def boxes(*places: tuple[tuple[float, float, float], tuple[float, float, float]]) -> World:
    return World(obstacles=[Obstacle(f"box {k}", Box(s), placement(p)) for k, (s, p) in enumerate(places)])


WALL = boxes(((0.2, 3.0, 2.0), (1.5, 0.0, 1.0)))
POCKET = boxes(
    ((0.2, 2.0, 2.0), (1.2, 0.0, 1.0)), ((2.0, 0.2, 2.0), (0.2, 1.0, 1.0)), ((2.0, 0.2, 2.0), (0.2, -1.0, 1.0))
)
CELL = boxes(
    ((0.2, 4.0, 2.0), (2.0, 0.0, 1.0)), ((0.2, 4.0, 2.0), (-2.0, 0.0, 1.0)),
    ((4.0, 0.2, 2.0), (0.0, 2.0, 1.0)), ((4.0, 0.2, 2.0), (0.0, -2.0, 1.0)),
)  # fmt: skip
KERB = boxes(((0.1, 4.0, 0.05), (1.0, 0.0, 0.025)))


def require_clear(world: World, plan: PlannedSteps, limits: StepLimits, body: BodyBox) -> None:
    """No point of a sole, or of the body between two steps, is inside a box of the world."""
    for k, step in enumerate(plan.steps):
        poses = [(step.T, (*limits.sole, 0.0))]
        if k:
            before, yaw = plan.steps[k - 1], np.angle(np.exp(1j * step.yaw) + np.exp(1j * plan.steps[k - 1].yaw))
            T = np.eye(4)
            T[:2, :2] = [[np.cos(yaw), -np.sin(yaw)], [np.sin(yaw), np.cos(yaw)]]
            T[:2, 3] = 0.5 * (step.T[:2, 3] + before.T[:2, 3])
            poses.append((T, (body.half_length, body.half_width, 0.5)))
        for T, (length, width, height) in poses:
            x, y = np.meshgrid(np.linspace(-length, length, 12), np.linspace(-width, width, 12))
            points = np.column_stack([x.ravel(), y.ravel()]) @ T[:2, :2].T + T[:2, 3]
            for item in world.obstacles:
                half = 0.5 * np.array(item.shape.size)
                if item.pose[2, 3] + half[2] > height:
                    assert not (np.abs(points - item.pose[:2, 3]) < half[:2]).all(axis=1).any()


WORLDS = {"wall": WALL, "pocket": POCKET, "kerb": KERB}
QUICK = [("talos", "wall"), ("icub", "pocket"), ("g1", "kerb")]
ALL = [
    pytest.param(name, world, marks=() if (name, world) in QUICK else pytest.mark.slow)
    for name in ("g1", "talos", "small-humanoid", "icub", "humanoid", "lola")
    for world in WORLDS
]


@pytest.mark.parametrize(("name", "where"), ALL)
def test_obstacles_are_walked_around(name: str, where: str) -> None:
    robot, limits, world, goal = robot_of(name), limits_of(name), WORLDS[where], (2.5, 0.0, 0.5)
    plan = plan_steps(robot, world, goal)
    body = BodyBox.of(robot, limits)
    support = first_support(plan, limits, standing(name))
    steps = all_steps(plan, support)
    require_lawful(limits, support, steps)
    require_clear(world, plan, limits, body)
    for foot in (limits.left, limits.right):
        last = [step for step in steps if step.foot == foot][-1]
        place = limits.place(foot, goal)
        np.testing.assert_allclose((*last.position[:2], last.yaw), place, atol=1e-9)


def test_the_same_world_has_the_same_plan() -> None:
    plans = [plan_steps(robot_of("icub"), WALL, (2.5, 0.0, 0.5)) for _ in range(2)]
    np.testing.assert_array_equal(*[[step.T for step in plan.steps] for plan in plans])


def test_a_free_way_is_direct() -> None:
    plan = plan_steps(robot_of("g1"), World.flat(), (2.0, 0.0, 0.0))
    assert max(abs(step.yaw) for step in plan.steps) < 1e-9
    assert len(plan.steps) == np.ceil((2.0 - standing("g1")[0].position[0]) / limits_of("g1").forward) + 1


def test_a_door_is_passed_and_a_lintel_passed_under() -> None:
    door = boxes(
        ((0.2, 3.0, 2.0), (1.5, -2.0, 1.0)), ((0.2, 3.0, 2.0), (1.5, 2.0, 1.0)), ((0.2, 3.0, 0.2), (1.5, 0.0, 2.1))
    )
    plan = plan_steps(robot_of("g1"), door, (3.0, 0.0, 0.0))
    assert max(abs(step.position[1]) for step in plan.steps) < 0.5


def test_impossible_goals_are_refused_with_the_reason() -> None:
    g1 = robot_of("g1")
    with pytest.raises(NotSupportedError, match="at the goal, the robot would stand inside obstacle `box 0`"):
        plan_steps(g1, WALL, (1.5, 0.0, 0.0))
    with pytest.raises(NotSupportedError, match=r"at the goal, the robot would stand only 0.01\d m from obstacle"):
        plan_steps(g1, WALL, (1.3, 0.0, 0.0))
    with pytest.raises(NotSupportedError, match="obstacles close all ways to the goal"):
        plan_steps(g1, CELL, (3.0, 0.0, 0.0))
    with pytest.raises(NotSupportedError, match="at the start, the robot would stand inside obstacle"):
        plan_steps(g1, boxes(((0.5, 0.5, 1.0), (0.0, 0.0, 0.5))), (3.0, 0.0, 0.0))
    endless = World(obstacles=(Obstacle("wall", Plane(), placement((2.0, 0, 0), [[0, 0, -1], [0, 1, 0], [1, 0, 0]])),))
    with pytest.raises(NotSupportedError, match="inside obstacle `wall`"):
        plan_steps(g1, endless, (2.5, 0.0, 0.0))
    plan_steps(g1, endless, (1.5, 0.0, 0.0))
    with pytest.raises(NotSupportedError, match="stands on its goal already"):
        plan_steps(g1, World.flat(), (*standing("g1")[0].position[:1], 0.0, 0.0))


def islands(gap: float) -> World:
    return World(ground=[GroundBox((2.0, 4.0, 0.2), placement((x, 0.0, -0.1))) for x in (0.0, 2.0 + gap)])


def test_gaps_are_stepped_over_as_far_as_a_step_reaches() -> None:
    plan = plan_steps(robot_of("g1"), islands(0.05), (2.2, 0.0, 0.0))
    half = limits_of("g1").sole[0]
    for step in plan.steps:
        assert step.position[0] + half < 1.0 + 1e-9 or step.position[0] - half > 1.05 - 1e-9
    with pytest.raises(NotSupportedError, match="after looking onward from 300 steps"):
        plan_steps(robot_of("g1"), islands(0.6), (2.8, 0.0, 0.0), budget=300)
    with pytest.raises(NotSupportedError, match="no firm ground under both feet at the goal"):
        plan_steps(robot_of("g1"), islands(0.6), (1.3, 0.0, 0.0))


@pytest.mark.parametrize(("rise", "firm"), [(0.004, True), (0.02, False), (0.05, False)])
def test_soles_do_not_stand_across_edges(rise: float, firm: bool) -> None:
    """A tilted plane fits a low edge within a centimetre: a level sole would rock on it."""
    footing = Footing(World(ground=(GroundPlane(), *stairs(1, rise, 1.0))), limits_of("g1").sole)
    poses = np.array([[0.0, 0.0, 0.0], [0.03, 0.0, 0.0], [0.0, 0.0, 0.5], [0.5, 0.0, 0.0]])
    assert footing.stands(*footing.planes(poses)).tolist() == [firm, firm, firm, True]


def test_stairs_are_climbed_one_tread_at_a_time() -> None:
    treads = stairs(3, 0.08, 0.3, start=(0.7, 0.0, 0.0))
    top = GroundBox((2.0, 2.0, 0.24), placement((0.7 + 0.9 + 1.0, 0.0, 0.12)))
    world = World(ground=(GroundPlane(), *treads, top))
    plan = plan_steps(robot_of("g1"), world, (2.2, 0.0, 0.0))
    half = limits_of("g1").sole[0]
    heights = [step.T[2, 3] for step in plan.steps]
    assert heights[-1] == pytest.approx(0.24, abs=1e-9)
    assert np.abs(np.diff(heights)).max() <= limits_of("g1").rise
    for step in plan.steps:
        ends = world.height(step.position[0] + np.array([-half, half]), step.position[1] * np.ones(2))
        np.testing.assert_allclose(ends, step.T[2, 3], atol=1e-9)  # never on an edge


def test_gaps_between_boxes_and_round_obstacles() -> None:
    obstacles = Obstacles(World(obstacles=(Obstacle("post", Cylinder(0.2, 1.0), placement((1.0, 0.0, 0.5))),)))
    rng = np.random.default_rng(2)
    for pose in np.column_stack(
        [rng.uniform(-1.0, 3.0, 200), rng.uniform(-2.0, 2.0, 200), rng.uniform(-3.0, 3.0, 200)]
    ):
        c, s = np.cos(pose[2]), np.sin(pose[2])
        local = np.array([[c, s], [-s, c]]) @ (np.array([1.0, 0.0]) - pose[:2])
        distance = np.linalg.norm(np.maximum(np.abs(local) - [0.3, 0.1], 0.0)) - 0.2
        gap = obstacles.gaps(pose[None], 0.3, 0.1)[0, 0]
        assert gap <= distance + 3e-3  # never more than the distance (the circle is a polygon)
        if distance > 1e-3:
            assert gap > 0.7 * distance - 3e-3
        elif distance < -3e-3:
            assert gap < 0.0
    assert Obstacles(World.flat()).gaps(np.zeros((2, 3)), 0.1, 0.1).shape == (2, 0)
