"""Kinetostatics of closed chains: limbs that hold one link together, and arms that hold one object.

A load on the closure link is shared by the contacts; internal wrenches are added that add up to nothing. Each limb's
torques split into those for the load, those for internal wrenches, and those without effect (Nenchev & Konno 2019,
sections 3.4, 3.5 and 6.3.5).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pinocchio as pin
from numpy.typing import ArrayLike

from surefoot.arrays import Array, finite_array
from surefoot.contact.distribution.duality import contact_bases, dual_null_space
from surefoot.errors import NotSupportedError, ShapeError

_LOST = 1e-9  # share of a load that may be left


@dataclass(frozen=True, eq=False)
class LoopLimb:
    """A limb from the root to the closure link.

    Args:
        jacobian: (6, n) of its last link at the contact, relative to the root, in world axes, linear first.
        point: (3,) of the contact [m].
        kind: Of the contact, one of `HARD`.
        axes: (3, 3) of the contact in world, z along its normal; those of the world if omitted.
    """

    jacobian: Array
    point: Array
    kind: str = "sole"
    axes: Array | None = None

    @property
    def basis(self) -> Array:
        """B_c (6, c) in world axes."""
        R = np.eye(3) if self.axes is None else np.asarray(self.axes, dtype=float)
        return np.asarray(np.kron(np.eye(2), R) @ contact_bases(self.kind)[0])


@dataclass(frozen=True, eq=False)
class LoopStatics:
    """What the limbs of a closed chain do; k limbs.

    Args:
        wrenches: (k, 6) on the closure link at the contacts, in world axes.
        external: (n_k,) of each limb: torques that carry the load.
        internal: (n_k,) of each: torques of internal wrenches.
        free: (n_k,) of each: torques without effect on the contacts.
        root: (6,) on the limbs by their root, about the point of the load.
    """

    wrenches: Array
    external: tuple[Array, ...]
    internal: tuple[Array, ...]
    free: tuple[Array, ...]
    root: Array

    @property
    def torques(self) -> tuple[Array, ...]:
        """(n_k,) of each limb, all of them."""
        parts = zip(self.external, self.internal, self.free, strict=True)
        return tuple(a + b + c for a, b, c in parts)


def loop_statics(
    limbs: Sequence[LoopLimb],
    load: ArrayLike,
    about: ArrayLike,
    internal: ArrayLike | None = None,
    torques: Sequence[ArrayLike] | None = None,
) -> LoopStatics:
    """Torques with which limbs give the closure link a wrench: τ = 𝒥ᵀ (C⁺ F + N(C) F_a) + N* τ_u   (3.33 to 3.46).

    Args:
        limbs: The limbs.
        load: (6,) that the contacts give the closure link, in world axes.
        about: (3,) where the load is measured [m].
        internal: (Σ c_k,) F_a along the hard directions of all contacts, of which the part without net effect is added.
        torques: (n_k,) τ_u of each limb, of which the part without effect on its contact is added.

    Raises:
        NotSupportedError: The contacts cannot carry the load.
        ShapeError: Something has another shape.
    """
    wanted, centre = finite_array(load, (6,), "load"), finite_array(about, (3,), "point of the load")
    shifts = [np.block([[np.eye(3), np.zeros((3, 3))], [pin.skew(x.point - centre), np.eye(3)]]) for x in limbs]
    bases = [limb.basis for limb in limbs]
    C = np.hstack([shift @ basis for shift, basis in zip(shifts, bases, strict=True)])
    inverse = np.linalg.pinv(C)
    carried = inverse @ wanted
    if np.linalg.norm(C @ carried - wanted) > _LOST * max(1.0, float(np.linalg.norm(wanted))):
        raise NotSupportedError(
            "the contacts of the loop cannot carry this load", evidence={"rest": C @ carried - wanted}
        )
    asked = np.zeros(C.shape[1]) if internal is None else finite_array(internal, (C.shape[1],), "internal wrenches")
    inner = asked - inverse @ (C @ asked)
    if torques is not None and len(torques) != len(limbs):
        raise ShapeError(f"{len(torques)} torques for {len(limbs)} limbs")
    ends = np.cumsum([basis.shape[1] for basis in bases])[:-1]
    rows = [basis.T @ np.asarray(limb.jacobian, dtype=float) for basis, limb in zip(bases, limbs, strict=True)]
    free = [
        np.zeros(J.shape[1]) if torques is None else dual_null_space(J) @ np.asarray(torques[k], dtype=float)
        for k, J in enumerate(rows)
    ]
    outer, between = np.split(carried, ends), np.split(inner, ends)
    wrenches = np.array([B @ (a + b) for B, a, b in zip(bases, outer, between, strict=True)])
    return LoopStatics(
        wrenches,
        tuple(J.T @ part for J, part in zip(rows, outer, strict=True)),
        tuple(J.T @ part for J, part in zip(rows, between, strict=True)),
        tuple(free),
        np.sum([shift @ wrench for shift, wrench in zip(shifts, wrenches, strict=True)], axis=0),
    )


def arm_allocation(arms: int, differences: Sequence[tuple[Sequence[int], Sequence[int]]]) -> Array:
    """U (p, p): shares of p arms in the net wrench and in internal ones ½ (Σ F_second − Σ F_first)   (6.65 to 6.80).

    The wrench of arm j about the object is Σ_i U_ji F_i with F_0 the net wrench and F_i the internal ones.

    Args:
        arms: p.
        differences: p − 1 pairs of groups of arms: those that count against, and those that count for.

    Raises:
        ShapeError: Another number of differences, or they depend on each other.
    """
    rows = np.zeros((1 + len(differences), arms))
    rows[0] = 1.0
    for row, (against, towards) in zip(rows[1:], differences, strict=True):
        row[list(against)], row[list(towards)] = -0.5, 0.5
    if rows.shape[0] != arms or np.linalg.matrix_rank(rows) < arms:
        raise ShapeError(f"{arms} arms need {arms - 1} internal wrenches that do not depend on each other")
    return np.array(np.linalg.inv(rows), dtype=float)
