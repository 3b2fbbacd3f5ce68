"""Golden: the demonstrations of Wimmer 2016, 2.1."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from surefoot.solvers import ode

from .examples import DRIVEN_START, circle, driven_pendulum


@pytest.mark.parametrize("h", [0.5, 0.1, 0.01])
def test_euler_spirals_outward_on_the_circle(h):
    x = ode.integrate(circle, [1.0, 0.0], 0.0, 50 * h, method=ode.EULER, step=h).x
    radius = np.linalg.norm(x, axis=1)
    assert_allclose(radius[1:] / radius[:-1], np.sqrt(1 + h**2), rtol=1e-13)


def decay(k, h, steps=20):
    return ode.integrate(lambda t, x: -k * x, [1.0], 0.0, steps * h, method=ode.EULER, step=h).x[:, 0]


@pytest.mark.parametrize("k", [1.0, 7.0])
def test_euler_on_decay(k):
    monotone, oscillating, diverging = decay(k, 0.5 / k), decay(k, 1.5 / k), decay(k, 2.5 / k)
    assert np.all(monotone > 0)
    assert np.all(np.diff(monotone) < 0)
    for swinging in (oscillating, diverging):
        assert np.all(swinging[1:] * swinging[:-1] < 0)
    assert np.all(np.diff(np.abs(oscillating)) < 0)
    assert np.all(np.diff(np.abs(diverging)) > 0)


def test_euler_on_decay_at_its_borders():
    k = 4.0
    assert decay(k, 1 / k)[1] == 0
    assert_allclose(np.abs(decay(k, 2 / k)), 1, rtol=1e-12)


@pytest.mark.parametrize(("method", "factor"), [(ode.EULER, 4), (ode.MIDPOINT, 8), (ode.RK4, 32)])
def test_halving_the_step_divides_the_local_error(method, factor):
    """By 2^(p+1): O(h²) for Euler, O(h³) for midpoint, O(h⁵) for RK4."""

    def local_error(h):
        exact = np.array([np.cos(h), np.sin(h)])
        return np.linalg.norm(ode.runge_kutta_step(circle, 0.0, np.array([1.0, 0.0]), h, method) - exact)

    assert_allclose(local_error(0.02) / local_error(0.01), factor, rtol=1e-3)


COUNTS = {
    ode.EULER: (1, 2),  # 3 · 1 - 1
    ode.MIDPOINT: (2, 5),
    ode.RK4: (4, 11),
    ode.CASH_KARP: (6, 6),
    ode.KUTTA_MERSON: (5, 5),
    ode.DORMAND_PRINCE: (6, 6),  # seven stages, the last one is the first of the next step
}


@pytest.mark.parametrize("method", COUNTS, ids=lambda m: m.name)
def test_evaluations_of_a_step(method):
    """Steps share the slope between them, so n steps cost n times the step and one more at the end."""
    fixed, adaptive = COUNTS[method]
    result = ode.integrate(driven_pendulum, DRIVEN_START, 0.0, 1.0, method=method, step=0.1)
    assert result.evaluations == 10 * fixed + 1
    result = ode.integrate(driven_pendulum, DRIVEN_START, 0.0, 1.0, method=method, step=0.1, max_step=0.1, tol=1e9)
    steps = 10
    assert len(result.t) - 1 == steps * (1 if method.companion else 2)
    assert result.rejected == 0
    assert result.evaluations == steps * adaptive + 1


def test_a_rejected_step_keeps_its_first_stage():
    result = ode.integrate(driven_pendulum, DRIVEN_START, 0.0, 1.0, method=ode.RK4, step=1.0, tol=1e-8)
    steps = (len(result.t) - 1) // 2
    assert result.rejected > 0
    assert result.evaluations == 11 * steps + 10 * result.rejected + 1
