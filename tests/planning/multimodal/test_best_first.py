"""Plans through stances: solved ones pass the audit, hopeless ones end within their budget and tell why."""

from __future__ import annotations

import numpy as np
import pytest

import surefoot as sf
from surefoot.errors import NotSupportedError, ShapeError
from surefoot.geometry import Box
from surefoot.motion import GroundBox, GroundPlane, Obstacle, World
from surefoot.planning import Limits, Margins, Sampling, StancePlanner, audit_plan, plan_trajectory
from surefoot.robot import placement

RAIL_MARGINS = Margins(clearance=0.004, balance=0.03, limits=0.03, swing_height=0.02, resolution=0.02)


def test_a_short_way_is_planned_and_audited_and_repeats_bit_by_bit() -> None:
    robot = sf.load("hexapod")
    plans = [StancePlanner(robot, World()).plan(np.array(robot.home), (0.0, 0.12, 0.2), seed=4) for _ in range(2)]
    assert plans[0].solved
    audit = audit_plan(plans[0])
    assert audit.passed, audit
    assert audit.balance >= 0.012
    first, second = (plan_trajectory(plan) for plan in plans)
    assert first.q.tobytes() == second.q.tobytes()
    schedule = first.schedule
    assert schedule is not None
    assert min(len(phase.stance) for phase in schedule.phases) == 5
    feet = [np.round(plans[0].graph.feet(key), 6) for key in (plans[0].start, plans[0].goal)]
    assert np.linalg.norm(feet[1] - feet[0], axis=1).max() > 0.1


@pytest.fixture(scope="module")
def on_flat() -> StancePlanner:
    return StancePlanner(sf.load("hexapod"), World())


@pytest.mark.parametrize(
    ("goal", "moves"),
    [((0, 0, 0), 0), ((0, 0.001, 0), 6), ((0, 0.01, 0), 6), ((0.02, 0, 0), 6), ((0, 0.03, 0), 6), ((0, 0, 0.1), 6)],
)
def test_near_goals_take_one_move_of_each_foot(on_flat: StancePlanner, goal: tuple[float, float, float], moves: int):
    plan = on_flat.plan(np.array(on_flat.model.robot.home), goal, limits=Limits(stances=40))
    assert plan.solved, plan.reason
    assert len(plan.moves) == moves
    assert audit_plan(plan).passed
    assert plan_trajectory(plan).duration > 0.9
    np.testing.assert_array_equal(plan.sequence().start, plan.state)


@pytest.mark.parametrize("feet", [(0,), (1, 4)])
def test_feet_that_stand_right_are_not_moved(on_flat: StancePlanner, feet: tuple[int, ...]) -> None:
    goal = on_flat.model.chart.home[6:].reshape(-1, 3)[:, :2].copy()
    goal[list(feet), 1] += 0.036
    plan = on_flat.plan(np.array(on_flat.model.robot.home), goal, limits=Limits(stances=20))
    assert plan.solved, plan.reason
    assert sorted(move.leg for move in plan.moves) == list(feet)
    np.testing.assert_allclose(plan.segments[-1].path[-1, 6:].reshape(-1, 3)[:, :2], goal, atol=1e-9)


@pytest.mark.parametrize("name", ["go2", pytest.param("anymal", marks=pytest.mark.slow)])
def test_near_goals_of_quadrupeds(name: str) -> None:
    robot = sf.load(name)
    planner = StancePlanner(robot, World())
    for goal in ((0.01, 0.0, 0.0), (0.0, 0.02, 0.1)):
        plan = planner.plan(np.array(robot.home), goal, limits=Limits(stances=20))
        assert plan.solved, plan.reason
        assert len(plan.moves) == 4


def test_the_way_of_feet_to_a_goal_behind_goes_round_the_base() -> None:
    """The straight way to a goal that is turned by half a turn leads through the robot."""
    robot = sf.load("hexapod")
    planner, home = StancePlanner(robot, World()), np.array(robot.home)
    feet = planner.model.chart.home[6:].reshape(-1, 3)[:, :2]
    radii = np.linalg.norm(feet - feet.mean(axis=0), axis=1)
    left = []
    for turn in (0.3, 1.0, 2.0, 3.0):
        plan, _ = planner.empty_plan(home, (0.0, 0.0, turn), np.random.default_rng(0))
        left.append(plan.graph.way_left(plan.start, plan.goal))
        arc, chord = max(turn - 1.0, 0.0), 2.0 * np.sin(0.5 * min(turn, 1.0))
        np.testing.assert_allclose(left[-1], (arc + chord) * radii, rtol=2e-2)
    assert (np.diff(left, axis=0) > 0.0).all()


@pytest.mark.slow
def test_half_a_turn_in_place() -> None:
    robot = sf.load("hexapod")
    plan = StancePlanner(robot, World()).plan(np.array(robot.home), (0.0, 0.0, np.pi), seed=921)
    assert plan.solved, plan.reason
    assert audit_plan(plan).passed


def test_a_step_is_climbed() -> None:
    robot = sf.load("hexapod")
    world = World(ground=(GroundPlane(), GroundBox((2.0, 1.0, 0.06), placement((0.0, 0.72, 0.03)))))
    plan = StancePlanner(robot, world).plan(np.array(robot.home), (0.0, 0.15, 0.0), seed=0)
    assert plan.solved, plan.reason
    assert audit_plan(plan).passed
    assert (plan.graph.feet(plan.goal)[:, 2] > 0.05).any()


@pytest.mark.slow
def test_no_foot_of_a_quadruped_is_left_behind_on_a_step() -> None:
    robot = sf.load("a1", base="floating")
    step = World(ground=(GroundPlane(), GroundBox((4.0, 6.0, 0.048), placement((2.306, 0.0, 0.024)))))
    plan = StancePlanner(robot, step).plan(np.array(robot.home), (1.0, 0.0, 0.0), seed=3, limits=Limits(stances=100))
    assert plan.solved, plan.reason
    assert audit_plan(plan).passed
    assert (plan.graph.feet(plan.goal)[:, 2] > 0.04).all()


def test_requests_that_make_no_sense_are_refused_and_named() -> None:
    robot = sf.load("hexapod")
    planner, q = StancePlanner(robot, World()), np.array(robot.home)
    with pytest.raises(ShapeError, match="goal is not finite"):
        planner.plan(q, (np.nan, 0.0, 0.0))
    with pytest.raises(ShapeError, match="q is not finite"):
        planner.plan(np.full_like(q, np.inf), (0.1, 0.0, 0.0))
    with pytest.raises(NotSupportedError, match=r"look at .* footholds"):
        planner.plan(q, (1e6, 0.0, 0.0))
    for rise, reason in ((0.5, "0.5 m above the ground"), (-0.1, "0.1 m below the ground")):
        plan = planner.plan(q + rise * (np.arange(len(q)) == 2), (0.1, 0.0, 0.0))
        assert not plan.solved
        assert reason in plan.reason
    away = StancePlanner(robot, World(ground=(GroundBox((0.1, 0.1, 0.1)),))).plan(q, (0.1, 0.0, 0.0))
    assert "no ground under" in away.reason


@pytest.mark.slow
def test_a_goal_beyond_the_ground_is_approached_but_not_called_solved() -> None:
    robot = sf.load("hexapod")
    world = World(ground=(GroundBox((2.0, 2.0, 0.2), placement((0.0, 0.0, -0.1))),))
    plan = StancePlanner(robot, world).plan(np.array(robot.home), (3.0, 0.0, 0.0), seed=0)
    assert not plan.solved
    assert "cannot stand within" in plan.reason
    assert len(plan.explored) < 500, "ends before its budget of 1000"
    assert plan.graph.feet(plan.moves[-1].after)[:, 0].mean() > 0.5


@pytest.mark.slow
def test_a_goal_in_a_wall_and_a_gap_beyond_reach_end_within_their_budget() -> None:
    robot = sf.load("hexapod")
    wall = Obstacle("wall", Box((4.0, 0.4, 1.0)), placement((0.0, 0.6, 0.5)))
    ground = (
        GroundBox((3.0, 0.7, 0.1), placement((0.0, 0.0, -0.05))),
        GroundBox((3.0, 1.0, 0.1), placement((0.0, 1.35, -0.05))),
    )
    limits = Limits(states=400_000, stances=60)
    for world, goal in ((World(obstacles=(wall,)), (0.0, 0.5, 0.0)), (World(ground=ground), (0.0, 1.3, 0.0))):
        planner = StancePlanner(robot, world)
        plan = planner.plan(np.array(robot.home), goal, seed=0, limits=limits)
        assert not plan.solved
        assert len(plan.explored) <= limits.stances
        assert planner.model.statistics.states < 3 * limits.states
        assert "failed most" in plan.reason
        assert plan.explored
        assert plan.moves, "the way to the nearest stance is kept"
        assert plan.segments
        ended = np.linalg.norm(plan.graph.feet(plan.moves[-1].after) - plan.graph.feet(plan.goal), axis=1).sum()
        began = np.linalg.norm(plan.graph.feet(plan.start) - plan.graph.feet(plan.goal), axis=1).sum()
        assert ended < began


@pytest.mark.slow
def test_without_a_rail_a_humanoid_lifts_no_foot_under_a_wide_margin() -> None:
    robot = sf.load("g1:hands")
    world = World(ground=(GroundPlane(), GroundBox((1.0, 1.0, 0.1), placement((0.75, 0.0, 0.05)))))
    planner = StancePlanner(robot, world, RAIL_MARGINS, Sampling(edge=0.01, bases=200))
    plan = planner.plan(np.array(robot.home), (0.6, 0.0, 0.0), seed=0)
    assert not plan.solved
    assert "balance" in plan.reason
    assert len(plan.explored) == 1
