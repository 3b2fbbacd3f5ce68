"""Twists V = (v, ω), linear first: the velocity of the body point at the reference point, m/s, and ω, rad/s.

Accelerations of the same layout are *spatial*: the change of the twist at a fixed point of space. The acceleration
that an accelerometer's point feels is the classical one.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from surefoot import ops
from surefoot.ops import Array
from surefoot.spatial import se3
from surefoot.spatial.so3 import skew

__all__ = [
    "ad",
    "classical_acceleration",
    "cross",
    "make",
    "point_velocity",
    "rotation_matrix",
    "shift",
    "shift_matrix",
    "spatial_acceleration",
    "transform",
    "transform_matrix",
    "transform_matrix_inverse",
]


def make(linear: ArrayLike, angular: ArrayLike) -> Array:
    """V (6,) from v (3,), m/s, and ω (3,), rad/s."""
    return ops.concatenate([linear, angular])


def rotation_matrix(R: ArrayLike) -> Array:
    """diag(R, R) (6, 6): new axes at the same point.   [twist.rotation]   Nenchev & Konno 2019, (2.3)."""
    X = ops.zeros((6, 6), like=np.asarray(R))
    X[:3, :3] = X[3:, 3:] = np.asarray(R)
    return X


def shift_matrix(displacement: ArrayLike) -> Array:
    """T_PO (6, 6): the twist at P from the twist at O, same axes.

    V_P = T_PO V_O,  T_PO = [[E, -r̃], [0, E]],  r = r_P - r_O        [twist.shift]   Nenchev & Konno 2019, (2.5)

    Args:
        displacement: From the present point O to the new point P (3,), m, in the axes of the twist.
    """
    r = np.asarray(displacement)
    T = ops.eye(6, like=r)
    T[:3, 3:] = -skew(r)
    return T


def shift(twist: ArrayLike, displacement: ArrayLike) -> Array:
    """The twist (6,) at a point `displacement` (3,), m, away: v_P = v_O + ω × r.   [twist.shift]."""
    V = np.asarray(twist)
    return make(point_velocity(V, displacement), V[3:])


def point_velocity(twist: ArrayLike, displacement: ArrayLike) -> Array:
    """Velocity (3,), m/s, of the body point `displacement` (3,), m, away: v + ω × r.   Koch, (2.6)."""
    V = np.asarray(twist)
    return V[:3] + ops.cross(V[3:], displacement)


def transform_matrix(R: ArrayLike, displacement: ArrayLike) -> Array:
    """X (6, 6): shift to another point, then write in other axes.

    X = ℝ T = [[R, -R r̃], [0, R]]        [twist.transform]   Nenchev & Konno 2019, (2.7)

    Args:
        R: R_new_old (3, 3).
        displacement: From the old to the new point (3,), m, in the old axes.
    """
    return rotation_matrix(R) @ shift_matrix(displacement)


def transform_matrix_inverse(R: ArrayLike, displacement: ArrayLike) -> Array:
    """X⁻¹ (6, 6) = [[Rᵀ, r̃ Rᵀ], [0, Rᵀ]], with the arguments of `transform_matrix`.   Nenchev & Konno 2019, (2.8)."""
    return shift_matrix(-np.asarray(displacement)) @ rotation_matrix(np.asarray(R).T)


def transform(T: ArrayLike, twist: ArrayLike) -> Array:
    """The twist (6,) given in b (at its origin, in its axes), in a; T is T_a_b (4, 4)."""
    V, R = np.asarray(twist), se3.rotation(T)
    angular = R @ V[3:]
    return make(R @ V[:3] + ops.cross(se3.translation(T), angular), angular)


def ad(twist: ArrayLike) -> Array:
    """The motion cross product V × as a matrix (6, 6).

    V × W = [[ω̃, ṽ], [0, ω̃]] W        [twist.ad]   Featherstone 2008, section 2.9, reordered linear first
    """
    V = np.asarray(twist)
    A = ops.zeros((6, 6), like=V)
    A[:3, :3] = A[3:, 3:] = skew(V[3:])
    A[:3, 3:] = skew(V[:3])
    return A


def cross(first: ArrayLike, second: ArrayLike) -> Array:
    """V × W (6,) = (ω × w + v × ω_W, ω × ω_W): the rate of W that is fixed in a frame moving with V."""
    V, W = np.asarray(first), np.asarray(second)
    return make(ops.cross(V[3:], W[:3]) + ops.cross(V[:3], W[3:]), ops.cross(V[3:], W[3:]))


def classical_acceleration(acceleration: ArrayLike, twist: ArrayLike) -> Array:
    """Classical from spatial acceleration (6,), m/s² and rad/s²: a_point = a_spatial + ω × v.

    [twist.classical]   Koch, (2.16); every contact equation needs this term.
    """
    A, V = np.asarray(acceleration), np.asarray(twist)
    return make(A[:3] + ops.cross(V[3:], V[:3]), A[3:])


def spatial_acceleration(acceleration: ArrayLike, twist: ArrayLike) -> Array:
    """Spatial from classical acceleration (6,), m/s² and rad/s²: a_spatial = a_point - ω × v.   Koch, (2.16)."""
    A, V = np.asarray(acceleration), np.asarray(twist)
    return make(A[:3] - ops.cross(V[3:], V[:3]), A[3:])
