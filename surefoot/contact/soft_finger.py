"""Soft fingers: a point of contact that also holds against turning about the normal."""

from __future__ import annotations

from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from surefoot.contact.friction_cone import checked_friction, friction_pyramid
from surefoot.errors import one_of

__all__ = ["SOFT_FINGER_LAWS", "SoftFingerLaw", "soft_finger", "soft_finger_spans", "torsion_limit"]

Array = NDArray[np.float64]
SoftFingerLaw = Literal["elliptic", "linear", "independent"]
SOFT_FINGER_LAWS: tuple[str, ...] = get_args(SoftFingerLaw)
"""How tangential force t = |f_t| / μ and torsion s = |m_z| / γ share the normal force: t² + s² ≤ f_z² (elliptic limit
surface), t + s ≤ f_z (linear, safe), or t ≤ f_z and s ≤ f_z each for itself. Howe & Cutkosky 1996; Nenchev & Konno
2019, §3.3.2 for the last."""
_LATITUDES = np.deg2rad([-45.0, 0.0, 45.0])


def torsion_limit(force: ArrayLike, friction: ArrayLike, torsion: ArrayLike, law: SoftFingerLaw = "elliptic") -> Array:
    """Largest |m_z| of a soft finger under a force [N m]; 0 where the force itself slides or pulls.

    Args:
        force: (..., 3) on the robot, in the contact frame [N].
        friction: μ; broadcasts to (...).
        torsion: γ: moment about the normal per normal force [m]; broadcasts to (...).
        law: One of `SOFT_FINGER_LAWS`.
    """
    if law not in SOFT_FINGER_LAWS:
        raise one_of("law of soft fingers", law, SOFT_FINGER_LAWS)
    f = np.asarray(force, dtype=float)
    normal, mu = np.maximum(f[..., 2], 0.0), np.broadcast_to(np.asarray(friction, dtype=float), f.shape[:-1])
    across = np.hypot(f[..., 0], f[..., 1])
    slide = np.where(mu > 0.0, across / np.where(mu > 0.0, mu, 1.0), np.where(across > 0.0, np.inf, 0.0))
    slide = np.minimum(slide, normal)
    left = {"linear": normal - slide, "independent": np.where(slide < normal, normal, 0.0)}.get(law)
    return np.asarray(torsion) * (np.sqrt(normal**2 - slide**2) if left is None else left)


def soft_finger(wrench: ArrayLike, friction: ArrayLike, torsion: ArrayLike, law: SoftFingerLaw = "elliptic") -> Array:
    """How far wrenches are inside what a soft finger holds, as a force: f_z minus what friction and torsion use [N].

    Args:
        wrench: (..., 6) on the robot, at the finger, in the contact frame; moments about x and y are not looked at.
        friction: μ > 0; broadcasts to (...).
        torsion: γ > 0 [m]; broadcasts to (...).
        law: One of `SOFT_FINGER_LAWS`.
    """
    if law not in SOFT_FINGER_LAWS:
        raise one_of("law of soft fingers", law, SOFT_FINGER_LAWS)
    w = np.asarray(wrench, dtype=float)
    slide, turn = np.hypot(w[..., 0], w[..., 1]) / friction, np.abs(w[..., 5]) / torsion
    used = {"linear": slide + turn, "independent": np.maximum(slide, turn), "elliptic": np.hypot(slide, turn)}[law]
    return np.asarray(w[..., 2] - used)


def soft_finger_spans(
    friction: float, torsion: float, sides: int = 4, inscribed: bool = False, law: SoftFingerLaw = "elliptic"
) -> Array:
    """(6, k) edges of a polyhedral cone of wrenches in place of a soft finger's cone, each with 1 N of normal force.

    Args:
        friction: μ ≥ 0.
        torsion: γ ≥ 0 [m].
        sides: Of the pyramid of tangential forces; ≥ 3.
        inscribed: Inside the cone rather than around it.
        law: One of `SOFT_FINGER_LAWS`. The elliptic one is met at latitudes of 0, ±45° and ±90°: inside by less than
            8 % between them, as the pyramid is by 1 − cos(π / sides) at the equator.
    """
    if law not in SOFT_FINGER_LAWS:
        raise one_of("law of soft fingers", law, SOFT_FINGER_LAWS)
    gamma, edges = checked_friction(torsion), friction_pyramid(friction, sides, inscribed).spans
    if gamma == 0.0:
        return _wrenches(edges[:2], np.zeros(edges.shape[1]))
    if law == "independent":
        return np.hstack([_wrenches(edges[:2], np.full(edges.shape[1], sign * gamma)) for sign in (-1.0, 1.0)])
    if law == "linear":
        levels, turns = (np.zeros((2, 1)), np.zeros((2, 1))), (-gamma, gamma)
        poles = [_wrenches(level, np.array([turn])) for level, turn in zip(levels, turns, strict=True)]
        return np.hstack([_wrenches(edges[:2], np.zeros(edges.shape[1])), *poles])
    return _elliptic(edges, gamma, inscribed)


def _elliptic(edges: Array, gamma: float, inscribed: bool) -> Array:
    """Rings of the pyramid's edges on the ellipse of latitudes, or on the polygon around it."""
    if inscribed:
        rings, heights = np.cos(_LATITUDES), np.sin(_LATITUDES)
        poles = [_wrenches(np.zeros((2, 1)), np.array([turn])) for turn in (-gamma, gamma)]
    else:  # corners of the octagon around the circle of (t, s)
        near, far = np.tan(np.pi / 8.0), 1.0
        rings, heights = np.array([far, far, near, near]), np.array([-near, near, -far, far])
        poles = []
    parts = [
        _wrenches(ring * edges[:2], np.full(edges.shape[1], height * gamma))
        for ring, height in zip(rings, heights, strict=True)
    ]
    return np.hstack([*parts, *poles])


def _wrenches(tangential: Array, turn: Array) -> Array:
    """(6, k) with unit normal force."""
    k = tangential.shape[1]
    return np.vstack([tangential, np.ones(k), np.zeros((2, k)), turn])
