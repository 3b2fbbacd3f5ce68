"""Wrenches F = (f, m), linear first: a force, N, and the moment about the reference point, N m.

One rule gives every matrix here: the wrench transform is the transpose of the motion transform in the opposite
direction, so that the power Vᵀ F is the same at all points and in all frames. (Nenchev & Konno 2019, (3.4), writes the
subscripts of wrench transforms in reversed order with respect to its (2.5).)
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from surefoot import ops
from surefoot.ops import Array
from surefoot.spatial import se3, twist

__all__ = ["ad_dual", "cross", "force_at", "make", "power", "shift", "shift_matrix", "transform", "transform_matrix"]


def make(force: ArrayLike, moment: ArrayLike) -> Array:
    """F (6,) from f (3,), N, and m (3,), N m."""
    return ops.concatenate([force, moment])


def force_at(force: ArrayLike, point: ArrayLike) -> Array:
    """Wrench (6,) about the origin of a force (3,), N, that acts at a point (3,), m: (f, r × f)."""
    return make(force, ops.cross(point, force))


def shift_matrix(displacement: ArrayLike) -> Array:
    """The wrench about another point, same axes, as a matrix (6, 6).

    F_O = T_POᵀ F_P, m_O = m_P + (r_P - r_O) × f        [wrench.shift]   Nenchev & Konno 2019, (3.4)

    Args:
        displacement: From the present point P to the new point O (3,), m, as in `twist.shift_matrix`.
    """
    return twist.shift_matrix(-np.asarray(displacement)).T


def shift(wrench: ArrayLike, displacement: ArrayLike) -> Array:
    """The wrench (6,) about a point `displacement` (3,), m, away: m - displacement × f.   [wrench.shift]."""
    F = np.asarray(wrench)
    return make(F[:3], F[3:] - ops.cross(displacement, F[:3]))


def transform_matrix(T: ArrayLike) -> Array:
    """X* (6, 6) that takes wrenches from b (about its origin, in its axes) to a, for T_a_b.

    X* = Ad(T_b_a)ᵀ = [[R, 0], [p̃ R, R]]        [wrench.transform]   transpose of (2.8) of Nenchev & Konno 2019
    """
    return se3.Ad(se3.inverse(T)).T


def transform(T: ArrayLike, wrench: ArrayLike) -> Array:
    """The wrench (6,) given in b (about its origin, in its axes), in a; T is T_a_b (4, 4)."""
    F, R = np.asarray(wrench), se3.rotation(T)
    force = R @ F[:3]
    return make(force, R @ F[3:] + ops.cross(se3.translation(T), force))


def ad_dual(velocity: ArrayLike) -> Array:
    """The force cross product V ×* as a matrix (6, 6): -ad(V)ᵀ.   [wrench.ad]   Featherstone 2008, section 2.9."""
    return -twist.ad(velocity).T


def cross(velocity: ArrayLike, wrench: ArrayLike) -> Array:
    """V ×* F (6,) = (ω × f, ω × m + v × f): the rate of F that is fixed in a frame moving with V."""
    V, F = np.asarray(velocity), np.asarray(wrench)
    return make(ops.cross(V[3:], F[:3]), ops.cross(V[3:], F[3:]) + ops.cross(V[:3], F[:3]))


def power(velocity: ArrayLike, wrench: ArrayLike) -> Any:
    """Vᵀ F in W, both about the same point and in the same axes."""
    return np.asarray(velocity) @ np.asarray(wrench)
