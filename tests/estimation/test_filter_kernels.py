from __future__ import annotations

import numpy as np
import pytest
from scipy.linalg import expm

from surefoot.estimation.filter_kernels import Turn
from surefoot.spatial import so3

VECTORS = [np.zeros(3), np.array([1e-9, 0.0, 2e-9]), np.array([0.02, -0.01, 0.03]), np.array([1.0, -2.0, 0.7])]


@pytest.mark.parametrize("vector", VECTORS)
def test_gammas_are_iterated_integrals_of_the_rotation(vector):
    """Oracle: the matrix exponential of a chain of integrators driven by the turn (Van Loan 1978)."""
    chain = np.zeros((9, 9))
    chain[:3, :3] = so3.skew(vector)
    chain[:3, 3:6] = chain[3:6, 6:] = np.eye(3)
    whole = expm(chain)
    for m in range(3):
        assert Turn.by(vector).gamma(m) == pytest.approx(whole[:3, 3 * m : 3 * m + 3], abs=1e-13)


@pytest.mark.parametrize("m", [0, 1, 2])
@pytest.mark.parametrize("vector", VECTORS)
def test_derivatives_agree_with_differences(vector, m, rng):
    a, h = rng.standard_normal(3), 1e-6
    columns = [
        (Turn.by(vector + h * e).gamma(m) @ a - Turn.by(vector - h * e).gamma(m) @ a) / (2 * h) for e in np.eye(3)
    ]
    assert Turn.by(vector).derivative(m, a) == pytest.approx(np.column_stack(columns), abs=1e-9)
