import numpy as np
import pytest

from surefoot.dynamics.algebra.smooth_factors import orthogonal_factors, solve_lower, solve_positive, solve_upper
from tests.dynamics.examples import assert_same, traced


@pytest.mark.parametrize("shape", [(5, 2), (4, 4), (3, 0), (6, 5)], ids=str)
def test_factors(shape):
    A = np.random.default_rng(1).standard_normal(shape)
    m = shape[1]
    factors = [orthogonal_factors(A)]
    if m:
        whole = traced(lambda A: np.concatenate([np.concatenate(orthogonal_factors(A)[:2], axis=1).ravel(),
                                                 orthogonal_factors(A).R.ravel()]), A)  # fmt: skip
        Q, R = whole[: shape[0] ** 2].reshape(shape[0], -1), whole[shape[0] ** 2 :].reshape(m, m)
        factors.append((Q[:, :m], Q[:, m:], R))
    for Y, Z, R in factors:
        Q = np.hstack([Y, Z])
        assert_same(Q.T @ Q, np.eye(shape[0]))
        assert_same(Y @ R, A)
        assert_same(np.tril(R, -1), np.zeros((m, m)))


def test_solving():
    rng = np.random.default_rng(2)
    A, b = rng.standard_normal((4, 4)), rng.standard_normal(4)
    U, P = np.triu(A) + 3.0 * np.eye(4), A @ A.T + np.eye(4)
    for solver, matrix in ((solve_upper, U), (solve_lower, U.T), (solve_positive, P)):
        assert_same(solver(matrix, b), np.linalg.solve(matrix, b))
        assert_same(traced(solver, matrix, b), np.linalg.solve(matrix, b))
    assert solve_upper(np.zeros((0, 0)), np.zeros(0)).shape == (0,)
