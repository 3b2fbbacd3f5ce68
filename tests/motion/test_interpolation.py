"""Between samples: ends and end velocities are met, motions of constant twist are reproduced."""

from __future__ import annotations

import numpy as np
import pinocchio as pin

from surefoot.motion.exchange import configuration_between
from tests.motion.examples import distance, every_kind, random_states


def test_end_velocities_are_those_asked_for():
    robot, h, eps = every_kind(), 0.3, 1e-6
    (a, b), (va, vb) = random_states(robot, 2)

    def at(s):
        return configuration_between(robot.model, (a, b), (va, vb), h, s)

    np.testing.assert_array_equal(at(0.0), a)
    np.testing.assert_array_equal(at(1.0), b)
    np.testing.assert_allclose(pin.difference(robot.model, a, at(eps)) / (eps * h), va, atol=1e-3)
    np.testing.assert_allclose(pin.difference(robot.model, at(1.0 - eps), b) / (eps * h), vb, atol=1e-3)


def test_constant_velocity_is_the_geodesic_in_both_ways():
    robot, h = every_kind(), 0.5
    q, v = random_states(robot, 1)
    end = pin.integrate(robot.model, q[0], h * v[0])
    for s in np.linspace(0.0, 1.0, 7):
        exact = pin.integrate(robot.model, q[0], s * h * v[0])
        for rates in (None, (v[0], v[0])):
            assert distance(robot, exact, configuration_between(robot.model, (q[0], end), rates, h, s)) < 1e-12


def test_cubics_of_flat_joints_are_reproduced():
    robot = every_kind()
    rng = np.random.default_rng(3)
    rows = [int(robot.tree.q_index[robot.joint_index(name)]) for name in ("a_joint", "d_joint", "f_joint")]
    entries = [int(robot.tree.v_index[robot.joint_index(name)]) for name in ("a_joint", "d_joint", "f_joint")]
    c = rng.normal(size=(4, 3))

    def state(t):
        q, v = np.array(robot.neutral), np.zeros(robot.nv)
        q[rows] = c[0] + c[1] * t + c[2] * t**2 + c[3] * t**3
        v[entries] = c[1] + 2 * c[2] * t + 3 * c[3] * t**2
        return q, v

    (a, va), (b, vb) = state(0.2), state(0.9)
    found = configuration_between(robot.model, (a, b), (va, vb), 0.7, 0.3)
    np.testing.assert_allclose(found, state(0.41)[0], atol=1e-12)
