"""The chart of three-joint limbs against Pinocchio."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest

import surefoot as sf
from surefoot.errors import NotSupportedError
from surefoot.planning import LimbChart, limb_angles, limbs_of


@pytest.mark.parametrize("name", ["hexapod", "go2", "anymal", "solo12"])
def test_feet_and_centre_of_mass_are_those_of_pinocchio(name: str) -> None:
    robot = sf.load(name)
    chart = LimbChart(robot)
    rng = np.random.default_rng(3)
    scale = 0.15 * float(robot.home[2])
    states = chart.home + scale * rng.normal(size=(300, chart.dimension))
    lifted = chart.lift(states)
    reached = np.flatnonzero((lifted.reach > 1e-6).all(axis=1))[:40]
    assert len(reached) > 10
    data = robot.model.createData()
    for k in reached:
        frames = robot.placements(lifted.q[k])
        for leg, contact in enumerate(chart.names):
            surface = robot.contacts[contact]
            T = frames[surface.frame] @ surface.placement
            centre = T[:3, 3] + surface.radius * T[:3, 2]
            np.testing.assert_allclose(centre, states[k, 6 + 3 * leg : 9 + 3 * leg], atol=1e-10)
        np.testing.assert_allclose(pin.centerOfMass(robot.model, data, lifted.q[k]), lifted.com[k], atol=1e-10)
        room = np.minimum(lifted.q[k] - robot.limits.lower, robot.limits.upper - lifted.q[k])[7:].min()
        assert lifted.limits[k].min() == pytest.approx(room, abs=1e-9)


def test_home_is_a_fixed_point_and_reach_ends_where_the_leg_is_straight() -> None:
    robot = sf.load("hexapod")
    chart = LimbChart(robot)
    np.testing.assert_allclose(chart.lift(chart.home[None]).q[0], robot.home, atol=1e-12)
    limb = limbs_of(robot)[0]
    straight = np.array([0.0, 0.3, limb.home[2]])
    for knee in (-1.0, 1.0):
        _, reach = limb_angles(limb, limb.forward(np.array([0.2, 0.1, knee])))
        assert reach > 0.0
    far = limb.origins[1] + 10.0 * (limb.forward(straight) - limb.origins[1])
    assert limb_angles(limb, far)[1] < 0.0


def test_other_limbs_are_refused() -> None:
    with pytest.raises(NotSupportedError, match="three revolute joints"):
        LimbChart(sf.load("talos"))
