"""Joint motions that leave the task alone: bases of the null space of J (m, n), r = n − m ≥ 0."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import qr

from surefoot.arrays import Array, finite_array
from surefoot.errors import ShapeError
from surefoot.ik.textbook.inverses import RANK


def self_motion_basis(J: ArrayLike, rank: float = RANK) -> Array:
    """Z (n − rank J, n), orthonormal rows with J Zᵀ = 0; E − J⁺J = Zᵀ Z.

    J = U Σ Vᵀ, Z = the last columns of V        [ik.self-motion]   Nenchev & Konno 2019, section 2.7.1

    Args:
        J: (m, n).
        rank: Singular values below this share of the largest count as zero.
    """
    J = finite_array(J, (None, None), "J")
    _, sizes, Vt = np.linalg.svd(J)
    return Vt[int(np.sum(sizes > rank * sizes.max(initial=0.0))) :]


def cofactor_basis(J: ArrayLike) -> Array:
    """Z (r, n), r = n − m: null-space vectors made of minors, without a singular value decomposition.

    nᵢ = (−1)ⁱ⁺¹ det(J without column i)        [ik.cofactors]   Nenchev & Konno 2019, section 2.7.1

    For r = 1 this is the one vector n: it is smooth in J, |n| = w = √det(J Jᵀ) exactly, and it vanishes where J loses
    rank. For r > 1, m pivot columns of J (QR) are completed by each of the others in turn; rows are then of the length
    of the manipulability of these m + 1 joints, and not orthogonal.

    Args:
        J: (m, n), n > m.

    Raises:
        ShapeError: There is no self-motion: n ≤ m.
    """
    J = finite_array(J, (None, None), "J")
    m, n = J.shape
    if n <= m:
        raise ShapeError(f"{n} joints and {m} task rows leave no self-motion")
    order = np.arange(n) if n == m + 1 else qr(J, mode="r", pivoting=True)[1]
    Z = np.zeros((n - m, n))
    for row, extra in zip(Z, order[m:], strict=True):
        columns = np.sort(np.append(order[:m], extra))
        row[columns] = _signed_minors(J[:, columns])
    return Z


def _signed_minors(J: Array) -> Array:
    """(−1)ⁱ⁺¹ det(J without column i), i = 1 … m + 1, of J (m, m + 1)."""
    m = J.shape[0]
    left = np.array([np.delete(np.arange(m + 1), i) for i in range(m + 1)])
    return (-1.0) ** np.arange(m + 1) * np.linalg.det(J[:, left].transpose(1, 0, 2))
