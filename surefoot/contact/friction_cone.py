"""Coulomb's friction cone, and pyramids inside and around it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from surefoot.errors import ShapeError

__all__ = ["FrictionPyramid", "checked_friction", "corner_spans", "friction_cone", "friction_pyramid"]

Array = NDArray[np.float64]


def friction_cone(force: ArrayLike, friction: ArrayLike) -> Array:
    """How far forces are inside the exact friction cone: μ f_z − √(f_x² + f_y²) [N]; negative outside.

    Nenchev & Konno 2019, §3.3.2.   [contact.cone]

    Args:
        force: (..., 3) on the robot, in the contact frame, z out of the ground [N].
        friction: μ, Coulomb coefficient; broadcasts to (...).
    """
    f = np.asarray(force, dtype=float)
    return np.asarray(np.asarray(friction) * f[..., 2] - np.hypot(f[..., 0], f[..., 1]))


class FrictionPyramid(NamedTuple):
    """Forces f with faces @ f ≥ 0, the same as spans @ λ with λ ≥ 0.

    Args:
        faces: (m, 3).
        spans: (3, k): its edges, each with a normal force of 1 N.
    """

    faces: Array
    spans: Array


def friction_pyramid(friction: float, sides: int = 4, inscribed: bool = False) -> FrictionPyramid:
    """A pyramid in place of the friction cone.

        sin α_p f_x + cos α_p f_y + μ f_z ≥ 0,  α_p = 2π (p − 1) / N        [contact.pyramid]

    Nenchev & Konno 2019, (3.12), whose sign of μ is wrong as printed, and §3.3.2. It touches the cone in the middle of
    its faces. The inscribed one has μ cos(π / N) in place of μ: it touches the cone with its edges.

    Args:
        friction: μ, ≥ 0.
        sides: N, ≥ 3.
        inscribed: Inside the cone (safe) rather than around it (every force of the cone is in the pyramid).
    """
    mu = checked_friction(friction)
    if sides < 3:
        raise ShapeError("a friction pyramid has at least 3 sides", evidence={"sides": sides})
    if mu == 0.0:
        ways = np.array([[1.0, 0.0, 0.0], [-1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, -1.0, 0.0]])
        return FrictionPyramid(np.vstack([ways, [0.0, 0.0, 1.0]]), np.array([[0.0], [0.0], [1.0]]))
    mu *= np.cos(np.pi / sides) if inscribed else 1.0
    angle, up = 2.0 * np.pi * np.arange(sides) / sides, np.ones(sides)
    faces = np.column_stack([np.sin(angle), np.cos(angle), mu * up])
    edge, reach = angle + np.pi / sides, mu / np.cos(np.pi / sides)
    return FrictionPyramid(_tidy(faces), _tidy(np.array([-reach * np.sin(edge), -reach * np.cos(edge), up])))


def corner_spans(corners: ArrayLike, spans: ArrayLike) -> Array:
    """(6, k m): wrenches (f, r × f) of forces at corners, corner after corner.

    Args:
        corners: (k, 3) [m].
        spans: (3, m) forces at each corner.
    """
    r, f = np.asarray(corners, dtype=float).reshape(-1, 1, 3), np.asarray(spans, dtype=float).T[None]
    f = np.broadcast_to(f, (len(r), *f.shape[1:]))
    return np.asarray(np.concatenate([f, np.cross(r, f)], axis=2).reshape(-1, 6).T)


def checked_friction(friction: float) -> float:
    """The coefficient, if it is one.

    Args:
        friction: μ.

    Raises:
        ShapeError: It is negative or not finite.
    """
    if not (np.isfinite(friction) and friction >= 0.0):
        raise ShapeError("a friction coefficient is finite and not negative", evidence={"friction": friction})
    return float(friction)


def _tidy(values: Array) -> Array:
    """Sines and cosines of right angles are 0, not 1e-16."""
    return np.where(np.abs(values) < 1e-15, 0.0, values)
