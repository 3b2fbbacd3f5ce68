"""Centres of pressure: of one contact, and of all of them together."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["centres_of_pressure", "zero_moment_point"]

Array = NDArray[np.float64]
_LEVERS = np.array([-1.0, 1.0])


def centres_of_pressure(wrenches: Array, least: float) -> Array:
    """Where on its surface each of k contacts is pressed: (k, 2) [m], x and y of the contact frame.

        x = −m_y / f_z,  y = m_x / f_z        [sim.cop]   Nenchev & Konno 2019, (8.7), (8.8) for one contact

    Args:
        wrenches: (k, 6) on the robot, each in the frame of its contact, linear first.
        least: Normal force [N] up to which there is no centre: NaN.
    """
    normal = wrenches[:, 2]
    force = np.where(normal > least, normal, np.nan)
    return wrenches[:, [4, 3]] * _LEVERS / force[:, None]


def zero_moment_point(wrenches: Array, rotations: Array, positions: Array, least: float) -> Array:
    """The zero moment point (2,) on the plane z = 0 of the world, x and y [m]; NaN in the air.

        f = Σ R f_k,  m = Σ (R m_k + r_k × R f_k),  x = −m_y / f_z,  y = m_x / f_z        [sim.zmp]
        Nenchev & Konno 2019, (8.5)–(8.8)

    Args:
        wrenches: (k, 6) on the robot, each in the frame of its contact, linear first.
        rotations: (k, 3, 3) R_world_contact.
        positions: (k, 3) of the contact frames in world [m].
        least: Vertical force [N] up to which the robot is in the air.
    """
    forces = np.einsum("kij,kj->ki", rotations, wrenches[:, :3])
    x, y, z = positions.T
    fx, fy, fz = forces.T
    vertical = fz.sum()
    if not vertical > least:
        return np.full(2, np.nan)
    turned = np.einsum("kij,kj->i", rotations, wrenches[:, 3:])
    along_x, along_y = turned[0] + y @ fz - z @ fy, turned[1] + z @ fx - x @ fz
    return np.array([-along_y, along_x]) / vertical
