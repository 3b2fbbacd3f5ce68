"""Velocity dampers keep their distance, whatever is wanted; the sphere of influence fades smoothly."""

import numpy as np
import pytest
from scipy.optimize import linprog, minimize

from surefoot.codegen import compile_function
from surefoot.errors import ShapeError
from surefoot.ik.avoidance.damper import VelocityDamper
from surefoot.ik.avoidance.sphere import InfluenceSphere


def balls(point, centres, radii):
    apart = point - centres
    length = np.linalg.norm(apart, axis=1)
    return length - radii, apart / length[:, None]


def nearest_allowed(wanted, rows):
    """The velocity nearest to the wanted one that all rows allow; by a general solver."""
    active = np.isfinite(rows.lower)
    if not active.any():
        return wanted
    A, b = rows.matrix[active], rows.lower[active]
    limits = {"type": "ineq", "fun": lambda v: A @ v - b, "jac": lambda v: A}
    start = linprog(np.zeros(3), A_ub=-A, b_ub=-b, bounds=(None, None)).x
    return minimize(lambda v: (v - wanted) @ (v - wanted), start, jac=lambda v: 2 * (v - wanted), constraints=limits,
                    method="SLSQP", options={"ftol": 1e-14}).x  # fmt: skip


def test_never_nearer_than_the_security_distance(rng):
    """A point driven through a field of balls at the longest step that is allowed: the law for convex obstacles."""
    centres = np.array([[0.5, 0.05, 0.0], [0.9, -0.2, 0.1], [0.9, 0.25, -0.1], [1.4, 0.0, 0.0]])
    radii = np.array([0.2, 0.15, 0.2, 0.25])
    damper = VelocityDamper(influence=0.10, security=0.02, speed=0.5)
    dt, point, closest = damper.longest_step, np.zeros(3), np.inf
    for _ in range(120):
        wanted = 3.0 * (np.array([1.4, 0.0, 0.0]) - point) + 0.5 * rng.standard_normal(3)
        wanted *= min(1.0, 0.5 / np.linalg.norm(wanted))
        rows = damper.rows(*balls(point, centres, radii))
        point = point + dt * nearest_allowed(wanted, rows)
        closest = min(closest, balls(point, centres, radii)[0].min())
    assert 0.02 - 1e-6 < closest < 0.03  # it came as near as it may, and no nearer
    assert np.linalg.norm(point) > 0.25  # and it moved


def test_rows_are_the_formula_for_the_nearest_pairs(rng):
    d, G = np.array([0.3, 0.01, 0.08, 0.05, 0.2]), rng.standard_normal((5, 4))
    rows = VelocityDamper(0.1, 0.02, 0.5, nearest=4).rows(d, G)
    assert rows.pairs.tolist() == [1, 3, 2, 4]
    np.testing.assert_allclose(rows.matrix, G[[1, 3, 2, 4]])
    np.testing.assert_allclose(rows.lower, [0.0625, -0.1875, -0.375, -np.inf])
    assert rows.lower[0] > 0.0  # nearer than the security distance: it must move away


def test_pairs_that_begin_too_near_give_a_little():
    damper = VelocityDamper(0.1, 0.02, 0.5, give=1e-3)
    first = np.array([0.5, 0.02, 0.0199, 0.01, 0.002, -0.01])
    np.testing.assert_allclose(damper.allowed(first), [0.02, 0.02, 0.0189, 0.009, 0.0015, -0.01])


@pytest.mark.parametrize("wrong", [(0.02, 0.02, 0.5), (0.1, 0.02, 0.0)])
def test_impossible_dampers_are_refused(wrong):
    with pytest.raises(ShapeError):
        VelocityDamper(*wrong)
    with pytest.raises(ShapeError):
        VelocityDamper(0.1, 0.02, 0.5).rows(np.zeros(3), np.zeros((2, 4)))


SPHERE = InfluenceSphere(abort=0.02, unity=0.06, influence=0.2)


def test_shares_and_gains_of_the_three_radii():
    assert SPHERE.share(0.2) == 0.0
    assert SPHERE.share(0.06) == 1.0
    assert SPHERE.share(0.0) == 1.0
    assert SPHERE.gain(0.25) == 0.0
    assert SPHERE.gain(0.06) == pytest.approx(1.0)
    assert SPHERE.gain(0.03) > 1.0
    assert SPHERE.gain(0.13) == pytest.approx(0.25)  # half way: a square
    assert SPHERE.must_abort(0.019)
    assert not SPHERE.must_abort(0.021)
    d, h = np.array([0.06, 0.2]), 1e-4
    bend = (SPHERE.share(d + h) - 2 * SPHERE.share(d) + SPHERE.share(d - h)) / h**2
    assert (np.abs(bend) < 10.0).all()  # C²: the second derivative runs into zero at both radii
    assert (np.diff(SPHERE.share(np.linspace(0.0, 0.3, 100))) <= 0.0).all()
    kernel = compile_function("share", SPHERE.share, {"d": (5,)})
    d = np.linspace(0.0, 0.3, 5)
    np.testing.assert_allclose(kernel(d), SPHERE.share(d), atol=1e-15)


def test_avoidance_fades_in_and_leaves_the_task_alone(rng):
    J, V, row = rng.standard_normal((3, 6)), rng.standard_normal(3), rng.standard_normal(6)
    first = np.linalg.pinv(J) @ V
    for distance in (0.3, 0.15, 0.1, 0.06, 0.03):
        v = SPHERE.motion(J, V, row, 0.4, distance)
        np.testing.assert_allclose(J @ v, V, atol=1e-12)
        aim = SPHERE.gain(distance) * 0.4
        share = SPHERE.share(distance)
        assert row @ v == pytest.approx((1.0 - share) * (row @ first) + share * aim)  # (2.53), in the obstacle's row


def test_without_freedom_the_task_goes_on(rng):
    J, V = np.eye(3), rng.standard_normal(3)
    np.testing.assert_allclose(SPHERE.motion(J, V, rng.standard_normal(3), 0.4, 0.03), V)
    with pytest.raises(ShapeError):
        InfluenceSphere(0.1, 0.05, 0.2)
