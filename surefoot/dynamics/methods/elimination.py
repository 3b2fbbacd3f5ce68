"""Constrained accelerations by elimination, from matrices alone, in well-scaled unknowns.

    M a = force + Jᵀ λ,    J a + drift = 0        [dyn.multipliers]

With D² the diagonal of M, accelerations D a and forces D⁻¹ f have one unit, and D⁻¹ M D⁻¹ has ones on its diagonal:
its condition is near the best that scaling can reach (van der Sluis 1969). Methods that need independent rows take
the orthonormal ones of J D⁻¹ = K Q; methods that take any rows get K Q and its rank.

Some methods find the multipliers. λ acts on the robot as J does (errata: λ of Nenchev & Konno 2019, section 4.12 is the
opposite, and their (4.239) gives F̄ᶜ = -λ in their own sign; (2.23a) of Koch has Jᵀ λ on the side of M a; (4.170)–
(4.176) print J q̇ for J̇ q̇; (4.221)–(4.224) invert J T̄ Jᵀ, which is zero). Others take the motions that are left: with
J V = 0 and J a₀ + drift = 0, every admissible acceleration is a = a₀ + V x, and constraint forces do no work on V:

    Vᵀ M (a₀ + V x) = Vᵀ force        [dyn.null-space]   Maggi 1896; Nenchev & Konno 2019, section 4.12

They differ in V and need inertia only along it; the multipliers follow from Jᵀ λ = M a - force.

All give the same accelerations and constraint force, and the least λ, also with rows that depend on others. Where such
rows contradict each other, all come as near to J a + drift = 0 as can be (least squares over the rows).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import scipy.linalg
from scipy.linalg import lapack

from surefoot.arrays import Array
from surefoot.dynamics.algebra import RowBasis, row_basis
from surefoot.dynamics.constraints import ConstrainedEquations
from surefoot.errors import ModelError

Elimination = Callable[[ConstrainedEquations], tuple[Array, Array]]
_LOST_PIVOT = 1e-13
_ROUNDING = 1e-14


@dataclass(frozen=True, eq=False)
class ScaledEquations:
    """M a = force + Jᵀ λ, J a + drift = 0 in scaled unknowns; also as Q a + along = 0 with independent rows.

    Args:
        M: (nv, nv) with ones on its diagonal.
        force: (nv,).
        J: (m, nv).
        drift: (m,).
        basis: Basis of the rows of J.
        along: (rank,) drift in the directions of the basis.
        scale: (nv,) D.
    """

    M: Array
    force: Array
    J: Array
    drift: Array
    basis: RowBasis
    along: Array
    scale: Array

    @property
    def Q(self) -> Array:
        """(rank, nv) orthonormal rows."""
        return self.basis.Q

    @property
    def rank(self) -> int:
        """Rank of J."""
        return self.basis.rank


def scaled_equations(equations: ConstrainedEquations) -> ScaledEquations:
    """The same equations in scaled unknowns (numbers).

    Args:
        equations: M, force, J and drift.
    """
    M, force, J, drift = (np.asarray(part, dtype=float) for part in equations)
    diagonal = np.diag(M)
    scale = np.sqrt(np.where(diagonal > 0.0, diagonal, 1.0))
    rows = row_basis(J)
    basis = rows.mapped(rows.Q / scale)
    scaled = M / np.outer(scale, scale), force / scale, basis.K @ basis.Q
    return ScaledEquations(*scaled, drift, basis, basis.along(drift), scale)


def _factored(M: Array) -> Array:
    """L (n, n), lower triangular, with M = L Lᵀ; refused where M is not positive definite."""
    try:
        L = np.asarray(np.linalg.cholesky(M), dtype=float)
    except np.linalg.LinAlgError:
        raise _no_inertia() from None
    if L.size and np.diag(L).min() ** 2 <= _LOST_PIVOT * np.diag(M).max():
        raise _no_inertia()
    return L


def _solved(A: Array, right: Array) -> Array:
    """X in A x = right; refused where A is singular."""
    if not A.size:
        return np.zeros_like(right)
    pivots = np.abs(np.diag(lapack.dgetrf(A)[0]))
    if pivots.min() <= _LOST_PIVOT * pivots.max():
        raise _no_inertia()
    return np.asarray(np.linalg.solve(A, right))  # dgetrs of many right sides wakes threads, which takes milliseconds


def _no_inertia() -> ModelError:
    """The error for motions without inertia."""
    return ModelError(
        "the mass matrix is not positive definite where the method needs it, so that forces do not determine "
        "accelerations",
        next_step="give all links a mass and an inertia, or the joints an armature",
    )


def _by_lagrange(equations: ScaledEquations) -> tuple[Array, Array]:
    """Accelerations and multipliers at once.

    ( M  -Jᵀ ) ( a )   (  force )
    ( J   0  ) ( λ ) = ( -drift )        [dyn.lagrange]   Buschmann 2014, (3.58) (erratum: lower left block)
    """
    M, Q = equations.M, equations.Q
    n, held = len(M), np.zeros((equations.rank, equations.rank))
    matrix = np.block([[M, -Q.T], [Q, held]])
    found = _solved(matrix, np.concatenate([equations.force, -equations.along]))
    return found[:n], equations.basis.multipliers(found[n:])


def _by_gauss(equations: ScaledEquations) -> tuple[Array, Array]:
    """Gauss' principle of least constraint, as a problem of least squares.

        min ½ (a - a_u)ᵀ M (a - a_u)   with   J a + drift = 0        [dyn.gauss]   Gauss 1829;
        Nenchev & Konno 2019, section 4.12; Buschmann 2014, section 3.1

    With M = L Lᵀ and x = Lᵀ (a - a_u): the least x with J L⁻ᵀ x = -(drift + J a_u).
    """
    L = _factored(equations.M)
    weighted = np.linalg.solve(L, equations.Q.T)
    free = np.linalg.solve(L, equations.force)
    directions, R = np.linalg.qr(weighted)
    x = np.linalg.solve(R.T, -equations.along - weighted.T @ free)
    a = np.linalg.solve(L.T, free + directions @ x)
    return a, equations.basis.multipliers(np.linalg.solve(R, x))


def _by_range_space(equations: ScaledEquations) -> tuple[Array, Array]:
    """Multipliers first, then accelerations with the dynamically consistent inverse.

    M_c = (J M⁻¹ Jᵀ)⁻¹,  J⁻ᴹ = M⁻¹ Jᵀ M_c,  λ = -M_c (drift + J M⁻¹ force)
    a = -J⁻ᴹ drift + (E - J⁻ᴹ J) M⁻¹ force = M⁻¹ (force + Jᵀ λ)        [dyn.range-space]   Khatib 1987;
    Nenchev & Konno 2019, (4.170)–(4.176) (errata: J̇ q̇ for J q̇)
    """
    M, Q = equations.M, equations.Q
    responses = _solved(M, np.column_stack([equations.force, Q.T]))
    free, inverse = responses[:, 0], responses[:, 1:]
    mu = np.asarray(-np.linalg.solve(Q @ inverse, equations.along + Q @ free), dtype=float)
    return free + inverse @ mu, equations.basis.multipliers(mu)


def _by_udwadia_kalaba(equations: ScaledEquations) -> tuple[Array, Array]:
    """The explicit equation of Udwadia & Kalaba; any rows, redundant or not.

    a = a_u - M^(-1/2) (J M^(-1/2))⁺ (drift + J a_u),  a_u = M⁻¹ force        [dyn.udwadia-kalaba]
    Udwadia & Kalaba 1992
    """
    values, axes = np.linalg.eigh(equations.M)
    if values[0] <= 0.0:
        raise _no_inertia()
    root = axes / np.sqrt(values) @ axes.T
    free = root @ (root @ equations.force)
    U, lengths, directions = np.linalg.svd(equations.J @ root, full_matrices=False)
    U, lengths, directions = U[:, : equations.rank], lengths[: equations.rank], directions[: equations.rank]
    x = -(U.T @ (equations.drift + equations.J @ free)) / lengths
    return free + root @ (directions.T @ x), U @ (x / lengths)


def _by_elimination(equations: ScaledEquations) -> tuple[Array, Array]:
    """Dependent accelerations are solved for and put in: direct elimination, coordinate partitioning.

        J = (J_d J_i),  a_d = -J_d⁻¹ (J_i a_i + drift),  V = (-J_d⁻¹ J_i; E)        [dyn.elimination]
        Wehage & Haug 1982; Buschmann 2014, section 3.4.1

    The dependent coordinates are those that column pivots choose (Businger & Golub 1965).
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


def _by_maggi_svd(equations: ScaledEquations) -> tuple[Array, Array]:
    """Maggi's equations in the right singular vectors V_r of J that it maps to zero; any rows, redundant or not.

    v = V_r ν,  V_rᵀ M (V_r ν̇ + V̇_r ν) = V_rᵀ force,  V̇_r ν = -J⁺ drift        [dyn.maggi]
    Nenchev & Konno 2019, section 4.12; Mani, Haug & Atkinson 1985
    """
    rank = equations.rank
    U, lengths, rows = np.linalg.svd(equations.J)
    U, lengths, held = U[:, :rank], lengths[:rank], rows[:rank]
    a = _admissible(equations, held.T @ (U.T @ -equations.drift / lengths), rows[rank:].T)
    return a, U @ (held @ (equations.M @ a - equations.force) / lengths)


def _by_maggi_qr(equations: ScaledEquations) -> tuple[Array, Array]:
    """Maggi's equations in the last columns of Q of Jᵀ = (Q_c Q_r) (R; 0).

    λ = R⁻¹ Q_cᵀ (M a - force)        [dyn.maggi]   Kim & Vanderploeg 1986; Nenchev & Konno 2019, (4.239)
    (erratum: as printed it gives the opposite)
    """
    rank = equations.rank
    full, R = np.linalg.qr(equations.Q.T, mode="complete")
    held, left, R = full[:, :rank], full[:, rank:], R[:rank]
    a = _admissible(equations, held @ np.linalg.solve(R.T, -equations.along), left)
    return a, equations.basis.multipliers(np.linalg.solve(R, held.T @ (equations.M @ a - equations.force)))


def _by_aghili(equations: ScaledEquations) -> tuple[Array, Array]:
    """Aghili's projected equations; any rows, redundant or not.

    N = E - J⁺ J,  (N M + M (E - N)) a = N force + M Ṅ q̇,  Ṅ q̇ = -J⁺ drift        [dyn.aghili]   Aghili 2005;
    Nenchev & Konno 2019, (4.197) (erratum: M before Ṅ q̇)
    """
    M, rank = equations.M, equations.rank
    U, lengths, rows = np.linalg.svd(equations.J, full_matrices=False)
    inverse = rows[:rank].T / lengths[:rank] @ U[:, :rank].T
    held = rows[:rank].T @ rows[:rank]
    N = np.eye(len(M)) - held
    a = _solved(N @ M + M @ held, N @ equations.force - M @ (inverse @ equations.drift))
    return a, inverse.T @ (M @ a - equations.force)


def _admissible(equations: ScaledEquations, start: Array, V: Array) -> Array:
    """A = start + V x with Vᵀ M a = Vᵀ force."""
    L = _factored(V.T @ equations.M @ V)
    right = V.T @ (equations.force - equations.M @ start)
    return start + V @ np.linalg.solve(L.T, np.linalg.solve(L, right))


_Scaled = Callable[[ScaledEquations], tuple[Array, Array]]


def _elimination(method: _Scaled) -> Elimination:
    """A method on equations in their own unknowns."""

    def solve(equations: ConstrainedEquations) -> tuple[Array, Array]:
        scaled = scaled_equations(equations)
        a, multipliers = _refined(method, scaled, *method(scaled))
        return a / scaled.scale, multipliers

    solve.__doc__ = method.__doc__
    return solve


def _refined(method: _Scaled, equations: ScaledEquations, a: Array, multipliers: Array) -> tuple[Array, Array]:
    """One step of iterative refinement (Wilkinson 1963) where rounding has left more than it must.

    Free accelerations can be much larger than those that constraints leave; what cancels is lost to methods that begin
    with them. All methods are linear in force and drift.
    """
    force = equations.force + equations.J.T @ multipliers - equations.M @ a
    drift = equations.drift + equations.J @ a
    along = equations.along + equations.Q @ a
    lost = np.abs(along).max(initial=0.0) + np.abs(force).max(initial=0.0)
    if lost <= _ROUNDING * np.abs(a).max(initial=0.0):
        return a, multipliers
    more, further = method(replace(equations, force=force, drift=drift, along=along))
    return a + more, multipliers + further


ELIMINATIONS: dict[str, Elimination] = {
    "lagrange": _elimination(_by_lagrange),
    "gauss": _elimination(_by_gauss),
    "elimination": _elimination(_by_elimination),
    "maggi_svd": _elimination(_by_maggi_svd),
    "maggi_qr": _elimination(_by_maggi_qr),
    "aghili": _elimination(_by_aghili),
    "range_space": _elimination(_by_range_space),
    "udwadia_kalaba": _elimination(_by_udwadia_kalaba),
}
"""(a, λ) of M, force, J and drift, by method: a (nv,) and the least multipliers (m,)."""

METHODS: tuple[str, ...] = (*ELIMINATIONS, "recursive", "iterative", "minimal", "pinocchio", "auto")
"""The methods of `constrained_acceleration`."""
