import math

import numpy as np
import pytest
from numpy.testing import assert_allclose

from surefoot.spatial import SingularParametersError, parameters, quaternion, so3

from .examples import ANGLES, AXES, VECTORS, difference, trace

RNG = np.random.default_rng(29)
FRAMES = ["body", "world"]


def angular_velocity(path, frame):
    """ω of a path of rotation matrices at t = 0."""
    R, dR = path(0.0), difference(path, 1e-3)
    return so3.unskew(R.T @ dR if frame == "body" else dR @ R.T)


def test_axis_and_angle():
    for angle in ANGLES:
        for axis in AXES:
            R = parameters.axis_angle_to_matrix(axis, angle)
            assert_allclose(R, so3.exp(angle * axis), atol=2e-15)
            u, phi = parameters.axis_angle_from_matrix(R)
            assert phi == pytest.approx(angle, abs=3e-15)
            assert np.linalg.norm(u) == pytest.approx(1, abs=1e-15)
            assert_allclose(parameters.axis_angle_to_matrix(u, phi), R, atol=2e-15)


def test_the_diagonal_of_the_axis_angle_matrix_is_the_corrected_one():
    u, phi = AXES[6], 0.8
    diagonal = np.diag(parameters.axis_angle_to_matrix(u, phi))
    assert_allclose(diagonal, math.cos(phi) + (1 - math.cos(phi)) * u**2, atol=1e-15)  # (2.33), erratum


@pytest.mark.parametrize("frame", FRAMES)
@pytest.mark.parametrize("angle", [1e-3, 0.7, 2.0, math.pi, 5.0])
def test_rates_of_axis_and_angle(frame, angle):
    u, turn, angle_rate = AXES[7], RNG.standard_normal(3), 0.7
    axis_rate = np.cross(turn, u)

    def path(t):
        return parameters.axis_angle_to_matrix(so3.exp(t * turn) @ u, angle + angle_rate * t)

    omega = parameters.axis_angle_omega(u, angle, axis_rate, angle_rate, frame)
    assert_allclose(omega, angular_velocity(path, frame), atol=1e-10)
    du, dphi = parameters.axis_angle_rates(u, angle, omega, frame)
    assert_allclose(du, axis_rate, atol=1e-12)
    assert dphi == pytest.approx(angle_rate)


def test_rates_of_the_axis_are_refused_at_the_identity():
    with pytest.raises(SingularParametersError, match="rotation axis"):
        parameters.axis_angle_rates([1, 0, 0], 0.0, [0, 1, 0])


def test_rodrigues_parameters():
    for vector in VECTORS:
        angle = np.linalg.norm(vector)
        if angle < math.pi - 1e-2:
            R = so3.exp(vector)
            gamma = parameters.rodrigues_from_matrix(R)
            axis = vector / angle if angle else vector
            assert_allclose(gamma, math.tan(angle / 2) * axis, rtol=1e-13, atol=1e-14)
            assert_allclose(parameters.rodrigues_to_matrix(gamma), R, atol=1e-14)


def test_rodrigues_parameters_of_a_half_turn_are_refused():
    with pytest.raises(SingularParametersError, match="half turn") as caught:
        parameters.rodrigues_from_matrix(np.diag([1.0, -1, -1]))
    assert "quaternion" in caught.value.next_step


@pytest.mark.parametrize("frame", FRAMES)
def test_rates_of_rodrigues_parameters(frame):
    gamma, rate = RNG.standard_normal((2, 3))
    omega = parameters.rodrigues_omega(gamma, rate, frame)
    expected = angular_velocity(lambda t: parameters.rodrigues_to_matrix(gamma + t * rate), frame)
    assert_allclose(omega, expected, atol=1e-9)
    assert_allclose(parameters.rodrigues_rates(gamma, omega, frame), rate, atol=1e-14)


def test_euler_parameters_are_the_quaternion_scalar_first():
    q = quaternion.random(RNG)
    theta = parameters.euler_parameters_from_matrix(quaternion.to_matrix(q))
    assert_allclose(theta, [q[3], *q[:3]], atol=1e-15)
    assert_allclose(parameters.euler_parameters_to_matrix(theta), quaternion.to_matrix(q), atol=1e-15)
    gamma = parameters.rodrigues_from_matrix(quaternion.to_matrix(q))
    assert_allclose(gamma, theta[1:] / theta[0], atol=1e-14)  # footnote 11, erratum


@pytest.mark.parametrize("frame", FRAMES)
def test_rates_of_euler_parameters(frame):
    theta = parameters.euler_parameters_from_matrix(so3.random(RNG))
    rate = RNG.standard_normal(4)
    rate -= theta * (theta @ rate)

    def path(t):
        moved = theta + t * rate
        return parameters.euler_parameters_to_matrix(moved / np.linalg.norm(moved))

    omega = parameters.euler_parameters_omega(theta, rate, frame)
    assert_allclose(omega, angular_velocity(path, frame), atol=1e-9)
    assert_allclose(parameters.euler_parameters_rates(theta, omega, frame), rate, atol=1e-14)
    e, sign = so3.skew(theta[1:]), -1 if frame == "body" else 1
    G = np.column_stack([-theta[1:], theta[0] * np.eye(3) + sign * e])
    assert_allclose(omega, 2 * G @ rate, atol=1e-14)


def test_symbols_equal_numbers():
    u, w, R = AXES[8], np.array([0.3, -0.2, 0.9]), so3.random(RNG)
    for f, arguments in [
        (parameters.axis_angle_to_matrix, (u, 0.7)),
        (lambda R: parameters.axis_angle_from_matrix(R)[0], (R,)),
        (parameters.axis_angle_omega, (u, 0.7, w, 0.3)),
        (lambda *x: parameters.axis_angle_rates(*x)[0], (u, 0.7, w)),
        (parameters.rodrigues_to_matrix, (w,)),
        (parameters.rodrigues_from_matrix, (R,)),
        (parameters.rodrigues_omega, (w, u)),
        (parameters.rodrigues_rates, (w, u)),
    ]:
        assert_allclose(trace(f, *arguments)(*arguments), f(*arguments), atol=1e-15)
