"""Jacobians of the frames in which contacts push."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from surefoot.arrays import Array
from surefoot.kinematics import contact_frame

if TYPE_CHECKING:
    from surefoot.feasibility.case import Case

__all__ = ["touch_jacobians"]


def touch_jacobians(case: Case, frames: Array, rows: NDArray[np.int64]) -> Array:
    """(m, c, 6, nv): Jacobians of the frames of touch, in their own axes, linear first.

    Args:
        case: The case.
        frames: (n, c, 4, 4) T_world_touch.
        rows: (m,) samples.
    """
    out = np.zeros((len(rows), len(case.contact_names), 6, case.robot.nv))
    for k, name in enumerate(case.contact_names):
        surface = case.robot.contacts[name]
        if contact_frame(case.robot, name).body >= 0:
            J = case.kernels.jacobian(case.q[rows], surface.frame, "local_world_aligned")
            T = frames[rows, k]
            link = case.touch.placements[rows, k] @ np.linalg.inv(surface.placement)
            arm = np.broadcast_to((T[:, :3, 3] - link[:, :3, 3])[:, :, None], J[:, 3:].shape)
            turn = np.swapaxes(T[:, :3, :3], 1, 2)
            out[:, k, :3], out[:, k, 3:] = turn @ (J[:, :3] + np.cross(J[:, 3:], arm, axis=1)), turn @ J[:, 3:]
    return out
