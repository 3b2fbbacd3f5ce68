"""Laws of references, and exact dynamics to run controllers in."""

import numpy as np
import pinocchio as pin
from numpy.testing import assert_allclose

from surefoot.control.joint_follower import weightless
from surefoot.motion import State


def assert_smooth(controller, times, step=1e-4, tolerance=1e-5):
    """v is the derivative of q and a that of v, from both sides: q, v and a are continuous."""
    model = controller.robot.model
    scale = max(1.0, *(np.abs(controller.reference(t)[2]).max() for t in times))
    for t in times:
        q, v, a = controller.reference(t)
        for h in (step, -step):
            q1, v1, a1 = controller.reference(t + h)
            assert_allclose(pin.difference(model, q, q1) / h, 0.5 * (v + v1), atol=tolerance * scale)
            assert_allclose((v1 - v) / h, 0.5 * (a + a1), atol=tolerance * scale)


def run(controller, duration, dt=1e-3, weight=False):
    """q and v at the end, and all q: aba of Pinocchio by the midpoint rule, drives without limits."""
    robot = controller.robot if weight else weightless(controller.robot)
    model, data, q, v = robot.model, robot.model.createData(), np.array(controller.q0), np.zeros(robot.nv)
    path = [q]
    for k in range(round(duration / dt)):
        t = k * dt
        a = _acceleration(controller, robot, data, t, q, v)
        q_mid, v_mid = pin.integrate(model, q, 0.5 * dt * v), v + 0.5 * dt * a
        a = _acceleration(controller, robot, data, t + 0.5 * dt, q_mid, v_mid)
        q, v = pin.integrate(model, q, dt * v_mid), v + dt * a
        path.append(q)
    return q, v, np.array(path)


def _acceleration(controller, robot, data, t, q, v):
    command = controller.command(t, State(t, q, v))
    rows = [int(robot.tree.q_index[robot.joint_index(drive.joint)]) for drive in robot.drives]
    velocity = 0.0 if command.velocity is None else command.velocity
    tau = np.zeros(robot.nv)
    tau[robot.driven] = (
        command.torque + command.kp * (command.position - q[rows]) + command.kd * (velocity - v[robot.driven])
    )
    return pin.aba(robot.model, data, q, v, tau)
