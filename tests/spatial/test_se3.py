import math

import casadi
import numpy as np
import pinocchio as pin
import pytest
from numpy.testing import assert_allclose
from scipy.linalg import expm

from surefoot import ops
from surefoot.spatial import se3, so3, twist

from .examples import AXES, difference, trace

RNG = np.random.default_rng(11)
ANGLES = [0.0, 1e-9, 1e-4, 0.3, 0.999, 1.001, 2.0, math.pi - 1e-9]
TWISTS = [np.concatenate([RNG.standard_normal(3), angle * axis]) for angle in ANGLES for axis in AXES[5:9]]


def test_group_laws():
    A, B, C = (se3.random(RNG) for _ in range(3))
    assert_allclose((A @ B) @ C, A @ (B @ C), atol=1e-14)
    assert_allclose(se3.inverse(A) @ A, np.eye(4), atol=1e-15)
    assert_allclose(se3.inverse(A @ B), se3.inverse(B) @ se3.inverse(A), atol=1e-14)
    assert_allclose(se3.Ad(A @ B), se3.Ad(A) @ se3.Ad(B), atol=1e-14)
    assert_allclose(se3.Ad(se3.inverse(A)), np.linalg.inv(se3.Ad(A)), atol=1e-14)


def test_adjoint_equals_pinocchio_and_moves_generators():
    T, V = se3.random(RNG), RNG.standard_normal(6)
    assert_allclose(se3.Ad(T), pin.SE3(T).toActionMatrix(), atol=1e-15)
    assert_allclose(se3.exp(se3.Ad(T) @ V), T @ se3.exp(V) @ se3.inverse(T), atol=1e-13)


def test_points_one_and_many():
    T, points = se3.random(RNG), RNG.standard_normal((5, 3))
    many = se3.transform_point(T, points)
    for before, after in zip(points, many, strict=True):
        assert_allclose(se3.transform_point(T, before), after, atol=1e-15)
        assert_allclose((T @ [*before, 1.0])[:3], after, atol=1e-15)


def test_pose_has_the_layout_of_pinocchio():
    T = se3.random(RNG)
    assert_allclose(se3.to_pose(T), pin.SE3ToXYZQUAT(pin.SE3(T)), atol=1e-15)
    assert_allclose(se3.from_pose(se3.to_pose(T)), T, atol=1e-15)


def test_exp_and_log():
    for tau in TWISTS:
        T = se3.exp(tau)
        generator = np.zeros((4, 4))
        generator[:3, :3], generator[:3, 3] = so3.skew(tau[3:]), tau[:3]
        assert_allclose(T, expm(generator), atol=1e-14)
        assert_allclose(se3.log(T), tau, atol=1e-14)
        assert_allclose(T, pin.exp6(tau).homogeneous, atol=1e-9)


def test_log_at_half_turns_gives_the_placement_again():
    for axis in AXES:
        T = se3.make(so3.exp(math.pi * axis), [0.3, -0.2, 0.9])
        assert_allclose(se3.exp(se3.log(T)), T, atol=2e-15)


def test_jacobians():
    for tau in TWISTS:
        right = se3.right_jacobian(tau)
        assert_allclose(right, pin.Jexp6(tau), atol=1e-7)
        assert_allclose(se3.left_jacobian(tau), se3.Ad(se3.exp(tau)) @ right, atol=1e-14)
        assert_allclose(se3.right_jacobian_inverse(tau) @ right, np.eye(6), atol=1e-13)
        assert_allclose(se3.left_jacobian_inverse(tau) @ se3.left_jacobian(tau), np.eye(6), atol=1e-13)


@pytest.mark.parametrize("index", range(0, len(TWISTS), 5))
def test_right_jacobian_gives_the_body_twist(index):
    tau, rate = TWISTS[index], RNG.standard_normal(6)
    T = se3.exp(tau)
    W = se3.inverse(T) @ difference(lambda t: se3.exp(tau + t * rate), 1e-3)
    assert_allclose(se3.right_jacobian(tau) @ rate, [*W[:3, 3], *so3.unskew(W[:3, :3])], atol=1e-10)


def test_adjoint_of_exp_is_exp_of_ad():
    V = RNG.standard_normal(6)
    assert_allclose(se3.Ad(se3.exp(V)), expm(twist.ad(V)), atol=1e-13)


@pytest.mark.parametrize("f", [se3.exp, se3.left_jacobian, se3.left_jacobian_inverse])
def test_symbols_equal_numbers(f):
    traced = trace(f, np.zeros(6))
    for tau in TWISTS:
        assert_allclose(traced(tau), f(tau), atol=1e-14)


def test_traced_log_inverse_adjoint_and_points():
    for f in (se3.log, se3.inverse, se3.Ad, se3.to_pose):
        traced = trace(f, np.eye(4))
        for tau in TWISTS:
            assert_allclose(traced(se3.exp(tau)), f(se3.exp(tau)), atol=1e-14)
    T, p = se3.random(RNG), RNG.standard_normal(3)
    assert_allclose(trace(se3.transform_point, T, p)(T, p), se3.transform_point(T, p), atol=1e-15)


def test_traced_derivative_of_log_is_finite_at_the_identity():
    x = ops.symbols("x", 6)
    sx, value = ops.to_sx(x), ops.to_sx(se3.log(se3.exp(x)))
    J = np.array(casadi.Function("j", [sx], [casadi.jacobian(value, sx)])(np.zeros(6)))
    assert_allclose(J, np.eye(6), atol=1e-15)
