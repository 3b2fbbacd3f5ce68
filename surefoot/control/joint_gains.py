"""Gains of joint controllers from the robot's own inertia, so that no robot needs tuning."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from surefoot.control.coupled_motion import coupled_motion
from surefoot.robot import Robot

__all__ = ["moved_inertia"]

Array = NDArray[np.float64]
_STILL = 1e-12  # a foot whose twist is below this does not hang on the drive


def moved_inertia(robot: Robot, q: Array, standing: Sequence[str] = ()) -> Array:
    """(nu,) the inertia [kg m²] or [kg] that each drive moves, all other drives held; followers move with their leader.

        m = gᵀ M g        [control.moved-inertia]

    with g the velocities for unit speed of the drive. A joint divides the robot in two. Of a limb that hangs in the
    air the far part moves, and the base rests. Of a limb that stands, the far part stays on the ground, as well as the
    base can move for it, and the rest of the robot moves; the standing limbs share it; rotors turn with their own
    drive alone. A robot with a fixed base has hanging limbs only.

    Args:
        robot: The robot.
        q: (nq,) the posture.
        standing: Names of the contact surfaces that stand.
    """
    model, data = robot.model, robot.model.createData()
    rotors = np.diag(robot.tree.armature)
    bodies = np.array(pin.crba(model, data, np.array(q))) - rotors
    motions = coupled_motion(robot)[:, robot.driven]
    if robot.base_joint is None:
        standing = ()
    pin.computeJointJacobians(model, data, np.array(q))
    feet = [np.array(pin.getFrameJacobian(model, data, _frame(robot, name), pin.LOCAL)) for name in standing]
    return np.array([g @ rotors @ g + _inertia_of(bodies, g, feet, robot.base_rows) for g in motions.T])


def _frame(robot: Robot, contact: str) -> int:
    return robot.frame_id(robot.contacts[contact].frame)


def _inertia_of(M: Array, motion: Array, feet: Sequence[Array], base_rows: NDArray[np.int64]) -> float:
    """Inertia along one motion (nv,), its share on each foot that the motion would move without the ground."""
    moved = [foot for foot in feet if np.abs(foot @ motion).max() > _STILL]
    if not moved:
        return float(motion @ M @ motion)
    held = [_with_foot_held(motion, foot, base_rows) for foot in moved]
    return float(sum(v @ M @ v for v in held)) / len(feet)


def _with_foot_held(motion: Array, foot: Array, base_rows: NDArray[np.int64]) -> Array:
    """The motion (nv,) with that of the base which leaves a foot, with Jacobian (6, nv), at rest."""
    out = np.array(motion)
    out[base_rows] = -np.linalg.pinv(foot[:, base_rows]) @ (foot @ motion)
    return out
