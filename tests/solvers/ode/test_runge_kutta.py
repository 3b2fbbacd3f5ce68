import numpy as np
import pytest
from numpy.testing import assert_allclose

from surefoot.solvers import ode
from surefoot.solvers.ode.field import Chart, Field
from surefoot.solvers.ode.runge_kutta import doubled_step, single_step

from .examples import DRIVEN_START, driven_pendulum, observed_order

METHODS = pytest.mark.parametrize("method", ode.METHODS.values(), ids=ode.METHODS)


@METHODS
def test_every_method_has_its_order(method):
    def solve(step):
        return ode.integrate(driven_pendulum, DRIVEN_START, 0.0, 2.0, method=method, step=step).x[-1]

    assert abs(observed_order(solve, 0.05) - method.order) < 0.25


@METHODS
def test_one_step_equals_one_step_of_integrate(method):
    once = ode.runge_kutta_step(driven_pendulum, 0.3, DRIVEN_START, 0.1, method)
    result = ode.integrate(driven_pendulum, DRIVEN_START, 0.3, 0.4, method=method, step=0.1)
    assert_allclose(once, result.x[-1], rtol=1e-14)
    assert len(result.t) == 2


@METHODS
def test_the_error_estimate_falls_as_the_exponent_says(method):
    attempt = single_step if method.companion else doubled_step

    def size(h):
        field = Field(driven_pendulum)
        return np.linalg.norm(
            attempt(method, Chart(field, ode.VECTOR_SPACE, DRIVEN_START), 0.0, h, field(0.0, DRIVEN_START)).error
        )

    assert abs(np.log2(size(0.04) / size(0.02)) - 1 / method.error_exponent) < 0.25


def test_doubling_estimates_the_true_error():
    """The difference is (1 - 2^-p) of the error of the whole step, 2^p - 1 times that of the two halves."""
    field, h = Field(lambda t, x: x), 0.1
    trial = doubled_step(ode.RK4, Chart(field, ode.VECTOR_SPACE, np.ones(1)), 0.0, h, np.ones(1))
    error = np.exp(h) - (1 + trial.legs[-1].end)
    assert_allclose(trial.error, 15 * error, rtol=0.05)
