"""Transition, measurement and covariance against differences of the nonlinear maps."""

from __future__ import annotations

import copy
import functools

import numpy as np
import pinocchio as pin
import pytest

from surefoot.errors import NotSupportedError
from surefoot.estimation import EncodedJoints, EstimatorSettings
from surefoot.estimation.filter_kernels import filter_kernels
from surefoot.estimation.footholds import ContactPoints
from surefoot.estimation.invariant_filter import FIXED, InertialStep, InvariantFilter, leg_twist
from surefoot.kinematics import Frame
from tests.estimation.examples import robot_of

GRAVITY = np.array([0.3, -0.2, -9.81])
COUNT = 4
SIZE = FIXED + 3 * COUNT
NOTHING = np.zeros(SIZE)
SETTINGS = EstimatorSettings()
SILENT = np.full(3, np.nan)


@functools.cache
def kernels():
    robot = robot_of("solo12")
    return filter_kernels(robot, ContactPoints(robot, EncodedJoints(robot), Frame(0)))


def some_filter(seed: int = 0) -> InvariantFilter:
    rng = np.random.default_rng(seed)
    made = InvariantFilter(kernels(), COUNT, GRAVITY)
    made.reset(pin.exp3(rng.standard_normal(3)), rng.standard_normal(3), rng.standard_normal(3), np.ones(5))
    made.footholds, made.bias = rng.standard_normal((COUNT, 3)), 0.1 * rng.standard_normal(6)
    root = rng.standard_normal((SIZE, SIZE))
    made.P = root @ root.T
    return made


def matrix(kalman: InvariantFilter) -> np.ndarray:
    """X as a matrix of SE_{n+2}(3)."""
    X = np.eye(5 + COUNT)
    X[:3, :3], X[:3, 3], X[:3, 4], X[:3, 5:] = kalman.rotation, kalman.velocity, kalman.position, kalman.footholds.T
    return X


def displaced(kalman: InvariantFilter, error: np.ndarray) -> InvariantFilter:
    """X̂ = exp(ξ) X, b̂ = b + ζ, by the matrix exponential."""
    from scipy.linalg import expm

    xi = np.zeros((5 + COUNT, 5 + COUNT))
    xi[:3, :3] = pin.skew(error[:3])
    xi[:3, 3], xi[:3, 4], xi[:3, 5:] = error[3:6], error[6:9], error[FIXED:].reshape(COUNT, 3).T
    X = expm(xi) @ matrix(kalman)
    out = InvariantFilter(kernels(), COUNT, GRAVITY)
    out.rotation, out.velocity, out.position = (X[:3, :3].copy(), X[:3, 3].copy(), X[:3, 4].copy())
    out.footholds, out.bias = np.ascontiguousarray(X[:3, 5:].T), kalman.bias + error[9:15]
    return out


def error_between(estimate: InvariantFilter, truth: InvariantFilter) -> np.ndarray:
    """ξ = log(X̂ X⁻¹) to first order in the rotation, and ζ."""
    eta = matrix(estimate) @ np.linalg.inv(matrix(truth))
    J = np.linalg.inv(pin.Jexp3(-pin.log3(eta[:3, :3])))  # the left Jacobian's inverse
    parts = [pin.log3(eta[:3, :3]), J @ eta[:3, 3], J @ eta[:3, 4], estimate.bias - truth.bias]
    return np.concatenate([*parts, (J @ eta[:3, 5:]).T.ravel()])


def test_the_error_helpers_are_inverse(rng):
    error = 0.3 * rng.standard_normal(SIZE)
    assert error_between(displaced(some_filter(), error), some_filter()) == pytest.approx(error, abs=1e-12)


def stepped(kalman: InvariantFilter, readings, dt, known=None) -> InvariantFilter:
    kalman.predict(readings, dt, np.zeros(6), NOTHING, np.ones(6) if known is None else known)
    return kalman


@pytest.mark.parametrize("dt", [0.002, 0.3])
def test_the_transition_is_the_derivative_of_the_step(rng, dt):
    """Covariance Φ P Φᵀ with P a unit vector's square shows a column of Φ."""
    readings, h = rng.standard_normal(6) * [1, 1, 1, 5, 5, 5], 1e-6
    truth = stepped(some_filter(), readings, dt)
    for k in range(SIZE):
        unit = np.eye(SIZE)[k]
        ends = [stepped(displaced(some_filter(), sign * h * unit), readings, dt) for sign in (1.0, -1.0)]
        column = (error_between(ends[0], truth) - error_between(ends[1], truth)) / (2 * h)
        kalman = some_filter()
        kalman.P = np.outer(unit, unit)
        assert pytest.approx(np.outer(column, column), abs=1e-7) == stepped(kalman, readings, dt).P


def test_noise_of_the_readings_enters_as_it_moves_the_step(rng):
    readings, h, dt = rng.standard_normal(6), 1e-6, 0.05
    truth = stepped(some_filter(), readings, dt)
    for k in range(6):
        push = h * np.eye(6)[k]
        column = (error_between(stepped(some_filter(), readings + push, dt), truth)
                  - error_between(stepped(some_filter(), readings - push, dt), truth)) / (2 * h)  # fmt: skip
        kalman = some_filter()
        kalman.P = np.zeros((SIZE, SIZE))
        kalman.predict(readings, dt, np.eye(6)[k], NOTHING, np.ones(6))
        assert pytest.approx(np.outer(column, column), abs=1e-7) == kalman.P


def test_a_guess_has_nothing_to_do_with_the_offset():
    kalman = some_filter()
    kalman.P = np.diag(np.concatenate([np.zeros(9), np.ones(6), np.zeros(3 * COUNT)]))
    assert stepped(kalman, np.ones(6), 0.1, np.zeros(6)).P[:9, :9] == pytest.approx(np.zeros((9, 9)))


def test_the_mean_is_the_solution_of_the_differential_equation(rng):
    """Oracle: ten thousand midpoint steps."""
    readings, kalman = rng.standard_normal(6), some_filter()
    w, a = np.split(readings - kalman.bias, 2)
    R, v, p, h = kalman.rotation.copy(), kalman.velocity.copy(), kalman.position.copy(), 0.4 / 4000
    half, whole = pin.exp3(0.5 * h * w), pin.exp3(h * w)
    for _ in range(4000):
        force = R @ half @ a + GRAVITY
        p, v, R = p + h * v + 0.5 * h**2 * force, v + h * force, R @ whole
    found = stepped(kalman, readings, 0.4)
    assert found.rotation == pytest.approx(R, abs=1e-9)
    assert found.velocity == pytest.approx(v, abs=1e-8)
    assert found.position == pytest.approx(p, abs=1e-8)


def test_residuals_are_linear_in_the_error(rng):
    """z = H ξ for measurements of the true state; to first order in the rotation only."""
    truth, h = some_filter(), 1e-6
    points = (truth.footholds - truth.position) @ truth.rotation
    assert truth.residuals(points) == pytest.approx(np.zeros((COUNT, 3)), abs=1e-12)
    for k in range(SIZE):
        ends = [displaced(truth, sign * h * np.eye(SIZE)[k]).residuals(points).ravel() for sign in (1.0, -1.0)]
        assert truth.H[:, k] == pytest.approx((ends[0] - ends[1]) / (2 * h), abs=1e-8)


def test_an_exact_measurement_takes_the_error_away(rng):
    """With P = s s.t. only position is unsure, one look at the footholds puts it right, whatever the rotation is."""
    truth = some_filter()
    points = (truth.footholds - truth.position) @ truth.rotation
    error = np.zeros(SIZE)
    error[6:9] = [0.1, -0.2, 0.3]
    kalman = displaced(truth, error)
    kalman.P = np.diag(np.concatenate([np.zeros(6), np.ones(3), np.zeros(6 + 3 * COUNT)]))
    kalman.correct(kalman.residuals(points).ravel(), kalman.H, 1e-12 * np.eye(3 * COUNT))
    assert kalman.position == pytest.approx(truth.position, abs=1e-9)


def test_corrections_shrink_the_covariance_and_keep_it_symmetric():
    kalman = some_filter()
    before = kalman.P.copy()
    kalman.correct(0.01 * np.ones(3 * COUNT), kalman.H, 0.1 * np.eye(3 * COUNT))
    assert pytest.approx(kalman.P.T, abs=1e-9) == kalman.P
    assert np.linalg.eigvalsh(before - kalman.P).min() > -1e-9
    assert kalman.rotation @ kalman.rotation.T == pytest.approx(np.eye(3), abs=1e-12)


def test_the_plain_covariance_is_that_of_plain_errors(rng):
    """Samples of ξ pushed through the nonlinear error agree with `covariance`."""
    truth = some_filter()
    root = 1e-3 * rng.standard_normal((SIZE, SIZE))
    truth.P = root @ root.T
    h, columns = 1e-6, []
    for k in range(FIXED):
        made = displaced(truth, h * np.eye(SIZE)[k])
        turn = pin.log3(made.rotation @ truth.rotation.T)
        plain = [turn, made.velocity - truth.velocity, made.position - truth.position, made.bias - truth.bias]
        columns.append(np.concatenate(plain) / h)
    D = np.column_stack(columns)
    assert truth.covariance == pytest.approx(D @ truth.P[:FIXED, :FIXED] @ D.T, abs=1e-9)


def test_reset_takes_plain_deviations():
    kalman = some_filter()
    kalman.reset(kalman.rotation, kalman.velocity, kalman.position, np.array([0.1, 0.2, 0.3, 0.4, 0.5]))
    assert kalman.covariance == pytest.approx(np.diag(np.repeat([0.1, 0.2, 0.3, 0.4, 0.5], 3) ** 2), abs=1e-12)


def test_a_new_foothold_is_where_its_point_is_and_as_unsure_as_the_body(rng):
    kalman, point = some_filter(), rng.standard_normal((1, 3))
    kalman.take(np.array([2]), point, 0.01 * np.eye(3))
    assert kalman.residuals(np.tile(point, (COUNT, 1)))[2] == pytest.approx(np.zeros(3), abs=1e-12)
    S = (kalman.H @ kalman.P @ kalman.H.T)[6:9, 6:9]
    assert pytest.approx(0.01 * np.eye(3), abs=1e-9) == S  # seen from the body it is as sure as the point itself


def test_velocity_readings_and_doubt():
    truth = some_filter()
    kalman = displaced(truth, np.concatenate([np.zeros(3), [0.1, 0.2, -0.1], np.zeros(SIZE - 6)]))
    kalman.P = np.diag(np.concatenate([np.zeros(3), np.ones(3), np.zeros(SIZE - 6)]))
    kalman.see_velocity(truth.rotation.T @ truth.velocity, 1e-6)
    assert kalman.velocity == pytest.approx(truth.velocity, abs=1e-9)
    before = kalman.covariance
    kalman.doubt(0.04, 0.09)
    assert kalman.covariance - before == pytest.approx(np.diag([*[0.04] * 3, *[0.09] * 3, *[0.0] * 9]), abs=1e-9)


def test_a_copy_would_work_in_the_memory_of_the_first():
    with pytest.raises(NotSupportedError, match="cannot be copied"):
        copy.deepcopy(some_filter())


def made():
    kalman = some_filter()
    step = InertialStep(kalman, SETTINGS)
    step.reset(np.array([0.1, 0.2, 0.3]))
    return kalman, step


def test_a_step_takes_the_mean_of_two_readings():
    readings = [np.array([0.1, 0.0, 0.2, 1.0, 2.0, 9.0]), np.array([0.3, 0.1, 0.0, 0.0, 1.0, 10.0])]
    kalman, step = made()
    step.advance(0.0, readings[0], None)
    step.advance(0.01, readings[1], None)
    other = some_filter()
    other.predict(0.5 * (readings[0] + readings[1]), 0.01, np.zeros(6), np.zeros(len(other.P)), np.ones(6))
    assert kalman.position == pytest.approx(other.position)
    assert kalman.rotation == pytest.approx(other.rotation)
    assert step.twist[3:] == pytest.approx(readings[1][:3] - kalman.bias[:3])


def test_a_guess_is_not_mixed_with_the_last_reading():
    """Between a reading and silence the guess holds for the whole step, between silence and a reading the reading."""
    first, again, legs = np.array([0.1, 0.0, 0.2, 1.0, 2.0, 9.0]), np.full(6, 0.3), np.array([0, 0, 0, 0.5, -0.4, 0.3])
    (kalman, step), other = made(), some_filter()
    step.advance(0.0, first, None)
    step.advance(0.01, np.concatenate([SILENT, first[3:]]), legs)
    step.advance(0.01, again, None)
    for gyro, force in ((legs[3:] + other.bias[:3], first[3:]), (again[:3], 0.5 * (first + again)[3:])):
        other.predict(np.concatenate([gyro, force]), 0.01, np.zeros(6), np.zeros(len(other.P)), np.ones(6))
    assert kalman.rotation == pytest.approx(other.rotation, abs=1e-12)
    assert kalman.velocity == pytest.approx(other.velocity, abs=1e-12)


def test_the_legs_turn_the_body_while_the_gyroscope_is_silent():
    _, step = made()
    step.advance(0.01, np.concatenate([SILENT, [0.0, 0.0, 9.81]]), np.array([0.0, 0.0, 0.0, 0.5, -0.4, 0.3]))
    assert step.twist[3:] == pytest.approx([0.5, -0.4, 0.3])


def test_without_accelerometer_the_velocity_goes_towards_that_of_the_legs():
    kalman, step = made()
    legs = np.concatenate([kalman.rotation.T @ kalman.velocity + [0.1, 0.0, 0.0], np.zeros(3)])
    before, variance = kalman.velocity.copy(), kalman.covariance[3, 3]
    step.advance(0.001, np.concatenate([np.zeros(3), SILENT]), legs)
    wanted = kalman.rotation @ legs[:3]
    assert np.linalg.norm(kalman.velocity - wanted) < 0.2 * np.linalg.norm(before - wanted)
    assert kalman.covariance[3, 3] < variance


def test_silence_makes_unsure():
    (heard, a), (silent, b) = made(), made()
    for kalman in (heard, silent):
        kalman.P = np.zeros_like(kalman.P)
    a.advance(0.01, np.zeros(6), None)
    b.advance(0.01, np.concatenate([SILENT, np.zeros(3)]), np.zeros(6))
    assert np.trace(silent.covariance[:3, :3]) > 100.0 * np.trace(heard.covariance[:3, :3])


def test_three_points_at_rest_tell_the_whole_twist(rng):
    true, points = rng.standard_normal(6), rng.standard_normal((4, 3))
    moving = -(true[:3] + np.cross(true[3:], points))
    found = leg_twist(points, moving, np.ones(4), np.zeros(6))
    assert found == pytest.approx(true, abs=2e-3)
    assert leg_twist(points, moving, np.ones(4), true) == pytest.approx(true, abs=1e-12)


def test_points_without_grip_do_not_count(rng):
    true, points = rng.standard_normal(6), rng.standard_normal((5, 3))
    moving = -(true[:3] + np.cross(true[3:], points))
    moving[4] += 100.0
    assert leg_twist(points, moving, np.array([1.0, 1.0, 1.0, 1.0, 0.0]), true) == pytest.approx(true, abs=1e-12)


def test_without_points_the_twist_stays(rng):
    before = rng.standard_normal(6)
    assert leg_twist(np.zeros((0, 3)), np.zeros((0, 3)), np.zeros(0), before) == pytest.approx(before)
