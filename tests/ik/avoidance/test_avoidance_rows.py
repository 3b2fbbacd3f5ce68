"""Rows ahead are the linear part of the distance where joints come to rest; braking always satisfies them."""

from __future__ import annotations

import numpy as np

import surefoot as sf
from surefoot.collision import CollisionModel
from surefoot.geometry import Sphere, SweptVolume
from surefoot.ik.avoidance import AvoidingStepper, VelocityDamper
from surefoot.ik.avoidance.stepper import AvoidanceRows
from surefoot.motion import Obstacle, World
from surefoot.robot import BodyVolume, placement
from surefoot.tasks import Posture

DT = 0.01
DAMPER = VelocityDamper(0.5, 0.02, 0.5, 6)


def scene(rng) -> tuple[AvoidingStepper, np.ndarray, np.ndarray]:
    robot = sf.load("arm4")
    line = SweptVolume([[0.0, 0.0, 0.0], [0.25, 0.0, 0.0]], 0.02)
    volumes = [BodyVolume(robot.body_of(f"link{i}"), line, f"link{i}") for i in range(1, 5)]
    world = World(ground=(), obstacles=(Obstacle("ball", Sphere(0.06), placement((0.6, 0.0, 0.4))),))
    stepper = AvoidingStepper(
        robot, [Posture(robot)], DT, CollisionModel(robot, world, volumes), DAMPER, acceleration=8.0
    )
    return stepper, rng.uniform(-1.0, 1.0, 4), rng.uniform(-1.5, 1.5, 4)


def rows_at(stepper: AvoidingStepper, q: np.ndarray, u: np.ndarray) -> AvoidanceRows:
    brake, model = stepper._braking, stepper.model
    path = brake.from_now(model, q, u, np.inf)
    allowed = np.full(len(model.names), DAMPER.security)
    S = stepper._rows.motion.S
    return AvoidanceRows(model, DAMPER, S, DT, allowed, path, brake.after_braking(path))


def test_rows_ahead_tell_the_distance_at_rest(rng) -> None:
    checked = 0
    for _ in range(10):
        stepper, q, u = scene(rng)
        rows = rows_at(stepper, q, u)
        path = stepper._braking.path(stepper.model, q, u, np.inf)
        columns = np.flatnonzero(path.least < DAMPER.influence)
        slopes, _ = rows._at_rest(path, columns)
        for k, column in enumerate(columns):
            sample = int(np.argmin(path.distances[:, column]))
            step = 1e-6 * rng.standard_normal(4)
            time = DT * (1.0 + path.ticks[sample])
            ends = [path.postures[sample] + side * path.slopes[sample] * step for side in (-1.0, 1.0)]
            change = np.diff([stepper.model.distances(end)[column] for end in ends])[0] / 2.0
            np.testing.assert_allclose(time * (slopes[k] @ step), change, atol=1e-9)
            checked += 1
    assert checked > 10


def test_braking_satisfies_every_row_while_nothing_is_too_near(rng) -> None:
    seen = 0
    for _ in range(40):
        stepper, q, u = scene(rng)
        rows = rows_at(stepper, q, u)
        if (rows.path.distances[0] < rows.allowed).any():
            continue
        A, lower = rows.filled()
        assert A.shape == (2 * DAMPER.nearest, 4)
        assert (A @ rows.braked.u >= lower - 1e-12).all()
        assert not rows.short(stepper._braking.path(stepper.model, q, rows.braked.u, np.inf), 0.0).any()
        seen += 1
    assert seen > 10


def test_what_leads_too_near_is_named_and_ruled_out(rng) -> None:
    """Straight at the ball, faster than joints can brake."""
    stepper, q, _ = scene(rng)
    q = np.array([0.2, 0.0, 0.0, 0.0])
    rows = rows_at(stepper, q, np.zeros(4))
    for speed in np.linspace(-4.0, 4.0, 81):
        path = stepper._braking.path(stepper.model, q, np.array([speed, 0.0, 0.0, 0.0]), np.inf)
        short = rows.short(path, 0.0)
        assert short.any() == bool((path.least < np.minimum(DAMPER.security, rows.path.least - 1e-6)).any())
        if short.any():
            rows.tighten(path, np.flatnonzero(short))
            A, lower = rows.filled()
            assert (A @ path.u < lower).any()
            return
    raise AssertionError("no speed led too near")
