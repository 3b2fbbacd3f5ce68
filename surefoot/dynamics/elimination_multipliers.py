"""Constrained accelerations by way of the multipliers, from matrices alone.

    M a = force + Jᵀ λ,    J a + drift = 0        [dyn.multipliers]

λ acts on the robot as J says (errata: λ of Nenchev & Konno 2019, section 4.12 is the opposite, and their (4.239) gives
F̄ᶜ = -λ in their own sign; (2.23a) of Koch has Jᵀ λ on the side of M a; (4.170)–(4.176) print J q̇ for J̇ q̇;
(4.221)–(4.224) invert J T̄ Jᵀ, which is zero). All return a and the least λ, also with rows that depend on others.
"""

from __future__ import annotations

import numpy as np

from surefoot.arrays import Array
from surefoot.dynamics.elimination_setup import ScaledEquations, factored, no_inertia, solved

__all__ = ["by_gauss", "by_lagrange", "by_range_space", "by_udwadia_kalaba"]


def by_lagrange(equations: ScaledEquations) -> tuple[Array, Array]:
    """Accelerations and multipliers at once.

        ( M  -Jᵀ ) ( a )   (  force )
        ( J   0  ) ( λ ) = ( -drift )        [dyn.lagrange]   Buschmann 2014, (3.58) (erratum: lower left block)

    Args:
        equations: In scaled unknowns.
    """
    M, Q = equations.M, equations.Q
    n, held = len(M), np.zeros((equations.rank, equations.rank))
    matrix = np.block([[M, -Q.T], [Q, held]])
    found = solved(matrix, np.concatenate([equations.force, -equations.along]))
    return found[:n], equations.basis.multipliers(found[n:])


def by_gauss(equations: ScaledEquations) -> tuple[Array, Array]:
    """Gauss' principle of least constraint, as a problem of least squares.

        min ½ (a - a_u)ᵀ M (a - a_u)   with   J a + drift = 0        [dyn.gauss]   Gauss 1829;
        Nenchev & Konno 2019, section 4.12; Buschmann 2014, section 3.1

    With M = L Lᵀ and x = Lᵀ (a - a_u): the least x with J L⁻ᵀ x = -(drift + J a_u).

    Args:
        equations: In scaled unknowns.
    """
    L = factored(equations.M)
    weighted = np.linalg.solve(L, equations.Q.T)
    free = np.linalg.solve(L, equations.force)
    directions, R = np.linalg.qr(weighted)
    x = np.linalg.solve(R.T, -equations.along - weighted.T @ free)
    a = np.linalg.solve(L.T, free + directions @ x)
    return a, equations.basis.multipliers(np.linalg.solve(R, x))


def by_range_space(equations: ScaledEquations) -> tuple[Array, Array]:
    """Multipliers first, then accelerations with the dynamically consistent inverse.

        M_c = (J M⁻¹ Jᵀ)⁻¹,  J⁻ᴹ = M⁻¹ Jᵀ M_c,  λ = -M_c (drift + J M⁻¹ force)
        a = -J⁻ᴹ drift + (E - J⁻ᴹ J) M⁻¹ force = M⁻¹ (force + Jᵀ λ)        [dyn.range-space]   Khatib 1987;
        Nenchev & Konno 2019, (4.170)–(4.176) (errata: J̇ q̇ for J q̇)

    Args:
        equations: In scaled unknowns.
    """
    M, Q = equations.M, equations.Q
    responses = solved(M, np.column_stack([equations.force, Q.T]))
    free, inverse = responses[:, 0], responses[:, 1:]
    mu = np.asarray(-np.linalg.solve(Q @ inverse, equations.along + Q @ free), dtype=float)
    return free + inverse @ mu, equations.basis.multipliers(mu)


def by_udwadia_kalaba(equations: ScaledEquations) -> tuple[Array, Array]:
    """The explicit equation of Udwadia & Kalaba; any rows, redundant or not.

        a = a_u - M^(-1/2) (J M^(-1/2))⁺ (drift + J a_u),  a_u = M⁻¹ force        [dyn.udwadia-kalaba]
        Udwadia & Kalaba 1992

    Args:
        equations: In scaled unknowns.
    """
    values, axes = np.linalg.eigh(equations.M)
    if values[0] <= 0.0:
        raise no_inertia()
    root = axes / np.sqrt(values) @ axes.T
    free = root @ (root @ equations.force)
    U, lengths, directions = np.linalg.svd(equations.J @ root, full_matrices=False)
    U, lengths, directions = U[:, : equations.rank], lengths[: equations.rank], directions[: equations.rank]
    x = -(U.T @ (equations.drift + equations.J @ free)) / lengths
    return free + root @ (directions.T @ x), U @ (x / lengths)
