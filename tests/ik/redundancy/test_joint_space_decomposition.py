import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from surefoot.errors import ShapeError
from surefoot.ik.redundancy.joint_space_decomposition import decompose_joint_space


def positive(rng, n):
    A = rng.normal(size=(n, n))
    return A @ A.T + 0.1 * np.eye(n)


@given(st.integers(0, 2**32 - 1), st.integers(1, 5), st.integers(0, 4))
def test_task_and_self_motion_do_not_disturb_each_other(seed, m, r):
    rng = np.random.default_rng(seed)
    n = m + r
    J, W = rng.normal(size=(m, n)), positive(rng, n)
    parts = decompose_joint_space(J, W)
    scale = np.linalg.norm(parts.task_inverse) + 1.0
    assert_allclose(J @ parts.self_inverse, 0.0, atol=1e-8 * scale)
    assert_allclose(parts.self_jacobian @ parts.task_inverse, 0.0, atol=1e-8 * scale)
    assert_allclose(parts.self_jacobian @ parts.self_inverse, np.eye(r), atol=1e-8)
    rate, wanted = rng.normal(size=m), rng.normal(size=n)
    rates = parts.rates(rate, wanted)
    assert_allclose(J @ rates, rate, atol=1e-7 * scale)
    assert_allclose(parts.self_jacobian @ rates, parts.self_jacobian @ wanted, atol=1e-7 * scale)


def test_rates_nearest_to_the_wanted_ones_by_the_weights(rng):
    """Of all θ' with J θ' = V, it is the one that makes (θ' − θ'_a)ᵀ W (θ' − θ'_a) smallest."""
    J, W, rate, wanted = rng.normal(size=(2, 5)), positive(rng, 5), rng.normal(size=2), rng.normal(size=5)
    kkt = np.block([[W, J.T], [J, np.zeros((2, 2))]])
    expected = np.linalg.solve(kkt, np.concatenate([W @ wanted, rate]))[:5]
    assert_allclose(decompose_joint_space(J, W).rates(rate, wanted), expected, atol=1e-9)


def test_identity_is_the_default(rng):
    J = rng.normal(size=(3, 5))
    parts = decompose_joint_space(J)
    assert_allclose(parts.task_inverse, np.linalg.pinv(J), atol=1e-12)
    assert_allclose(parts.self_inverse, parts.basis.T, atol=1e-12)
    with pytest.raises(ShapeError):
        decompose_joint_space(J, np.eye(4))
