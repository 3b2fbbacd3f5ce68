"""Bounds that let every joint stop before its limit.

In the plane of position and speed, a joint that brakes evenly runs along a parabola that ends at the limit.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from surefoot import ops
from surefoot.arrays import Array, finite_array, number
from surefoot.errors import ShapeError


def stopping_acceleration_bounds(
    q: ArrayLike, v: ArrayLike, lower: ArrayLike, upper: ArrayLike, zone: ArrayLike
) -> tuple[Array, Array]:
    """Least and largest accelerations (n,) of joints near their limits, infinite elsewhere.

        q" ≤ −q'² / (2 (q_U − q))  if q_U − q ≤ Δ and q' > 0        [ik.limit-parabola]   Wimmer 2016, chapter 3
        q" ≥ +q'² / (2 (q − q_L))  if q − q_L ≤ Δ and q' < 0

    A joint that keeps to the bound stops exactly at its limit. At the limit, no finite acceleration stops a joint that
    still moves outwards: its bound is infinite with the sign of braking.

    Args:
        q: (n,) joint positions.
        v: (n,) joint velocities.
        lower: (n,) limits, may be −∞.
        upper: (n,) limits, may be +∞.
        zone: Δ > 0: how far from the limit the bound begins; a number or (n,).
    """
    q, v, lower, upper = _fitting(q, v, lower, upper)
    zone = np.broadcast_to(np.asarray(zone, dtype=float), q.shape)
    if not (zone > 0.0).all():
        raise ShapeError("the zone in which joints brake must be wider than 0", evidence={"zone": zone.tolist()})
    least = np.where((q - lower <= zone) & (v < 0.0), _braking(v, q - lower), -np.inf)
    most = np.where((upper - q <= zone) & (v > 0.0), -_braking(v, upper - q), np.inf)
    return least, most


def _braking(v: Array, way: Array) -> Array:
    """v² / (2 way); infinite where no way is left."""
    left = np.maximum(way, 0.0)
    return np.divide(v**2, 2.0 * left, out=np.full(v.shape, np.inf), where=left > 0.0)


def stopping_velocity_bounds(
    q: ArrayLike, lower: ArrayLike, upper: ArrayLike, acceleration: ArrayLike, dt: float, velocity: ArrayLike = np.inf
) -> tuple[Array, Array]:
    """Least and largest velocities (n,) for the next `dt`, from which each joint can still stop before its limit.

        v dt + v² / (2 a) ≤ q_U − q   ⇔   v ≤ a (√(dt² + 2 (q_U − q) / a) − dt)        [ik.limit-velocity]
        the parabola of `stopping_acceleration_bounds`, for velocities that are held for dt

    A joint within these bounds can be within them again after each dt by braking with a or less. Beyond a limit the
    bound is zero: further out is forbidden.

    Args:
        q: (n,) joint positions.
        lower: (n,) limits, may be −∞.
        upper: (n,) limits, may be +∞.
        acceleration: a > 0 with which joints can brake; a number or (n,).
        dt: Time for which a velocity is held [s], ≥ 0.
        velocity: (n,) or a number: speed limits, may be ∞.
    """
    q, _, lower, upper = _fitting(q, q, lower, upper)
    a = np.broadcast_to(np.asarray(acceleration, dtype=float), q.shape)
    if not ((a > 0.0) & np.isfinite(a)).all():
        raise ShapeError("joints must be able to brake", evidence={"acceleration": a.tolist()})
    dt = number(dt, "time for which a velocity is held")
    out, back = (np.minimum(_fastest(way, a, dt), velocity) for way in (upper - q, q - lower))
    return -back, out


def stopping_speed(way: Any, a: Any, dt: float) -> Any:
    """The largest v ≥ 0 with v dt + v² / (2 a) ≤ way, without cancellation, over `ops`; 0 where no way is left.

    Args:
        way: Way to the limit, finite.
        a: With which the joint can brake; inf: it may stop at once.
        dt: Time for which a velocity is held [s].
    """
    twice = 2.0 * ops.maximum(way, 0.0)
    return twice / (ops.sqrt(dt**2 + twice / a) + dt)


def _fastest(way: Array, a: Array, dt: float) -> Array:
    """`stopping_speed`, also where there is no limit and where neither way nor time is left."""
    usual = np.isfinite(way) & ((way > 0.0) | (dt > 0.0))
    speed = stopping_speed(np.where(usual, way, 1.0), a, dt)
    return np.where(usual, speed, np.where(np.isfinite(way), 0.0, np.inf))


def _fitting(q: ArrayLike, v: ArrayLike, lower: ArrayLike, upper: ArrayLike) -> tuple[Array, Array, Array, Array]:
    """Positions, velocities and limits of the same joints."""
    q = finite_array(q, (None,), "joint positions")
    v = finite_array(v, q.shape, "joint velocities")
    low, high = (np.asarray(bound, dtype=float) for bound in (lower, upper))
    if low.shape != q.shape or high.shape != q.shape or not (low <= high).all():
        raise ShapeError(f"limits of {q.shape} joints have shapes {low.shape}, {high.shape}, or are not in order")
    return q, v, low, high
