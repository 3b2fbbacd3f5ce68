"""Sine and cosine of all lanes, against 64-bit mantissas of the C library, which are against exact series."""

import math
from fractions import Fraction

import numpy as np
import pytest

from surefoot import ops
from surefoot.codegen.build import Build
from surefoot.codegen.llvm.native import vector_width
from surefoot.codegen.llvm.sincos import RANGE
from tests.compiler.examples import run, runner_of

LONG = np.finfo(np.longdouble).nmant > np.finfo(float).nmant + 8
BUILDS = [Build(width, 64) for width in sorted({1, 2, 4, vector_width()})]
HALF_PI = Fraction(
    "1.57079632679489661923132169163975144209858469968755291048747229615390820314310449931401741267105853399107404326"
)


def sincos(x: np.ndarray, build: Build) -> np.ndarray:
    """Rows of sine and cosine."""
    runner = runner_of(lambda x: ops.array([ops.sin(x[0]), ops.cos(x[0])]), build, (1,))
    return run(runner, np.ascontiguousarray(x, f"f{build.bits // 8}").reshape(-1, 1))[0].T


def angles() -> np.ndarray:
    """Uniform ones, ones of all sizes, and the neighbourhoods of multiples of π/2 and π/4."""
    rng = np.random.default_rng(1)
    k = np.arange(-6366, 6367)
    corners = np.concatenate([[float(HALF_PI * int(n)) for n in k], [float(HALF_PI * int(n) / 2) for n in 2 * k + 1]])
    near = [corners]
    for _ in range(3):
        near += [np.nextafter(near[0], np.inf), np.nextafter(near[-1], -np.inf)]
        near[0] = near[-2]
    sizes = rng.choice([-1.0, 1.0], 60_000) * 10.0 ** rng.uniform(-320.0, 4.0, 60_000)
    found = np.concatenate([rng.uniform(-RANGE, RANGE, 80_000), rng.uniform(-4.0, 4.0, 40_000), sizes, *near])
    found = np.concatenate([found[np.abs(found) <= RANGE], [0.0, RANGE, -RANGE, 5e-324, -5e-324]])
    assert len(found) > 200_000
    return found


def errors(found: np.ndarray, exact: np.ndarray) -> np.ndarray:
    """In units in the last place of the exact value, rounded; below 1e-17 none."""
    difference = np.abs(found.astype(np.longdouble) - exact)
    ulps = difference / np.spacing(np.abs(exact).astype(found.dtype))
    return np.where(difference <= 1e-17, 0.0, ulps).astype(float)


def series(x: float) -> tuple[Fraction, Fraction]:
    """Sine and cosine to 40 digits, by exact arithmetic."""
    n = round(Fraction(x) / HALF_PI)
    r = Fraction(x) - n * HALF_PI
    sine = sum((-1) ** k * r ** (2 * k + 1) / math.factorial(2 * k + 1) for k in range(18))
    cosine = sum((-1) ** k * r ** (2 * k) / math.factorial(2 * k) for k in range(18))
    return [(sine, cosine), (cosine, -sine), (-sine, -cosine), (-cosine, sine)][n % 4]


@pytest.mark.skipif(not LONG, reason="long double is no longer than double here")
@pytest.mark.parametrize("build", BUILDS, ids=str)
def test_two_units_in_the_last_place(build):
    x = angles()
    sine, cosine = sincos(x, build)
    wide = x.astype(np.longdouble)
    assert errors(sine, np.sin(wide)).max() <= 2.0
    assert errors(cosine, np.cos(wide)).max() <= 2.0


@pytest.mark.slow
def test_against_exact_series():
    """Also of the reference of the test above: the worst neighbours of multiples of π/2, and some others."""
    x = angles()
    x = x[np.abs(x) > 0.5]
    nearest = np.argsort(np.minimum(np.abs(np.sin(x)), np.abs(np.cos(x))))
    x = np.concatenate([x[nearest[:2000:10]], x[nearest[::1000]], [3.0e-5, -1e-8, 9999.5]])
    exact = np.array([[*map(float, series(value))] for value in x])
    for found, right in zip(sincos(x, BUILDS[-1]), exact.T, strict=True):
        wrong = np.abs(found - right)
        assert (wrong <= np.maximum(1e-17, 2.0 * np.spacing(np.abs(right)))).all()


@pytest.mark.parametrize("build", [Build(1, 32), Build(4, 32), Build(vector_width(32), 32)], ids=str)
def test_float32_is_rounded_correctly(build):
    x = angles().astype(np.float32)
    x = x[np.abs(x) <= RANGE]
    for found, right in zip(sincos(x, build), (np.sin(x.astype(float)), np.cos(x.astype(float))), strict=True):
        assert found.dtype == np.float32
        assert (np.abs(found - right) <= 0.501 * np.spacing(np.abs(right).astype(np.float32))).all()


@pytest.mark.parametrize("build", BUILDS, ids=str)
def test_beyond_the_range(build):
    """As the C library says; infinities and not-a-number give not-a-number."""
    rng = np.random.default_rng(2)
    x = np.concatenate([rng.choice([-1, 1], 5000) * 10.0 ** rng.uniform(4.0, 308.0, 5000), [1e300, 2.0**1023]])
    x = np.concatenate([x, np.nextafter([RANGE, -RANGE], [np.inf, -np.inf]), [np.inf, -np.inf, np.nan]])
    sine, cosine = sincos(x, build)
    for found, function in ((sine, math.sin), (cosine, math.cos)):
        right = np.array([function(value) for value in x[:-3]])
        assert (np.abs(found[:-3] - right) <= np.spacing(np.abs(right))).all()
        assert np.isnan(found[-3:]).all()


@pytest.mark.parametrize("build", BUILDS[1:], ids=str)
def test_a_far_lane_leaves_the_others_alone(build):
    """Bit for bit."""
    rng = np.random.default_rng(3)
    x = rng.uniform(-10.0, 10.0, 64 * build.width)
    alone = sincos(x, build)
    mixed = x.copy()
    far = np.arange(len(x)) % (build.width + 1) == 0
    mixed[far] = np.resize([1e5, np.inf, np.nan, -1e200], far.sum())
    together = sincos(mixed, build)
    assert (together[:, ~far] == alone[:, ~far]).all()
    assert not (together[:, far] == alone[:, far]).any()


def test_zero():
    sine, cosine = sincos(np.array([0.0, -0.0]), BUILDS[-1])
    assert (sine == 0.0).all()
    assert (cosine == 1.0).all()
