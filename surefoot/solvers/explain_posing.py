"""Rows as programs take them: with the ends that were given, and with unknowns that matter."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import scipy.sparse as sparse
from numpy.typing import NDArray
from scipy.linalg import qr

from surefoot.solvers.explain_groups import ScaledRows

__all__ = ["compressed", "given_ends"]

Numbers = NDArray[np.float64]
_FAINT = 1e-8  # share of the largest change of a row below which a direction of x does not matter


def given_ends(rows: ScaledRows, tolerance: float) -> ScaledRows:
    """The rows with the ends that were given; their middle where these cross by less than the tolerance.

    Args:
        rows: The rows, with ends that are wider by the tolerance.
        tolerance: That tolerance.
    """
    lower, upper = rows.lower + tolerance, rows.upper - tolerance
    crossed = lower > upper
    lower[crossed] = upper[crossed] = 0.5 * (lower[crossed] + upper[crossed])
    return rows.with_ends(lower, upper)


def compressed(rows: ScaledRows) -> tuple[Numbers | None, ScaledRows]:
    """Only unknowns that matter to dense rows: x = basis y; the basis (None: the identity), and the rows for y.

    Directions along which no row changes, or next to nothing, are left out, and so are entries that are next to
    nothing: HiGHS would divide by them, and gives up where they are near its tolerance.

    Args:
        rows: The rows.
    """
    if sparse.issparse(rows.A):
        return None, rows
    basis, triangle, order = qr(rows.A.T, mode="economic", pivoting=True, check_finite=False)
    gains = np.abs(np.diagonal(triangle))
    rank = int((gains > _FAINT * gains.max(initial=0.0)).sum())
    A = np.zeros((len(order), rank))
    A[order] = np.where(np.abs(triangle[:rank].T) > _FAINT, triangle[:rank].T, 0.0)
    return basis[:, :rank], replace(rows, A=A, columns=np.ones(rank))
