"""Internal wrenches that friction and unilateral contacts allow under a load."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import block_diag

from surefoot.arrays import Array
from surefoot.contact.wrench_cone import wrench_spans
from surefoot.errors import ShapeError
from surefoot.robot import ContactSurface

_SIDES = 8
_ZERO = 1e-9  # relative to the load


@dataclass(frozen=True, eq=False)
class InternalRange:
    """What contacts may do beside carrying a load: F̄ = C⁺ F + N z with wrenches inside their cones.

    Args:
        held: Whether any wrenches inside the cones carry the load (weakly stable in the words of Pang & Trinkle 2000).
        interior: Whether some of them are strictly inside all cones, so that every internal wrench exists, if small.
        slack: The largest share that all generators of the cones can have at once [N]; NaN if the load is not held.
        lower: (k,) least z of each internal direction; −inf for none, NaN if the load is not held.
        upper: (k,) largest z.
    """

    held: bool
    interior: bool
    slack: float
    lower: Array
    upper: Array

    @property
    def admissible(self) -> NDArray[np.bool_]:
        """(k,) internal directions that have any range."""
        with np.errstate(invalid="ignore"):
            return np.asarray(self.upper - self.lower > _ZERO * np.maximum(1.0, np.abs(self.upper)))


def internal_range(surfaces: Sequence[ContactSurface], C: Array, internal: Array, load: Array) -> InternalRange:
    """Ranges of internal wrenches within the wrench cones, under a load.

    [contact.internal]   Nenchev & Konno 2019, Table 3.1: a null-space wrench that is compatible with the contact
    wrench cones. Linear programmes over the generators of the cones (friction pyramids of eight sides inside the
    friction cones): wrenches whose generators all have shares > 0 are the relative interior of the cones.

    Args:
        surfaces: The contacts.
        C: (6, c) wrench on the base of what each tied direction of each contact carries.
        internal: (c, k) N, orthonormal columns with C N = 0.
        load: (6,) F, wrench on the base that the contacts must supply.
    """
    spans = [wrench_spans(surface, sides=_SIDES, inscribed=True) for surface in surfaces]
    tied = block_diag(*(s.constraint_basis.T @ S for s, S in zip(surfaces, spans, strict=True)))
    if C.shape != (6, len(tied)) or internal.shape[0] != len(tied) or load.shape != (6,):
        raise ShapeError(
            "C, internal wrenches and load do not fit the contacts",
            evidence={"C": C.shape, "internal": internal.shape, "load": load.shape, "tied directions": len(tied)},
        )
    leaks = block_diag(*(s.motion_basis.T @ S for s, S in zip(surfaces, spans, strict=True)))
    leaks = leaks[np.abs(leaks).max(axis=1, initial=0.0) > 1e-12]
    balance, wanted = np.vstack([C @ tied, leaks]), np.r_[load, np.zeros(len(leaks))]
    size = float(np.linalg.norm(load)) or 1.0
    slack = _least_share(balance, wanted, size)
    if slack is None:
        nothing = np.full(internal.shape[1], np.nan)
        return InternalRange(False, False, float("nan"), nothing, nothing)
    rows = internal.T @ tied
    lower, upper = (
        np.array([sign * _least(sign * row, balance, wanted, size) for row in rows]) for sign in (1.0, -1.0)
    )
    return InternalRange(True, slack > _ZERO * size, slack, lower, upper)


def _least_share(balance: Array, wanted: Array, size: float) -> float | None:
    """The largest t with balance λ = wanted, λ ≥ t, 0 ≤ t ≤ size; None if no λ ≥ 0 balances."""
    from scipy.optimize import linprog  # slow to import, and seldom needed

    k = balance.shape[1]  # λ = μ + t
    columns = np.column_stack([balance, balance.sum(axis=1)])
    found = linprog(np.r_[np.zeros(k), -1.0], A_eq=columns, b_eq=wanted / size, bounds=[(0, None)] * k + [(0, 1)])
    _refuse(found.status not in (0, 2), found.message)
    return None if found.status == 2 else size * float(found.x[-1])


def _least(cost: Array, balance: Array, wanted: Array, size: float) -> float:
    """The least cost · λ with balance λ = wanted, λ ≥ 0; −inf if there is no least one."""
    from scipy.optimize import linprog  # slow to import, and seldom needed

    found = linprog(cost, A_eq=balance, b_eq=wanted / size)
    _refuse(found.status not in (0, 3), found.message)
    return -np.inf if found.status == 3 else size * float(found.fun)


def _refuse(failed: bool, reason: str) -> None:
    if failed:
        raise ShapeError("a linear programme over contact wrenches failed", evidence={"reason": reason})
