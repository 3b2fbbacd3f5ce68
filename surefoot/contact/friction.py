"""Friction at a point: Coulomb's cone, pyramids inside and around it, soft fingers, and feet in a V-shaped support."""

from __future__ import annotations

from typing import Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import ArrayLike

from surefoot.arrays import Array
from surefoot.errors import ShapeError, one_of

SoftFingerLaw = Literal["elliptic", "linear", "independent"]
SOFT_FINGER_LAWS: tuple[str, ...] = get_args(SoftFingerLaw)
"""How tangential force t = |f_t| / μ and torsion s = |m_z| / γ share the normal force: t² + s² ≤ f_z² (elliptic limit
surface), t + s ≤ f_z (linear, safe), or t ≤ f_z and s ≤ f_z each for itself. Howe & Cutkosky 1996; Nenchev & Konno
2019, §3.3.2 for the last."""
_LATITUDES = np.deg2rad([-45.0, 0.0, 45.0])


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
        raise ShapeError("a friction pyramid needs at least 3 sides", evidence={"sides": sides})
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
        raise ShapeError("a friction coefficient must be finite and not negative", evidence={"friction": friction})
    return float(friction)


def _tidy(values: Array) -> Array:
    """Sines and cosines of right angles are 0, not 1e-16."""
    return np.where(np.abs(values) < 1e-15, 0.0, values)


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


class FrictionBand(NamedTuple):
    """Inward horizontal reactions of the ground on each foot [N] without slip.

    Args:
        lower: Below it the feet slide down, towards each other.
        upper: Above it they slide up, apart; infinite where the feet jam.
    """

    lower: float
    upper: float


def friction_band(mass: float, slope: float, friction: float, gravity: float = 9.81) -> FrictionBand:
    """The band of horizontal forces in which a robot stands in a V-shaped support.

        h ∈ (M g / 2) [tan(α − φ), tan(α + φ)],  φ = atan μ        [contact.friction-band]

    Two feet carry half the weight each, on planes of slope α that rise outwards; each plane pushes its foot inwards
    with h, which the robot answers by pushing its feet apart. The force on a foot must be within φ of the normal.
    Nenchev & Konno 2019, Fig. 3.8 (V-shaped support of low friction): where α > φ the feet slide without such a force.

    Args:
        mass: M, of the whole robot [kg].
        slope: α [rad], 0 ≤ α < π/2.
        friction: μ, Coulomb coefficient, ≥ 0.
        gravity: g [m/s²].

    Raises:
        ShapeError: A number is out of range.
    """
    if not (mass > 0.0 and 0.0 <= slope < 0.5 * np.pi and friction >= 0.0 and gravity >= 0.0):
        raise ShapeError(
            "a friction band needs mass > 0, 0 ≤ slope < π/2, friction ≥ 0 and gravity ≥ 0",
            evidence={"mass": mass, "slope": slope, "friction": friction, "gravity": gravity},
        )
    half, cone = 0.5 * mass * gravity, float(np.arctan(friction))
    upper = half * float(np.tan(slope + cone)) if slope + cone < 0.5 * np.pi else np.inf
    return FrictionBand(half * float(np.tan(slope - cone)), upper)
