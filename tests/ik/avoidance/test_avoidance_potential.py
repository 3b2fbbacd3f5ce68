"""The potentials: C², repulsive, and their derivatives those of their values."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from surefoot import ops
from surefoot.codegen import compile_function
from surefoot.errors import ShapeError
from surefoot.ik.avoidance.potential import cubic_potential, limit_potential, quadratic_potential, smooth_potential

reaches, shares, slopes = st.floats(0.01, 2.0), st.floats(0.05, 0.95), st.floats(-50.0, -0.01)


@given(reaches, slopes, shares)
def test_value_slope_and_curvature_are_continuous(reach, slope, share):
    """Across both seams all three differ by less than the step; a jump of any of them would not."""
    for seam in (share * reach, reach):
        step = 1e-9 * reach
        left, right = (smooth_potential(np.float64(seam + s * step), reach, slope, share) for s in (-1.0, 1.0))
        scale = abs(slope)
        assert left.value == pytest.approx(right.value, abs=1e-8 * scale * reach)
        assert left.slope == pytest.approx(right.slope, abs=1e-7 * scale)
        assert left.curvature == pytest.approx(right.curvature, abs=1e-6 * scale / (reach * (1.0 - share)))


@given(reaches, slopes, shares)
def test_it_pushes_away_and_ends_at_its_reach(reach, slope, share):
    d = np.linspace(-reach, 1.5 * reach, 101)
    found = smooth_potential(d, reach, slope, share)
    inside = d < 0.999 * reach
    assert (found.value[inside] > 0.0).all()
    assert (found.slope[inside] < 0.0).all()
    assert (np.abs(np.stack(found)[:, d >= reach]) == 0.0).all()
    assert (np.diff(found.slope) >= -1e-12 * abs(slope)).all()  # convex
    assert smooth_potential(0.0, reach, slope, share).slope == pytest.approx(slope)


@pytest.mark.parametrize(
    "potential",
    [
        lambda d: smooth_potential(d, 0.3, -2.0, 0.4),
        lambda d: quadratic_potential(d, 0.3, 5.0),
        lambda d: cubic_potential(d, 0.3, 5.0),
        lambda d: limit_potential(d, np.array([-0.5]), np.array([0.2]), 0.3, -2.0, 0.4),
    ],
)
def test_derivatives_by_differences(potential):
    d, h = np.linspace(-0.2, 0.5, 50) + 1e-4, 1e-5
    before, at, after = potential(d - h), potential(d), potential(d + h)
    np.testing.assert_allclose((after.value - before.value) / (2 * h), at.slope, atol=1e-7)
    np.testing.assert_allclose((after.slope - before.slope) / (2 * h), at.curvature, atol=2e-4)


def test_the_two_pieces_are_the_printed_ones():
    """Numbers worked out by hand: d_a = 1, t = ½, s₀ = −3."""
    near, far = smooth_potential(0.25, 1.0, -3.0, 0.5), smooth_potential(0.75, 1.0, -3.0, 0.5)
    assert near.value == pytest.approx(3.0 * 0.0625 / 1.5 - 0.75 + 3.0 * 1.75 / 4.5)
    assert near.slope == pytest.approx(-3.0 + 6.0 * 0.25 / 1.5)
    assert far.value == pytest.approx(-3.0 * 0.25**3 / (3.0 * -0.75))
    assert far.slope == pytest.approx(3.0 * 0.25**2 / -0.75)


def test_joints_without_limits_feel_nothing():
    found = limit_potential(np.array([0.0, 3.0]), np.array([-np.inf, -1.0]), np.array([np.inf, 3.1]), 0.5)
    assert found.slope[0] == 0.0
    assert found.slope[1] > 0.0


def test_compiled_equals_numbers():
    kernel = compile_function("h", lambda d: ops.stack(list(smooth_potential(d, 0.3, -2.0, 0.4))), {"d": (4,)})
    d = np.array([-0.1, 0.05, 0.2, 0.4])
    np.testing.assert_allclose(kernel(d), np.stack(smooth_potential(d, 0.3, -2.0, 0.4)), rtol=1e-14)


@pytest.mark.parametrize("wrong", [{"slope": 1.0}, {"share": 1.0}, {"share": 0.0}, {"reach": 0.0}])
def test_attraction_and_bad_seams_are_refused(wrong):
    with pytest.raises(ShapeError):
        smooth_potential(0.1, **({"reach": 0.3} | wrong))
