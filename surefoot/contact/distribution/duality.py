"""Motion/force duality of contacts and kinetostatics of limbs (Nenchev & Konno 2019, sections 2.9 and 3.3 to 3.4).

A contact splits the six directions into hard ones, which it constrains, and soft ones, in which the link may move:
F = B_c F̄ᶜ + B_m F̄ᵐ and V = B_m V̄ᵐ, with B_mᵀ B_c = 0. Friction makes reactions in soft directions possible.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from surefoot.arrays import Array
from surefoot.errors import one_of

HARD: dict[str, tuple[int, ...]] = {
    "point": (2,),
    "edge": (2, 3),
    "plane": (2, 3, 4),
    "rough_point": (0, 1, 2),
    "soft_finger": (0, 1, 2, 5),
    "rough_edge": (0, 1, 2, 3, 5),
    "sole": (0, 1, 2, 3, 4, 5),
}
"""Hard directions of a contact, of (f, m) in its frame, z along the normal, an edge along y."""


def contact_bases(kind: str) -> tuple[Array, Array]:
    """B_c (6, c) of the hard directions and B_m (6, 6 − c) of the soft ones.

    Args:
        kind: One of `HARD`.

    Raises:
        UnknownNameError: There is no such contact.
    """
    if kind not in HARD:
        raise one_of("contact", kind, HARD)
    hard = list(HARD[kind])
    return np.eye(6)[:, hard], np.eye(6)[:, [k for k in range(6) if k not in hard]]


def weighted_inverse(A: ArrayLike, W: ArrayLike | None = None) -> Array:
    """A^{-W} = W⁻¹ Aᵀ (A W⁻¹ Aᵀ)⁻¹ (n, m), the right inverse with the least xᵀ W x.

    Args:
        A: (m, n).
        W: (n, n) positive definite; the unit matrix if omitted.
    """
    rows = np.asarray(A, dtype=float)
    back = rows.T if W is None else np.linalg.solve(np.asarray(W, dtype=float), rows.T)
    return back @ np.linalg.pinv(rows @ back)


def dual_null_space(J: ArrayLike, W: ArrayLike | None = None) -> Array:
    """N* = E − Jᵀ J^{-W T} (n, n): joint torques that make no wrench at the end of the limb (3.36).

    It is similar to the null space of motions: W⁻¹ N* W = E − J^{-W} J.

    Args:
        J: (m, n).
        W: (n, n) weights; with the mass matrix the dynamically consistent one.
    """
    rows = np.asarray(J, dtype=float)
    return np.eye(rows.shape[1]) - rows.T @ weighted_inverse(rows, W).T


@dataclass(frozen=True, eq=False)
class LimbStatics:
    """Joint torques of a limb that holds a contact.

    Args:
        hard: (n,) for the reactions in hard directions.
        soft: (n,) for those in soft directions.
        free: (n,) without effect on the contact.
    """

    hard: Array
    soft: Array
    free: Array

    @property
    def torque(self) -> Array:
        """(n,) all of them."""
        return self.hard + self.soft + self.free


def limb_statics(
    J: ArrayLike, kind: str, wrench: ArrayLike, torque: ArrayLike | None = None, W: ArrayLike | None = None
) -> LimbStatics:
    """Torques τᶜ + τᵐ + N* τ_u that let a limb press on its contact with a wrench (3.33 to 3.37).

    Args:
        J: (6, n) of the link in the contact frame, linear first.
        kind: One of `HARD`.
        wrench: (6,) on the environment, in the contact frame.
        torque: (n,) τ_u, of which the part without effect on the contact is added; none if omitted.
        W: (n, n) weights of that null space.

    Raises:
        UnknownNameError: There is no such contact.
    """
    rows, F = np.asarray(J, dtype=float), np.asarray(wrench, dtype=float)
    B_c, B_m = contact_bases(kind)
    any_torque = np.zeros(rows.shape[1]) if torque is None else np.asarray(torque, dtype=float)
    free = dual_null_space(rows, W) @ any_torque
    return LimbStatics(rows.T @ (B_c @ (B_c.T @ F)), rows.T @ (B_m @ (B_m.T @ F)), free)
