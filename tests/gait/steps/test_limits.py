"""Step limits of real robots, and refusals with reasons."""

from __future__ import annotations

import numpy as np
import pytest

from surefoot.errors import NotSupportedError, ShapeError, UnknownNameError
from surefoot.gait import StepLimits, stance_of
from surefoot.robot import load
from tests.gait.steps.walks import BIPEDS, limits_of, require_lawful, robot_of, standing, step_at


@pytest.mark.parametrize("name", [*BIPEDS, "talos_legs", "g1_with_hands", "romeo", "bolt"])
def test_nominal_stance_is_that_at_home(name: str) -> None:
    limits, (left, right) = limits_of(name), standing(name)
    assert (left.foot, right.foot) == (limits.left, limits.right)
    seen = np.linalg.inv(right.T) @ left.T
    assert seen[1, 3] == pytest.approx(limits.width, abs=1e-3)
    require_lawful(limits, right, [step_at(left.foot, *limits.place(limits.left, limits.body(limits.right, pose)))
                                   for pose in [(right.T[0, 3], right.T[1, 3], right.yaw)]])  # fmt: skip


def test_icub_looks_to_minus_x() -> None:
    left, _ = stance_of(robot_of("icub"), robot_of("icub").home)
    assert abs(left.yaw) == pytest.approx(np.pi)


@pytest.mark.parametrize("name", BIPEDS)
def test_clipped_steps_keep_the_limits_and_possible_ones_stay(name: str) -> None:
    limits, rng = limits_of(name), np.random.default_rng(1)
    for foot in (limits.left, limits.right):
        support = (0.3, -0.2, 0.7)
        standing_foot = step_at(limits.other(foot), *support)
        for spread in (0.3, 3.0):
            for _ in range(100):
                pose = limits.landing(foot, support, *(spread * limits.leg * rng.normal(size=3)))
                landing = limits.clipped(foot, support, pose)
                require_lawful(limits, standing_foot, [step_at(foot, *landing)])
                assert limits.trouble(foot, support, landing) == ""
                assert limits.clipped(foot, support, landing) == pytest.approx(landing, abs=1e-9)
                if not limits.trouble(foot, support, pose):
                    assert landing == pytest.approx(pose, abs=1e-9)


def test_a_step_of_a_metre_is_not_possible() -> None:
    limits = limits_of("g1")
    text = limits.trouble(limits.left, (0.0, 0.0, 0.0), limits.landing(limits.left, (0.0, 0.0, 0.0), 1.0, 0.0, 0.0))
    assert text.startswith(
        "+1.000 m ahead, +0.000 m outward and +0.000 rad turned are beyond the reach of a step (0.238"
    )
    crossing = limits.trouble(limits.left, (0.0, 0.0, 0.0), (0.1, -0.05, 0.0))
    assert "they would cross" in crossing
    assert "in height" in limits.trouble(limits.left, (0.0, 0.0, 0.0), (0.0, limits.width, 0.0), 0.5)


def test_limits_can_be_given() -> None:
    assert StepLimits.of(robot_of("g1"), forward=0.4).forward == 0.4
    with pytest.raises(UnknownNameError, match="did you mean `forward`"):
        StepLimits.of(robot_of("g1"), forwards=0.4)
    with pytest.raises(ShapeError, match=r"`forward` of step limits is -0\.4"):
        StepLimits.of(robot_of("g1"), forward=-0.4)
    with pytest.raises(ShapeError, match="narrower than the soles"):
        StepLimits.of(robot_of("g1"), width=0.01)
    with pytest.raises(UnknownNameError, match="no foot `tail`"):
        limits_of("g1").side("tail")


@pytest.mark.parametrize("name", ["anymal", "block"])
def test_robots_without_a_left_and_a_right_foot_are_refused(name: str) -> None:
    with pytest.raises(NotSupportedError, match="does not have one left and one right foot"):
        StepLimits.of(load(name))
