"""Unit quaternions in the order x, y, z, w: rotations without singularity.

q = (u sin(φ/2), cos(φ/2)) (Buschmann 2014, footnote 12; there scalar first). `to_matrix(q_world_body)` maps body
coordinates to world; `product(q_a_b, q_b_c)` is q_a_c. q and -q are one rotation; functions that return a quaternion
of a matrix or of two others give the one with w ≥ 0. All functions take numbers and symbols.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from surefoot import ops
from surefoot.ops import Array
from surefoot.spatial.rates import Frame, cross_sign, refuse_singular
from surefoot.spatial.stumpff import stumpff

__all__ = [
    "canonical",
    "conjugate",
    "exp",
    "from_matrix",
    "from_wxyz",
    "identity",
    "log",
    "normalise",
    "omega",
    "product",
    "random",
    "rate_matrix",
    "rates",
    "rotate",
    "slerp",
    "to_matrix",
    "to_wxyz",
]

_ATAN_TERMS = 12


def identity() -> Array:
    """The quaternion (4,) of no rotation."""
    return np.array([0.0, 0.0, 0.0, 1.0])


def to_wxyz(q: ArrayLike) -> Array:
    """(x, y, z, w) → (w, x, y, z), the order of MuJoCo and of the Euler parameters."""
    return np.roll(np.asarray(q), 1)


def from_wxyz(q: ArrayLike) -> Array:
    """(w, x, y, z) → (x, y, z, w)."""
    return np.roll(np.asarray(q), -1)


def product(p: ArrayLike, q: ArrayLike) -> Array:
    """Hamilton product p ∘ q: the rotation q first, then p.

    (v, a)(w, b) = (a w + b v + v × w, a b - v·w)        [spatial.quat-product]   Sola 2018, appendix B
    """
    p, q = np.asarray(p), np.asarray(q)
    v, a, w, b = p[:3], p[3], q[:3], q[3]
    return ops.concatenate([a * w + b * v + ops.cross(v, w), ops.array([a * b - v @ w])])


def conjugate(q: ArrayLike) -> Array:
    """(-x, -y, -z, w): the inverse rotation of a unit quaternion."""
    return np.asarray(q) * np.array([-1.0, -1.0, -1.0, 1.0])


def normalise(q: ArrayLike) -> Array:
    """The unit quaternion q / |q| (4,); numbers of length zero are refused."""
    q = np.asarray(q)
    length = ops.norm(q)
    refuse_singular(
        "rotations of a zero quaternion", length, {"quaternion xyzw": q}, "give a nonzero quaternion", 1e-150
    )
    return q / length


def canonical(q: ArrayLike) -> Array:
    """The one of q and -q with w ≥ 0."""
    q = np.asarray(q)
    return q * ops.where(ops.less(q[3], 0.0), -1.0, 1.0)


def random(rng: np.random.Generator) -> Array:
    """A rotation drawn uniformly, as unit quaternion (4,) with w ≥ 0."""
    return canonical(normalise(rng.standard_normal(4)))


def to_matrix(q: ArrayLike) -> Array:
    """Rotation matrix (3, 3) of a unit quaternion.

    R = I + 2 w ṽ + 2 ṽ ṽ        [spatial.quat-matrix]   Buschmann 2014, (2.34) with half angles
    """
    x, y, z, w = np.asarray(q)
    return ops.array(
        [
            [1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y - w * z), 2.0 * (x * z + w * y)],
            [2.0 * (x * y + w * z), 1.0 - 2.0 * (x * x + z * z), 2.0 * (y * z - w * x)],
            [2.0 * (x * z - w * y), 2.0 * (y * z + w * x), 1.0 - 2.0 * (x * x + y * y)],
        ]
    )


def from_matrix(R: ArrayLike) -> Array:
    """Unit quaternion (4,) with w ≥ 0 of a rotation matrix (3, 3).

    The matrix 4 q qᵀ is linear in R; its row with the largest diagonal entry (≥ 1) is normalised. No root or quotient
    of a small number occurs at any rotation, and the text has no branch.   [spatial.quat-from-matrix]   Shepperd 1978
    """
    rows = _outer_product(np.asarray(R))
    best, largest = rows[3], rows[3][3]
    for k in range(3):
        larger = ops.less(largest, rows[k][k])
        best = ops.where(larger, rows[k], best)
        largest = ops.where(larger, rows[k][k], largest)
    return canonical(best / ops.norm(best))


def _outer_product(R: Array) -> Array:
    """4 q qᵀ (4, 4) from R."""
    x, y, z = R[0, 0], R[1, 1], R[2, 2]
    xy, xz, yz = R[1, 0] + R[0, 1], R[0, 2] + R[2, 0], R[2, 1] + R[1, 2]
    xw, yw, zw = R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]
    return ops.array(
        [
            [1.0 + x - y - z, xy, xz, xw],
            [xy, 1.0 - x + y - z, yz, yw],
            [xz, yz, 1.0 - x - y + z, zw],
            [xw, yw, zw, 1.0 + x + y + z],
        ]
    )


def rotate(q: ArrayLike, vector: ArrayLike) -> Array:
    """The vector (3,) turned by a unit quaternion: v + 2 w (u × v) + 2 u × (u × v), u the vector part."""
    q, vector = np.asarray(q), np.asarray(vector)
    twice = 2.0 * ops.cross(q[:3], vector)
    return vector + q[3] * twice + ops.cross(q[:3], twice)


def exp(vector: ArrayLike) -> Array:
    """Unit quaternion (4,) of a rotation vector (3,), rad; smooth at zero.   [spatial.quat-exp]   Sola 2018, app. B."""
    vector = np.asarray(vector)
    x = 0.25 * (vector @ vector)
    return ops.concatenate([0.5 * stumpff(1, x) * vector, ops.array([stumpff(0, x)])])


def log(q: ArrayLike) -> Array:
    """Rotation vector (3,) of length ≤ π (to rounding), rad, of a quaternion of any length > 0.

        φ = 2 atan(|v| / w) v / |v| = 16 atan(t) v / |v|,   t = tan of an eighth of the angle of |v| and w

    Halving the angle, tan(x/2) = tan(x) / (1 + √(1 + tan² x)), leaves t ≤ tan(π/16): the series of atan(t)/t needs few
    terms, and nothing is divided by |v|.   [spatial.quat-log]   Sola 2018, appendix B
    """
    q = canonical(q)
    v, w = q[:3], q[3]
    squared = v @ v
    per_length = 1.0 / (ops.sqrt(squared + w * w) + w)  # tan of the half angle, by |v|
    for _ in range(2):
        per_length = per_length / (1.0 + ops.sqrt(1.0 + squared * per_length * per_length))
    return 16.0 * _atan_series(squared * per_length * per_length) * per_length * v


def _atan_series(squared: Any) -> Any:
    """atan(t) / t for t ≤ tan(π/16)."""
    total: Any = 0.0
    for k in reversed(range(_ATAN_TERMS)):
        total = 1.0 / (2 * k + 1) - squared * total
    return total


def slerp(p: ArrayLike, q: ArrayLike, s: Any) -> Array:
    """From p (s = 0) to q (s = 1) at constant angular velocity, the short way round.

    p ∘ exp(s log(p* ∘ q))        [spatial.slerp]   Shoemake 1985
    """
    return product(p, exp(s * log(product(conjugate(p), q))))


def rate_matrix(q: ArrayLike, frame: Frame = "body") -> Array:
    """Q (4, 3) with dq/dt = Q ω / 2 and, for unit q, ω = 2 Qᵀ dq/dt.

    dq/dt = ½ q ∘ (ω_body, 0) = ½ (ω_world, 0) ∘ q        [spatial.quat-rates]   Sola 2018, appendix B

    Args:
        q: Unit quaternion xyzw of R_world_body.
        frame: The axes in which ω is written.
    """
    x, y, z, w = np.asarray(q)
    s = cross_sign(frame)
    return ops.array([[w, s * z, -s * y], [-s * z, w, s * x], [s * y, -s * x, w], [-x, -y, -z]])


def rates(q: ArrayLike, angular_velocity: ArrayLike, frame: Frame = "body") -> Array:
    """dq/dt (4,), 1/s, of a body that turns with ω (3,), rad/s, written in body or world axes."""
    return 0.5 * (rate_matrix(q, frame) @ np.asarray(angular_velocity))


def omega(q: ArrayLike, q_rate: ArrayLike, frame: Frame = "body") -> Array:
    """ω (3,), rad/s, in body or world axes, from a unit quaternion and its rate (4,), 1/s."""
    return 2.0 * (rate_matrix(q, frame).T @ np.asarray(q_rate))
