import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import linprog

from surefoot.contact import friction_band
from surefoot.contact.friction import (
    SOFT_FINGER_LAWS,
    corner_spans,
    friction_cone,
    friction_pyramid,
    soft_finger,
    soft_finger_spans,
    torsion_limit,
)
from surefoot.errors import ShapeError, UnknownNameError
from tests.contact.soles import is_spanned

SIDES = [3, 4, 5, 8, 16]
MU, GAMMA = 0.6, 0.02


def test_cone_is_that_of_coulomb():
    assert_allclose(friction_cone([[3.0, 4.0, 10.0], [3.0, 4.0, 5.0], [0.0, 0.0, -1.0]], 0.5), [0.0, -2.5, -0.5])
    assert_allclose(friction_cone([[1.0, 0.0, 2.0]] * 2, [1.0, 0.25]), [1.0, -0.5])


@pytest.mark.parametrize("sides", SIDES)
def test_pyramids_enclose_the_cone_from_inside_and_outside(sides):
    rng, mu = np.random.default_rng(sides), 0.6
    forces = np.column_stack([rng.normal(size=(4000, 2)), np.ones(4000)])
    inner, outer = (friction_pyramid(mu, sides, inscribed) for inscribed in (True, False))
    in_inner, in_outer = ((forces @ p.faces.T >= 0.0).all(axis=1) for p in (inner, outer))
    in_cone = friction_cone(forces, mu) >= 0.0
    assert in_cone[in_inner].all()
    assert in_outer[in_cone].all()
    assert in_inner.sum() < in_cone.sum() < in_outer.sum()


@pytest.mark.parametrize("sides", SIDES)
@pytest.mark.parametrize("inscribed", [True, False])
def test_edges_lie_on_two_faces_each_and_touch_the_cone_if_inscribed(sides, inscribed):
    pyramid = friction_pyramid(0.6, sides, inscribed)
    values = pyramid.faces @ pyramid.spans
    assert values.min() > -1e-12
    assert (np.abs(values) < 1e-12).sum() == 2 * sides
    assert_allclose(
        friction_cone(pyramid.spans.T, 0.6), 0.0 if inscribed else 0.6 - 0.6 / np.cos(np.pi / sides), atol=1e-12
    )


def test_four_sides_are_bounds_along_the_axes():
    """Nenchev & Konno 2019, (3.12) with the sign of μ corrected: |f_x|, |f_y| ≤ μ f_z."""
    faces = friction_pyramid(0.5).faces
    assert {tuple(row) for row in faces} == {(1.0, 0.0, 0.5), (-1.0, 0.0, 0.5), (0.0, 1.0, 0.5), (0.0, -1.0, 0.5)}


def test_without_friction_only_the_normal_is_left():
    pyramid = friction_pyramid(0.0, 8)
    assert_allclose(pyramid.spans, [[0.0], [0.0], [1.0]])
    assert (pyramid.faces @ [0.0, 0.0, 1.0] >= 0.0).all()
    assert not (pyramid.faces @ [0.0, 0.0, -1.0] >= 0.0).all()
    assert not (pyramid.faces @ [0.1, 0.0, 1.0] >= 0.0).all()


def test_corner_forces_turn_about_the_origin():
    spans = corner_spans([[1.0, 0.0, 0.0], [0.0, 2.0, 0.0]], [[0.0, 1.0], [0.0, 0.0], [1.0, 0.0]])
    assert_allclose(
        spans.T, [[0, 0, 1, 0, -1, 0], [1, 0, 0, 0, 0, 0], [0, 0, 1, 2, 0, 0], [1, 0, 0, 0, 0, -2]], atol=1e-15
    )


@pytest.mark.parametrize(("friction", "sides"), [(-0.1, 4), (np.nan, 4), (0.5, 2)])
def test_numbers_out_of_range(friction, sides):
    with pytest.raises(ShapeError):
        friction_pyramid(friction, sides)


def wrenches(count=400, seed=0):
    rng = np.random.default_rng(seed)
    w = np.zeros((count, 6))
    w[:, :2], w[:, 2], w[:, 5] = 0.5 * rng.normal(size=(count, 2)), 1.0, 0.02 * rng.normal(size=count)
    return w


def test_laws_at_known_points():
    w = [[0.3, 0.0, 1.0, 0.0, 0.0, 0.01]]  # t = 0.5, s = 0.5
    assert_allclose(soft_finger(w, MU, GAMMA, "linear"), 0.0, atol=1e-15)
    assert_allclose(soft_finger(w, MU, GAMMA, "elliptic"), 1.0 - np.sqrt(0.5))
    assert_allclose(soft_finger(w, MU, GAMMA, "independent"), 0.5)


@pytest.mark.parametrize("law", SOFT_FINGER_LAWS)
def test_the_limit_of_torsion_is_where_the_margin_ends(law):
    w = wrenches()
    w = w[np.hypot(w[:, 0], w[:, 1]) < 0.95 * MU]
    w[:, 5] = torsion_limit(w[:, :3], MU, GAMMA, law)
    assert (w[:, 5] > 0.0).all()
    assert_allclose(
        soft_finger(w, MU, GAMMA, law), 0.0 if law != "independent" else soft_finger(w, MU, GAMMA, law), atol=1e-12
    )
    w[:, 5] *= 1.01
    assert (soft_finger(w, MU, GAMMA, law) < 0.0).all()


@pytest.mark.parametrize("law", SOFT_FINGER_LAWS)
def test_polyhedral_cones_enclose_the_law(law):
    inner, outer = (soft_finger_spans(MU, GAMMA, 8, inscribed, law) for inscribed in (True, False))
    keep = [0, 1, 2, 5]
    scale = np.array([1.0, 1.0, 1.0, 30.0, 30.0, 30.0])
    hits = np.zeros(3)
    for w in wrenches():
        inside = soft_finger(w, MU, GAMMA, law) >= 0.0
        in_inner, in_outer = (is_spanned(S * scale[:, None], w * scale) for S in (inner, outer))
        assert inside or not in_inner
        assert in_outer or not inside
        hits += [in_inner, inside, in_outer]
    assert hits[0] >= 0.7 * hits[1]
    assert hits[2] <= 1.25 * hits[1]
    assert_allclose(np.delete(inner, keep, axis=0), 0.0)


def test_without_friction_or_normal_force_nothing_turns():
    assert_allclose(torsion_limit([[0.0, 0.0, 5.0], [1.0, 0.0, 5.0]], 0.0, GAMMA), [5.0 * GAMMA, 0.0])
    assert_allclose(torsion_limit([[0.0, 0.0, -5.0]], MU, GAMMA), 0.0)
    assert soft_finger_spans(MU, 0.0).shape == (6, 4)


def test_unknown_laws_are_refused():
    with pytest.raises(UnknownNameError, match="elliptic"):
        soft_finger(np.ones(6), MU, GAMMA, "eliptic")


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
def test_numbers_of_a_band_out_of_range(wrong):
    with pytest.raises(ShapeError):
        friction_band(**({"mass": 1.0, "slope": 0.3, "friction": 0.3} | wrong))
