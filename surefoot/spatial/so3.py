"""Rotations: matrices R (3, 3), rotation vectors φ = angle · axis (3,) in rad, and the Jacobians between their rates.

`R_world_body` maps body coordinates to world. exp, log and the Jacobians take numbers and symbols and are smooth at
zero; log is accurate up to and at the angle π, where its sign is a choice.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from surefoot import ops
from surefoot.ops import Array
from surefoot.spatial import quaternion
from surefoot.spatial.rates import refuse_singular
from surefoot.spatial.stumpff import stumpff

__all__ = [
    "angle_between",
    "exp",
    "left_jacobian",
    "left_jacobian_inverse",
    "log",
    "random",
    "right_jacobian",
    "right_jacobian_inverse",
    "skew",
    "turn_to",
    "unskew",
]


def skew(vector: ArrayLike) -> Array:
    """ã (3, 3) with ã b = a × b.   [spatial.skew]   Buschmann 2014, App. A.1."""
    x, y, z = np.asarray(vector)
    return ops.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])


def unskew(matrix: ArrayLike) -> Array:
    """The vector (3,) of the antisymmetric part of a (3, 3) matrix: the inverse of `skew`."""
    m = np.asarray(matrix)
    return 0.5 * ops.array([m[2, 1] - m[1, 2], m[0, 2] - m[2, 0], m[1, 0] - m[0, 1]])


def exp(vector: ArrayLike) -> Array:
    """Rotation matrix (3, 3) of a rotation vector (3,), rad.

    R = I + (sin φ / φ) φ̃ + ((1 - cos φ) / φ²) φ̃²        [spatial.exp3]   Buschmann 2014, (2.35)
    (errata: (2.32) needs u = φ / |φ|; the diagonal of (2.33) is cos φ + (1 - cos φ) u_i²)
    """
    return _series_of_skew(vector, 1, 2)


def log(R: ArrayLike) -> Array:
    """Rotation vector (3,), rad, |φ| ≤ π, of a rotation matrix (3, 3).

    Through the quaternion, where Buschmann 2014, (2.37)-(2.38) lose the axis at φ = π.   [spatial.log3]
    """
    return quaternion.log(quaternion.from_matrix(R))


def left_jacobian(vector: ArrayLike) -> Array:
    """J (3, 3) with ω_world = J dφ/dt, and exp(φ + δ) ≈ exp(J δ) exp(φ).

    J = I + ((1 - cos φ) / φ²) φ̃ + ((φ - sin φ) / φ³) φ̃²        [spatial.jexp3]   Sola 2018, (145)
    """
    return _series_of_skew(vector, 2, 3)


def right_jacobian(vector: ArrayLike) -> Array:
    """J (3, 3) with ω_body = J dφ/dt, and exp(φ + δ) ≈ exp(φ) exp(J δ).   Sola 2018, (143)."""
    return left_jacobian(-np.asarray(vector))


def left_jacobian_inverse(vector: ArrayLike) -> Array:
    """J⁻¹ (3, 3) with dφ/dt = J⁻¹ ω_world; does not exist at |φ| = 2π.

    J⁻¹ = I - φ̃ / 2 + d φ̃²,  d = (1 - (φ/2) cot(φ/2)) / φ² = (c₃ - 2 c₄) / (2 c₂)   [spatial.jlog3]   Sola 2018, (146)
    (c_n: Stumpff functions of φ²; this quotient has no cancellation at zero and none at π)
    """
    vector = np.asarray(vector)
    x = vector @ vector
    c2 = stumpff(2, x)
    step = "use the rotation vector of length ≤ π of the same rotation, so3.log(so3.exp(φ))"
    refuse_singular("rates of a rotation vector of length 2π", c2, {"rotation vector": vector}, step, 1e-12)
    tilde = skew(vector)
    d = (stumpff(3, x) - 2.0 * stumpff(4, x)) / (2.0 * c2)
    return np.eye(3) - 0.5 * tilde + d * (tilde @ tilde)


def right_jacobian_inverse(vector: ArrayLike) -> Array:
    """J⁻¹ (3, 3) with dφ/dt = J⁻¹ ω_body; does not exist at |φ| = 2π.   Sola 2018, (144)."""
    return left_jacobian_inverse(-np.asarray(vector))


def _series_of_skew(vector: ArrayLike, first: int, second: int) -> Array:
    """I + c_first φ̃ + c_second φ̃² with Stumpff coefficients of φ²."""
    vector = np.asarray(vector)
    x = vector @ vector
    tilde = skew(vector)
    return np.eye(3) + stumpff(first, x) * tilde + stumpff(second, x) * (tilde @ tilde)


def turn_to(normal: ArrayLike) -> Array:
    """The shortest rotation (3, 3) that takes z to a unit vector (3,), which must not point down."""
    x, y, z = np.asarray(normal, dtype=float)
    turned = np.array(
        [[1.0 - x * x / (1.0 + z), -x * y / (1.0 + z), x], [-x * y / (1.0 + z), 1.0 - y * y / (1.0 + z), y]]
    )
    return np.vstack([turned, [-x, -y, z]])


def angle_between(R_a: ArrayLike, R_b: ArrayLike) -> Any:
    """The angle in [0, π], rad, of the rotation that takes R_a to R_b.

    For symbols its derivative does not exist where the two are equal.
    """
    q = quaternion.from_matrix(np.asarray(R_a).T @ np.asarray(R_b))
    return 2.0 * ops.arctan2(ops.norm(q[:3]), q[3])


def random(rng: np.random.Generator) -> Array:
    """A rotation matrix (3, 3) drawn uniformly."""
    return quaternion.to_matrix(quaternion.random(rng))
