"""Laws of step sources: alternation, limits, goals reached exactly, from wherever the robot stands."""

from __future__ import annotations

import time

import numpy as np
import pytest

from surefoot.errors import NotSupportedError, ShapeError
from surefoot.gait import GoalSteps, PathSteps, PlannedSteps, StepLimits, VelocitySteps, all_steps, first_support
from surefoot.motion import Footstep, GroundPlane, StepSource, World
from tests.gait.steps.walks import BIPEDS, limits_of, require_lawful, standing, step_at

GOALS = [
    (3.0, 1.0, np.pi / 2),
    (0.0, 0.4, 0.0),
    (-0.5, 0.0, 0.0),
    (0.0, 0.0, 2.5),
    (-2.0, -2.0, 0.3),
    (0.05, 0.0, 0.1),
]


def final(stance: tuple[Footstep, Footstep], steps: tuple[Footstep, ...]) -> dict[str, np.ndarray]:
    return {step.foot: step.T for step in (*stance, *steps)}


def require_on(limits: StepLimits, feet: dict[str, np.ndarray], goal: tuple[float, float, float]) -> None:
    """Both feet stand side by side on the goal."""
    x, y, yaw = goal
    for foot, side in ((limits.left, 0.5), (limits.right, -0.5)):
        T = step_at(foot, x - side * limits.width * np.sin(yaw), y + side * limits.width * np.cos(yaw), yaw).T
        np.testing.assert_allclose(feet[foot][:2], T[:2], atol=1e-9)  # heights are those of the foot that stood


@pytest.mark.parametrize("name", BIPEDS)
@pytest.mark.parametrize("goal", GOALS)
def test_goals_are_reached_exactly(name: str, goal: tuple[float, float, float]) -> None:
    limits, stance = limits_of(name), standing(name)
    source = GoalSteps.from_stance(limits, stance, goal)
    assert isinstance(source, StepSource)
    support = first_support(source, limits, stance)
    steps = all_steps(source, support)
    require_lawful(limits, support, steps)
    require_on(limits, final(stance, steps), goal)
    ideal = np.hypot(*goal[:2]) / limits.forward + np.pi / (0.5 * limits.turn_out)  # turning once around at most twice
    assert len(steps) < 3.0 * ideal + 8


@pytest.mark.parametrize("name", BIPEDS)
def test_random_goals_are_reached_from_random_stances(name: str) -> None:
    limits, rng = limits_of(name), np.random.default_rng(3)
    for _ in range(40):
        support = step_at(limits.right, *rng.uniform(-1.0, 1.0, 2), rng.uniform(-3.0, 3.0))
        pose = (support.T[0, 3], support.T[1, 3], support.yaw)
        swing = limits.clipped(limits.left, pose, limits.landing(limits.left, pose, *rng.normal(size=3)))
        stance = (step_at(limits.left, *swing), support)
        goal = (*rng.uniform(-2.0, 2.0, 2), rng.uniform(-3.0, 3.0))
        source = GoalSteps.from_stance(limits, stance, goal)
        first = first_support(source, limits, stance)
        steps = all_steps(source, first)
        require_lawful(limits, first, steps)
        require_on(limits, final(stance, steps), goal)


@pytest.mark.parametrize("name", ["g1", "lola"])
def test_walks_pushed_off_their_way_still_end_on_the_goal(name: str) -> None:
    """Every landing misses its place at random; the last steps are exact."""
    limits, stance, rng = limits_of(name), standing(name), np.random.default_rng(5)
    goal = (3.0, -1.6, -1.0)
    direct = GoalSteps.from_stance(limits, stance, goal)
    support = first_support(direct, limits, stance)
    path = PathSteps(limits, [(0.0, 0.0), (1.6, 0.0), (3.0, -1.6)])
    planned = PlannedSteps(limits, stance, all_steps(direct, support))
    for source in (direct, path, planned):
        feet, here = final(stance, ()), first_support(source, limits, stance)
        for k in range(200):
            steps = source.upcoming(0.0, here, 3)
            require_lawful(limits, here, steps)
            if not steps:
                break
            x, y, yaw = *steps[0].position[:2], steps[0].yaw
            miss = rng.normal(size=3) * [0.02, 0.02, 0.04] if k < 8 else np.zeros(3)
            here = step_at(steps[0].foot, x + miss[0], y + miss[1], yaw + miss[2])
            feet[here.foot] = here.T
        assert 8 < k < 199
        end = goal if source is not path else (3.0, -1.6, np.arctan2(-1.6, 1.4))
        require_on(limits, feet, end)


def test_the_first_step_makes_way() -> None:
    limits, stance = limits_of("g1"), standing("g1")
    for y, first in ((0.3, limits.left), (-0.3, limits.right)):
        source = GoalSteps.from_stance(limits, stance, (0.0, y, 0.0))
        support = first_support(source, limits, stance)
        steps = all_steps(source, support)
        assert steps[0].foot == first
        assert np.linalg.norm(steps[0].position - final(stance, ())[first][:3, 3]) > 0.05


def test_one_who_stands_on_the_goal_does_not_step() -> None:
    limits, stance = limits_of("g1"), standing("g1")
    middle = 0.5 * (stance[0].position + stance[1].position)
    source = GoalSteps.from_stance(limits, stance, (middle[0], middle[1], 0.0))
    assert source.upcoming(0.0, first_support(source, limits, stance), 3) == ()


@pytest.mark.parametrize("name", BIPEDS)
@pytest.mark.parametrize(
    "rate", [(0.2, 0.0, 0.0), (0.0, 0.05, 0.0), (0.0, -0.05, 0.0), (0.0, 0.0, 0.2), (-0.08, 0.02, -0.1)]
)
def test_velocities_are_kept_on_average(name: str, rate: tuple[float, float, float]) -> None:
    limits, left = limits_of(name), step_at(limits_of(name).left, 0.3, 0.2, 1.0)
    share = limits.leg / 0.7  # slower for a small robot
    rate = (rate[0] * share, rate[1] * share, rate[2])
    source = VelocitySteps(limits, [(0.0, *rate)], step_time=0.7)
    steps = source.upcoming(0.0, left, 20)
    require_lawful(limits, left, steps)
    assert len(steps) == 20
    assert steps[-1].foot == left.foot
    whole = np.linalg.inv(left.T) @ steps[-1].T
    T = np.eye(4)
    for _ in range(10):  # two steps of the same foot at a time
        c, s = np.cos(2 * 0.7 * rate[2]), np.sin(2 * 0.7 * rate[2])
        T = T @ np.array([[c, -s, 0, 1.4 * rate[0]], [s, c, 0, 1.4 * rate[1]], [0, 0, 1, 0], [0, 0, 0, 1]])
    assert np.arctan2(whole[1, 0], whole[0, 0]) == pytest.approx(np.arctan2(T[1, 0], T[0, 0]), abs=1e-6)
    if rate[2] == 0.0:
        np.testing.assert_allclose(whole[:3, 3], T[:3, 3], atol=1e-9)


def test_a_zero_command_stops_within_one_step() -> None:
    """The command ends at any time within a step; the next step closes up, and after it there is none."""
    limits, (left, right) = limits_of("g1"), standing("g1")
    for ended in np.arange(2.05, 3.4, 0.1):
        source = VelocitySteps(limits, [(0.0, 0.3, 0.0, 0.0), (ended, 0.0, 0.0, 0.0)], step_time=0.7)
        feet, support, after = {left.foot: left, right.foot: right}, right, 0
        for k in range(10):
            steps = source.upcoming(0.7 * k, support, 3)
            after += bool(steps) and 0.7 * k >= ended
            if steps:
                support = steps[0]
                feet[support.foot] = support
        assert after == 1
        seen = np.linalg.inv(feet[right.foot].T) @ feet[left.foot].T
        np.testing.assert_allclose(seen[:3, 3], (0.0, limits.width, 0.0), atol=1e-9)
    assert VelocitySteps(limits, [(1.0, 0.3, 0.0, 0.0)], 0.7).upcoming(0.5, left, 3) == ()


def test_a_joystick_speaks_while_the_robot_walks() -> None:
    limits, (left, _) = limits_of("g1"), standing("g1")
    source = VelocitySteps(limits, np.zeros((0, 4)), 0.7)
    assert source.upcoming(0.0, left, 2) == ()
    source.command(0.1, 0.2, 0.0, 0.0)
    ahead = source.upcoming(0.1, left, 2)
    assert len(ahead) == 2
    source.command(0.2, -0.1, 0.0, 0.0)
    assert source.upcoming(0.2, left, 1)[0].position[0] < left.position[0] < ahead[0].position[0]
    with pytest.raises(ShapeError, match="does not come after the last one"):
        source.command(0.2, 0.0, 0.0, 0.0)


@pytest.mark.parametrize("name", BIPEDS)
def test_paths_are_followed_to_their_end(name: str) -> None:
    limits, stance = limits_of(name), standing(name)
    leg = limits.leg
    corners = np.array([(0.0, 0.0), (2.0, 0.0), (2.0, 2.0), (4.0, 2.0)]) * leg
    source = PathSteps(limits, corners)
    support = first_support(source, limits, stance)
    steps = all_steps(source, support)
    require_lawful(limits, support, steps)
    require_on(limits, final(stance, steps), (4.0 * leg, 2.0 * leg, 0.0))
    bodies = np.array([limits.body(s.foot, (s.T[0, 3], s.T[1, 3], s.yaw))[:2] for s in steps[6:]])
    starts, ends = corners[:-1], corners[1:]
    share = np.clip(np.einsum("nkd,kd->nk", bodies[:, None] - starts, ends - starts) / (2.0 * leg) ** 2, 0.0, 1.0)
    gaps = np.linalg.norm(bodies[:, None] - starts - share[..., None] * (ends - starts), axis=2).min(axis=1)
    assert gaps.max() < 0.35 * leg


def test_a_path_of_poses_is_walked_as_it_looks() -> None:
    limits, stance = limits_of("talos"), standing("talos")
    source = PathSteps(limits, [(0.0, 0.0, 0.0), (0.0, 1.0, 0.0)])  # sideways
    steps = all_steps(source, first_support(source, limits, stance))
    assert max(abs(step.yaw) for step in steps) < 1e-9
    require_on(limits, final(stance, steps), (0.0, 1.0, 0.0))
    with pytest.raises(ShapeError, match="two points"):
        PathSteps(limits, [(0.0, 0.0)])
    with pytest.raises(ShapeError, match="the same"):
        PathSteps(limits, [(1.0, 0.0), (1.0, 0.0)])


def test_plans_are_refused_with_the_step_that_is_wrong() -> None:
    limits, (left, right) = limits_of("g1"), standing("g1")
    x, y = left.position[:2]
    with pytest.raises(
        NotSupportedError, match=r"step 1 of the plan \(`left_ankle_roll_link`\) is not possible: .1.000 m"
    ):
        PlannedSteps(limits, (left, right), [step_at(left.foot, x + 1.0, y, 0.0)])
    twice = [step_at(left.foot, x + 0.1, y, 0.0), step_at(left.foot, x + 0.2, y, 0.0)]
    with pytest.raises(ShapeError, match="steps 1 and 2 of the plan are both of"):
        PlannedSteps(limits, (left, right), twice)
    there_and_back = [step_at(*((left.foot, x + d, y) if k % 2 == 0 else (right.foot, x + d, -y)), 0.0)
                      for k, d in enumerate((0.1, 0.2, 0.3, 0.3, 0.2, 0.2, 0.1))]  # fmt: skip
    with pytest.raises(NotSupportedError, match="at the same place"):
        PlannedSteps(limits, (left, right), there_and_back)


def test_a_plan_that_ends_apart_is_closed_and_keeps_its_heights() -> None:
    limits, (left, right) = limits_of("g1"), standing("g1")
    x, y = left.position[:2]
    plan = [step_at(left.foot, x + 0.15, y, 0.0, 0.05), step_at(right.foot, x + 0.3, -y, 0.0, 0.10)]
    source = PlannedSteps(limits, (left, right), plan)
    steps = all_steps(source, right)
    assert [step.foot for step in steps] == [left.foot, right.foot, left.foot]
    np.testing.assert_allclose([step.T[2, 3] for step in steps], (0.05, 0.10, 0.10), atol=1e-9)
    require_on(limits, final((left, right), steps), (x + 0.3, 0.0, 0.0))
    sunk = Footstep(right.foot, right.T - [[0] * 4, [0] * 4, [0, 0, 0, 0.01], [0] * 4])
    assert source.upcoming(0.0, sunk, 1)[0].T[2, 3] == pytest.approx(0.04)  # heights count from the foot that stands


def test_feet_lie_on_slopes() -> None:
    limits, stance = limits_of("g1"), standing("g1")
    source = GoalSteps(limits, (1.0, 0.0, 0.5), world=World(ground=(GroundPlane(normal=(-0.1, 0.0, 1.0)),)))
    normal = np.array([-0.1, 0.0, 1.0]) / np.hypot(0.1, 1.0)
    for step in source.upcoming(0.0, stance[0], 5):
        np.testing.assert_allclose(step.T[:3, 2], normal, atol=1e-9)
        assert step.T[2, 3] - 0.1 * step.T[0, 3] == pytest.approx(-0.1 * stance[0].T[0, 3], abs=1e-9)


def test_walks_that_do_not_end_are_refused() -> None:
    limits, (left, _) = limits_of("g1"), standing("g1")
    with pytest.raises(NotSupportedError, match="does not end within 50 steps"):
        all_steps(VelocitySteps(limits, [(0.0, 0.2, 0.0, 0.0)], 0.7), left, most=50)


def test_sources_are_fast_enough_for_the_control_loop() -> None:
    limits, stance = limits_of("talos"), standing("talos")
    goal = GoalSteps.from_stance(limits, stance, (5.0, 2.0, 1.0))
    support = first_support(goal, limits, stance)
    sources = [
        goal,
        PathSteps(limits, [(0.0, 0.0), (1.0, 0.0), (2.0, 1.0)]),
        VelocitySteps(limits, [(0.0, 0.2, 0.0, 0.1)], 0.7),
        PlannedSteps(limits, stance, all_steps(goal, support)),
    ]
    for source in sources:
        best = np.inf
        for _ in range(50):
            start = time.perf_counter()
            source.upcoming(0.0, support, 3)
            best = min(best, time.perf_counter() - start)
        assert best < 0.4e-3  # 0.2 ms on a machine that does nothing else
