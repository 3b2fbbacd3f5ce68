import numpy as np
import pinocchio as pin
import pytest

from surefoot.kinematics import integrate
from surefoot.sim.native.manifold import tangent_rate

from ..examples import every_joint

ROBOT = every_joint()


def some_q(seed):
    rng = np.random.default_rng(seed)
    return pin.integrate(ROBOT.model, np.array(ROBOT.neutral), rng.uniform(-2.0, 2.0, ROBOT.nv)), rng


@pytest.mark.parametrize("size", [1e-9, 1e-3, 1.0, 4.0])
def test_steps_are_those_of_pinocchio(size):
    q, rng = some_q(1)
    u = size * rng.standard_normal(ROBOT.nv)
    found, expected = integrate(ROBOT.tree, q, u), pin.integrate(ROBOT.model, q, u)
    np.testing.assert_allclose(pin.difference(ROBOT.model, expected, found), 0.0, atol=2e-13)


def test_quaternions_stay_of_unit_length():
    q, rng = some_q(2)
    for _ in range(1000):
        q = integrate(ROBOT.tree, q, 0.1 * rng.standard_normal(ROBOT.nv))
    assert pin.isNormalized(ROBOT.model, q, 1e-14)


def test_the_rate_of_the_step_gives_the_velocity():
    """d/dt (q ⊕ u) is v, with an error of the fourth order in u."""
    q, rng = some_q(3)
    direction, v, d, errors = rng.standard_normal(ROBOT.nv), rng.standard_normal(ROBOT.nv), 1e-5, []
    for size in (0.1, 0.2):
        u = size * direction
        rate = tangent_rate(ROBOT.tree, u, v)
        ends = [integrate(ROBOT.tree, q, u + sign * d * rate) for sign in (-1.0, 1.0)]
        errors.append(np.abs(pin.difference(ROBOT.model, *ends) / (2.0 * d) - v).max())
    assert errors[0] < 1e-4
    assert errors[1] / errors[0] == pytest.approx(16.0, rel=0.15)
