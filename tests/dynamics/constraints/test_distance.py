"""Points at a fixed distance: derivatives, the pendulum in Cartesian coordinates."""

import numpy as np
import pinocchio as pin
import pytest

from surefoot.dynamics.constraints.constraints import Constraints
from surefoot.dynamics.constraints.distance import distance
from surefoot.dynamics.methods.forward import constrained_forward
from surefoot.errors import ModelError, ShapeError
from surefoot.robot import Joint, Link, Robot, placement
from tests.dynamics.examples import armed, moved, state, traced


def flying_mass() -> Robot:
    """A point of 1 kg; q is its way from (1, 0, 0)."""
    joint = Joint("position", "translation", placement((1.0, 0.0, 0.0)))
    return Robot.from_tree("mass", [Link("mass", None, joint, 1.0, inertia=1e-9 * np.eye(3))], "fixed", drives=())


@pytest.mark.parametrize("to", ["universe", "l2"])
def test_jacobian_and_bias_are_the_derivatives(to):
    robot = armed()
    rod = distance(robot, "rod", "l5", 0.4, to, (0.1, 0.2, 0.3))
    q, v, _ = state(robot, 1)
    h = 1e-5
    ends = [moved(robot, q, v, t) for t in (-h, h)]
    r, J = rod.residual(robot.tree, q), rod.jacobian(robot.tree, q)
    low, high = (rod.residual(robot.tree, x) for x in ends)
    assert (high - low) / (2 * h) == pytest.approx(J @ v, rel=1e-7)
    low, high = (rod.jacobian(robot.tree, x) @ v for x in ends)
    assert (high - low) / (2 * h) == pytest.approx(rod.bias(robot.tree, q, v), rel=1e-6)
    np.testing.assert_allclose(traced(lambda q, v: rod.bias(robot.tree, q, v), q, v), rod.bias(robot.tree, q, v))
    T = robot.placements(q)
    other = (np.eye(4) if to == "universe" else T[to]) @ [0.1, 0.2, 0.3, 1.0]
    assert r[0] == pytest.approx(np.linalg.norm(T["l5"][:3, 3] - other[:3]) - 0.4)


def test_pendulum_in_cartesian_coordinates():
    """At angle φ with speed w: a = -g sin φ along the circle and w² inwards; the rod pulls with m (g cos φ + w²)."""
    robot = flying_mass()
    ties = Constraints((distance(robot, "rod", "mass", 1.0),))
    phi, w = 0.7, 1.3
    r, t = np.array([np.sin(phi), 0.0, -np.cos(phi)]), np.array([np.cos(phi), 0.0, np.sin(phi)])
    a, multipliers = constrained_forward(robot.tree, ties, r - [1.0, 0.0, 0.0], w * t, np.zeros(3))
    np.testing.assert_allclose(a, -9.81 * np.sin(phi) * t - w**2 * r, atol=1e-12)
    assert multipliers[0] == pytest.approx(-(9.81 * np.cos(phi) + w**2))
    assert pin.computeTotalMass(robot.model) == 1.0


def test_home_of_the_mass_is_the_horizontal_rod():
    robot = flying_mass()
    np.testing.assert_allclose(distance(robot, "rod", "mass", 1.0).residual(robot.tree, np.array(robot.home)), 0.0)


@pytest.mark.parametrize("length", [0.0, -1.0, np.inf])
def test_wrong_lengths(length):
    with pytest.raises(ModelError):
        distance(flying_mass(), "rod", "mass", length)


def test_ends_that_meet_have_no_direction():
    robot = armed()
    rod = distance(robot, "rod", "l5", 0.4, "l5")
    with pytest.raises(ModelError, match="`rod`"):
        rod.jacobian(robot.tree, robot.neutral)


@pytest.mark.parametrize(("change", "error"), [({"length": "1"}, ModelError), ({"at": (0.0, 0.0)}, ShapeError)])
def test_what_is_no_rod_is_refused(change, error):
    with pytest.raises(error):
        distance(**({"robot": armed(), "name": "rod", "frame": "l5", "length": 1.0} | change))
