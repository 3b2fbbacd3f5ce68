"""Mechanical systems: positions q, velocities v, accelerations a(t, q, v)."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from surefoot.arrays import Array
from surefoot.solvers.ode.field import VectorField
from surefoot.solvers.ode.manifold import VECTOR_SPACE, Manifold

Acceleration = Callable[[float, Array, Array], Array]


def second_order(acceleration: Acceleration, nq: int) -> VectorField:
    """The field (v, a) of states x = (q, v), for `integrate`; on a manifold together with `PhaseSpace`.

    Args:
        acceleration: a(t, q, v) -> (nv,).
        nq: Size of q.
    """

    def field(t: float, x: Array) -> Array:
        q, v = x[:nq], x[nq:]
        return np.concatenate([v, acceleration(t, q, v)])

    return field


def semi_implicit_euler_step(
    acceleration: Acceleration, t: float, q: Array, v: Array, h: float, manifold: Manifold = VECTOR_SPACE
) -> tuple[Array, Array]:
    """q, v one step later: velocities first, positions with the new velocities. Order 1.

    v⁺ = v + h a(t, q, v),   q⁺ = q ⊕ h v⁺        [ode.symplectic-euler]   Hairer, Lubich, Wanner 2006, I.1.2
    Symplectic where a depends on q alone: the energy error stays bounded.

    Args:
        acceleration: a(t, q, v) -> (nv,).
        t: Time [s].
        q: (nq,).
        v: (nv,).
        h: Step [s].
        manifold: Where q lives.
    """
    v = v + h * acceleration(t, q, v)
    return manifold.add(q, h * v), v
