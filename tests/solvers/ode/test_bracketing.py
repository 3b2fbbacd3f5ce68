import math

import pytest
from scipy.optimize import brentq

from surefoot.solvers.ode.events import bracketed_zero

FUNCTIONS = {
    "straight": (lambda s: 3 * s - 1, 10),
    "curved": (lambda s: math.cos(s) - s, 15),
    "steep": (lambda s: math.expm1(30 * (s - 0.9)), 30),
    "flat": (lambda s: (s - 0.3) ** 9, 70),
    "falling": (lambda s: 0.2 - s**3, 15),
    "jump": (lambda s: 1.0 if s > 1 / 3 else -1.0, 50),
    "uneven jump": (lambda s: 1.0 if s > 1 / 3 else -1e-9, 70),
}


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("tolerance", [1e-3, 1e-12])
def test_equals_brent_and_ends(name, tolerance):
    function, limit = FUNCTIONS[name]
    calls = []

    def counted(s):
        calls.append(s)
        return function(s)

    zero = bracketed_zero(counted, 0.0, 1.0, tolerance)
    assert abs(zero - brentq(function, 0.0, 1.0, xtol=1e-14, maxiter=1000)) <= 1.01 * tolerance or function(zero) == 0
    assert len(calls) <= limit
    assert all(0 <= s <= 1 for s in calls)


def test_zeros_at_the_ends_and_tolerances_below_rounding():
    assert bracketed_zero(lambda s: s, 0.0, 1.0, 1e-9) == 0
    assert bracketed_zero(lambda s: s - 1, 0.0, 1.0, 1e-9) == 1
    assert bracketed_zero(lambda s: s + 1e-17, 0.0, 1.0, 1e-9) == 0
    assert bracketed_zero(lambda s: s - 1e6 - 1 / 3, 1e6, 1e6 + 1, 1e-30) == pytest.approx(1e6 + 1 / 3, abs=1e-9)
