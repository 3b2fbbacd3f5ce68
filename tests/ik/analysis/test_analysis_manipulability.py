"""Ellipsoids and the measure of manipulability against closed forms and differences."""

import numpy as np
import pinocchio as pin
import pytest

import surefoot as sf
from surefoot.errors import ShapeError
from surefoot.ik.analysis.manipulability import Manipulability, manipulability_ellipsoid


def two_links(q1, q2, a=1.0, b=0.7):
    """Jacobian of a planar arm of two links."""
    s1, c1, s12, c12 = np.sin(q1), np.cos(q1), np.sin(q1 + q2), np.cos(q1 + q2)
    return np.array([[-a * s1 - b * s12, -b * s12], [a * c1 + b * c12, b * c12]])


def test_two_links_have_the_measure_a_b_sine():
    """Yoshikawa 1985: w = a b |sin q₂|, whatever q₁."""
    angles = np.linspace(-3.0, 3.0, 13)
    J = np.array([two_links(0.3 + q, q) for q in angles])
    found = manipulability_ellipsoid(J)
    np.testing.assert_allclose(found.measure, 0.7 * np.abs(np.sin(angles)), atol=1e-12)
    assert found.condition[6] > 1e15  # stretched
    single = manipulability_ellipsoid(J[3])
    assert single.measure == pytest.approx(found.measure[3])


def test_axes_carry_the_farthest_and_nearest_rates(rng):
    J = rng.standard_normal((3, 7))
    found = manipulability_ellipsoid(J)
    v = rng.standard_normal((7, 20000))
    rates = J @ (v / np.linalg.norm(v, axis=0))
    for axis, length in zip(found.axes.T, found.lengths, strict=True):
        assert (np.abs(axis @ rates) <= length + 1e-12).all()
        assert np.linalg.norm(J.T @ axis) == pytest.approx(length)
    assert found.condition == pytest.approx(np.linalg.cond(J))
    assert found.measure == pytest.approx(np.sqrt(np.linalg.det(J @ J.T)))


def test_more_task_rows_than_joints_are_flat(rng):
    found = manipulability_ellipsoid(rng.standard_normal((3, 2)))
    assert found.measure == 0.0
    assert found.condition == np.inf
    assert found.lengths[2] == 0.0
    with pytest.raises(ShapeError):
        manipulability_ellipsoid(np.full((2, 2), np.nan))


@pytest.mark.parametrize(
    ("name", "frame", "rows"), [("arm4", "tip", (0, 2)), ("humanoid", "left_palm", (0, 1, 2, 3, 4, 5))]
)
def test_gradient_by_differences(name, frame, rows, rng):
    robot = sf.load(name)
    measure = Manipulability(robot, frame, rows)
    q = pin.integrate(robot.model, robot.home, 0.3 * rng.standard_normal(robot.nv))
    w, gradient = measure(q)
    J = sf.compile(robot).jacobian(q, frame)[list(rows)]
    assert w == pytest.approx(np.sqrt(np.linalg.det(J @ J.T)))
    steps = 1e-6 * np.eye(robot.nv)
    found = [(measure(pin.integrate(robot.model, q, e))[0] - measure(pin.integrate(robot.model, q, -e))[0]) / 2e-6
             for e in steps]  # fmt: skip
    np.testing.assert_allclose(gradient, found, atol=1e-6 * w)


def test_only_chosen_joints_count(rng):
    """The measure of an arm in its robot, with the base held, is that of the arm alone."""
    robot = sf.load("humanoid")
    arm = [robot.tree.v_index[robot.joint_index(f"left_{n}")] for n in ("shoulder_pitch", "shoulder_roll", "elbow")]
    w, _ = Manipulability(robot, "left_palm", (0, 1, 2), arm)(robot.home)
    J = sf.compile(robot).jacobian(robot.home, "left_palm")[:3, arm]
    assert w == pytest.approx(abs(np.linalg.det(J)))
