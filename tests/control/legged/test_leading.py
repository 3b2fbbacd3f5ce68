"""A robot bends its straight legs before it walks."""

from __future__ import annotations

import numpy as np
import pytest

import surefoot as sf
from surefoot.control.walking import WalkingController
from surefoot.gait import GoalSteps, StepLimits, stance_of


@pytest.mark.parametrize("name", ["g1", pytest.param("talos", marks=pytest.mark.slow)])
def test_feet_share_the_weight_evenly_while_straight_legs_bend(name):
    robot = sf.load(name)
    source = GoalSteps.from_stance(StepLimits.of(robot), stance_of(robot, robot.home), (0.3, 0.0, 0.0))
    log = sf.simulate(robot, WalkingController(robot, source), sf.World(), 0.2)
    left, right = (log[f"contact.{contact}.wrench"][10:, 2] for contact in robot.contacts)
    np.testing.assert_allclose(left / (left + right), 0.5, atol=0.05)
    assert log["com.height"][-1] < log["com.height"][0]
