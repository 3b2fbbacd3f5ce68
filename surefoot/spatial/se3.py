"""Placements: homogeneous 4 × 4 matrices T, with exp, log, Jacobians and adjoint, twists linear first.

`T_world_foot` maps foot coordinates to world, so neighbours cancel: T_world_foot = T_world_base @ T_base_foot
(Koch, (2.9)). A twist (6,) is (v, ω): m/s and rad/s, or m and rad for finite displacements.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from surefoot import ops
from surefoot.ops import Array
from surefoot.spatial import quaternion, so3
from surefoot.spatial.so3 import skew
from surefoot.spatial.stumpff import stumpff

__all__ = [
    "Ad",
    "exp",
    "from_pose",
    "inverse",
    "left_jacobian",
    "left_jacobian_inverse",
    "log",
    "make",
    "random",
    "right_jacobian",
    "right_jacobian_inverse",
    "rotation",
    "to_pose",
    "transform_point",
    "translation",
]


def make(R: ArrayLike, p: ArrayLike) -> Array:
    """T_a_b (4, 4) from the rotation R_a_b (3, 3) and the origin p of b in a (3,), m."""
    R, p = np.asarray(R), np.asarray(p)
    T = ops.eye(4, like=[R, p])
    T[:3, :3] = R
    T[:3, 3] = p
    return T


def rotation(T: ArrayLike) -> Array:
    """R_a_b (3, 3) of T_a_b."""
    return np.asarray(T)[:3, :3]


def translation(T: ArrayLike) -> Array:
    """The origin of b in a (3,), m, of T_a_b."""
    return np.asarray(T)[:3, 3]


def inverse(T: ArrayLike) -> Array:
    """T_b_a of T_a_b, from the transpose of the rotation."""
    R = rotation(T)
    return make(R.T, -R.T @ translation(T))


def transform_point(T: ArrayLike, point: ArrayLike) -> Array:
    """Points in a, m, of points in b.

    Args:
        T: T_a_b (4, 4).
        point: One point (3,) or many (n, 3) in b, m.
    """
    return np.asarray(point) @ rotation(T).T + translation(T)


def from_pose(pose: ArrayLike) -> Array:
    """T (4, 4) of a pose (7,): x, y, z in m, then the unit quaternion x, y, z, w (a floating base in q)."""
    pose = np.asarray(pose)
    return make(quaternion.to_matrix(pose[3:]), pose[:3])


def to_pose(T: ArrayLike) -> Array:
    """The pose (7,) of T: x, y, z in m, then the unit quaternion x, y, z, w with w ≥ 0."""
    return ops.concatenate([translation(T), quaternion.from_matrix(rotation(T))])


def random(rng: np.random.Generator) -> Array:
    """T (4, 4) with a uniform rotation and a standard normal translation, m."""
    return make(so3.random(rng), rng.standard_normal(3))


def Ad(T: ArrayLike) -> Array:
    """X (6, 6) that takes twists from b (at its origin, in its axes) to a, for T_a_b.

    X = [[R, p̃ R], [0, R]]        [spatial.Ad]   Nenchev & Konno 2019, (2.8), for linear-first twists
    """
    R, p = rotation(T), translation(T)
    X = ops.zeros((6, 6), like=T)
    X[:3, :3] = X[3:, 3:] = R
    X[:3, 3:] = skew(p) @ R
    return X


def exp(twist: ArrayLike) -> Array:
    """T (4, 4) of the displacement (6,) (ρ in m, φ in rad) of a constant twist over unit time.

    T = [[exp φ, J(φ) ρ], [0, 1]], J the left Jacobian of SO(3)        [spatial.exp6]   Sola 2018, (172)
    """
    twist = np.asarray(twist)
    return make(so3.exp(twist[3:]), so3.left_jacobian(twist[3:]) @ twist[:3])


def log(T: ArrayLike) -> Array:
    """Displacement (6,) (ρ in m, φ in rad, |φ| ≤ π) with exp(log T) = T.   [spatial.log6]   Sola 2018, (173)."""
    phi = so3.log(rotation(T))
    return ops.concatenate([so3.left_jacobian_inverse(phi) @ translation(T), phi])


def left_jacobian(twist: ArrayLike) -> Array:
    """J (6, 6) with exp(τ + δ) ≈ exp(J δ) exp(τ), for displacements τ = (ρ, φ).

    J = [[J₃(φ), Q(ρ, φ)], [0, J₃(φ)]]        [spatial.jexp6]   Barfoot & Furgale 2014; Sola 2018, (179)
    """
    twist = np.asarray(twist)
    J = ops.zeros((6, 6), like=twist)
    J[:3, :3] = J[3:, 3:] = so3.left_jacobian(twist[3:])
    J[:3, 3:] = _coupling(twist[:3], twist[3:])
    return J


def left_jacobian_inverse(twist: ArrayLike) -> Array:
    """J⁻¹ (6, 6) = [[J₃⁻¹, -J₃⁻¹ Q J₃⁻¹], [0, J₃⁻¹]].   [spatial.jlog6]   Barfoot & Furgale 2014."""
    twist = np.asarray(twist)
    small = so3.left_jacobian_inverse(twist[3:])
    J = ops.zeros((6, 6), like=twist)
    J[:3, :3] = J[3:, 3:] = small
    J[:3, 3:] = -small @ _coupling(twist[:3], twist[3:]) @ small
    return J


def right_jacobian(twist: ArrayLike) -> Array:
    """J (6, 6) with exp(τ + δ) ≈ exp(τ) exp(J δ): the body twist is J dτ/dt.   Sola 2018, (76)."""
    return left_jacobian(-np.asarray(twist))


def right_jacobian_inverse(twist: ArrayLike) -> Array:
    """J⁻¹ (6, 6) of the right Jacobian: dτ/dt = J⁻¹ (body twist)."""
    return left_jacobian_inverse(-np.asarray(twist))


def _coupling(rho: Array, phi: Array) -> Array:
    """Q (3, 3) of the left Jacobian.

    Q = ρ̃/2 + c₃ (φ̃ρ̃ + ρ̃φ̃ + φ̃ρ̃φ̃) + c₄ (φ̃φ̃ρ̃ + ρ̃φ̃φ̃ - 3 φ̃ρ̃φ̃) + ½ (c₄ - 3 c₅)(φ̃ρ̃φ̃φ̃ + φ̃φ̃ρ̃φ̃)
    (Sola 2018, (180), with Stumpff functions c_n of φ²)
    """
    x = phi @ phi
    c3, c4, c5 = (stumpff(order, x) for order in (3, 4, 5))
    r, f = skew(rho), skew(phi)
    fr, rf, ff = f @ r, r @ f, f @ f
    frf = fr @ f
    quadratic = ff @ r + r @ ff - 3.0 * frf
    return 0.5 * r + c3 * (fr + rf + frf) + c4 * quadratic + 0.5 * (c4 - 3.0 * c5) * (frf @ f + f @ frf)
