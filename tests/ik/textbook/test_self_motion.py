import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from surefoot.errors import ShapeError
from surefoot.ik.textbook.self_motion import cofactor_basis, self_motion_basis


@given(st.integers(0, 2**32 - 1), st.integers(1, 6), st.integers(1, 4))
def test_both_bases_span_the_null_space(seed, m, r):
    J = np.random.default_rng(seed).normal(size=(m, m + r))
    Z, minors = self_motion_basis(J), cofactor_basis(J)
    N = np.eye(m + r) - np.linalg.pinv(J) @ J
    assert_allclose(Z.T @ Z, N, atol=1e-9)
    assert minors.shape == (r, m + r)
    assert_allclose(N @ minors.T, minors.T, atol=1e-8 * np.abs(minors).max())
    assert np.linalg.matrix_rank(minors) == r


@given(st.integers(0, 2**32 - 1), st.integers(1, 6))
def test_length_of_the_cofactor_vector_is_the_manipulability(seed, m):
    J = np.random.default_rng(seed).normal(size=(m, m + 1))
    (n,) = cofactor_basis(J)
    assert_allclose(np.linalg.norm(n), np.sqrt(np.linalg.det(J @ J.T)), rtol=1e-8)


def test_cofactors_of_two_rows_are_the_cross_product(rng):
    J = rng.normal(size=(2, 3))
    assert_allclose(cofactor_basis(J)[0], np.cross(J[0], J[1]), atol=1e-12)


def test_singular_postures():
    J = np.array([[1.0, 2.0, 3.0], [2.0, 4.0, 6.0]])
    assert self_motion_basis(J).shape == (2, 3)
    assert_allclose(cofactor_basis(J), 0.0, atol=1e-12)
    assert self_motion_basis(np.zeros((2, 3))).shape == (3, 3)


def test_no_self_motion_without_redundancy():
    with pytest.raises(ShapeError, match="no self-motion"):
        cofactor_basis(np.eye(3))
    assert self_motion_basis(np.eye(3)).shape == (0, 3)
