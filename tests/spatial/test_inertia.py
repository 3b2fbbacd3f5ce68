import numpy as np
import pinocchio as pin
import pytest
from numpy.testing import assert_allclose

from surefoot.spatial import inertia, se3, so3, twist, wrench

from .examples import trace

RNG = np.random.default_rng(19)
MASS, COM = 2.5, np.array([0.1, -0.3, 0.2])
R = so3.random(RNG)
ABOUT_COM = R @ np.diag([0.3, 0.4, 0.5]) @ R.T
BODY = inertia.make(MASS, COM, ABOUT_COM)
T, V, A = se3.random(RNG), RNG.standard_normal(6), RNG.standard_normal(6)
ORACLE = pin.Inertia(MASS, COM, ABOUT_COM)


def test_make_equals_pinocchio_and_splits_again():
    assert_allclose(BODY, ORACLE.matrix(), atol=1e-15)
    mass, com, about_com = inertia.split(BODY)
    assert mass == MASS
    assert_allclose(com, COM, atol=1e-16)
    assert_allclose(about_com, ABOUT_COM, atol=1e-15)


def test_transform_equals_pinocchio_and_keeps_the_energy():
    moved = inertia.transform(T, BODY)
    assert_allclose(moved, pin.SE3(T).act(ORACLE).matrix(), atol=1e-13)
    energy = inertia.kinetic_energy(BODY, V)
    assert inertia.kinetic_energy(moved, twist.transform(T, V)) == pytest.approx(energy, rel=1e-13)


def test_momentum_transforms_as_a_wrench():
    assert_allclose(inertia.transform(T, BODY) @ twist.transform(T, V), wrench.transform(T, BODY @ V), atol=1e-13)


def test_a_cloud_of_points_has_the_sum_of_their_inertias():
    points, masses = RNG.standard_normal((6, 3)), RNG.uniform(1, 2, 6)
    whole = inertia.combine(inertia.make(m, p, np.zeros((3, 3))) for m, p in zip(masses, points, strict=True))
    mass, com, about_com = inertia.split(whole)
    assert mass == pytest.approx(masses.sum())
    assert_allclose(com, masses @ points / masses.sum(), atol=1e-15)
    expected = sum(inertia.parallel_axis(m, np.zeros((3, 3)), p - com) for m, p in zip(masses, points, strict=True))
    assert_allclose(about_com, expected, atol=1e-13)
    velocities = V[:3] + np.cross(V[3:], points)
    assert inertia.kinetic_energy(whole, V) == pytest.approx(0.5 * masses @ (velocities**2).sum(axis=1))


def test_net_wrench_equals_pinocchio_and_balances_the_energy():
    F = inertia.net_wrench(BODY, V, A)
    bias = pin.Motion(V).cross(ORACLE * pin.Motion(V)).vector
    assert_allclose(F, BODY @ A + bias, atol=1e-14)
    assert wrench.power(V, F) == pytest.approx(V @ BODY @ A, abs=1e-13)  # d/dt ½ Vᵀ I V in body axes


def test_margins_tell_bodies_from_impossible_inertias():
    assert inertia.margins(BODY) == pytest.approx((MASS, 0.3, 0.2), abs=1e-14)
    assert inertia.margins(BODY).physical
    flat = inertia.margins(inertia.make(1.0, COM, np.diag([1.0, 1.0, 2.0])))
    assert abs(flat.triangle) < 1e-14
    impossible = inertia.margins(inertia.make(1.0, COM, np.diag([1.0, 1.0, 2.1])))
    assert impossible.triangle == pytest.approx(-0.1)
    assert not impossible.physical
    assert inertia.margins(inertia.make(1.0, COM, np.diag([-0.1, 1.0, 1.0]))).moment == pytest.approx(-0.1)
    assert inertia.margins(-BODY).mass < 0


def test_margins_agree_with_the_eigenvalues_of_the_matrix():
    for moments in ([0.1, 0.2, 0.25], [-0.01, 0.2, 0.2]):
        spatial = inertia.make(MASS, 3 * COM, R @ np.diag(moments) @ R.T)
        assert (np.linalg.eigvalsh(spatial)[0] > 0) == (inertia.margins(spatial).moment > 0)


def test_principal_axes_are_a_right_handed_frame():
    moments, axes = inertia.principal(ABOUT_COM)
    assert_allclose(moments, [0.3, 0.4, 0.5], atol=1e-15)
    assert np.linalg.det(axes) == pytest.approx(1)
    assert_allclose(axes @ np.diag(moments) @ axes.T, ABOUT_COM, atol=1e-15)


def test_shapes_equal_pinocchio():
    assert_allclose(inertia.box(3.0, [0.1, 0.2, 0.3]), pin.Inertia.FromBox(3.0, 0.1, 0.2, 0.3).inertia, atol=1e-15)
    assert_allclose(inertia.sphere(3.0, 0.2), pin.Inertia.FromSphere(3.0, 0.2).inertia, atol=1e-15)
    assert_allclose(inertia.cylinder(3.0, 0.2, 0.7), pin.Inertia.FromCylinder(3.0, 0.2, 0.7).inertia, atol=1e-15)
    assert_allclose(inertia.capsule(3.0, 0.2, 0.7), pin.Inertia.FromCapsule(3.0, 0.2, 0.7).inertia, atol=1e-12)
    assert_allclose(inertia.rod(3.0, 2.0), np.diag([1.0, 1.0, 0.0]))


def test_capsule_equals_a_stack_of_discs_and_its_limits():
    radius, length = 0.2, 0.7
    z = (np.arange(200_000) + 0.5) / 200_000 * (length + 2 * radius) - length / 2 - radius
    squared = radius**2 - np.maximum(abs(z) - length / 2, 0) ** 2
    share = squared / squared.sum()
    across = 3.0 * share @ (squared / 4 + z**2)
    along = 3.0 * share @ (squared / 2)
    assert_allclose(inertia.capsule(3.0, radius, length), np.diag([across, across, along]), rtol=1e-9, atol=1e-15)
    assert_allclose(inertia.capsule(3.0, radius, 0.0), inertia.sphere(3.0, radius), atol=1e-16)


def test_symbols_equal_numbers():
    numbers = np.array([MASS, *COM])
    f = trace(lambda x: inertia.make(x[0], x[1:], ABOUT_COM), numbers)
    assert_allclose(f(numbers), BODY, atol=1e-15)
    for f, arguments in [(inertia.transform, (T, BODY)), (inertia.net_wrench, (BODY, V, A))]:
        assert_allclose(trace(f, *arguments)(*arguments), f(*arguments), atol=1e-13)
    size = np.array([0.2, 0.7])
    assert_allclose(trace(lambda x: inertia.capsule(3.0, *x), size)(size), inertia.capsule(3.0, *size), atol=1e-15)
