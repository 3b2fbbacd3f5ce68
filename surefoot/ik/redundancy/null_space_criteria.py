"""What a redundant robot does with the freedom that its tasks leave: criteria that add up.

A criterion is called with q (nq,) and gives a `Cost`: its value H(q) and its gradient (nv,) in the tangent space, so
that dH/dt = gradient · v. `together` adds them. A step of closed-loop inverse kinematics goes down the sum in the null
space of the tasks (Liégeois 1977; Buschmann 2014, section 5.3: self-collision, joint limits, angular momentum and
preferred posture at once). Angular momentum is not a function of q: it enters as the weight of the rates
(`MomentumWeight`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import pinocchio as pin
from numpy.typing import ArrayLike, NDArray

from surefoot.arrays import Array
from surefoot.compiler import compile_robot
from surefoot.errors import ShapeError
from surefoot.ik.avoidance import limit_potential, smooth_potential
from surefoot.ik.textbook import momentum_weight_inverse
from surefoot.robot import Robot


class Cost(NamedTuple):
    """A criterion at one configuration.

    Args:
        value: H.
        gradient: (nv,) dH/dt = gradient · v.
    """

    value: float
    gradient: Array


Criterion = Callable[[Array], Cost]
DistanceFunction = Callable[[Array], tuple[Array, Array]]


def together(*criteria: Criterion) -> Criterion:
    """The sum of criteria, itself a criterion.

    Args:
        *criteria: At least one.
    """
    if not criteria:
        raise ShapeError("a sum needs at least one criterion", next_step="give at least one")

    def total(q: Array) -> Cost:
        costs = [criterion(q) for criterion in criteria]
        return Cost(sum(cost.value for cost in costs), np.sum([cost.gradient for cost in costs], axis=0))

    return total


class DistanceCriterion:
    """Keep away from obstacles and from oneself: the sum of `smooth_potential` over pairs.   Buschmann 2014, (5.53).

    Args:
        distances: distances(q) -> distances (pairs,) [m] and their gradients (pairs, nv).
        reach: Distance where it begins [m].
        slope: H' at contact, negative.
        share: As in `smooth_potential`.
    """

    def __init__(self, distances: DistanceFunction, reach: float, slope: float = -1.0, share: float = 0.5) -> None:
        self.distances, self.reach, self.slope, self.share = distances, reach, slope, share

    def __call__(self, q: Array) -> Cost:
        """The cost at q."""
        distances, gradients = self.distances(q)
        potential = smooth_potential(np.asarray(distances), self.reach, self.slope, self.share)
        return Cost(float(np.sum(potential.value)), np.asarray(potential.slope @ gradients))


class LimitCriterion:
    """Keep one-axis joints away from their limits, by `limit_potential`.   Buschmann 2014, section 5.3.

    Args:
        robot: The robot.
        reach: Where it begins: share of half the range of each joint.
        slope: H' at the limit over this reach, negative.
        share: As in `smooth_potential`.
    """

    def __init__(self, robot: Robot, reach: float = 0.2, slope: float = -1.0, share: float = 0.5) -> None:
        rows = _limited_joints(robot)
        self._q, self._v, self._nv = rows[:, 0], rows[:, 1], robot.nv
        lower, upper = robot.limits.lower[self._q], robot.limits.upper[self._q]
        self._middle, self._half = 0.5 * (lower + upper), 0.5 * (upper - lower)
        self.reach, self.slope, self.share = reach, slope, share

    def __call__(self, q: Array) -> Cost:
        """The cost at q."""
        at = (np.asarray(q)[self._q] - self._middle) / self._half
        potential = limit_potential(at, -1.0, 1.0, self.reach, self.slope, self.share)
        gradient = np.zeros(self._nv)
        gradient[self._v] = potential.slope / self._half
        return Cost(float(np.sum(potential.value)), gradient)


class PostureCriterion:
    """Stay near a posture: ½ Σ w_i δ_i² with δ = q ⊖ posture.

    Args:
        robot: The robot.
        posture: (nq,) configuration.
        weights: (nv,) not negative; zero for coordinates that do not matter. None: 1 for all but the base.
    """

    def __init__(self, robot: Robot, posture: ArrayLike, weights: ArrayLike | None = None) -> None:
        self._model, self._posture = robot.model, robot.checked_q(posture)
        if weights is None:
            weights = np.ones(robot.nv)
            weights[robot.base_rows] = 0.0
        self._weights = np.asarray(weights, dtype=float)
        if self._weights.shape != (robot.nv,) or not (self._weights >= 0.0).all():
            raise ShapeError(f"weights of a posture must be ({robot.nv},) and not negative")

    def __call__(self, q: Array) -> Cost:
        """The cost at q."""
        apart = pin.difference(self._model, self._posture, q)
        rate = pin.dDifference(self._model, self._posture, q, pin.ARG1)
        pull = self._weights * apart
        return Cost(float(0.5 * apart @ pull), np.asarray(rate.T @ pull))


class MomentumWeight:
    """W⁻¹(q) of W = β (γ E + J_Lᵀ J_L), J_L of the robot's angular momentum: rates that turn it as a whole are dear.

    Buschmann 2014, section 5.3.3; by `momentum_weight_inverse`, for `liegeois_rates`.

    Args:
        robot: The robot.
        gamma: γ > 0 [(kg m²)²]: the smaller, the less angular momentum.
        beta: β > 0, the scale: it sets how far a gradient in the null space goes.
        vertical: Only the angular momentum about the vertical; else about all three axes.
    """

    def __init__(self, robot: Robot, gamma: float = 0.008, beta: float = 1.0, vertical: bool = True) -> None:
        self.gamma, self.beta = gamma, beta
        self._rows = slice(5, 6) if vertical else slice(3, 6)
        self._kernel = compile_robot(robot).bundle(["Ag"])

    def momentum_jacobian(self, q: ArrayLike) -> Array:
        """J_L (1 or 3, nv): angular momentum about the centre of mass for unit rates, world axes [kg m²/s].

        Args:
            q: (nq,) configuration.
        """
        found: Array = self._kernel(q)["Ag"][self._rows]
        return found

    def __call__(self, q: ArrayLike) -> Array:
        """W⁻¹ (nv, nv) at q."""
        return momentum_weight_inverse(self.momentum_jacobian(q), self.beta, self.gamma)


def _limited_joints(robot: Robot) -> NDArray[np.int64]:
    """(k, 2) entries in q and v of the one-axis joints with two finite limits."""
    tree, bounds = robot.tree, robot.limits
    rows = [
        (int(tree.q_index[i]), int(tree.v_index[i]))
        for i in range(tree.n)
        if tree.nq_of(i) == 1 and np.isfinite([bounds.lower[tree.q_index[i]], bounds.upper[tree.q_index[i]]]).all()
    ]
    return np.array(rows, dtype=np.int64).reshape(-1, 2)
