"""Forces inside friction cones that come nearest to a load."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["ConeProblem", "within_cones"]

Array = NDArray[np.float64]
_ROUNDS = 50
_HALVINGS = 30
_EXACT = 1e-9  # what may be left of the optimality conditions, as a share of the load
_DECREASE = 1e-4  # Armijo's share of the decrease that the slope promises
_ON_CONE = 1e-9  # distance from a cone that counts as on it, as a share of the largest force


class ConeProblem(NamedTuple):
    """Forces f at k points that the ground can give and that carry a load b as well as such forces can.

        min ½ |f|² + ½ |A f − b|²_S⁻¹   with  |f_i − up (f_i · up)| ≤ μ_i f_i · up        [control.cone-forces]

    Its dual has no conditions: with P the projection on the cones, f = P(Aᵀ ν), and ν is the zero of the monotone map
    A P(Aᵀ ν) + S ν − b, found by Newton steps on its piecewise smooth parts with line search (semismooth Newton:
    Facchinei & Pang 2003, §8.3). A small S puts the load first. Where no forces in the cones carry the load, S⁻¹
    measures what is left; S from an inertia matrix then leaves the smallest acceleration: Gauss's principle.

    Args:
        lift: (n, 3 k) A: generalised forces of unit forces at the points.
        load: (n,) b.
        friction: (k,) Coulomb coefficients μ.
        up: (3,) unit normal of the ground, in the axes of the forces.
        softness: (n, n) S, positive definite.
    """

    lift: Array
    load: Array
    friction: Array
    up: Array
    softness: Array

    def solve(self, guess: Array | None = None) -> tuple[Array, Array]:
        """The best forces f (3 k,) and the multiplier ν (n,).

        Args:
            guess: (n,) a multiplier to begin with, as that of a problem much like this one; it saves steps.
        """
        goal = _EXACT * float(np.abs(self.load).max(initial=0.0))
        if guess is None:
            guess = np.array(np.linalg.solve(self.lift @ self.lift.T + self.softness, self.load))
        point = self._at(guess)
        for _ in range(_ROUNDS):
            if np.abs(point.rest).max(initial=0.0) <= goal:
                break
            point = self._after_step(point)
        return np.array(point.force.ravel()), point.multiplier

    def _at(self, multiplier: Array) -> _Point:
        force, slope = _projected((self.lift.T @ multiplier).reshape(-1, 3), self.friction, self.up)
        soft = self.softness @ multiplier
        value = 0.5 * float(np.sum(force * force) + multiplier @ soft) - float(self.load @ multiplier)
        return _Point(multiplier, force, slope, self.lift @ force.ravel() + soft - self.load, value)

    def _after_step(self, point: _Point) -> _Point:
        """As much of a Newton step as lowers the dual's value well; it is convex, so some always does."""
        bent = (point.slope @ self.lift.T.reshape(len(self.friction), 3, -1)).reshape(self.lift.T.shape)
        step = -np.linalg.solve(self.lift @ bent + self.softness, point.rest)
        promise, length = float(point.rest @ step), 1.0
        for _ in range(_HALVINGS):
            trial = self._at(point.multiplier + length * step)
            if trial.value <= point.value + _DECREASE * length * promise:
                break
            length *= 0.5
        return trial


class _Point(NamedTuple):
    """A multiplier with its forces (k, 3), their slopes (k, 3, 3), the dual's gradient and its value."""

    multiplier: Array
    force: Array
    slope: Array
    rest: Array
    value: float


def within_cones(force: Array, friction: Array, up: Array) -> bool:
    """Whether every force is in its friction cone.

    Args:
        force: (3 k,).
        friction: (k,) Coulomb coefficients.
        up: (3,) unit normal of the ground.
    """
    force = force.reshape(-1, 3)
    normal = force @ up
    across = force - normal[:, None] * up
    sliding = np.sqrt(np.sum(across * across, axis=1))
    return bool((sliding <= friction * normal + _ON_CONE * np.abs(force).max(initial=0.0)).all())


def _projected(wanted: Array, friction: Array, up: Array) -> tuple[Array, Array]:
    """The nearest forces (k, 3) inside the cones, and their derivatives (k, 3, 3) by the wanted ones (k, 3)."""
    normal = wanted @ up
    across = wanted - normal[:, None] * up
    sliding = np.sqrt(np.sum(across * across, axis=1))
    size = np.where(sliding > 0.0, sliding, 1.0)
    aside = across / size[:, None]
    edge = friction[:, None] * aside + up  # the ray of the cone that is nearest
    reach = 1.0 / (1.0 + friction**2)
    share = reach * (friction * sliding + normal)
    turning = np.eye(3) - np.outer(up, up) - aside[:, :, None] * aside[:, None, :]
    force = share[:, None] * edge
    slope = (reach[:, None] * edge)[:, :, None] * edge[:, None, :]
    slope += (friction * share / size)[:, None, None] * turning
    inside, gone = sliding <= friction * normal, share <= 0.0
    force[gone], slope[gone] = 0.0, 0.0
    force[inside], slope[inside] = wanted[inside], np.eye(3)
    return force, slope
