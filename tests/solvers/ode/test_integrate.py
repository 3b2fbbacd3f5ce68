import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.integrate import solve_ivp

from surefoot.errors import ShapeError, SimulationError
from surefoot.solvers import ode

from .examples import DRIVEN_START, circle, driven_pendulum

METHODS = pytest.mark.parametrize("method", ode.METHODS.values(), ids=ode.METHODS)


@pytest.fixture(scope="module")
def oracle():
    return solve_ivp(driven_pendulum, (0, 5), DRIVEN_START, method="DOP853", rtol=1e-13, atol=1e-13, dense_output=True)


@METHODS
def test_equals_scipy(method, oracle):
    tol = {1: 1e-5, 2: 1e-6}.get(method.order, 1e-10)
    result = ode.integrate(driven_pendulum, DRIVEN_START, 0.0, 5.0, method=method, tol=tol)
    assert_allclose(result.x, oracle.sol(result.t).T, atol=5 * tol ** (1 - method.error_exponent))
    assert result.t[-1] == 5.0


def test_dormand_prince_equals_scipys_step_for_step():
    """The same table: a step of ours is a step of scipy's RK45."""
    theirs = solve_ivp(driven_pendulum, (0, 1), DRIVEN_START, method="RK45", rtol=1e3, atol=1e3, max_step=0.25)
    steps = np.diff(theirs.t)
    x = DRIVEN_START
    for t, h, expected in zip(theirs.t, steps, theirs.y.T[1:], strict=False):
        x = ode.runge_kutta_step(driven_pendulum, t, x, h, ode.DORMAND_PRINCE)
        assert_allclose(x, expected, rtol=1e-14)


@METHODS
def test_the_error_follows_the_tolerance(method, oracle):
    errors = []
    for tol in (1e-4, 1e-6):
        x = ode.integrate(driven_pendulum, DRIVEN_START, 0.0, 5.0, method=method, tol=tol).x[-1]
        errors.append(np.abs(x - oracle.y[:, -1]).max())
    assert errors[1] < 0.2 * errors[0]


def test_tolerances_of_components():
    """A fast and a slow part: only the tolerance of the fast one matters."""

    def both(t, x):
        return np.array([x[1], -900 * x[0], x[3], -x[2]])

    start = [1.0, 0.0, 1.0, 0.0]
    strict = ode.integrate(both, start, 0.0, 1.0, tol=1e-8)
    loose = ode.integrate(both, start, 0.0, 1.0, tol=[1e-2, 1e-2, 1e-8, 1e-8])
    assert len(loose.t) < 0.4 * len(strict.t)
    assert_allclose(loose.x[-1, 2:], [np.cos(1), -np.sin(1)], atol=1e-6)


def test_steps_shrink_where_the_solution_is_sharp():
    result = ode.integrate(lambda t, x: -2 * t * x**2, [1 / 1.01], -1.0, 1.0, tol=1e-7)
    assert_allclose(result.x[:, 0], 1 / (result.t**2 + 0.01), atol=1e-3)
    steps = np.diff(result.t)
    assert steps[np.searchsorted(result.t, 0.0)] < 0.3 * steps.max()


def test_fixed_steps_are_equal_and_the_last_one_ends_in_time():
    result = ode.integrate(circle, [1.0, 0.0], 1.0, 2.0, step=0.3)
    assert_allclose(result.t, [1.0, 1.3, 1.6, 1.9, 2.0])
    assert len(ode.integrate(circle, [1.0, 0.0], 0.0, 0.7, step=0.1).t) == 8
    assert len(ode.integrate(circle, [1.0, 0.0], 0.0, 0.7, step=2.0).t) == 2


def test_the_longest_step():
    result = ode.integrate(lambda t, x: [0.0], [1.0], 0.0, 10.0, tol=1.0, max_step=0.5)
    assert np.diff(result.t).max() < 0.506
    assert_allclose(result.x, 1)


def test_the_same_twice_and_the_start_is_not_touched():
    start = DRIVEN_START.copy()
    runs = [ode.integrate(driven_pendulum, start, 0.0, 3.0, tol=1e-8) for _ in range(2)]
    assert np.array_equal(runs[0].x, runs[1].x)
    assert np.array_equal(start, DRIVEN_START)


def test_nan_of_the_field_is_named_with_time_and_state_and_the_rest_is_kept():
    def field(t, x):
        return circle(t, x) if t < 0.55 else x * np.nan

    for options in ({"step": 0.1}, {"tol": 1e-8, "max_step": 0.1}):
        with pytest.raises(ode.FieldNotFiniteError) as caught:
            ode.integrate(field, [1.0, 0.0], 0.0, 1.0, **options)
        error = caught.value
        assert isinstance(error, SimulationError)
        assert 0.55 <= error.evidence["time"] <= 0.7
        assert_allclose(np.linalg.norm(error.evidence["state"]), 1, atol=0.1)
        assert 0.3 < error.so_far.t[-1] < 0.6
        assert_allclose(error.so_far.x[-1], [np.cos(error.so_far.t[-1]), np.sin(error.so_far.t[-1])], atol=1e-6)


def test_a_pole_is_found():
    with pytest.raises(ode.StepTooSmallError, match="too small") as caught:
        ode.integrate(lambda t, x: np.exp(x), [0.0], 0.0, 2.0, tol=1e-6)
    assert_allclose(caught.value.evidence["time"], 1.0, atol=1e-6)
    assert caught.value.evidence["worst component"] == 0
    assert caught.value.so_far.t[-1] == caught.value.evidence["time"]


def test_a_jump_in_the_field_is_passed():
    result = ode.integrate(lambda t, x: [1.0 if t < 0.5 else -1.0], [0.0], 0.0, 1.0, tol=1e-8)
    assert result.rejected > 0
    assert_allclose(result.x[-1], 0, atol=1e-6)


def test_a_stiff_system_ends_with_a_message():
    with pytest.raises(ode.StepTooSmallError, match="did not reach") as caught:
        ode.integrate(lambda t, x: -1e6 * (x - np.cos(t)), [0.0], 0.0, 1.0, tol=1e-6, max_steps=300)
    assert "stiff" in caught.value.next_step
    assert caught.value.evidence["step"] < 1e-5


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"x0": [[1.0, 0.0]]}, "x0"),
        ({"x0": [np.nan, 0.0]}, "x0"),
        ({"t1": 0.0}, "end"),
        ({"t1": np.inf}, "end"),
        ({"step": None}, "neither"),
        ({"step": 0.0}, "`step`"),
        ({"step": np.nan}, "`step`"),
        ({"tol": -1.0}, "`tol`"),
        ({"tol": [1.0, 0.0]}, "`tol`"),
        ({"time_tolerance": 0.0}, "`time_tolerance`"),
        ({"step": 1e-9}, "max_steps"),
        ({"field": lambda t, x: 1.0}, "shape"),
        ({"field": lambda t, x: [0.0] * (1 if t == 0 else 2), "x0": [1.0]}, "shape"),
        ({"field": lambda t, x: [0.0]}, "1 entries, the state 2"),
    ],
)
def test_wrong_arguments_are_refused(change, message):
    arguments = {"field": circle, "x0": [1.0, 0.0], "t0": 0.0, "t1": 1.0, "step": 0.1} | change
    with pytest.raises(ShapeError, match=message):
        ode.integrate(**arguments)
