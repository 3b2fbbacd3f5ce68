"""From a centroidal solution to a motion of the whole body: velocities at nodes, accelerations, torques."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from surefoot import dynamics
from surefoot.arrays import Array
from surefoot.ocp.node import external_wrenches, passive_forces
from surefoot.robot import Robot


def whole_body_motion(
    robot: Robot, times: Array, q: Array, rates: Array, wrenches: Mapping[str, Array]
) -> tuple[Array, Array, Array]:
    """Velocities and accelerations (n, nv) at n nodes, and the torques (n, nu) of inverse dynamics with the wrenches.

    Args:
        robot: The robot.
        times: (n,) [s].
        q: (n, nq) configurations.
        rates: (n, nv) velocities of the intervals; the last is not used.
        wrenches: Contact → (n, 6) in its own frame.
    """
    middle = 0.5 * (times[1:] + times[:-1])
    v, a = np.array(rates), np.zeros(rates.shape)
    v[-1] = rates[-2]
    v[1:-1] = 0.5 * (rates[1:-1] + rates[:-2])
    if len(middle) > 1:
        a[1:-1] = np.diff(rates[:-1], axis=0) / np.diff(middle)[:, None]
        a[0], a[-1] = a[1], a[-2]
    tau = np.zeros((len(q), robot.nu))
    for k in range(len(q)):
        external = external_wrenches(robot, {name: wrench[k] for name, wrench in wrenches.items()})
        forces = dynamics.rnea(robot.tree, q[k], v[k], a[k], external) - passive_forces(robot, q[k], v[k])
        tau[k] = np.asarray(forces, dtype=float)[robot.driven]
    return v, a, tau
