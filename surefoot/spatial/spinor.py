"""Spinors R = a + i b of geometric algebra, stored as (a, b₁, b₂, b₃) (Busenhart 1994, (2.102)).

a = cos(φ/2), b = sin(φ/2) · axis; a vector of the body turns to space by r = R~ r' R. The product R₁R₂ turns *first*
by R₁, *then* by R₂: it is the Hamilton product in reversed order. (Quaternion xyzw of the same rotation: (b, a).)
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from surefoot import ops
from surefoot.ops import Array
from surefoot.spatial import quaternion
from surefoot.spatial.so3 import skew

__all__ = [
    "bar",
    "from_axis_angle",
    "from_matrix",
    "from_quaternion",
    "omega",
    "product",
    "rates",
    "reverse",
    "to_matrix",
    "to_quaternion",
    "update",
]


def from_axis_angle(axis: ArrayLike, angle: Any) -> Array:
    """(cos φ/2, axis sin φ/2) (4,) of a unit axis (3,) and an angle, rad."""
    return ops.concatenate([ops.array([ops.cos(0.5 * angle)]), ops.sin(0.5 * angle) * np.asarray(axis)])


def to_quaternion(spinor: ArrayLike) -> Array:
    """The quaternion xyzw (4,) of the same rotation: (b, a)."""
    return quaternion.from_wxyz(spinor)


def from_quaternion(q: ArrayLike) -> Array:
    """The spinor (4,) of a quaternion xyzw (4,)."""
    return quaternion.to_wxyz(q)


def reverse(spinor: ArrayLike) -> Array:
    """R~ = a - i b (4,): the inverse rotation."""
    return np.asarray(spinor) * np.array([1.0, -1.0, -1.0, -1.0])


def product(first: ArrayLike, then: ArrayLike) -> Array:
    """R₁R₂ (4,): turn first by R₁, then by R₂.

    R₁R₂ = a₁a₂ - b₁·b₂ + i (a₁b₂ + a₂b₁ - b₁ × b₂)        [spatial.spinor-product]   Busenhart 1994, (2.114)
    """
    first, then = np.asarray(first), np.asarray(then)
    a1, b1, a2, b2 = first[0], first[1:], then[0], then[1:]
    return ops.concatenate([ops.array([a1 * a2 - b1 @ b2]), a1 * b2 + a2 * b1 - ops.cross(b1, b2)])


def bar(spinor: ArrayLike) -> Array:
    """R̄ (4, 3), with which R₁R₂ = [R₁ | R̄₁] R₂.   [spatial.spinor-bar]   Busenhart 1994, (2.112)-(2.113)."""
    a, b1, b2, b3 = np.asarray(spinor)
    return ops.array([[-b1, -b2, -b3], [a, b3, -b2], [-b3, a, b1], [b2, -b1, a]])


def to_matrix(spinor: ArrayLike) -> Array:
    """Rotation matrix (3, 3), body to space.

    (2a² - 1) I + 2 b bᵀ + 2 a b̃        [spatial.spinor-matrix]   Busenhart 1994, (2.110)
    """
    R = np.asarray(spinor)
    a, b = R[0], R[1:]
    return (2.0 * a * a - 1.0) * np.eye(3) + 2.0 * np.outer(b, b) + 2.0 * a * skew(b)


def from_matrix(R: ArrayLike) -> Array:
    """The spinor (4,) with a ≥ 0 of a rotation matrix (3, 3)."""
    return from_quaternion(quaternion.from_matrix(R))


def rates(spinor: ArrayLike, angular_velocity: ArrayLike) -> Array:
    """dR/dt (4,), 1/s, from ω (3,), rad/s, in space axes.

    dR/dt = ½ R (i ω) = ½ R̄ ω        [spatial.spinor-rates]   Busenhart 1994, section 2.3
    """
    return 0.5 * (bar(spinor) @ np.asarray(angular_velocity))


def omega(spinor: ArrayLike, spinor_rate: ArrayLike) -> Array:
    """ω (3,), rad/s, in space axes, from a unit spinor (4,) and its rate (4,), 1/s: 2 (a db - da b + b × db)."""
    R, dR = np.asarray(spinor), np.asarray(spinor_rate)
    return 2.0 * (R[0] * dR[1:] - dR[0] * R[1:] + ops.cross(R[1:], dR[1:]))


def update(spinor: ArrayLike, rotation: ArrayLike) -> Array:
    """The unit spinor (4,) after a small rotation Δϑ (3,), rad, in space axes, without trigonometry.

    R⁺ = R (1 + i Δϑ/2) / √(1 + |Δϑ|²/4)        [spatial.spinor-update]   Busenhart 1994, (3.47)
    It turns by 2 atan(|Δϑ|/2), so it differs from the exact update by |Δϑ|³/12.
    """
    half = 0.5 * np.asarray(rotation)
    step = ops.concatenate([np.array([1.0]), half])
    return product(spinor, step) / ops.sqrt(1.0 + half @ half)
