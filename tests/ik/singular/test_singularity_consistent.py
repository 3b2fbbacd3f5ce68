import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from surefoot.errors import ShapeError
from surefoot.ik.singular.consistent import adjugate, attainable_motion, consistent_gain, consistent_motion
from surefoot.ik.textbook.self_motion import cofactor_basis
from tests.ik import planar_arm


def test_two_stretched_links_asked_to_go_on():
    """Nenchev & Konno 2019, (2.25): unit links at θ = 0, Ŝ = x: θ' = b (1, −2), s' = 0."""
    found = consistent_motion(planar_arm.jacobian([0.0, 0.0]), [1.0, 0.0])
    assert_allclose(found.rates, [1.0, -2.0], atol=1e-15)
    assert found.speed == 0.0


@given(st.integers(0, 2**32 - 1), st.integers(1, 6))
def test_adjugate(seed, n):
    J = np.random.default_rng(seed).normal(size=(n, n))
    scale = np.abs(np.linalg.det(J)) + 1.0
    assert_allclose(J @ adjugate(J), np.linalg.det(J) * np.eye(n), atol=1e-10 * scale)
    minors = np.array(
        [[(-1) ** (i + j) * np.linalg.det(np.delete(np.delete(J, j, 0), i, 1)) for j in range(n)] for i in range(n)]
    )
    assert_allclose(adjugate(J), minors, atol=1e-9 * (1.0 + np.abs(minors).max()))


def test_adjugate_of_a_singular_matrix_is_of_rank_one(rng):
    J = rng.normal(size=(4, 4))
    J[3] = J[0] - 2.0 * J[1]
    found = adjugate(J)
    assert np.linalg.matrix_rank(found, rtol=1e-9) == 1
    assert_allclose(J @ found, 0.0, atol=1e-12)
    with pytest.raises(ShapeError, match="square"):
        adjugate(np.zeros((2, 3)))


@given(st.integers(0, 2**32 - 1), st.integers(1, 6))
def test_it_is_the_cofactor_vector_of_arm_and_path(seed, n):
    rng = np.random.default_rng(seed)
    J, S = rng.normal(size=(n, n)), rng.normal(size=n)
    motion = consistent_motion(J, S)
    (vector,) = cofactor_basis(np.column_stack([J, -S]))
    found = np.append(motion.rates, motion.speed)
    sign = 1.0 if found @ vector >= 0.0 else -1.0
    assert_allclose(sign * vector, found, atol=1e-9 * (1.0 + np.abs(found).max()))
    assert_allclose(J @ motion.rates, S * motion.speed, atol=1e-9 * (1.0 + np.abs(found).max()))


def test_ordinary_inverse_away_from_singular_postures(rng):
    J, S = rng.normal(size=(3, 3)), rng.normal(size=3)
    motion = consistent_motion(J, S)
    b = consistent_gain(motion, 0.7, 1e-6)
    assert_allclose(b * motion.rates, 0.7 * np.linalg.solve(J, S), atol=1e-10)
    assert b * motion.speed == pytest.approx(0.7)


def test_redundant_arm_has_least_rates_and_a_limit_at_the_singular_posture():
    S = np.array([1.0, 0.0])
    J = planar_arm.jacobian([0.4, -0.7, 0.9])
    motion = consistent_motion(J, S)
    assert_allclose(motion.rates / motion.speed, np.linalg.pinv(J) @ S, atol=1e-12)
    stretched = planar_arm.jacobian([0.0, 0.0, 0.0])
    at = consistent_motion(stretched, S)
    assert at.speed == pytest.approx(0.0, abs=1e-15)
    assert np.linalg.norm(at.rates) > 1.0
    assert_allclose(stretched @ at.rates, 0.0, atol=1e-12)


def test_gain_is_held_near_the_singular_posture_and_keeps_rates_bounded():
    gains, rates, speeds = [], [], []
    for bend in np.linspace(0.5, -0.5, 201):
        motion = consistent_motion(planar_arm.jacobian([0.3, bend]), np.array([np.cos(0.3), np.sin(0.3)]))
        b = abs(consistent_gain(motion, 0.5, 0.2, rate_limit=3.0))
        gains.append(b)
        rates.append(np.abs(b * motion.rates).max())
        speeds.append(b * motion.speed)
    assert max(rates) <= 3.0 + 1e-12
    assert np.abs(np.diff(gains)).max() < 0.05
    assert speeds[0] == pytest.approx(0.5)
    assert speeds[100] == pytest.approx(0.0, abs=1e-12)
    assert speeds[-1] == pytest.approx(-0.5)  # the same sign of b: backwards on the other branch
    assert (np.diff(speeds) < 1e-12).all()


def test_what_is_attainable_at_a_singular_posture():
    J = planar_arm.jacobian([0.0, 0.0])
    nothing = consistent_motion(J, [0.0, 1.0])
    assert_allclose([*nothing.rates, nothing.speed], 0.0, atol=1e-15)
    motion, lost = attainable_motion(J, [0.0, 1.0])
    assert lost == pytest.approx(0.0, abs=1e-15)
    assert_allclose(J @ motion.rates, [0.0, 1.0], atol=1e-12)
    _, lost = attainable_motion(J, [0.6, 0.8])
    assert lost == pytest.approx(0.6)
