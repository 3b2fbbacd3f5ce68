"""Where states live: a vector space, or a group that is stepped along by its exponential."""

from __future__ import annotations

from typing import Protocol

import numpy as np

from surefoot.arrays import Array
from surefoot.errors import ShapeError


class Manifold(Protocol):
    """A space of points x (n,), with velocities and steps of size (m,), m ≤ n.

    For a group with velocities in the body, add(x, u) = x exp(u), and dexp_inverse applies the inverse of the right
    Jacobian of exp.
    """

    def add(self, point: Array, step: Array) -> Array:
        """The point x ⊕ u (n,) that is reached from x (n,) with the constant velocity u (m,) in unit time."""
        ...

    def dexp_inverse(self, step: Array, velocity: Array) -> Array:
        """du/dt (m,) that makes x ⊕ u(t) move with the velocity w (m,):  w = dexp_u(du/dt).

        Exact, or with as many terms u, [u, ·], … as the order of the method needs (Munthe-Kaas 1999; Iserles et
        al. 2000); the identity for u = 0.
        """
        ...


class VectorSpace:
    """x ⊕ u = x + u: the ordinary case."""

    def add(self, point: Array, step: Array) -> Array:
        """Point + step.

        Raises:
            ShapeError: They are of different sizes.
        """
        if point.shape != step.shape:
            raise ShapeError(f"the velocity has {step.size} entries, the state {point.size}")
        return point + step

    def dexp_inverse(self, step: Array, velocity: Array) -> Array:
        """The velocity itself."""
        return velocity


VECTOR_SPACE = VectorSpace()
"""The ordinary case."""


class PhaseSpace:
    """States x = (q, v) over a manifold of configurations; their velocity is (v, a).

    Args:
        configurations: Where q (nq,) lives; its velocities are v (nv,).
        nq: Size of q.
    """

    def __init__(self, configurations: Manifold, nq: int) -> None:
        self.configurations = configurations
        self.nq = nq

    def add(self, point: Array, step: Array) -> Array:
        """(q ⊕ dq, v + dv) (nq + nv,) for a step (dq, dv) (2 nv,)."""
        nq, nv = self.nq, len(step) // 2
        return np.concatenate([self.configurations.add(point[:nq], step[:nv]), point[nq:] + step[nv:]])

    def dexp_inverse(self, step: Array, velocity: Array) -> Array:
        """That of the configurations for v, the identity for a; (2 nv,)."""
        nv = len(step) // 2
        return np.concatenate([self.configurations.dexp_inverse(step[:nv], velocity[:nv]), velocity[nv:]])
