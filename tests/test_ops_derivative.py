"""Derivatives of traced arrays against CasADi's, and the symmetric solver against numpy's."""

from __future__ import annotations

import casadi
import numpy as np
import pytest

from surefoot import ops


def expressions(x: np.ndarray) -> np.ndarray:
    """One of every operation, at arguments where all have a derivative."""
    a, b, c = x
    return ops.array(
        [
            a + b * c - a / c,
            ops.sin(a) * ops.cos(b) + ops.tan(0.3 * c),
            ops.exp(a) * ops.log(c) + ops.sqrt(c),
            ops.absolute(a - 5.0) + ops.arccos(0.2 * b) + ops.arctan2(a, c),
            ops.minimum(a, b) * ops.maximum(b, c),
            ops.where(a < b, a * a, b * c),
            c**1.7 + 2.0**a + a**c,
            -a,
            3.0 + 0.0 * b,
        ]
    )


POINTS = [np.array([0.3, 0.8, 1.7]), np.array([0.9, 0.4, 2.2])]


@pytest.mark.parametrize("point", POINTS, ids=["below", "above"])
def test_rates_and_gradients_are_casadis(point: np.ndarray) -> None:
    x, direction = ops.symbols("x", 3), np.array([0.7, -1.1, 0.4])
    y = expressions(x)
    J = casadi.Function("J", [ops.to_sx(x)], [casadi.jacobian(ops.to_sx(y), ops.to_sx(x))])
    expected = np.array(J(point))
    along = ops.function("rate", [x], [ops.rate(y, x, direction)])
    np.testing.assert_allclose(np.array(along(point)).ravel(), expected @ direction, rtol=1e-13, atol=1e-13)
    rows = [ops.gradient(row, x) for row in y if not isinstance(row, float)]
    found = np.array(ops.function("gradient", [x], [ops.stack(rows)])(point))
    np.testing.assert_allclose(found, expected[: len(rows)], rtol=1e-13, atol=1e-13)


def test_inputs_may_be_inside_the_graph() -> None:
    """Derivatives stop at the symbols that they are taken by, whatever these are made of."""
    x = ops.symbols("x", 2)
    u = ops.sin(x)
    y = u[0] * u[1]
    found = ops.function("g", [x], [ops.gradient(y, u)])
    np.testing.assert_allclose(np.array(found([0.4, 1.1])).ravel(), np.sin([1.1, 0.4]))


@pytest.mark.parametrize("n", [1, 2, 5, 9])
def test_symmetric_systems_are_solved(n: int) -> None:
    rng = np.random.default_rng(n)
    A = rng.normal(size=(n, n))
    A, b = A @ A.T + np.eye(n), rng.normal(size=n)
    symbols = ops.symbols("A", (n, n)), ops.symbols("b", n)
    traced = ops.function("x", list(symbols), [ops.solve_symmetric(*symbols)])
    np.testing.assert_allclose(ops.solve_symmetric(A, b), np.linalg.solve(A, b))
    np.testing.assert_allclose(np.array(traced(A, b)).ravel(), np.linalg.solve(A, b), rtol=1e-10)
