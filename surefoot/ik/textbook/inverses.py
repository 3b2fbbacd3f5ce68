"""Inverses of a Jacobian: from a wanted change of the task to a change of the joints.

J is (m, n) and maps joint rates to task rates. Those that are linear in the task return a matrix (n, m); those that
look at the error return the step of the joints.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from surefoot.arrays import Array, finite_array, number
from surefoot.errors import ShapeError

RANK = 1e-10
"""Singular values below this share of the largest count as zero."""


def damped_inverse(J: ArrayLike, damping: float) -> Array:
    """J* (n, m), bounded by 1 / (2 λ) in every posture; x = J* e makes |J x − e|² + λ² |x|² smallest.

    J* = (JᵀJ + λ² E)⁻¹ Jᵀ = Jᵀ (J Jᵀ + λ² E)⁻¹        [ik.damped]   Wampler 1986; Nakamura & Hanafusa 1986;
    Nenchev & Konno 2019, (2.23)

    Args:
        J: (m, n).
        damping: λ > 0, in the units of J.
    """
    J = finite_array(J, (None, None), "J")
    square = number(damping, "damping", positive=True) ** 2
    m, n = J.shape
    if m <= n:
        return np.array(np.linalg.solve(J @ J.T + square * np.eye(m), J).T, dtype=float)
    return np.array(np.linalg.solve(J.T @ J + square * np.eye(n), J.T), dtype=float)


def weighted_inverse(J: ArrayLike, W: ArrayLike) -> Array:
    """J^{-W} (n, m): of all x with J x = e, x = J^{-W} e has the smallest xᵀ W x.

    J^{-W} = W⁻¹ Jᵀ (J W⁻¹ Jᵀ)⁻¹        [ik.weighted]   Whitney 1969; Nenchev & Konno 2019, section 2.7.3

    Computed as L⁻ᵀ (J L⁻ᵀ)⁺ with W = L Lᵀ, which holds as it stands where J loses rank.

    Args:
        J: (m, n).
        W: (n, n) symmetric and positive definite, or (n,) its diagonal.

    Raises:
        ShapeError: W is not positive definite.
    """
    J = finite_array(J, (None, None), "J")
    L = _factor(W, J.shape[1])
    return np.array(np.linalg.solve(L.T, truncated_inverse(np.linalg.solve(L, J.T).T)), dtype=float)


def _factor(W: ArrayLike, n: int) -> Array:
    """L with W = L Lᵀ, lower triangular."""
    diagonal = np.ndim(W) == 1
    W = finite_array(W, (n,) if diagonal else (n, n), "weights of the joints")
    try:
        return np.array(np.linalg.cholesky(np.diag(W) if diagonal else W), dtype=float)
    except np.linalg.LinAlgError as error:
        raise ShapeError(
            "weights of the joints are not positive definite",
            evidence={"smallest eigenvalue": float(np.min(W) if diagonal else np.linalg.eigvalsh(W)[0])},
        ) from error


def truncated_inverse(J: ArrayLike, rank: float = RANK) -> Array:
    """J⁺ (n, m) without the singular directions: V diag(1/σ, …, 0) Uᵀ.   [ik.truncated]   Golub & Kahan 1965.

    Args:
        J: (m, n).
        rank: Singular values below this share of the largest count as zero.
    """
    J = finite_array(J, (None, None), "J")
    return np.array(np.linalg.pinv(J, rcond=number(rank, "rank tolerance")), dtype=float)


def filtered_inverse(J: ArrayLike, threshold: float, damping: float) -> Array:
    """J⁺ (n, m), damped only along those singular directions that are nearly lost; continuous in J.

    V diag(σ / (σ² + λ²)) Uᵀ,  λ² = (1 − (σ/ε)²) λ_max² for σ < ε, else 0        [ik.filtered]
    Maciejewski & Klein 1988; Chiaverini 1997. Its norm is at most 1 / (2 λ_max √(1 − λ_max²/ε²)) for λ_max ≤ ε/√2.

    Args:
        J: (m, n).
        threshold: ε > 0: singular values from there on are inverted exactly.
        damping: λ_max > 0, at σ = 0.
    """
    J = finite_array(J, (None, None), "J")
    threshold, damping = number(threshold, "threshold", positive=True), number(damping, "damping", positive=True)
    U, sizes, Vt = np.linalg.svd(J, full_matrices=False)
    return (Vt.T * _filtered(sizes, threshold, damping)) @ U.T


def _filtered(sizes: Array, threshold: float, damping: float) -> Array:
    """Inverses of singular values, damped below the threshold."""
    squares = damping**2 * np.maximum(1.0 - (sizes / threshold) ** 2, 0.0)
    return sizes / (sizes**2 + squares)


class Restricted(NamedTuple):
    """A task in what higher ones leave it: the inverse (n, m) of J N, and an orthonormal basis (k, n) of its rows."""

    inverse: Array
    rows: Array


def restrict(J: Array, N: Array, threshold: float = 0.0, damping: float = 0.0) -> Restricted:
    """The inverse of J N; singular values are measured against those of J, so that rounding is not inverted.

    Args:
        J: (m, n) of a task.
        N: (n, n) projector onto the joint rates that are left.
        threshold: ε of `filtered_inverse`, in the units of J; 0: truncated where J N is singular, else exact.
        damping: λ_max of `filtered_inverse`.
    """
    U, sizes, Vt = np.linalg.svd(J @ N, full_matrices=False)
    kept = sizes > RANK * np.linalg.norm(J)
    U, sizes, Vt = U[:, kept], sizes[kept], Vt[kept]
    inverses = _filtered(sizes, threshold, damping) if threshold > 0.0 else 1.0 / sizes
    return Restricted((Vt.T * inverses) @ U.T, Vt)


def transpose_step(J: ArrayLike, error: ArrayLike) -> Array:
    """α Jᵀ e (n,), with the α that makes |e − J x| smallest along that direction; zero where Jᵀ e is.

    α = eᵀ J Jᵀ e / |J Jᵀ e|²        [ik.transpose]   Wolovich & Elliott 1984; Buss & Kim 2005

    Args:
        J: (m, n).
        error: (m,) target − value.
    """
    J = finite_array(J, (None, None), "J")
    error = finite_array(error, (J.shape[0],), "error of the task")
    push = J.T @ error
    effect = J @ push
    square = effect @ effect
    return (error @ effect) / square * push if square > 0.0 else np.zeros(J.shape[1])


def clamped_error(error: ArrayLike, most: float) -> Array:
    """The error (m,), shortened to the length `most` where it is longer: far targets do not make wild steps.

    [ik.clamped]   Buss & Kim 2005, ClampMag

    Args:
        error: (m,) target − value, all in one unit.
        most: Largest length, in that unit, > 0.
    """
    error = finite_array(error, (None,), "error of the task")
    length = float(np.linalg.norm(error))
    most = number(most, "largest error", positive=True)
    return error * (most / length) if length > most else error


def selectively_damped_step(
    J: ArrayLike, error: ArrayLike, most: float = 0.25 * np.pi, blocks: Sequence[int] | None = None
) -> Array:
    """A step (n,) that is damped along each singular direction as much as that one would overshoot.

        x = clamp(Σ clamp(σᵢ⁻¹ (uᵢᵀe) vᵢ, γᵢ), γ_max),  γᵢ = min(1, Nᵢ/Mᵢ) γ_max,        [ik.selective]
        Nᵢ = Σ_l |u_li|,  Mᵢ = σᵢ⁻¹ Σⱼ |v_ji| Σ_l |∂s_l/∂θⱼ|        Buss & Kim 2005

    where clamp bounds the largest entry, and s_l are the positions that make up the task. Mᵢ is how far the points
    would go if the joints moved them in straight lines, Nᵢ how far they should.

    Args:
        J: (m, n).
        error: (m,) target − value.
        most: γ_max: largest entry of the step [rad].
        blocks: How many rows each position s_l has, e.g. (3, 3) for two points; all rows are one if omitted.
    """
    J = finite_array(J, (None, None), "J")
    error = finite_array(error, (J.shape[0],), "error of the task")
    most = number(most, "largest step", positive=True)
    edges = _block_edges(J.shape[0], blocks)
    U, sizes, Vt = np.linalg.svd(J, full_matrices=False)
    reach = sum(np.linalg.norm(part, axis=0) for part in np.split(J, edges))
    step = np.zeros(J.shape[1])
    for u, size, v in zip(U.T, sizes, Vt, strict=True):
        if size <= RANK * sizes[0]:
            continue
        wanted = sum(float(np.linalg.norm(part)) for part in np.split(u, edges))
        moved = float(np.abs(v) @ reach) / size
        step += _clamp_entries((u @ error) / size * v, min(1.0, wanted / moved) * most)
    return _clamp_entries(step, most)


def _block_edges(m: int, blocks: Sequence[int] | None) -> Array:
    """Where rows are cut into positions."""
    sizes = (m,) if blocks is None else tuple(blocks)
    if sum(sizes) != m or min(sizes, default=0) < 1:
        raise ShapeError(f"blocks of {sizes} rows do not make up the {m} rows of the task")
    return np.cumsum(sizes)[:-1]


def _clamp_entries(vector: Array, most: float) -> Array:
    """The vector, scaled down so that no entry is larger than `most`."""
    largest = float(np.abs(vector).max(initial=0.0))
    return vector * (most / largest) if largest > most else vector
