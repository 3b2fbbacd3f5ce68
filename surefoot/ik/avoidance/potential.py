"""Potentials of a distance that push away from obstacles and joint limits, over `surefoot.ops`.

All are zero from the reach d_a on and grow towards small and negative distances; d may be a number or an array.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from surefoot import ops
from surefoot.errors import ShapeError


class Potential(NamedTuple):
    """A potential with its derivatives, each of the shape of the distance.

    Args:
        value: H.
        slope: dH/dd.
        curvature: d²H/dd².
    """

    value: Any
    slope: Any
    curvature: Any


def smooth_potential(distance: Any, reach: float, slope: float = -1.0, share: float = 0.5) -> Potential:
    """A parabola that runs out in a cubic: twice continuously differentiable, linear force near the obstacle.

        H = -s₀ d²/(d_a (t+1)) + s₀ d - s₀ d_a (t²+t+1)/(3 (t+1))      d < t d_a
        H = s₀ (d_a-d)³/(3 d_a² (t²-1))                                t d_a ≤ d ≤ d_a, 0 beyond

    [ik.potential]   Buschmann 2014, (5.52)–(5.59) (errata: the cubic holds up to d_a, and s₀ must be negative).

    Args:
        distance: d [m] or [rad].
        reach: d_a > 0: where it begins, in the unit of d.
        slope: s₀ = H'(0) < 0.
        share: t, 0 < t < 1: the parabola ends at t d_a.
    """
    _require_reach(reach)
    if not slope < 0.0 or not 0.0 < share < 1.0:
        raise ShapeError(
            "a potential needs a negative slope at distance 0, and 0 < share < 1",
            evidence={"slope": slope, "share": share},
            next_step="a positive slope would pull towards the obstacle",
        )
    t, gap = share, ops.maximum(reach - distance, 0.0)
    near = ops.less(distance, t * reach)
    inner, outer = slope / (reach * (t + 1.0)), slope / (reach**2 * (t**2 - 1.0))
    constant = slope * reach * (t**2 + t + 1.0) / (3.0 * (t + 1.0))
    return Potential(
        ops.where(near, distance * (slope - inner * distance) - constant, outer * gap**3 / 3.0),
        ops.where(near, slope - 2.0 * inner * distance, -outer * gap**2),
        ops.where(near, -2.0 * inner + 0.0 * gap, 2.0 * outer * gap),
    )


def quadratic_potential(distance: Any, reach: float, stiffness: float) -> Potential:
    """H = s (d_a-d)², s > 0: the force is continuous, its rate is not.   Buschmann 2014, (5.50).

    Args:
        distance: d.
        reach: d_a > 0.
        stiffness: s > 0.
    """
    _require_reach(reach)
    gap = ops.maximum(reach - distance, 0.0)
    is_near = ops.less(distance, reach)
    return Potential(
        stiffness * gap**2, -2.0 * stiffness * gap, ops.where(is_near, 2.0 * stiffness + 0.0 * gap, 0.0 * gap)
    )


def cubic_potential(distance: Any, reach: float, stiffness: float) -> Potential:
    """H = s (d_a-d)³, s > 0.   Buschmann 2014, (5.51) (erratum: d_a-d, which is positive where the potential acts).

    Args:
        distance: d.
        reach: d_a > 0.
        stiffness: s > 0.
    """
    _require_reach(reach)
    gap = ops.maximum(reach - distance, 0.0)
    return Potential(stiffness * gap**3, -3.0 * stiffness * gap**2, 6.0 * stiffness * gap)


def limit_potential(
    position: Any, lower: Any, upper: Any, reach: float, slope: float = -1.0, share: float = 0.5
) -> Potential:
    """`smooth_potential` of the distances to both limits of each joint; derivatives are with respect to the position.

    Args:
        position: (n,) joint positions.
        lower: (n,) limits, −inf for none.
        upper: (n,) limits, inf for none.
        reach: Distance from a limit where it begins.
        slope: H' at the limit, negative.
        share: As in `smooth_potential`.
    """
    below = smooth_potential(ops.minimum(position - lower, reach), reach, slope, share)
    above = smooth_potential(ops.minimum(upper - position, reach), reach, slope, share)
    return Potential(below.value + above.value, below.slope - above.slope, below.curvature + above.curvature)


def _require_reach(reach: float) -> None:
    if not reach > 0.0:
        raise ShapeError("the reach of a potential must be positive", evidence={"reach": reach})
