"""How the body moves if the feet do not."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["leg_twist"]

Array = NDArray[np.float64]
_INERTIA = 1e-4  # weight of the twist before against that of one sure point


def leg_twist(points: Array, moving: Array, grip: Array, before: Array) -> Array:
    """Twist (6,) of the body, linear first, in its own frame, for which points at rest in the world are at rest.

        min Σ g_i |v + ω × y_i + J_i q̇|² + ε |(v, ω) − before|²        [estimation.legs]

    The last term decides what the points leave open.

    Args:
        points: (n, 3) y in the body frame [m].
        moving: (n, 3) their velocity J q̇ against the body [m/s].
        grip: (n,) weights g, 0…1.
        before: (6,) twist before.
    """
    A = np.concatenate([np.broadcast_to(np.eye(3), (len(points), 3, 3)), np.cross(points[:, None], np.eye(3))], axis=2)
    weighted = A * grip[:, None, None]
    normal = np.einsum("nij,nik->jk", weighted, A) + _INERTIA * np.eye(6)
    return np.linalg.solve(normal, _INERTIA * before - np.einsum("nij,ni->j", weighted, moving))
