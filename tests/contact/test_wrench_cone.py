import numpy as np
import pytest
from numpy.testing import assert_allclose

from surefoot.contact import faces_of_spans, wrench_cone, wrench_spans
from surefoot.errors import ShapeError
from surefoot.robot.contacts import ContactSurface
from tests.contact.soles import EVERY_KIND, cylinder, finger, is_spanned, line, point, polygon, rectangle

SCALE = np.array([30.0, 30.0, 30.0, 3.0, 3.0, 0.6])


@pytest.mark.parametrize("kind", EVERY_KIND)
@pytest.mark.parametrize("friction", [None, 0.0, 0.3])
@pytest.mark.parametrize("sides", [3, 4, 6])
@pytest.mark.parametrize("inscribed", [False, True])
def test_faces_and_spans_are_the_same_cone(kind, friction, sides, inscribed):
    surface, rng = EVERY_KIND[kind], np.random.default_rng(sides)
    cone = wrench_cone(surface, friction, sides, inscribed=inscribed)
    mixed = rng.uniform(size=(30, cone.spans.shape[1])) @ cone.spans.T
    assert (mixed @ cone.faces.T).min(initial=0.0) > -1e-9
    inside = 0
    for w in np.vstack([mixed[:10] + 0.3 * SCALE * rng.normal(size=(10, 6)), SCALE * rng.normal(size=(20, 6))]):
        flat = np.linalg.lstsq(cone.spans, w, rcond=1e-9)
        w = cone.spans @ flat[0]  # in the directions that the contact has at all
        assert bool((cone.faces @ w >= -1e-7).all()) == is_spanned(cone.spans, w, 1e-8)
        inside += is_spanned(cone.spans, w, 1e-8)
    assert inside < 30 or kind == "cylinder" or friction == 0.0


@pytest.mark.parametrize("kind", EVERY_KIND)
@pytest.mark.parametrize("friction", [0.6, 0.0])
def test_it_carries_in_the_directions_that_it_ties(kind, friction):
    """The spans and the tied directions of the surface span the same space."""
    from dataclasses import replace

    surface = replace(EVERY_KIND[kind], friction=friction)
    tied, spans = surface.constraint_basis, wrench_cone(surface).spans
    assert (
        np.linalg.matrix_rank(np.hstack([tied, spans]), tol=1e-9)
        == tied.shape[1]
        == np.linalg.matrix_rank(spans, tol=1e-9)
    )


@pytest.mark.parametrize("sides", [4, 5, 12])
def test_outside_and_inside_pyramids(sides):
    """Coulomb's own cone lies between; with more sides they come together."""
    inner, outer = (wrench_cone(polygon(), sides=sides, inscribed=inscribed) for inscribed in (True, False))
    assert (outer.faces @ inner.spans).min() > -1e-12
    widths = [np.hypot(cone.spans[0], cone.spans[1]).max() for cone in (inner, outer)]
    assert_allclose(widths, [0.6, 0.6 / np.cos(np.pi / sides)])


def test_a_rectangle_is_a_polygon_of_four_corners():
    as_rectangle, as_polygon = (wrench_cone(rectangle(kind=kind)) for kind in ("rectangle", "polygon"))
    for row in as_polygon.faces:
        unit = as_rectangle.faces / np.abs(as_rectangle.faces).max(axis=1, keepdims=True)
        assert np.abs(unit - row).max(axis=1).min() < 1e-9
    assert wrench_cone(rectangle(), sides=8).faces.shape[0] > 16


def test_inner_corners_push_nothing_new():
    sole = rectangle(kind="polygon")
    more = ContactSurface(
        "sole", "foot", "polygon", corners=np.vstack([sole.corners, [[0.01, 0.02, 0.0]]]), friction=0.6
    )
    assert wrench_spans(more).shape == wrench_spans(sole).shape


def test_corners_that_are_not_in_a_plane():
    corners = np.array([[0.1, 0.0, 0.0], [-0.1, 0.1, 0.02], [-0.1, -0.1, -0.01]])
    cone = wrench_cone(ContactSurface("sole", "foot", "polygon", corners=corners, friction=0.5))
    force = np.array([0.1, 0.2, 1.0])
    assert (cone.faces @ np.r_[force, np.cross(corners[1], force)] > -1e-9).all()
    assert not (cone.faces @ np.r_[force, np.cross(corners[1] * [1.5, 1.5, 1.0], force)] > -1e-9).all()


def test_a_closed_hand_holds_both_ways():
    assert wrench_cone(cylinder()).faces.shape == (0, 6)
    assert wrench_cone(cylinder()).margin(np.ones(6)) == np.inf
    sliding = wrench_cone(cylinder(0.0))
    assert sliding.margin([1.0, 0.0, -2.0, 0.5, 0.0, -3.0]) == 0.0
    assert sliding.margin([0.0, 1.0, 0.0, 0.0, 0.0, 0.0]) < 0.0


def test_margins_are_distances_to_faces():
    """A point under a normal force: μ f_z / √(1 + μ²) from each of four sides; no moment at all may act."""
    cone = wrench_cone(point(0.5))
    assert cone.margin([0.0, 0.0, 10.0, 0.0, 0.0, 0.0]) == 0.0  # moments are on their face
    forces = wrench_cone(rectangle(10.0, 10.0, friction=0.5))
    assert_allclose(forces.margin([0.0, 0.0, 10.0, 0.0, 0.0, 0.0]), 5.0 / np.sqrt(1.25))
    wrenches = np.random.default_rng(0).normal(size=(7, 6))
    assert forces.margin(wrenches).shape == (7,)


def test_a_line_tips_about_itself():
    cone = wrench_cone(line(0.1, 0.5))
    inside = np.array([0.0, 0.0, 10.0, 0.9, 0.0, 0.0])
    assert (cone.faces @ inside > -1e-12).all()
    for wrong in ([0, 0, 10, 1.1, 0, 0], [0, 0, 10, 0, 0.1, 0], [6, 0, 10, 0, 0, 0], [0, 0, 10, 0, 0, 0.6]):
        assert (cone.faces @ wrong < -1e-12).any()


def test_a_soft_finger_off_the_origin():
    from dataclasses import replace

    at = np.array([0.02, -0.01, 0.0])
    cone = wrench_cone(replace(finger(), corners=at[None]))
    force = np.array([0.1, 0.1, 1.0])
    assert (cone.faces @ np.r_[force, np.cross(at, force)] > -1e-9).all()
    assert (cone.faces @ np.r_[force, np.zeros(3)] < -1e-6).any()


def test_faces_of_a_polygon_are_irredundant():
    """Each face is met by five independent spans."""
    cone = wrench_cone(polygon(6))
    for row in cone.faces:
        on = np.abs(row @ cone.spans) < 1e-9
        assert np.linalg.matrix_rank(cone.spans[:, on], tol=1e-9) == 5
    assert_allclose(faces_of_spans(cone.spans), cone.faces)


def test_negative_friction_is_refused():
    with pytest.raises(ShapeError):
        wrench_cone(point(), -0.1)
