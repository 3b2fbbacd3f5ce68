import math
from fractions import Fraction

import numpy as np
import pytest

from surefoot.spatial.stumpff import stumpff

from .examples import trace

POINTS = [0.0, 1e-300, 1e-30, 1e-9, 0.1, 0.99, 1.0, 1.01, 4.0, 9.8, 39.0]


def exact(order, x):
    """Thirty rational terms of the series."""
    return float(sum(Fraction(-x) ** k / math.factorial(2 * k + order) for k in range(30)))


@pytest.mark.parametrize("order", range(6))
def test_equals_the_exact_series(order):
    for x in POINTS:
        assert stumpff(order, x) == pytest.approx(exact(order, x), rel=1e-14, abs=2e-16)


@pytest.mark.parametrize("order", range(6))
def test_symbols_equal_numbers(order):
    f = trace(lambda x: np.array([stumpff(order, x[0])]), np.zeros(1))
    for x in POINTS:
        assert f([x])[0] == pytest.approx(stumpff(order, x), rel=1e-15)


def test_huge_angles_do_not_overflow():
    assert abs(stumpff(1, 1e300)) <= 1e-150
