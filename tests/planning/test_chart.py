"""The charts of limbs against Pinocchio, and against each other."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest

import surefoot as sf
from surefoot.errors import NotSupportedError
from surefoot.planning import LimbChart, limb_angles, limbs_of
from surefoot.planning.iterated import IteratedLimb


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


def test_iterated_limbs_find_the_angles_of_the_closed_form() -> None:
    robot = sf.load("hexapod")
    rng = np.random.default_rng(1)
    for closed in limbs_of(robot)[:2]:
        iterated = IteratedLimb.of(robot, closed.contact, list(closed.bodies))
        np.testing.assert_allclose(iterated.forward(closed.home), closed.forward(closed.home), atol=1e-12)
        for angles in closed.home + rng.uniform(-0.4, 0.4, size=(5, 3)):
            foot = closed.forward(angles)
            found, reach = iterated.angles(np.eye(3), foot)
            assert reach > 0.9
            np.testing.assert_allclose(found, limb_angles(closed, foot)[0], atol=1e-9)
        _, reach = iterated.angles(np.eye(3), np.array([0.0, 0.0, 5.0]))
        assert reach < 0.0


def test_feet_and_hands_of_a_humanoid_are_those_of_pinocchio() -> None:
    robot = sf.load("g1:hands")
    limbs, q = limbs_of(robot), np.array(robot.home)
    turn, place = pin.rpy.rpyToMatrix(0.05, 0.1, -0.1), np.array([0.02, -0.03, 0.72])
    q[:3], q[3:7] = place, pin.Quaternion(turn).coeffs()
    feet = [limb.forward(limb.home) + place + [0.08, 0.02, 0.04] for limb in limbs]
    feet[0][2], feet[1][2] = 0.0, 0.0
    for limb, foot in zip(limbs, feet, strict=True):
        q[list(limb.rows)], reach = limb.angles(turn, turn.T @ (foot - place))
        assert reach > 0.9
    frames = robot.placements(q)
    for limb, foot in zip(limbs, feet, strict=True):
        surface = robot.contacts[limb.contact]
        T = frames[surface.frame] @ surface.placement
        np.testing.assert_allclose(T[:3, 3] + surface.radius * T[:3, 2], foot, atol=1e-6)
        if limb.sole is not None:
            np.testing.assert_allclose(T[:3, :3], limb.sole, atol=1e-6)


def test_limbs_with_too_few_joints_are_refused() -> None:
    robot = sf.load("g1:hands")
    foot = limbs_of(robot)[0]
    with pytest.raises(NotSupportedError, match="5 joints of its own; planning needs 6"):
        IteratedLimb.of(robot, foot.contact, list(foot.bodies[1:]))
