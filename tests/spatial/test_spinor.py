import math

import numpy as np
import pytest
from numpy.testing import assert_allclose

from surefoot.spatial import quaternion, so3, spinor

from .examples import difference, trace

RNG = np.random.default_rng(31)
R1, R2, R3 = (spinor.from_quaternion(quaternion.random(RNG)) for _ in range(3))
OMEGA = np.array([0.4, -1.1, 0.6])


def test_product_turns_first_by_the_first_then_by_the_second():
    both = spinor.product(R1, R2)
    assert_allclose(spinor.to_matrix(both), spinor.to_matrix(R2) @ spinor.to_matrix(R1), atol=1e-15)
    hamilton = quaternion.product(spinor.to_quaternion(R2), spinor.to_quaternion(R1))
    assert_allclose(spinor.to_quaternion(both), hamilton, atol=1e-15)
    assert_allclose(spinor.product(spinor.product(R1, R2), R3), spinor.product(R1, spinor.product(R2, R3)), atol=1e-15)
    assert_allclose(spinor.product(R1, spinor.reverse(R1)), [1, 0, 0, 0], atol=1e-15)


def test_matrix_is_a_right_hand_turn_from_body_to_space():
    axis = np.array([2.0, -1.0, 2.0]) / 3
    R = spinor.from_axis_angle(axis, 0.9)
    assert_allclose(spinor.to_matrix(R), so3.exp(0.9 * axis), atol=1e-15)
    assert_allclose(spinor.from_matrix(spinor.to_matrix(R)), R, atol=1e-15)
    assert_allclose(spinor.to_matrix(R), quaternion.to_matrix(spinor.to_quaternion(R)), atol=1e-15)


def test_bar_writes_the_product_as_a_matrix():
    assert_allclose(np.column_stack([R1, spinor.bar(R1)]) @ R2, spinor.product(R1, R2), atol=1e-15)


def test_rates_are_derivatives_and_invert():
    def path(t):
        return spinor.product(R1, spinor.from_quaternion(quaternion.exp(t * OMEGA)))

    rate = spinor.rates(R1, OMEGA)
    assert_allclose(rate, difference(path, 1e-3), atol=1e-12)
    assert_allclose(spinor.omega(R1, rate), OMEGA, atol=1e-15)
    assert_allclose(spinor.to_quaternion(rate), quaternion.rates(spinor.to_quaternion(R1), OMEGA, "world"), atol=1e-15)


@pytest.mark.parametrize("size", [0.0, 1e-6, 1e-3, 0.1])
def test_finite_update_errs_by_a_twelfth_of_the_cube(size):
    step = size * OMEGA / np.linalg.norm(OMEGA)
    after = spinor.update(R1, step)
    assert np.linalg.norm(after) == pytest.approx(1, abs=1e-15)
    exact = so3.exp(step) @ spinor.to_matrix(R1)
    error = so3.angle_between(spinor.to_matrix(after), exact)
    assert error == pytest.approx(size - 2 * math.atan(size / 2), abs=2e-15)
    assert error == pytest.approx(size**3 / 12, rel=0.01, abs=2e-15)


def test_symbols_equal_numbers():
    cases = [(spinor.product, (R1, R2)), (spinor.to_matrix, (R1,)), (spinor.update, (R1, OMEGA))]
    cases += [(spinor.rates, (R1, OMEGA)), (spinor.omega, (R1, R2)), (spinor.from_axis_angle, (OMEGA, 0.3))]
    for f, arguments in cases:
        assert_allclose(trace(f, *arguments)(*arguments), f(*arguments), atol=1e-15)
