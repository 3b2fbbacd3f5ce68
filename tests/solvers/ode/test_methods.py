"""The tables: consistency and Butcher's order conditions (Hairer, Nørsett, Wanner 1993, II.2)."""

import math

import numpy as np
import pytest
from numpy.testing import assert_allclose

from surefoot.errors import ShapeError
from surefoot.solvers import ode
from surefoot.solvers.ode.field import Chart
from surefoot.solvers.ode.runge_kutta import Leg, segment_of

METHODS = pytest.mark.parametrize("method", ode.METHODS.values(), ids=ode.METHODS)
PAIRS = pytest.mark.parametrize("method", [m for m in ode.METHODS.values() if m.companion], ids=lambda m: m.name)


def matrix(method):
    A = np.zeros((method.stages, method.stages))
    for i, row in enumerate(method.rows, start=1):
        A[i, :i] = row
    return A


def conditions(method):
    """Φ (s,) and 1/γ of each rooted tree by order: Σ b Φ = 1/γ. 1, 1, 2, 4, 9 trees."""
    A, c = matrix(method), np.array(method.nodes, dtype=float)
    Ac = A @ c
    return {
        1: [(c**0, 1)],
        2: [(c, 1 / 2)],
        3: [(c**2, 1 / 3), (Ac, 1 / 6)],
        4: [(c**3, 1 / 4), (c * Ac, 1 / 8), (A @ c**2, 1 / 12), (A @ Ac, 1 / 24)],
        5: [
            (c**4, 1 / 5),
            (c**2 * Ac, 1 / 10),
            (Ac**2, 1 / 20),
            (c * (A @ c**2), 1 / 15),
            (A @ c**3, 1 / 20),
            (c * (A @ Ac), 1 / 30),
            (A @ (c * Ac), 1 / 40),
            (A @ A @ c**2, 1 / 60),
            (A @ A @ Ac, 1 / 120),
        ],
    }


def residuals(method, weights, order, theta=1.0):
    return [abs(weights @ phi - value * theta**order) for phi, value in conditions(method)[order]]


@METHODS
def test_rows_sum_to_the_nodes(method):
    assert_allclose(matrix(method).sum(axis=1), method.nodes, atol=2e-15)
    assert method.source


@METHODS
def test_order_conditions_hold_up_to_the_order_and_not_beyond(method):
    for order in range(1, method.order + 1):
        assert max(residuals(method, method.b, order)) < 2e-15
    if method.order < 5:
        assert max(residuals(method, method.b, method.order + 1)) > 1e-3


@PAIRS
def test_companions_have_the_order_they_claim(method):
    weights = np.array(method.companion)
    for order in range(1, method.companion_order + 1):
        assert max(residuals(method, weights, order)) < 2e-15
    assert max(residuals(method, weights, method.companion_order + 1)) > 1e-4
    assert_allclose(method.error_weights.sum(), 0, atol=1e-15)


def test_kutta_merson_is_of_order_five_for_linear_systems():
    """Merson 1957: the companion is exp(z) up to z⁵ on dx/dt = λ x, the method itself has z⁵/144 there."""
    method, A = ode.KUTTA_MERSON, matrix(ode.KUTTA_MERSON)
    powers = [np.linalg.matrix_power(A, k) @ np.ones(5) for k in range(5)]
    companion = [np.array(method.companion) @ p for p in powers]
    assert_allclose(companion, [1 / math.factorial(k) for k in range(1, 6)], atol=1e-15)
    assert_allclose([method.b @ p for p in powers], [1, 1 / 2, 1 / 6, 1 / 24, 1 / 144], atol=1e-15)


def test_cash_karp_is_the_repaired_table_of_the_thesis():
    """Wimmer 2016, Table 2.1: the missing weight 1/4 is what makes the fourth-order weights sum to one."""
    assert ode.CASH_KARP.companion[-1] == 0.25
    assert_allclose(sum(ode.CASH_KARP.companion[:-1]), 0.75, atol=1e-15)


@pytest.mark.parametrize("theta", [0.1, 0.37, 0.5, 0.9, 1.0])
def test_dense_output_of_dormand_prince_is_of_order_four_everywhere(theta):
    method = ode.DORMAND_PRINCE
    unit = np.eye(method.stages)  # stage i has the slope e_i: the state at θ is the vector of weights b(θ)
    chart = Chart(lambda t, x: x, ode.VECTOR_SPACE, np.zeros(7))
    leg = Leg(chart, 0.0, 1.0, np.zeros(7), method.b, unit, unit[-1])
    weights = segment_of(method, leg, unit[-1]).at(theta)
    for order in range(1, 5):
        assert max(residuals(method, weights, order, theta)) < 1e-14


@pytest.mark.parametrize(
    ("method", "exponent", "repeats"),
    [
        (ode.EULER, 1 / 2, False),
        (ode.MIDPOINT, 1 / 3, False),
        (ode.HEUN, 1 / 2, False),
        (ode.RK4, 1 / 5, False),
        (ode.KUTTA_MERSON, 1 / 4, False),
        (ode.CASH_KARP, 1 / 5, False),
        (ode.DORMAND_PRINCE, 1 / 5, True),
    ],
    ids=lambda value: getattr(value, "name", None),
)
def test_exponent_of_the_error_and_shared_stage(method, exponent, repeats):
    assert method.error_exponent == exponent
    assert method.ends_with_slope is repeats


@pytest.mark.parametrize("wrong", [{"rows": ()}, {"nodes": (0,)}, {"companion": (1,)}, {"rows": ((1, 2),)}])
def test_a_table_of_wrong_size_is_refused(wrong):
    good = {"nodes": (0, 1), "rows": ((1,),), "weights": (0.5, 0.5)}
    ode.Tableau("good", "here", 2, **good)
    with pytest.raises(ShapeError, match="explicit"):
        ode.Tableau("wrong", "here", 2, **(good | wrong))
