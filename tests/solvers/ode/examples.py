"""Problems with known answers."""

import numpy as np
import pinocchio as pin

from surefoot.solvers import ode


def driven_pendulum(t, x):
    """Smooth, nonlinear, depends on time."""
    return np.array([x[1], -np.sin(x[0]) * (1 + 0.3 * np.cos(2 * t)) - 0.1 * x[1] ** 2])


DRIVEN_START = np.array([1.0, 0.5])


def circle(t, x):
    return np.array([-x[1], x[0]])


def observed_order(solve, step):
    """From three solutions with step, step/2, step/4 (Richardson)."""
    a, b, c = (np.asarray(solve(step / 2**i)) for i in range(3))
    return np.log2(np.linalg.norm(a - b) / np.linalg.norm(b - c))


class PinocchioManifold:
    """Configurations of a Pinocchio model: its exponential, and the inverse of its derivative."""

    def __init__(self, model):
        self.model = model

    def add(self, point, step):
        return pin.integrate(self.model, point, step)

    def dexp_inverse(self, step, velocity):
        right = pin.dIntegrate(self.model, pin.neutral(self.model), step)[1]
        return np.linalg.solve(right, velocity)


def free_body(inertia):
    """A free-flyer of mass 2, centre of mass at its origin: phase space and field."""
    model = pin.Model()
    model.gravity.setZero()
    joint = model.addJoint(0, pin.JointModelFreeFlyer(), pin.SE3.Identity(), "base")
    model.appendBodyToJoint(joint, pin.Inertia(2.0, np.zeros(3), np.diag(inertia)), pin.SE3.Identity())

    def acceleration(t, q, v):
        linear, angular = v[:3], v[3:]
        turn = np.cross(inertia * angular, angular) / inertia
        return np.concatenate([np.cross(linear, angular), turn])

    return ode.PhaseSpace(PinocchioManifold(model), 7), ode.second_order(acceleration, 7)
