import numpy as np
import pytest
from numpy.testing import assert_allclose

from surefoot.spatial import geometric_algebra as ga
from surefoot.spatial import quaternion, spinor

from .examples import trace

RNG = np.random.default_rng(37)
A, B, C = RNG.standard_normal((3, 8))
a, b, c = RNG.standard_normal((3, 3))
ONE, VOLUME = ga.scalar(1.0), ga.pseudoscalar()
a_, b_, c_ = ga.vector(a), ga.vector(b), ga.vector(c)


def test_the_geometric_product_is_associative_and_distributive():
    assert_allclose(ga.geometric(ga.geometric(A, B), C), ga.geometric(A, ga.geometric(B, C)), atol=1e-13)
    assert_allclose(ga.geometric(A, B + C), ga.geometric(A, B) + ga.geometric(A, C), atol=1e-14)
    assert_allclose(ga.geometric(ONE, A), A)


def test_the_coefficients_of_a_bivector_are_those_of_its_normal():
    assert_allclose(ga.bivector(a), [0, 0, 0, 0, *a, 0])
    assert_allclose(ga.from_spinor([2.0, *a]), [2, 0, 0, 0, *a, 0])
    assert_allclose(ga.geometric(ga.vector([0, 0, 1]), ga.vector([1, 0, 0])), np.eye(8)[5])  # e3 e1 = i e2


def test_the_square_of_a_vector_is_its_squared_length():
    assert_allclose(ga.geometric(a_, a_), ga.scalar(a @ a), atol=1e-15)


def test_the_pseudoscalar_squares_to_minus_one_and_commutes():
    e1, e2, e3 = (ga.vector(e) for e in np.eye(3))
    assert_allclose(ga.geometric(ga.geometric(e1, e2), e3), VOLUME)
    assert_allclose(ga.geometric(VOLUME, VOLUME), -ONE)
    assert_allclose(ga.geometric(VOLUME, A), ga.geometric(A, VOLUME), atol=1e-15)
    assert_allclose(ga.reverse(VOLUME), -VOLUME)


def test_products_of_vectors():
    assert_allclose(ga.geometric(a_, b_), ga.inner(a_, b_) + ga.outer(a_, b_), atol=1e-15)
    assert_allclose(ga.inner(a_, b_), ga.scalar(a @ b), atol=1e-15)
    assert_allclose(ga.outer(a_, b_), ga.geometric(VOLUME, ga.vector(np.cross(a, b))), atol=1e-15)
    assert_allclose(ga.outer(a_, b_), -ga.outer(b_, a_), atol=1e-15)
    volume = ga.outer(ga.outer(a_, b_), c_)
    assert_allclose(volume, np.linalg.det([a, b, c]) * VOLUME, atol=1e-14)


def test_inner_product_with_a_bivector():
    expected = (a @ b) * c_ - (a @ c) * b_
    assert_allclose(ga.inner(a_, ga.outer(b_, c_)), expected, atol=1e-14)


def test_projection_and_rejection():
    unit = ga.vector(b / np.linalg.norm(b))
    parallel, across = ga.geometric(unit, ga.inner(unit, a_)), ga.geometric(unit, ga.outer(unit, a_))
    assert_allclose(parallel + across, a_, atol=1e-15)
    assert_allclose(ga.inner(unit, across), 0, atol=1e-15)
    assert_allclose(ga.outer(unit, parallel), 0, atol=1e-15)


def test_inner_product_with_a_scalar_is_zero():
    assert_allclose(ga.inner(ga.scalar(2.0), A), 0)
    assert_allclose(ga.outer(ga.scalar(2.0), A), 2 * A)


def test_outer_product_is_associative():
    assert_allclose(ga.outer(ga.outer(A, B), C), ga.outer(A, ga.outer(B, C)), atol=1e-13)


def test_reversion_turns_products_round():
    assert_allclose(ga.reverse(ga.geometric(A, B)), ga.geometric(ga.reverse(B), ga.reverse(A)), atol=1e-14)
    for r in range(4):
        assert_allclose(ga.reverse(ga.grade(A, r)), (-1) ** (r * (r - 1) // 2) * ga.grade(A, r))


def test_grades_add_up():
    assert_allclose(sum(ga.grade(A, r) for r in range(4)), A)
    assert [int(np.count_nonzero(ga.grade(A, r))) for r in range(4)] == [1, 3, 3, 1]


def test_dual_is_the_product_with_the_volume():
    assert_allclose(ga.dual(A), ga.geometric(VOLUME, A))
    assert_allclose(ga.dual(ga.dual(A)), -A)
    assert_allclose(ga.bivector(a), ga.dual(a_))


def test_norm_and_inverse():
    assert ga.norm(A) == pytest.approx(np.sqrt(ga.geometric(ga.reverse(A), A)[0]))
    blades = (ga.scalar(-2.0), a_, ga.outer(a_, b_), ga.outer(ga.outer(a_, b_), c_), ga.from_spinor([1.0, *a]))
    for blade in blades:
        assert_allclose(ga.geometric(ga.inverse(blade), blade), ONE, atol=1e-14)


def test_spinors_are_even_multivectors():
    R1, R2 = (spinor.from_quaternion(quaternion.random(RNG)) for _ in range(2))
    together = ga.geometric(ga.from_spinor(R1), ga.from_spinor(R2))
    assert_allclose(together, ga.from_spinor(spinor.product(R1, R2)), atol=1e-15)
    assert_allclose(ga.reverse(ga.from_spinor(R1)), ga.from_spinor(spinor.reverse(R1)))
    assert_allclose(ga.rotate(R1, a), spinor.to_matrix(R1) @ a, atol=1e-14)


def test_symbols_equal_numbers():
    R = spinor.from_quaternion(quaternion.random(RNG))
    for f, arguments in [(ga.geometric, (A, B)), (ga.inner, (A, B)), (ga.outer, (A, B)), (ga.rotate, (R, a))]:
        assert_allclose(trace(f, *arguments)(*arguments), f(*arguments), atol=1e-14)
