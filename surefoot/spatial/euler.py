"""Three successive rotations about coordinate axes: one text for all twelve axis sequences.

    R_world_body = R_i(θ₁) R_j(θ₂) R_k(θ₃)        [spatial.euler]

Each rotation is about an axis of the frame that the ones before it have turned ("intrinsic"); angles (3,), rad, stand
in the order of the rotations. Sources write the same matrices differently:

- "xyz", Cardan angles (α, β, γ), Buschmann 2014, (2.42): A_BI = A_z(γ) A_y(β) A_x(α), where the elementary A maps
  inertial to body coordinates; here R_world_body = A_IB, its transpose.
- "zxz", Euler angles (ψ, ϑ, φ), Buschmann 2014, (2.50): A_BI = A_z(φ) A_x(ϑ) A_z(ψ). Errata: (2.51) must read
  ψ = atan2(A31, -A32); (2.55) exchanges the rates of φ and ψ, (2.56) is right; the left side of (2.57) is a rate.
- "zyx", yaw, pitch, roll, Koch, (2.8) (who orders the rates roll, pitch, yaw); Nenchev & Konno 2019, section 2.4
  (erratum: the determinant of the world rate map is -cos θ).
- "yxz", human models, Koch, section 2.2.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from surefoot import ops
from surefoot.errors import one_of
from surefoot.ops import Array
from surefoot.spatial.rates import Frame, cross_sign, refuse_singular

__all__ = [
    "SEQUENCES",
    "elementary",
    "from_matrix",
    "rate_map",
    "rate_map_inverse",
    "singularity_distance",
    "to_matrix",
]

SEQUENCES: dict[str, tuple[str, str, str]] = {
    "xyz": ("alpha", "beta", "gamma"),
    "zxz": ("psi", "theta", "phi"),
    "zyx": ("yaw", "pitch", "roll"),
    "yxz": ("about y", "about x", "about z"),
    "xzy": ("about x", "about z", "about y"),
    "yzx": ("about y", "about z", "about x"),
    "zxy": ("about z", "about x", "about y"),
    "xyx": ("about x", "about y", "second about x"),
    "xzx": ("about x", "about z", "second about x"),
    "yxy": ("about y", "about x", "second about y"),
    "yzy": ("about y", "about z", "second about y"),
    "zyz": ("about z", "about y", "second about z"),
}
"""The axis sequences and the names of their angles."""


def _axes(sequence: str) -> tuple[int, int, int]:
    if sequence not in SEQUENCES:
        raise one_of("axis sequence", sequence, SEQUENCES)
    first, second, third = ("xyz".index(axis) for axis in sequence)
    return first, second, third


def elementary(axis: int, angle: Any) -> Array:
    """R (3, 3) of a rotation by `angle`, rad, about axis 0, 1 or 2: the A_IB of Buschmann 2014, (2.39)-(2.41)."""
    c, s = ops.cos(angle), ops.sin(angle)
    y, z = (axis + 1) % 3, (axis + 2) % 3
    R = ops.eye(3, like=c)
    R[y, y] = R[z, z] = c
    R[z, y] = s
    R[y, z] = -s
    return R


def to_matrix(sequence: str, angles: ArrayLike) -> Array:
    """R_world_body (3, 3) of the angles (3,), rad.

    Args:
        sequence: A key of `SEQUENCES`.
        angles: In the order of the rotations.
    """
    first, second, third = _factors(sequence, angles)
    return first @ second @ third


def _factors(sequence: str, angles: ArrayLike) -> tuple[Array, Array, Array]:
    i, j, k = _axes(sequence)
    a, b, c = np.asarray(angles)
    return elementary(i, a), elementary(j, b), elementary(k, c)


def from_matrix(sequence: str, R: ArrayLike) -> Array:
    """Angles (3,), rad, of R_world_body (3, 3).

    The middle angle lies in [-π/2, π/2] for three different axes and in [0, π] otherwise. θ₁ comes from the third
    turned axis, the other two from R with θ₁ undone, as Buschmann 2014, (2.44) and (2.52) do; so the angles give R
    again also at the singularity, where how θ₁ and θ₃ share their sum is a choice.   [spatial.euler-inverse]

    Args:
        sequence: A key of `SEQUENCES`.
        R: Rotation matrix, body to world.
    """
    i, j, k = _axes(sequence)
    R = np.asarray(R)
    l = 3 - i - j  # noqa: E741
    sign = 1.0 if (j - i) % 3 == 1 else -1.0
    if k == i:
        first = ops.arctan2(R[j, i], -sign * R[l, i])
        rest = elementary(i, first).T @ R
        second = ops.arctan2(-sign * rest[l, i], rest[i, i])
        third = ops.arctan2(-sign * rest[j, l], rest[j, j])
    else:
        first = ops.arctan2(-sign * R[j, k], R[k, k])
        rest = elementary(i, first).T @ R
        second = ops.arctan2(sign * rest[i, k], rest[k, k])
        third = ops.arctan2(sign * rest[j, i], rest[j, j])
    return ops.array([first, second, third])


def rate_map(sequence: str, angles: ArrayLike, frame: Frame = "body") -> Array:
    """E (3, 3) with ω = E dθ/dt, rad/s.

    ω_world = e_i dθ₁ + R_i e_j dθ₂ + R_i R_j e_k dθ₃        [spatial.euler-rates]   Buschmann 2014, (2.46)-(2.48);
    Koch, (2.8b);  ω_body = Rᵀ ω_world

    Args:
        sequence: A key of `SEQUENCES`.
        angles: (3,), rad, in the order of the rotations.
        frame: The axes in which ω is written.
    """
    i, j, k = _axes(sequence)
    first, second, third = _factors(sequence, angles)
    if cross_sign(frame) > 0.0:
        columns = [np.eye(3)[i], first[:, j], (first @ second)[:, k]]
    else:
        columns = [(second @ third)[i], third[j], np.eye(3)[k]]
    return ops.stack(columns, axis=1)


def rate_map_inverse(sequence: str, angles: ArrayLike, frame: Frame = "body") -> Array:
    """E⁻¹ (3, 3) with dθ/dt = E⁻¹ ω, rad/s; numbers near the singularity are refused.

    The rows are the cross products of the columns of E over its determinant.   [spatial.euler-rates-inverse]
    (Buschmann 2014, (2.49) and (2.57) for "xyz" and "zxz" in body axes)

    Args:
        sequence: A key of `SEQUENCES`.
        angles: (3,), rad, in the order of the rotations.
        frame: The axes in which ω is written.
    """
    a, b, c = rate_map(sequence, angles, frame).T
    determinant = a @ ops.cross(b, c)
    evidence = dict(zip(SEQUENCES[sequence], np.asarray(angles), strict=True))
    step = "use a quaternion, or an axis sequence whose singularity lies outside the motion"
    refuse_singular(f"rates of the {sequence} angles", determinant, evidence, step)
    return ops.stack([ops.cross(b, c), ops.cross(c, a), ops.cross(a, b)]) / determinant


def singularity_distance(sequence: str, angles: ArrayLike) -> Any:
    """|det E|, 0 at the singularity: |cos θ₂| for three different axes, |sin θ₂| if first and third are the same."""
    i, _, k = _axes(sequence)
    middle = np.asarray(angles)[1]
    return ops.absolute(ops.sin(middle) if i == k else ops.cos(middle))
