"""Linear systems of rows, dense or sparse, in the smaller of their two dimensions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sparse
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve
from scipy.sparse.linalg import splu

__all__ = ["MOST_DENSE", "dense_if_small", "gram", "solve_normal", "solve_widened", "widened_inverse"]

Numbers = NDArray[np.float64]
MOST_DENSE = 1500
"""Systems up to this size are solved dense."""


def solve_normal(rows: Any, right: Numbers, pull: float) -> Numbers:
    """(rowsᵀ rows + pull)⁻¹ right.

    Args:
        rows: (k, n), dense or CSR.
        right: (n,).
        pull: Positive.
    """
    k, n = rows.shape
    if k <= min(n, MOST_DENSE):
        return (right - rows.T @ solve_widened(gram(rows), rows @ right, pull)) / pull
    if n <= MOST_DENSE:
        return solve_widened(gram(rows.T), right, pull)
    system = sparse.csc_array(rows.T @ rows) + pull * sparse.eye_array(n, format="csc")
    return splu(sparse.csc_array(system), permc_spec="MMD_AT_PLUS_A", options={"SymmetricMode": True}).solve(right)


def solve_widened(square: Numbers, right: Numbers, pull: float) -> Numbers:
    """(square + pull)⁻¹ right; `square` is lost.

    Args:
        square: (k, k), symmetric, without negative eigenvalues.
        right: (k,) or (k, m).
        pull: Positive.

    Raises:
        numpy.linalg.LinAlgError: Rounding makes the matrix indefinite.
    """
    return widened_inverse(square, pull)(right) if len(right) else right


def widened_inverse(square: Numbers, pull: float) -> Callable[[Numbers], Numbers]:
    """The map b ↦ (square + pull)⁻¹ b; `square` is lost.

    Args:
        square: (k, k), symmetric, without negative eigenvalues.
        pull: Positive.

    Raises:
        numpy.linalg.LinAlgError: Rounding makes the matrix indefinite.
    """
    square.flat[:: len(square) + 1] += pull
    factor = cho_factor(square, overwrite_a=True, check_finite=False)
    return lambda right: cho_solve(factor, right, check_finite=False)


def gram(rows: Any) -> Numbers:
    """Products of all rows (k, k).

    Args:
        rows: (k, n), dense or sparse.
    """
    found = rows @ rows.T
    return found.toarray() if sparse.issparse(found) else found


def dense_if_small(rows: Any) -> Any:
    """Sparse rows as a dense array where that is less work.

    Args:
        rows: (k, n), dense or sparse.
    """
    if not sparse.issparse(rows) or min(rows.shape) > MOST_DENSE or rows.nnz < 0.02 * rows.shape[0] * rows.shape[1]:
        return rows
    return rows.toarray()
