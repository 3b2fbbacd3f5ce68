"""Axis and angle, Rodrigues parameters and Euler parameters: conversions to and from R, rates to and from ω.

R is R_world_body (3, 3); ω (3,), rad/s, is written in body or world axes as `frame` says. (Quaternions have their own
module, rotation vectors are in `so3`, successive rotations in `euler`.) All functions take numbers and symbols;
numbers at a singularity are refused.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from surefoot import ops
from surefoot.ops import Array
from surefoot.spatial import quaternion
from surefoot.spatial.rates import Frame, cross_sign, refuse_singular
from surefoot.spatial.so3 import skew

__all__ = [
    "axis_angle_from_matrix",
    "axis_angle_omega",
    "axis_angle_rates",
    "axis_angle_to_matrix",
    "euler_parameters_from_matrix",
    "euler_parameters_omega",
    "euler_parameters_rates",
    "euler_parameters_to_matrix",
    "rodrigues_from_matrix",
    "rodrigues_omega",
    "rodrigues_rates",
    "rodrigues_to_matrix",
]


def axis_angle_to_matrix(axis: ArrayLike, angle: Any) -> Array:
    """R (3, 3) of a turn by `angle`, rad, about the unit vector `axis` (3,).

    R = I + ũ sin φ + 2 ũ² sin²(φ/2)        [spatial.axis-angle]   Buschmann 2014, (2.34)
    (erratum: the diagonal of (2.33) is cos φ + (1 - cos φ) u_i²)
    """
    u = skew(axis)
    return np.eye(3) + ops.sin(angle) * u + 2.0 * ops.sin(0.5 * angle) ** 2 * (u @ u)


def axis_angle_from_matrix(R: ArrayLike) -> tuple[Array, Any]:
    """Unit axis (3,) and angle in [0, π], rad, of R (3, 3); the axis is e_x where R is the identity.

    Through the quaternion; Buschmann 2014, (2.38), divides by sin φ and loses the axis at π.
    """
    q = quaternion.from_matrix(R)
    squared = q[:3] @ q[:3]
    none = ops.less(squared, 1e-300)
    axis = ops.where(none, np.array([1.0, 0.0, 0.0]), q[:3] / ops.sqrt(ops.where(none, 1.0, squared)))
    return axis, 2.0 * ops.arctan2(ops.sqrt(squared), q[3])


def axis_angle_omega(
    axis: ArrayLike, angle: Any, axis_rate: ArrayLike, angle_rate: Any, frame: Frame = "body"
) -> Array:
    """ω (3,), rad/s, from the rates of a unit axis and an angle.

    ω_body = u dφ + sin φ du - (1 - cos φ) ũ du        [spatial.axis-angle-rates]   Buschmann 2014, (2.36);
    plus in place of minus gives ω_world

    Args:
        axis: Unit vector u (3,).
        angle: φ, rad.
        axis_rate: du/dt (3,), 1/s, perpendicular to u.
        angle_rate: dφ/dt, rad/s.
        frame: The axes in which ω is written.
    """
    u, du = np.asarray(axis), np.asarray(axis_rate)
    versine = 2.0 * ops.sin(0.5 * angle) ** 2
    return u * angle_rate + ops.sin(angle) * du + cross_sign(frame) * versine * ops.cross(u, du)


def axis_angle_rates(
    axis: ArrayLike, angle: Any, angular_velocity: ArrayLike, frame: Frame = "body"
) -> tuple[Array, Any]:
    """(du/dt (3,), 1/s; dφ/dt, rad/s) from ω; do not exist at φ = 2kπ.

    dφ = u·ω,  du = ½ (cot(φ/2) (I - u uᵀ) ± ũ) ω, plus for ω_body, minus for ω_world
    [spatial.axis-angle-inverse]   (the inverse of Buschmann 2014, (2.36))

    Args:
        axis: Unit vector u (3,).
        angle: φ, rad.
        angular_velocity: ω (3,), rad/s.
        frame: The axes in which ω is written.
    """
    u, omega = np.asarray(axis), np.asarray(angular_velocity)
    sine = ops.sin(0.5 * angle)
    step = "use a rotation vector or a quaternion near the identity"
    refuse_singular("rates of the rotation axis", sine, {"axis": u, "angle": angle}, step)
    angle_rate = u @ omega
    across = omega - angle_rate * u
    return 0.5 * (ops.cos(0.5 * angle) / sine * across - cross_sign(frame) * ops.cross(u, omega)), angle_rate


def rodrigues_to_matrix(gamma: ArrayLike) -> Array:
    """R (3, 3) of Rodrigues parameters γ = tan(φ/2) u (3,).

    R = I + 2 (γ̃ + γ̃²) / (1 + γ·γ)        [spatial.rodrigues]   Shabana 2005
    """
    g, tilde = np.asarray(gamma), skew(gamma)
    return np.eye(3) + 2.0 / (1.0 + g @ g) * (tilde + tilde @ tilde)


def rodrigues_from_matrix(R: ArrayLike) -> Array:
    """Rodrigues parameters (3,) of R (3, 3); do not exist at a half turn.

    γ_i = θ_i / θ_0 of the Euler parameters        Buschmann 2014, footnote 11 (erratum: γ₁ = θ₁ / θ₀, not θ₁ / θ₂)
    """
    q = quaternion.from_matrix(R)
    step = "use a quaternion or a rotation vector for half turns"
    refuse_singular("Rodrigues parameters of a half turn", q[3], {"quaternion xyzw": q}, step)
    return q[:3] / q[3]


def rodrigues_omega(gamma: ArrayLike, gamma_rate: ArrayLike, frame: Frame = "body") -> Array:
    """ω (3,), rad/s, from Rodrigues parameters (3,) and their rates (3,), 1/s.

    ω = 2 (dγ ± γ × dγ) / (1 + γ·γ), plus for ω_world, minus for ω_body        [spatial.rodrigues-rates]
    """
    g, dg = np.asarray(gamma), np.asarray(gamma_rate)
    return 2.0 / (1.0 + g @ g) * (dg + cross_sign(frame) * ops.cross(g, dg))


def rodrigues_rates(gamma: ArrayLike, angular_velocity: ArrayLike, frame: Frame = "body") -> Array:
    """dγ/dt (3,), 1/s, from ω (3,), rad/s: dγ = ½ (ω + (γ·ω) γ ∓ γ × ω), minus for ω_world, plus for ω_body."""
    g, omega = np.asarray(gamma), np.asarray(angular_velocity)
    return 0.5 * (omega + (g @ omega) * g - cross_sign(frame) * ops.cross(g, omega))


def euler_parameters_to_matrix(theta: ArrayLike) -> Array:
    """R (3, 3) of Euler parameters (θ₀, θ₁, θ₂, θ₃) = (cos φ/2, u sin φ/2).

    The quaternion with the scalar first.   [spatial.euler-parameters]   Buschmann 2014, footnote 10
    """
    return quaternion.to_matrix(quaternion.from_wxyz(theta))


def euler_parameters_from_matrix(R: ArrayLike) -> Array:
    """Euler parameters (4,), scalar first and ≥ 0, of R (3, 3)."""
    return quaternion.to_wxyz(quaternion.from_matrix(R))


def euler_parameters_omega(theta: ArrayLike, theta_rate: ArrayLike, frame: Frame = "body") -> Array:
    """ω (3,), rad/s, from Euler parameters (4,) and their rates (4,), 1/s.

    ω = 2 G dθ, G = [-e, θ₀ I ∓ ẽ], minus for ω_body, plus for ω_world        Shabana 2005
    """
    return quaternion.omega(quaternion.from_wxyz(theta), quaternion.from_wxyz(theta_rate), frame)


def euler_parameters_rates(theta: ArrayLike, angular_velocity: ArrayLike, frame: Frame = "body") -> Array:
    """dθ/dt (4,), 1/s, from ω (3,), rad/s: dθ = ½ Gᵀ ω."""
    return quaternion.to_wxyz(quaternion.rates(quaternion.from_wxyz(theta), angular_velocity, frame))
