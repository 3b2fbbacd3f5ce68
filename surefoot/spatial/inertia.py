"""Spatial inertias (6, 6), linear first: momentum = I V about the frame's origin, in the frame's axes.

Masses in kg, centres of mass in m, rotational inertias (3, 3) in kg m². Building and moving inertias works with
symbols too; the checks are for numbers.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from surefoot import ops
from surefoot.ops import Array
from surefoot.spatial import wrench
from surefoot.spatial.so3 import skew

__all__ = [
    "Margins",
    "box",
    "capsule",
    "combine",
    "cylinder",
    "kinetic_energy",
    "make",
    "margins",
    "net_wrench",
    "parallel_axis",
    "principal",
    "rod",
    "sphere",
    "split",
    "transform",
]


def make(mass: Any, com: ArrayLike, about_com: ArrayLike) -> Array:
    """Spatial inertia (6, 6) of a body.

    I = [[m E, -m c̃], [m c̃, I_c - m c̃ c̃]]        [inertia.make]   Koch, (2.17b), reordered linear first

    Args:
        mass: m, kg.
        com: Centre of mass c in the frame (3,), m.
        about_com: I_c about the centre of mass, in the frame's axes (3, 3), kg m².
    """
    c = skew(com)
    I = ops.zeros((6, 6), like=[mass, c, np.asarray(about_com)])  # noqa: E741
    I[:3, :3] = mass * np.eye(3)
    I[:3, 3:] = -mass * c
    I[3:, :3] = mass * c
    I[3:, 3:] = np.asarray(about_com) - mass * (c @ c)
    return I


def split(inertia: ArrayLike) -> tuple[Any, Array, Array]:
    """(mass, com (3,), inertia about the com (3, 3)) of a spatial inertia (6, 6) of nonzero mass."""
    I = np.asarray(inertia)  # noqa: E741
    mass = I[0, 0]
    moment = ops.array([I[5, 1], I[3, 2], I[4, 0]])
    com = moment / mass
    return mass, com, I[3:, 3:] + mass * (skew(com) @ skew(com))


def parallel_axis(mass: Any, about_com: ArrayLike, displacement: ArrayLike) -> Array:
    """Inertia (3, 3) about a point `displacement` (3,), m, away from the centre of mass: I_c - m r̃ r̃ (Steiner)."""
    r = skew(displacement)
    return np.asarray(about_com) - mass * (r @ r)


def transform(T: ArrayLike, inertia: ArrayLike) -> Array:
    """The inertia (6, 6) given in b, in a; T is T_a_b (4, 4).

    I_a = X* I_b X*ᵀ, X* = Ad(T_b_a)ᵀ        [inertia.transform]   Featherstone 2008, section 2.13
    """
    X = wrench.transform_matrix(T)
    return X @ np.asarray(inertia) @ X.T


def combine(inertias: Iterable[ArrayLike]) -> Array:
    """Spatial inertia (6, 6) of several bodies rigidly joined, all given in one frame: their sum."""
    parts = [np.asarray(inertia) for inertia in inertias]
    return sum(parts[1:], start=parts[0])


def kinetic_energy(inertia: ArrayLike, twist: ArrayLike) -> Any:
    """½ Vᵀ I V in J."""
    V = np.asarray(twist)
    return 0.5 * (V @ np.asarray(inertia) @ V)


def net_wrench(inertia: ArrayLike, twist: ArrayLike, acceleration: ArrayLike) -> Array:
    """The wrench (6,) that gives a body this spatial acceleration (6,).

    F = I A + V ×* (I V)        [inertia.newton-euler]   Koch, (2.17a)
    """
    I = np.asarray(inertia)  # noqa: E741
    V = np.asarray(twist)
    return I @ np.asarray(acceleration) + wrench.cross(V, I @ V)


class Margins(NamedTuple):
    """How far an inertia is from being impossible; all three are positive for a body with volume.

    A thin rod has smallest moment zero, a plate has triangle zero.

    Args:
        mass: The mass, kg.
        moment: The smallest principal moment about the centre of mass, kg m².
        triangle: d₁ + d₂ - d₃ of the sorted principal moments, kg m²: twice the smallest second moment of mass.
    """

    mass: float
    moment: float
    triangle: float

    @property
    def physical(self) -> bool:
        """Whether a rigid body with volume can have this inertia."""
        return min(self) > 0.0


def margins(inertia: ArrayLike) -> Margins:
    """The margins of a spatial inertia (6, 6) to positive definiteness and to the triangle inequality (numbers).

    The 6 × 6 matrix is positive definite if and only if mass and smallest moment are positive (Schur complement);
    mass distributions also obey d₁ + d₂ ≥ d₃.   [inertia.margins]   Traversaro et al. 2016
    """
    mass, _, about_com = split(inertia)
    moments, _ = principal(about_com)
    return Margins(float(mass), float(moments[0]), float(moments[0] + moments[1] - moments[2]))


def principal(about_com: ArrayLike) -> tuple[Array, Array]:
    """Principal moments (3,), ascending, kg m², and R_frame_principal (3, 3), right-handed (numbers)."""
    matrix = np.asarray(about_com, dtype=float)
    moments, axes = np.linalg.eigh(0.5 * (matrix + matrix.T))
    axes[:, 2] *= np.sign(np.linalg.det(axes))
    return moments, axes


def box(mass: Any, size: ArrayLike) -> Array:
    """Inertia (3, 3) about the centre of a solid box with edges `size` (3,), m, along x, y, z."""
    squared = np.asarray(size) ** 2
    return mass / 12.0 * _diagonal(*(squared.sum() - squared))


def sphere(mass: Any, radius: Any) -> Array:
    """Inertia (3, 3) about the centre of a solid sphere."""
    return 0.4 * mass * radius**2 * np.eye(3)


def cylinder(mass: Any, radius: Any, length: Any) -> Array:
    """Inertia (3, 3) about the centre of a solid cylinder along z."""
    across = mass * (radius**2 / 4.0 + length**2 / 12.0)
    return _diagonal(across, across, mass * radius**2 / 2.0)


def capsule(mass: Any, radius: Any, length: Any) -> Array:
    """Inertia (3, 3) about the centre of a solid capsule along z; `length`, m, is that of the cylindrical part.

    Each half ball has its centre of mass 3 r / 8 from its flat face.   [inertia.capsule]
    """
    share = length / (length + 4.0 / 3.0 * radius)
    tube, balls = mass * share, mass * (1.0 - share)
    across = balls * (0.4 * radius**2 + 0.25 * length**2 + 0.375 * length * radius)
    along = 0.4 * balls * radius**2
    return cylinder(tube, radius, length) + _diagonal(across, across, along)


def rod(mass: Any, length: Any) -> Array:
    """Inertia (3, 3) about the centre of a thin rod along z."""
    return cylinder(mass, 0.0, length)


def _diagonal(x: Any, y: Any, z: Any) -> Array:
    return ops.array([[x, 0.0, 0.0], [0.0, y, 0.0], [0.0, 0.0, z]])
