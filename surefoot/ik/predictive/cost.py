"""What a moment of the motion costs: speed, nearness to obstacles and to joint limits, and the derivatives of that.

    φ = w_v q'ᵀ q' + w_c Σ H(d_i) + w_l Σ ((q_j − q̄_j) / (q_lim,j − q̄_j))²        [ik.predictive-cost]
    Buschmann 2014, (5.131), (5.52) (erratum: s₀ < 0) and (A.58)

The last sum goes over joints beyond q̄, the start of a band in front of each limit. Plain functions over `surefoot.ops`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from surefoot import ops
from surefoot.geometry import SweptVolume
from surefoot.ik.avoidance import smooth_potential
from surefoot.kinematics import volume_distance
from surefoot.ops import Array
from surefoot.robot import BodyVolume, Tree

Pair = tuple[BodyVolume, BodyVolume]


@dataclass(frozen=True, eq=False)
class Repulsion:
    """Which volumes keep clear of each other, and how they are pushed apart.

    Args:
        pairs: Volumes on the robot, or one on the robot and one in the world (`body` −1).
        reach: d_a: nearer than this they repel each other [m].
        slope: s₀ < 0: the potential's slope where they touch [1/m].
        share: t between 0 and 1: below t d_a the potential is quadratic, above it cubic.
        blur: Length over which kinks of the distance are rounded [m]; None for the exact distance.
    """

    pairs: tuple[Pair, ...] = ()
    reach: float = 0.1
    slope: float = -10.0
    share: float = 0.5
    blur: float | None = None

    @property
    def obstacles(self) -> tuple[BodyVolume, ...]:
        """The volumes in the world, each once, in the order of the pairs."""
        return tuple({id(x): x for pair in self.pairs for x in pair if x.body < 0}.values())

    def obstacle_vertices(self) -> NDArray[np.float64]:
        """(k, 3) the vertices of all obstacles, one after the other [m]."""
        return np.concatenate([np.zeros((0, 3)), *(x.volume.vertices for x in self.obstacles)])

    def with_obstacles(self, vertices: Array) -> tuple[Pair, ...]:
        """The pairs, with other vertices of the obstacles.

        Args:
            vertices: (k, 3) as in `obstacle_vertices`; numbers or symbols [m].
        """
        moved, first = {}, 0
        for x in self.obstacles:
            last = first + len(x.volume.vertices)
            volume = cast(SweptVolume, _Traced(vertices[first:last], x.volume.radius))
            moved[id(x)], first = BodyVolume(x.body, volume, x.link), last
        return tuple((moved.get(id(a), a), moved.get(id(b), b)) for a, b in self.pairs)


@dataclass(frozen=True, eq=False)
class _Traced:
    """A swept volume whose vertices may be symbols."""

    vertices: Array
    radius: float


@dataclass(frozen=True, eq=False)
class LimitBand:
    """Bands in front of the joint limits.

    Args:
        lower: (n,) limits [rad or m]; −inf where there is none.
        upper: (n,) limits; inf where there is none.
        share: Width of each band by the range of the joint.
    """

    lower: NDArray[np.float64]
    upper: NDArray[np.float64]
    share: float

    def cost(self, q: Array) -> tuple[Any, Array]:
        """Σ ((q − q̄)/(q_lim − q̄))² over joints inside a band, and its gradient (n,).

        Args:
            q: (n,) posture.
        """
        gradient, total = ops.zeros(len(q), like=q), 0.0
        for j in np.flatnonzero(np.isfinite(self.lower) & np.isfinite(self.upper)):
            width = self.share * (self.upper[j] - self.lower[j])
            over = ops.maximum(q[j] - (self.upper[j] - width), 0.0) / width
            under = ops.maximum((self.lower[j] + width) - q[j], 0.0) / width
            total = total + over * over + under * under
            gradient[j] = 2.0 / width * (over - under)
        return total, gradient


@dataclass(frozen=True, eq=False)
class StateCost:
    """The part of the cost that depends on the posture alone.

    Args:
        value: w_c Σ H + w_l Σ ….
        gradient: (n,) by q.
    """

    value: Any
    gradient: Array


def state_cost(
    tree: Tree, repulsion: Repulsion, band: LimitBand, q: Array, obstacles: Array, weights: Sequence[Any] | Array
) -> StateCost:
    """Cost of a posture and its gradient.   [ik.predictive-cost].

    Args:
        tree: The tree.
        repulsion: What keeps clear of what.
        band: Bands in front of the limits.
        q: (n,) posture.
        obstacles: (k, 3) vertices of the obstacles [m].
        weights: (w_v, w_c, w_l).
    """
    value, gradient = band.cost(q)
    value, gradient = weights[2] * value, weights[2] * gradient
    for a, b in repulsion.with_obstacles(obstacles):
        found = volume_distance(tree, q, a, b, repulsion.blur)
        push = smooth_potential(found.distance, repulsion.reach, repulsion.slope, repulsion.share)
        value = value + weights[1] * push.value
        gradient = gradient + weights[1] * push.slope * found.gradient
    return StateCost(value, gradient)
