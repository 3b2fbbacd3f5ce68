"""Rows that depend on others: found in their order, also in other coordinates and where they nearly do."""

import numpy as np
import pytest

from surefoot.dynamics.algebra.rank import null_basis, rank_of, row_basis, size_of
from tests.dynamics.examples import assert_same


def test_ranks_and_null_spaces():
    rng = np.random.default_rng(1)
    A = rng.standard_normal((4, 2)) @ rng.standard_normal((2, 7))
    assert rank_of(A) == 2
    assert null_basis(A).shape == (7, 5)
    assert_same(A @ null_basis(A), np.zeros((4, 5)), 1e-12)
    assert rank_of(np.zeros((0, 3))) == rank_of(np.zeros((3, 0))) == rank_of(np.zeros((2, 3))) == 0
    assert_same(null_basis(np.zeros((0, 3))), np.eye(3))
    assert size_of(np.array([[1.0, 0.0, 1e-17]])) == pytest.approx(1.0)
    assert size_of(np.zeros((0, 3))) == 0.0


def test_rows_in_other_coordinates_keep_their_dependence():
    """With inertias from 1e-6 to 1e6 rows of J C⁻ᵀ are nearly parallel; those of J say which are independent."""
    rng = np.random.default_rng(1)
    J = rng.standard_normal((5, 8))
    J[3] = J[0] - 2.0 * J[1]
    scale = 10.0 ** np.linspace(-6.0, 6.0, 8)
    rows = row_basis(J)
    there = rows.mapped(rows.Q / scale)
    assert there.independent == rows.independent == (0, 1, 2, 4)
    assert_same(there.Q @ there.Q.T, np.eye(4), 1e-14)
    assert_same(there.K @ there.Q, J / scale, 1e-12)


@pytest.mark.parametrize(("left", "rank"), [(0.0, 2), (1e-12, 2), (1e-9, 2), (1e-6, 3), (1e-3, 3)])
def test_rows_that_nearly_depend(left, rank):
    """A gear of 1000 beside them changes nothing."""
    J = np.array([[1.0, 1.0, 0.0, 0.0], [1.0, 1.0, left, 0.0], [0.0, 1.0, 0.0, -1000.0]])
    assert row_basis(J).rank == rank


def test_rows_that_are_rounding_hold_nothing():
    J = np.array([[1e-17, 0.0], [0.0, 1.0], [1e-16, -1e-16]])
    assert row_basis(J).independent == (1,)
    assert row_basis(np.zeros((3, 2))).rank == row_basis(np.zeros((0, 2))).rank == 0
