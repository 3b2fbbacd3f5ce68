"""Hands press with the force that is asked for, whatever their sensors read in the air."""

import numpy as np

import surefoot as sf
from surefoot.control.balance.pressing import PressingForces


def _pressed(bias, seconds=4.0, dt=0.002, loss=0.6):
    """Force on the wall at the end: friction in the arm takes some newtons of what is commanded."""
    robot = sf.load("small-humanoid")
    name = next(iter(robot.contacts))
    forces, q, force, reading = PressingForces(robot), np.array(robot.home), 0.0, np.zeros(6)
    normal = robot.placements(q)[robot.contacts[name].frame][:3, :3] @ robot.contacts[name].placement[:3, 2]
    for k in range(int(seconds / dt)):
        asked = 0.0 if k * dt < 1.0 else 2.0
        reading[:3] = [0.0, 0.0, force]
        forces.observe({f"contact.{name}.wrench": reading + bias})
        force = max(0.0, forces.commanded(name, asked, dt, q, normal) - loss)
    return force


def test_an_integral_overcomes_friction():
    assert abs(_pressed(np.zeros(6)) - 2.0) < 1e-3


def test_a_bias_of_the_sensor_is_taken_as_zero():
    assert abs(_pressed(np.array([-1.5, 0.3, 0.8, 0.0, 0.0, 0.0])) - 2.0) < 1e-3
