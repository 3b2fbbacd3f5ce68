"""Events of mechanics, located to tolerance against closed forms: touch-down, lift-off, sticking, a joint stop."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from surefoot.solvers import ode

G, MU = 9.81, 0.4


def first(field, x0, until, event, method):
    found = ode.integrate(field, np.array(x0), 0.0, until, method=method, step=0.01, events=[event])
    assert found.ended_by is not None
    return found.ended_by


@pytest.mark.parametrize("method", [ode.RK4, ode.DORMAND_PRINCE, ode.CASH_KARP])
def test_touch_down(method):
    event = ode.Event(lambda t, x: x[0], direction=-1, terminal=True, name="touch-down")
    found = first(lambda t, x: np.array([x[1], -G]), [0.7, 1.2], 2.0, event, method)
    assert_allclose(found.t, (1.2 + np.sqrt(1.2**2 + 2.0 * G * 0.7)) / G, atol=1e-9)


@pytest.mark.parametrize("method", [ode.RK4, ode.DORMAND_PRINCE])
def test_lift_off(method):
    """A mass on a spring that can only push leaves it at the rest length, x_s + A cos ωt = 0."""
    k, start = 500.0, -0.08
    field = lambda t, x: np.array([x[1], -k * x[0] - G])  # noqa: E731
    event = ode.Event(lambda t, x: -k * x[0], direction=-1, terminal=True, name="lift-off")
    found = first(field, [start, 0.0], 1.0, event, method)
    static, w = -G / k, np.sqrt(k)
    exact = np.arccos(-static / (start - static)) / w
    assert_allclose(found.t, exact, atol=2e-6)


@pytest.mark.parametrize("method", [ode.RK4, ode.DORMAND_PRINCE])
def test_a_sliding_block_sticks(method):
    event = ode.Event(lambda t, x: x[1], direction=-1, terminal=True, name="sticks")
    found = first(lambda t, x: np.array([x[1], -MU * G]), [0.0, 1.5], 2.0, event, method)
    assert_allclose(found.t, 1.5 / (MU * G), atol=1e-9)
    assert_allclose(found.x[0], 1.5**2 / (2.0 * MU * G), atol=1e-9)


def test_a_pendulum_reaches_its_stop():
    """Energy gives the speed at the stop: ω² = 2 g/l (cos q_stop − cos q_0)."""
    length, stop = 0.5, -0.3
    field = lambda t, x: np.array([x[1], -G / length * np.sin(x[0])])  # noqa: E731
    event = ode.Event(lambda t, x: x[0] - stop, direction=-1, terminal=True, name="stop")
    found = first(field, [0.8, 0.0], 2.0, event, ode.DORMAND_PRINCE)
    assert_allclose(found.x[0], stop, atol=1e-9)
    assert_allclose(found.x[1] ** 2, 2.0 * G / length * (np.cos(stop) - np.cos(0.8)), rtol=1e-8)
