"""Steps and rates of configurations, for all joint kinds, against Pinocchio."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest

import surefoot as sf
from surefoot.kinematics import configuration_rate, integrate


@pytest.mark.parametrize("name", ["g1", "panda", "tiago", "double_pendulum_continuous", "hector"])
def test_against_pinocchio(name: str) -> None:
    robot = sf.load(name)
    rng = np.random.default_rng(0)
    q = pin.integrate(robot.model, robot.neutral, rng.normal(size=robot.nv))
    v = rng.normal(size=robot.nv)
    np.testing.assert_allclose(integrate(robot.tree, q, v), pin.integrate(robot.model, q, v), atol=1e-12)
    h = 1e-6
    slope = (pin.integrate(robot.model, q, h * v) - pin.integrate(robot.model, q, -h * v)) / (2 * h)
    np.testing.assert_allclose(configuration_rate(robot.tree, q, v), slope, atol=1e-8)
