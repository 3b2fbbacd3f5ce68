import numpy as np
import pinocchio as pin
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from surefoot.control.static_balance import SoleCorners
from surefoot.robot.load import load


@pytest.mark.parametrize("name", ["g1", "hexapod"])
def test_jacobian_against_differences(name):
    robot = load(name)
    q = pin.integrate(robot.model, np.array(robot.home), 0.2 * np.random.default_rng(0).standard_normal(robot.nv))
    J = SoleCorners(robot, tuple(robot.contacts)).jacobian(q)

    def corners(q):
        return np.vstack(list(robot.contact_corners(q).values())).ravel()

    for k in range(0, robot.nv, 5):
        step = 1e-6 * np.eye(robot.nv)[k]
        ahead, behind = (corners(pin.integrate(robot.model, q, s * step)) for s in (1.0, -1.0))
        assert_allclose(J[:, k], (ahead - behind) / 2e-6, atol=1e-7)


def test_each_corner_has_the_friction_of_its_sole():
    robot = load("talos")
    names = tuple(robot.contacts)
    corners = SoleCorners(robot, names)
    wanted = [robot.contacts[name].friction for name in names for _ in robot.contacts[name].corners]
    assert_array_equal(corners.friction, wanted)
    assert corners.jacobian(np.array(robot.home)).shape == (3 * len(wanted), robot.nv)


def test_no_contacts():
    robot = load("talos")
    assert SoleCorners(robot, ()).jacobian(np.array(robot.home)).shape == (0, robot.nv)
