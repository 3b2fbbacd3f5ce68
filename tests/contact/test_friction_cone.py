import numpy as np
import pytest
from numpy.testing import assert_allclose

from surefoot.contact.friction import corner_spans, friction_cone, friction_pyramid
from surefoot.errors import ShapeError

SIDES = [3, 4, 5, 8, 16]


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
