import math

import casadi
import numpy as np
import pinocchio as pin
import pytest
from numpy.testing import assert_allclose
from scipy.spatial.transform import Rotation

from surefoot import ops
from surefoot.spatial import SingularParametersError, quaternion, so3

from .examples import ANGLES, AXES, VECTORS, difference, exact_quaternion, trace


def test_skew_is_the_cross_product_and_obeys_the_identities():
    x, y = np.random.default_rng(0).standard_normal((2, 3))
    X, Y = so3.skew(x), so3.skew(y)
    assert_allclose(X @ y, np.cross(x, y), atol=1e-15)
    assert_allclose(so3.unskew(X), x)
    assert_allclose(X @ Y, np.outer(y, x) - (x @ y) * np.eye(3), atol=1e-14)  # Buschmann 2014, App. A.1
    assert_allclose(so3.skew(X @ y), np.outer(y, x) - np.outer(x, y), atol=1e-14)
    assert_allclose(X @ X @ X, -X * (x @ x), atol=1e-14)


def test_exp_equals_scipy_and_is_a_rotation():
    for vector in VECTORS:
        R = so3.exp(vector)
        assert_allclose(R, Rotation.from_rotvec(vector).as_matrix(), atol=1e-15)
        assert_allclose(R @ R.T, np.eye(3), atol=2e-15)
        assert_allclose(R, pin.exp3(vector), atol=1e-9)


def test_exp_of_log_gives_the_same_matrix():
    for vector in VECTORS:
        R = so3.exp(vector)
        assert_allclose(so3.exp(so3.log(R)), R, atol=2e-15)


def test_log_of_exp_gives_the_same_vector():
    for vector in VECTORS:
        if np.linalg.norm(vector) < math.pi - 1e-15:
            assert_allclose(so3.log(so3.exp(vector)), vector, rtol=1e-15, atol=4e-15)


def test_log_keeps_the_relative_accuracy_of_tiny_angles():
    for axis in AXES:
        for angle in (1e-12, 1e-9, 1e-6):
            assert_allclose(so3.log(so3.exp(angle * axis)), angle * axis, rtol=1e-13, atol=1e-13 * angle)


@pytest.mark.parametrize("gap", [0.0, 1e-16, 1e-15, 1e-12, 1e-10, 1e-9, 1e-8, 1e-6, 1e-3])
def test_log_near_pi_keeps_angle_and_sign(gap):
    for axis in AXES:
        vector = so3.log(quaternion.to_matrix(exact_quaternion(axis, gap)))
        assert abs(np.linalg.norm(vector) - (math.pi - gap)) < 2e-15
        assert_allclose(np.cross(vector, axis), 0, atol=4e-15)
        if gap > 1e-15:
            assert vector @ axis > 0


@pytest.mark.parametrize("matrix", [np.diag(d) for d in ([1.0, -1, -1], [-1.0, 1, -1], [-1.0, -1, 1])])
def test_exact_half_turns(matrix):
    assert abs(np.linalg.norm(so3.log(matrix)) - math.pi) <= 4.5e-16  # one unit in the last place
    assert_allclose(so3.exp(so3.log(matrix)), matrix, atol=1e-15)


def test_random_rotations_are_rotations_and_fair():
    rng = np.random.default_rng(3)
    sample = np.array([so3.random(rng) for _ in range(2000)])
    assert_allclose(np.linalg.det(sample), 1, atol=1e-12)
    assert_allclose(sample.mean(axis=0), 0, atol=0.06)
    assert abs(np.mean(sample[:, 0, 0] ** 2) - 1 / 3) < 0.03


def test_angle_between():
    rng = np.random.default_rng(4)
    R = so3.random(rng)
    for angle in ANGLES:
        for axis in AXES[:8]:
            assert so3.angle_between(R, R @ so3.exp(angle * axis)) == pytest.approx(angle, abs=1e-15 * 3)
            assert so3.angle_between(R @ so3.exp(angle * axis), R) == pytest.approx(angle, abs=1e-15 * 3)


def test_jacobians_equal_pinocchio_and_are_inverse():
    for vector in VECTORS:
        J = so3.right_jacobian(vector)
        assert_allclose(J, pin.Jexp3(vector), atol=1e-8)
        assert_allclose(so3.right_jacobian_inverse(vector) @ J, np.eye(3), atol=1e-14)
        assert_allclose(so3.left_jacobian_inverse(vector) @ so3.left_jacobian(vector), np.eye(3), atol=1e-14)
        assert_allclose(so3.left_jacobian(vector), so3.exp(vector) @ J, atol=1e-14)


@pytest.mark.parametrize("angle", [0.0, 1e-9, 1e-3, 0.7, 1.0, 2.0, math.pi - 1e-9, math.pi, 4.0])
def test_jacobians_are_the_angular_velocities_of_the_rotation_vector(angle):
    rng = np.random.default_rng(5)
    vector, rate = angle * AXES[6], rng.standard_normal(3)
    R, dR = so3.exp(vector), difference(lambda t: so3.exp(vector + t * rate), 1e-3)
    assert_allclose(so3.right_jacobian(vector) @ rate, so3.unskew(R.T @ dR), atol=1e-10)
    assert_allclose(so3.left_jacobian(vector) @ rate, so3.unskew(dR @ R.T), atol=1e-10)


def test_inverse_jacobian_refuses_a_full_turn():
    with pytest.raises(SingularParametersError, match="2π") as caught:
        so3.left_jacobian_inverse([0, 0, 2 * math.pi])
    assert "so3.log" in caught.value.next_step
    assert "rotation vector" in caught.value.evidence


@pytest.mark.parametrize("f", [so3.exp, so3.left_jacobian, so3.right_jacobian, so3.left_jacobian_inverse])
def test_symbols_equal_numbers(f):
    traced = trace(f, np.zeros(3))
    for vector in VECTORS:
        assert_allclose(traced(vector), f(vector), rtol=0, atol=1e-15)


def test_traced_log_equals_log_of_numbers():
    traced = trace(so3.log, np.eye(3))
    for vector in VECTORS:
        R = so3.exp(vector)
        assert_allclose(traced(R), so3.log(R), rtol=0, atol=4e-15)


def test_traced_derivatives_of_log_of_exp_are_the_identity():
    x = ops.symbols("x", 3)
    sx, value = ops.to_sx(x), ops.to_sx(so3.log(so3.exp(x)))
    jacobian = casadi.Function("j", [sx], [casadi.jacobian(value, sx)])
    for vector in VECTORS:
        if np.linalg.norm(vector) < math.pi - 1e-6:
            assert_allclose(np.array(jacobian(vector)), np.eye(3), atol=1e-12)


def test_traced_second_derivatives_of_exp_are_finite_and_right_at_zero():
    x = ops.symbols("x", 3)
    sx, value = ops.to_sx(x), ops.to_sx(so3.exp(x))
    second = casadi.Function("h", [sx], [casadi.jacobian(casadi.jacobian(value, sx), sx)])
    entry = np.array(second(np.zeros(3))).reshape(9, 3, 3, order="F")
    assert np.isfinite(entry).all()
    assert_allclose(entry[0], np.diag([0, -1, -1]), atol=1e-15)  # R11 = 1 - (y² + z²)/2


def test_turn_to_is_the_shortest_turn():
    for seed in range(5):
        normal = np.random.default_rng(seed).standard_normal(3) + np.array([0.0, 0.0, 2.0])
        normal /= np.linalg.norm(normal)
        R = so3.turn_to(normal)
        assert_allclose(R @ [0.0, 0.0, 1.0], normal, atol=1e-15)
        assert_allclose(R @ R.T, np.eye(3), atol=1e-14)
        assert_allclose(
            so3.log(R), np.arccos(normal[2]) * np.array([-normal[1], normal[0], 0.0]) / np.hypot(*normal[:2])
        )
