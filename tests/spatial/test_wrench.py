import numpy as np
import pinocchio as pin
import pytest
from numpy.testing import assert_allclose

from surefoot.spatial import se3, twist, wrench

from .examples import trace

RNG = np.random.default_rng(17)
V, W, F = RNG.standard_normal((3, 6))
T, r = se3.random(RNG), RNG.standard_normal(3)


def test_power_does_not_depend_on_point_or_frame():
    power = wrench.power(V, F)
    assert wrench.power(twist.shift(V, r), wrench.shift(F, r)) == pytest.approx(power, abs=1e-14)
    assert wrench.power(twist.transform(T, V), wrench.transform(T, F)) == pytest.approx(power, abs=1e-13)


def test_shift_is_the_transposed_opposite_motion_shift():
    assert_allclose(wrench.shift_matrix(r), twist.shift_matrix(-r).T)
    assert_allclose(wrench.shift(F, r), wrench.shift_matrix(r) @ F, atol=1e-15)


def test_a_force_at_a_point_has_its_lever_as_moment():
    pure = wrench.make([0, 0, 10.0], np.zeros(3))
    assert_allclose(wrench.force_at([0, 0, 10.0], [0.2, 0.1, 5]), [0, 0, 10, 1, -2, 0])
    assert_allclose(wrench.shift(pure, [-0.2, -0.1, -5]), [0, 0, 10, 1, -2, 0])  # from the point back to the origin


def test_transform_is_the_transposed_opposite_motion_transform():
    X = wrench.transform_matrix(T)
    assert_allclose(X, np.linalg.inv(se3.Ad(T)).T, atol=1e-14)
    assert_allclose(wrench.transform(T, F), X @ F, atol=1e-14)
    assert_allclose(wrench.transform(T, F), pin.SE3(T).act(pin.Force(F)).vector, atol=1e-15)


def test_force_cross_product_is_dual_to_the_motion_cross_product():
    assert_allclose(wrench.cross(V, F), wrench.ad_dual(V) @ F, atol=1e-15)
    assert_allclose(wrench.cross(V, F), pin.Motion(V).cross(pin.Force(F)).vector, atol=1e-15)
    assert wrench.power(twist.cross(V, W), F) == pytest.approx(-wrench.power(W, wrench.cross(V, F)), abs=1e-14)


def test_symbols_equal_numbers():
    cases = [
        (wrench.shift, (F, r)),
        (wrench.transform, (T, F)),
        (wrench.cross, (V, F)),
        (wrench.transform_matrix, (T,)),
    ]
    for f, arguments in cases:
        assert_allclose(trace(f, *arguments)(*arguments), f(*arguments), atol=1e-15)
