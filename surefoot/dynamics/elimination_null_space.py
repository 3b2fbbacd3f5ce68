"""Constrained accelerations by way of the motions that the constraints leave, from matrices alone.

With J V = 0 and J a₀ + drift = 0, every admissible acceleration is a = a₀ + V x, and constraint forces do no work on V:

    Vᵀ M (a₀ + V x) = Vᵀ force        [dyn.null-space]   Maggi 1896; Nenchev & Konno 2019, section 4.12

Methods differ in V. They need inertia only along V. The multipliers follow from Jᵀ λ = M a - force.
"""

from __future__ import annotations

import numpy as np
import scipy.linalg

from surefoot.arrays import Array
from surefoot.dynamics.elimination_setup import ScaledEquations, factored, solved

__all__ = ["by_aghili", "by_elimination", "by_maggi_qr", "by_maggi_svd"]


def by_elimination(equations: ScaledEquations) -> tuple[Array, Array]:
    """Dependent accelerations are solved for and put in: direct elimination, coordinate partitioning.

        J = (J_d J_i),  a_d = -J_d⁻¹ (J_i a_i + drift),  V = (-J_d⁻¹ J_i; E)        [dyn.elimination]
        Wehage & Haug 1982; Buschmann 2014, section 3.4.1

    The dependent coordinates are those that column pivots choose (Businger & Golub 1965).

    Args:
        equations: In scaled unknowns.
    """
    Q, rank, n = equations.Q, equations.rank, len(equations.M)
    order = scipy.linalg.qr(Q, mode="r", pivoting=True)[1] if rank else np.arange(n)
    dependent, free = order[:rank], order[rank:]
    put_in = np.linalg.solve(Q[:, dependent], np.column_stack([Q[:, free], equations.along]))
    V, start = np.zeros((n, n - rank)), np.zeros(n)
    V[free], V[dependent] = np.eye(n - rank), -put_in[:, :-1]
    start[dependent] = -put_in[:, -1]
    a = _admissible(equations, start, V)
    missing = equations.M @ a - equations.force
    return a, equations.basis.multipliers(np.linalg.solve(Q[:, dependent].T, missing[dependent]))


def by_maggi_svd(equations: ScaledEquations) -> tuple[Array, Array]:
    """Maggi's equations in the right singular vectors V_r of J that it maps to zero; any rows, redundant or not.

        v = V_r ν,  V_rᵀ M (V_r ν̇ + V̇_r ν) = V_rᵀ force,  V̇_r ν = -J⁺ drift        [dyn.maggi]
        Nenchev & Konno 2019, section 4.12; Mani, Haug & Atkinson 1985

    Args:
        equations: In scaled unknowns.
    """
    rank = equations.rank
    U, lengths, rows = np.linalg.svd(equations.J)
    U, lengths, held = U[:, :rank], lengths[:rank], rows[:rank]
    a = _admissible(equations, held.T @ (U.T @ -equations.drift / lengths), rows[rank:].T)
    return a, U @ (held @ (equations.M @ a - equations.force) / lengths)


def by_maggi_qr(equations: ScaledEquations) -> tuple[Array, Array]:
    """Maggi's equations in the last columns of Q of Jᵀ = (Q_c Q_r) (R; 0).

        λ = R⁻¹ Q_cᵀ (M a - force)        [dyn.maggi]   Kim & Vanderploeg 1986; Nenchev & Konno 2019, (4.239)
        (erratum: as printed it gives the opposite)

    Args:
        equations: In scaled unknowns.
    """
    rank = equations.rank
    full, R = np.linalg.qr(equations.Q.T, mode="complete")
    held, left, R = full[:, :rank], full[:, rank:], R[:rank]
    a = _admissible(equations, held @ np.linalg.solve(R.T, -equations.along), left)
    return a, equations.basis.multipliers(np.linalg.solve(R, held.T @ (equations.M @ a - equations.force)))


def by_aghili(equations: ScaledEquations) -> tuple[Array, Array]:
    """Aghili's projected equations; any rows, redundant or not.

        N = E - J⁺ J,  (N M + M (E - N)) a = N force + M Ṅ q̇,  Ṅ q̇ = -J⁺ drift        [dyn.aghili]   Aghili 2005;
        Nenchev & Konno 2019, (4.197) (erratum: M before Ṅ q̇)

    Args:
        equations: In scaled unknowns.
    """
    M, rank = equations.M, equations.rank
    U, lengths, rows = np.linalg.svd(equations.J, full_matrices=False)
    inverse = rows[:rank].T / lengths[:rank] @ U[:, :rank].T
    held = rows[:rank].T @ rows[:rank]
    N = np.eye(len(M)) - held
    a = solved(N @ M + M @ held, N @ equations.force - M @ (inverse @ equations.drift))
    return a, inverse.T @ (M @ a - equations.force)


def _admissible(equations: ScaledEquations, start: Array, V: Array) -> Array:
    """A = start + V x with Vᵀ M a = Vᵀ force."""
    L = factored(V.T @ equations.M @ V)
    right = V.T @ (equations.force - equations.M @ start)
    return start + V @ np.linalg.solve(L.T, np.linalg.solve(L, right))
