"""A linear program for HiGHS that is solved once."""

from __future__ import annotations

from typing import Any, NamedTuple

import highspy
import numpy as np
import scipy.sparse as sparse
from highspy import HighsLp, HighsModelStatus
from numpy.typing import NDArray

__all__ = ["QUIET", "Optimum", "linear_program", "optimum"]

Numbers = NDArray[np.float64]
QUIET = {"output_flag": False, "threads": 1, "parallel": "off", "presolve": "off"}


class Optimum(NamedTuple):
    """Where a program is least: values of its columns, multipliers of its rows (as HiGHS has their signs)."""

    x: Numbers
    multipliers: Numbers


def linear_program(costs: Numbers, bounds: tuple[Any, Any], rows: Any, ends: tuple[Any, Any]) -> HighsLp:
    """The least costs · x with bounds[0] ≤ x ≤ bounds[1] and ends[0] ≤ rows x ≤ ends[1].

    Args:
        costs: (n,).
        bounds: (n,) each, or numbers.
        rows: (m, n), sparse.
        ends: (m,) each, or numbers.
    """
    A, (m, n) = sparse.csr_array(rows), rows.shape
    lp = HighsLp()
    lp.num_col_, lp.num_row_ = n, m
    lp.col_cost_ = costs
    lp.col_lower_, lp.col_upper_ = (np.array(np.broadcast_to(end, n), dtype=np.float64) for end in bounds)
    lp.row_lower_, lp.row_upper_ = (np.array(np.broadcast_to(end, m), dtype=np.float64) for end in ends)
    lp.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
    lp.a_matrix_.start_, lp.a_matrix_.index_, lp.a_matrix_.value_ = A.indptr, A.indices, A.data
    return lp


def optimum(lp: HighsLp, **options: Any) -> Optimum | None:
    """Where a program is least; None if HiGHS does not get there.

    Args:
        lp: The program.
        **options: Of HiGHS.
    """
    highs = highspy.Highs()
    for name, value in {**QUIET, **options}.items():
        highs.setOptionValue(name, value)
    highs.passModel(lp)
    highs.run()
    if highs.getModelStatus() != HighsModelStatus.kOptimal:
        return None
    found = highs.getSolution()
    return Optimum(np.array(found.col_value), np.array(found.row_dual))
