"""Newton's method: quadratic convergence, decrease of the error, and an honest end."""

from __future__ import annotations

import itertools

import numpy as np

import surefoot as sf
from surefoot.ik.position.newton import newton
from surefoot.tasks import CenterOfMass, Contact, FramePose


def test_it_converges_quadratically() -> None:
    robot = sf.load("panda")
    q = robot.home + np.array([0.3, -0.2, 0.25, 0.3, -0.2, 0.2, 0.3, 0.0, 0.0])
    T = robot.placements(q)["panda_hand_tcp"]
    task = [FramePose("panda_hand_tcp", T, name="hand")]
    errors = [max(newton(robot, task, most_steps=k).errors["hand"].values()) for k in range(1, 6)]
    assert errors[-1] < 1e-12
    assert any(b < 10.0 * a * a for a, b in itertools.pairwise(errors) if a < 0.1)
    assert newton(robot, task).success


def test_a_humanoid_and_what_cannot_be() -> None:
    robot = sf.load("g1")
    feet = [Contact(robot, name) for name in robot.contacts]
    com = sf.compile(robot).com(robot.home) + np.array([0.02, 0.0, -0.05])
    found = newton(robot, [*feet, CenterOfMass(com)])
    assert found.success
    np.testing.assert_allclose(sf.compile(robot).com(found.q), com, atol=1e-7)
    away = newton(robot, [*feet, CenterOfMass(com + np.array([0.0, 0.0, 5.0]))])
    assert not away.success
    assert away.errors["com"]["m"] > 1.0
