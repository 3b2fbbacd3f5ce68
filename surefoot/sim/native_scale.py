"""How heavy a robot is where it touches: what contact laws are fitted to."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pinocchio as pin

from surefoot.dynamics import inverse_mass_matrix
from surefoot.robot import Robot
from surefoot.sim.native_points import ContactPoint
from surefoot.sim.native_touch import Scale
from surefoot.spatial.so3 import skew

__all__ = ["scale_of"]


def scale_of(robot: Robot, points: Sequence[ContactPoint], dt: float, *, explicit: bool) -> Scale:
    """The scale of a robot at home.

    Args:
        robot: The robot.
        points: Its contact points.
        dt: Step [s].
        explicit: Whether forces are those at the start of a step.
    """
    gravity = float(np.linalg.norm(robot.tree.gravity))
    return Scale(robot.mass, gravity, len(points), _lightest(robot, points), float(dt), explicit)


def _lightest(robot: Robot, points: Sequence[ContactPoint]) -> float:
    """1 / λ_max(J M⁻¹ Jᵀ) [kg] of all points at home; the mass of the robot if there are none."""
    if not points:
        return robot.mass
    q, data = np.array(robot.home), robot.model.createData()
    pin.computeJointJacobians(robot.model, data, q)
    rows = []
    for point in points:
        J = pin.getJointJacobian(robot.model, data, point.body + 1, pin.ReferenceFrame.LOCAL)
        rows.append(J[:3] - skew(point.position) @ J[3:])
    J = np.vstack(rows)
    return 1.0 / float(np.linalg.eigvalsh(J @ inverse_mass_matrix(robot.tree, q) @ J.T)[-1])
