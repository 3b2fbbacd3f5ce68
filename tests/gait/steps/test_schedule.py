"""Steps as contact schedules and as trajectories of the feet."""

from __future__ import annotations

import numpy as np
import pytest

from surefoot.errors import ShapeError
from surefoot.gait import GoalSteps, StepTimes, all_steps, feet_trajectory, first_support, schedule_of
from surefoot.spatial import quaternion
from tests.gait.steps.walks import limits_of, robot_of, standing

TIMES = StepTimes(single=0.5, double=0.1, start=0.3, end=0.4)


def walk(name: str):
    limits, stance = limits_of(name), standing(name)
    source = GoalSteps.from_stance(limits, stance, (0.6, 0.2, 0.5))
    return stance, all_steps(source, first_support(source, limits, stance))


@pytest.mark.parametrize("name", ["g1", "lola"])
def test_schedule(name: str) -> None:
    robot, (stance, steps) = robot_of(name), walk(name)
    schedule = schedule_of(robot, stance, steps, TIMES, friction=0.5)
    assert len(schedule.phases) == 2 * len(steps) + 1
    assert schedule.end == pytest.approx(0.3 + 0.6 * len(steps) - 0.1 + 0.4)
    each = len(robot.contacts) // 2  # foot and toe of lola
    assert [len(phase.stance) for phase in schedule.phases] == [2 * each, each] * len(steps) + [2 * each]
    corners = robot.contact_corners(robot.home)
    for name_, spot in schedule.phases[0].stance.spots.items():  # at first where the robot stands
        placed = robot.contacts[name_].corners @ spot.pose[:3, :3].T + spot.pose[:3, 3]
        np.testing.assert_allclose(placed, corners[name_], atol=1e-9)
        assert spot.friction == 0.5
    assert {phase.stance.names for phase in schedule.phases[1::2]} == {
        tuple(c for c in robot.contacts if side in c) for side in ("left", "right")
    }
    with pytest.raises(ShapeError, match="needs a step"):
        schedule_of(robot, stance, (), TIMES)
    with pytest.raises(ShapeError, match="`single` of step times"):
        StepTimes(single=0.0)


def test_feet_rest_on_their_steps_and_swing_between_them() -> None:
    robot, (stance, steps) = robot_of("g1"), walk("g1")
    motion = feet_trajectory(robot, stance, steps, TIMES, lift=0.06, dt=0.005)
    assert motion.joints == tuple(step.foot for step in stance)
    for k, foot in enumerate(motion.joints):
        q, v = motion.q[:, 7 * k : 7 * k + 7], motion.v[:, 6 * k : 6 * k + 6]
        places = [step for step in (*stance, *steps) if step.foot == foot]
        np.testing.assert_allclose(q[0, :3], places[0].position, atol=1e-12)
        np.testing.assert_allclose(q[-1, :3], places[-1].position, atol=1e-12)
        np.testing.assert_allclose(quaternion.to_matrix(q[-1, 3:]), places[-1].T[:3, :3], atol=1e-9)
        assert q[:, 2].max() == pytest.approx(0.06, abs=1e-3)
        holding = [(a, b) for a, b in motion.schedule.active(foot)]
        for a, b in holding:
            inside = (motion.time >= a) & (motion.time <= b)
            assert np.abs(v[inside]).max() < 1e-9
            assert np.ptp(q[inside], axis=0).max() < 1e-9
        R = np.array([quaternion.to_matrix(x) for x in q[:, 3:]])
        rates = np.gradient(q[:, :3], motion.time, axis=0)
        np.testing.assert_allclose(np.einsum("nij,nj->ni", R, v[:, :3]), rates, atol=0.05)
        turned = np.einsum("nji,njk->nik", R[:-1], R[1:]) / 0.005
        np.testing.assert_allclose(v[:-1, 5], turned[:, 1, 0], atol=0.1)
