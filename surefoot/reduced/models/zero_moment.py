"""Zero-moment points of point masses and the moments that go with them on level ground."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from surefoot.arrays import Array
from surefoot.errors import ShapeError
from surefoot.reduced.models.pendulums import QUARTER_TURN


def multi_mass_zmp(
    masses: ArrayLike, positions: ArrayLike, accelerations: ArrayLike, ground: float = 0.0, gravity: float = 9.81
) -> Array:
    """ZMP (..., 2) of point masses on level ground.

        p_t = Σ m [(z̈ + g) t − (z − p_z) ẗ] / Σ m (z̈ + g)        [models.masses]   Nenchev & Konno 2019, (4.41)

    Args:
        masses: (k,) [kg].
        positions: (..., k, 3) [m].
        accelerations: (..., k, 3) [m/s²].
        ground: p_z, height of the ground [m].
        gravity: g [m/s²].

    Raises:
        ShapeError: The ground does not push: no ZMP exists.
    """
    m, r, a = (np.asarray(x, dtype=float) for x in (masses, positions, accelerations))
    up = m * (a[..., 2] + gravity)
    total = up.sum(-1, keepdims=True)
    if not (total > 0.0).all():
        raise ShapeError("the masses fall freely: no ZMP exists", evidence={"vertical force [N]": float(total.min())})
    lever = (m * (r[..., 2] - ground))[..., None]
    return np.asarray((up[..., None] * r[..., :2] - lever * a[..., :2]).sum(-2) / total)


def sphere_moment(com: ArrayLike, acceleration: ArrayLike, mass: float, omega: float, gravity: float = 9.81) -> Array:
    """Moment (..., 2) of the ground about the origin for a sphere that rolls on the plane of the CoM.

        m_t = M g S₂ (r − r̈ / ω²)        [models.sphere]   (4.35), where the book has the opposite sign

    Args:
        com: (..., 2) r [m].
        acceleration: (..., 2) r̈ [m/s²].
        mass: M [kg].
        omega: √(g / z) [1/s].
        gravity: g [m/s²].
    """
    lead = np.asarray(com, dtype=float) - np.asarray(acceleration, dtype=float) / omega**2
    return np.asarray(mass * gravity * lead @ QUARTER_TURN.T)


def cop_of_moment(moment: ArrayLike, mass: float, gravity: float = 9.81) -> Array:
    """CoP (..., 2) under a horizontal moment about the origin: p = −S₂ m_t / (M g)   (4.36).

    Args:
        moment: (..., 2) [N m].
        mass: M [kg].
        gravity: g [m/s²].
    """
    return np.asarray(-np.asarray(moment, dtype=float) @ QUARTER_TURN.T / (mass * gravity))
