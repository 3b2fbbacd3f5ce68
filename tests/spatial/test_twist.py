import numpy as np
import pinocchio as pin
from numpy.testing import assert_allclose

from surefoot.spatial import se3, so3, twist

from .examples import difference, trace

RNG = np.random.default_rng(13)
V, W, U = RNG.standard_normal((3, 6))
R, T, r = so3.random(RNG), se3.random(RNG), RNG.standard_normal(3)


def test_shift_moves_the_linear_part():
    assert_allclose(twist.shift(V, r), twist.shift_matrix(r) @ V, atol=1e-15)
    assert_allclose(twist.shift(V, r)[:3], V[:3] + np.cross(V[3:], r), atol=1e-15)
    assert_allclose(twist.shift(twist.shift(V, r), -r), V, atol=1e-15)


def test_velocity_of_a_point_is_the_derivative_of_its_position():
    moving = difference(lambda t: se3.transform_point(se3.exp(t * V), r), 1e-3)
    assert_allclose(twist.point_velocity(V, r), moving, atol=1e-10)


def test_combined_transform_and_its_inverse():
    X = twist.transform_matrix(R, r)
    assert_allclose(X, np.block([[R, -R @ so3.skew(r)], [np.zeros((3, 3)), R]]), atol=1e-15)
    assert_allclose(twist.transform_matrix_inverse(R, r) @ X, np.eye(6), atol=1e-14)
    assert_allclose(X, se3.Ad(se3.make(R, -R @ r)), atol=1e-15)


def test_transform_equals_the_adjoint():
    assert_allclose(twist.transform(T, V), se3.Ad(T) @ V, atol=1e-15)
    assert_allclose(twist.transform(T, V), pin.SE3(T).act(pin.Motion(V)).vector, atol=1e-15)


def test_cross_product_is_a_lie_bracket():
    assert_allclose(twist.cross(V, W), twist.ad(V) @ W, atol=1e-15)
    assert_allclose(twist.cross(V, W), pin.Motion(V).cross(pin.Motion(W)).vector, atol=1e-15)
    assert_allclose(twist.cross(V, W), -twist.cross(W, V), atol=1e-15)
    jacobi = sum(twist.cross(a, twist.cross(b, c)) for a, b, c in ((V, W, U), (W, U, V), (U, V, W)))
    assert_allclose(jacobi, 0, atol=1e-14)
    X = se3.Ad(T)
    assert_allclose(twist.cross(X @ V, X @ W), X @ twist.cross(V, W), atol=1e-13)


def test_cross_product_is_the_derivative_of_the_adjoint():
    assert_allclose(twist.cross(V, W), difference(lambda t: se3.Ad(se3.exp(t * V)) @ W, 1e-3), atol=1e-10)


def test_classical_acceleration_of_a_point_on_a_turntable_points_inwards():
    omega, radius = 3.0, 0.5
    moving = np.array([0, omega * radius, 0, 0, 0, omega])  # the point at x = radius, constant rate
    classical = twist.classical_acceleration(np.zeros(6), moving)
    assert_allclose(classical, [-(omega**2) * radius, 0, 0, 0, 0, 0])
    assert_allclose(twist.spatial_acceleration(twist.classical_acceleration(W, V), V), W, atol=1e-15)


def test_symbols_equal_numbers():
    for f, arguments in [
        (twist.shift, (V, r)),
        (twist.transform_matrix, (R, r)),
        (twist.transform, (T, V)),
        (twist.cross, (V, W)),
        (twist.ad, (V,)),
        (twist.classical_acceleration, (W, V)),
    ]:
        assert_allclose(trace(f, *arguments)(*arguments), f(*arguments), atol=1e-15)
