"""Ways until rest: what a loop over ticks of braking gives, and one tick later the rest of the same way."""

from __future__ import annotations

import numpy as np
import pytest

import surefoot as sf
from surefoot.collision import CollisionModel
from surefoot.geometry import SweptVolume
from surefoot.ik.avoidance import AvoidingStepper, VelocityDamper
from surefoot.ik.avoidance.braking import Braking
from surefoot.robot import BodyVolume
from surefoot.tasks import Posture

DT = 0.01


def braking(acceleration: np.ndarray | float) -> tuple[Braking, CollisionModel]:
    robot = sf.load("arm4")
    line = SweptVolume([[0.0, 0.0, 0.0], [0.25, 0.0, 0.0]], 0.02)
    volumes = [BodyVolume(robot.body_of(f"link{i}"), line, f"link{i}") for i in range(1, 5)]
    model = CollisionModel(robot, None, volumes)
    task = [Posture(robot)]
    return AvoidingStepper(
        robot, task, DT, model, VelocityDamper(0.1, 0.02, 0.5), acceleration=acceleration
    )._braking, model


@pytest.mark.parametrize("acceleration", [7.0, np.array([5.0, 9.0, 20.0, 3.0])])
def test_ways_are_those_of_a_loop_over_ticks(rng, acceleration) -> None:
    brake, _ = braking(acceleration)
    a = np.broadcast_to(acceleration, 4)
    for u in rng.uniform(-3.0, 3.0, (20, 4)):
        ticks, way, speed, found = np.arange(120.0), u * DT, np.abs(u), [u * DT]
        for _ in ticks[1:]:
            speed = np.maximum(speed - a * DT, 0.0)
            way = way + np.sign(u) * speed * DT
            found.append(way)
        np.testing.assert_allclose(brake.ways(u, ticks), found, atol=1e-13)
        last = int(brake.ticks(u)[-1])
        np.testing.assert_allclose(found[last], found[-1], atol=1e-13)  # the last sample is at rest
        assert brake.ticks(u)[0] == 0.0
        assert (np.abs(brake.slower(u) - u) <= a * DT + 1e-15).all()


def test_one_tick_of_braking_leaves_the_rest_of_the_way(rng) -> None:
    brake, model = braking(8.0)
    for u in rng.uniform(-2.0, 2.0, (20, 4)):
        q = rng.uniform(-1.0, 1.0, 4)
        path = brake.path(model, q, u, np.inf)
        again = brake.from_now(model, path.postures[0], u, np.inf)
        np.testing.assert_allclose(again.postures, path.postures, atol=1e-12)
        np.testing.assert_allclose(again.distances, path.distances, atol=1e-9)
        rest = brake.after_braking(path)
        np.testing.assert_allclose(path.postures[0] + brake.ways(rest.u, rest.ticks), rest.postures, atol=1e-12)


def test_slopes_are_derivatives_of_the_ways(rng) -> None:
    """Between a finite difference over many ticks and one over none: the number of ticks is a whole one."""
    brake, model = braking(8.0)
    u, h = np.array([1.3, -0.7, 2.1, 0.4]), 1e-6
    path = brake.path(model, np.zeros(4), u, np.inf)
    shift = h * np.sign(u)
    slopes = (brake.ways(u + shift, path.ticks) - brake.ways(u - shift, path.ticks)) / (2.0 * shift)
    assert np.abs(path.slopes - slopes).max() < DT + 1e-9


def test_without_limits_everything_stops_at_once() -> None:
    brake, _ = braking(np.inf)
    u = np.array([30.0, -2.0, 0.0, 5.0])
    assert brake.ticks(u).tolist() == [0.0]
    np.testing.assert_allclose(brake.ways(u, np.arange(3.0)), np.tile(u * DT, (3, 1)))
    assert not brake.slower(u).any()


def test_what_others_carry_slows_down_together() -> None:
    brake, _ = braking(np.array([np.inf, np.inf, 10.0, 4.0]))
    u = np.array([0.8, -0.2, 1.0, 0.0])
    slow = brake.slower(u)
    np.testing.assert_allclose(slow[0] / u[0], slow[1] / u[1])
    assert 0.0 < slow[0] < u[0]
    np.testing.assert_allclose(brake.steps(slow), brake.steps(u))
    np.testing.assert_allclose(slow[2], 0.9)
