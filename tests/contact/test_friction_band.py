import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import linprog

from surefoot.contact import friction_band
from surefoot.errors import ShapeError


def extreme_reaction(mass, slope, friction, gravity, sign):
    """Least sign · h of all forces in the cones of both feet that carry the weight evenly; a linear programme.

    Unknowns: normal and outward tangential force of the left foot, then of the right one.
    """
    s, c = np.sin(slope), np.cos(slope)
    inward, upward = np.array([s, -c]), np.array([c, s])  # of (normal, up the slope)
    zero = np.zeros(2)
    balance = [np.r_[inward, -inward], np.r_[upward, zero], np.r_[zero, upward]]
    cone = [np.r_[row, zero] for row in ([-friction, 1.0], [-friction, -1.0])]
    cone += [np.r_[zero, row] for row in ([-friction, 1.0], [-friction, -1.0])]
    result = linprog(
        sign * np.r_[inward, zero],
        A_ub=cone,
        b_ub=np.zeros(4),
        A_eq=balance,
        b_eq=[0.0, 0.5 * mass * gravity, 0.5 * mass * gravity],
        bounds=[(0.0, None), (None, None)] * 2,
    )
    return sign * result.fun if result.status == 0 else None


@pytest.mark.parametrize("slope", [0.0, 10.0, 30.0, 50.0])
@pytest.mark.parametrize("friction", [0.0, 0.2, 0.7])
@pytest.mark.parametrize("gravity", [9.81, 1.62])
def test_band_is_that_of_the_force_balance(slope, friction, gravity):
    slope = np.deg2rad(slope)
    band = friction_band(4.0, slope, friction, gravity)
    assert_allclose(band.lower, extreme_reaction(4.0, slope, friction, gravity, 1.0), atol=1e-8)
    assert_allclose(band.upper, extreme_reaction(4.0, slope, friction, gravity, -1.0), atol=1e-8)


def test_feet_jam_where_the_cone_reaches_the_horizontal():
    slope, friction = np.deg2rad(50.0), 1.0
    assert friction_band(4.0, slope, friction).upper == np.inf
    assert extreme_reaction(4.0, slope, friction, 9.81, -1.0) is None


def test_without_force_it_slips_where_the_slope_exceeds_the_friction_angle():
    slope = np.arctan(0.3)
    assert friction_band(1.0, slope + 0.01, 0.3).lower > 0.0 > friction_band(1.0, slope - 0.01, 0.3).lower


@pytest.mark.parametrize(
    "wrong", [{"mass": 0.0}, {"slope": 1.6}, {"slope": -0.1}, {"friction": -0.1}, {"mass": np.nan}]
)
def test_numbers_out_of_range(wrong):
    with pytest.raises(ShapeError):
        friction_band(**({"mass": 1.0, "slope": 0.3, "friction": 0.3} | wrong))
