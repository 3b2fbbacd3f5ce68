import numpy as np
import pytest
from numpy.testing import assert_allclose

from surefoot.contact import faces_of_spans, friction_pyramid, placed_cones, wrench_cone, yaw_bounds
from surefoot.contact.friction import corner_spans
from surefoot.contact.wrench_cone import rectangle_of, wrench_spans
from surefoot.errors import ShapeError
from surefoot.robot.model.contacts import ContactSurface
from surefoot.spatial import so3
from tests.contact.soles import EVERY_KIND, cylinder, extreme, finger, is_spanned, line, point, polygon, rectangle

SCALE = np.array([30.0, 30.0, 30.0, 3.0, 3.0, 0.6])
SOLES = [rectangle(), polygon(5), point()]


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


@pytest.mark.parametrize("seed", range(3))
def test_yaw_bounds_are_the_extremes_of_the_corner_forces(seed):
    """Least and largest m_z over forces in the pyramids of the corners with the other five components given."""
    rng = np.random.default_rng(seed)
    lx, ly, mu = (*rng.uniform(0.02, 0.2, 2), 0.6)
    sole = rectangle(lx, ly, friction=mu)
    G = corner_spans(sole.corners, friction_pyramid(mu).spans)
    for _ in range(30):
        w = G @ rng.exponential(size=16) ** 3
        lower, upper = yaw_bounds(w, mu, (lx, ly))
        assert_allclose(lower, extreme(G[5], G[:5], w[:5]), atol=1e-9)
        assert_allclose(upper, -extreme(-G[5], G[:5], w[:5]), atol=1e-9)
        assert lower - 1e-9 <= w[5] <= upper + 1e-9


def test_where_it_lies():
    found = rectangle_of(rectangle(0.1, 0.04, (0.3, -0.2, 0.05), turn=0.4).corners)
    assert_allclose(found.centre, [0.3, -0.2, 0.05])
    assert_allclose(found.half, [0.1, 0.04])
    assert_allclose(found.R[:2, 0], [np.cos(0.4), np.sin(0.4)])
    force = found.R @ [1.0, 2.0, 3.0]
    moment = found.R @ [0.1, 0.2, 0.3] + np.cross(found.centre, force)
    assert_allclose(found.wrench(np.r_[force, moment]), [1.0, 2.0, 3.0, 0.1, 0.2, 0.3])


def test_the_order_of_corners_does_not_matter():
    corners = rectangle(turn=0.2).corners
    assert_allclose(rectangle_of(corners[[2, 0, 3, 1]]).half, rectangle_of(corners).half)


def test_what_is_no_rectangle():
    assert rectangle_of(polygon(5).corners) is None
    skew = np.array(rectangle().corners)
    skew[0, 2] = 0.01
    assert rectangle_of(skew) is None


@pytest.mark.parametrize(
    ("centre", "turn"), [((0.0, 0.0, 0.0), 0.0), ((0.03, -0.02, 0.01), 0.7), ((0.0, 0.0, -0.1), 1.5)]
)
@pytest.mark.parametrize("inscribed", [False, True])
def test_closed_form_is_that_of_the_conversion(centre, turn, inscribed):
    """The same sixteen faces as by Quickhull from the corner forces."""
    from surefoot.contact import faces_of_spans

    cone = wrench_cone(rectangle(0.1, 0.05, centre, turn), inscribed=inscribed)
    faces = faces_of_spans(cone.spans)
    assert cone.faces.shape == faces.shape == (16, 6)
    for row in cone.faces / np.abs(cone.faces).max(axis=1, keepdims=True):
        assert np.abs(faces - row).max(axis=1).min() < 1e-9


def places(n=6, seed=0):
    rng = np.random.default_rng(seed)
    T = np.tile(np.eye(4), (n, 3, 1, 1))
    for i in np.ndindex(n, 3):
        T[i][:3, :3], T[i][:3, 3] = so3.exp(rng.normal(size=3)), rng.normal(size=3)
    return T


def test_generators_are_the_spans_carried_to_the_point():
    """Power of a wrench with a rigid motion is the same in the contact frame and about any point of the world."""
    rng, T, about = np.random.default_rng(1), places(), np.random.default_rng(2).normal(size=(6, 3))
    cones = placed_cones(SOLES, T, about=about)
    v, omega = rng.normal(size=(6, 3)), rng.normal(size=(6, 3))  # of the body point at `about`
    power = np.einsum("ni,nik->nk", np.hstack([v, omega]), cones.generators)
    for i, sole in enumerate(SOLES):
        R, p = T[:, i, :3, :3], T[:, i, :3, 3]
        there = v + np.cross(omega, p - about)
        local = np.concatenate([np.einsum("nji,nj->ni", R, x) for x in (there, omega)], axis=1)
        assert_allclose(local @ wrench_spans(sole), power[:, cones.owner == i], atol=1e-12)


def test_wrenches_are_sums_of_spans():
    cones = placed_cones(SOLES, places())
    shares = np.random.default_rng(0).uniform(size=cones.use.shape)
    for i, sole in enumerate(SOLES):
        assert_allclose(cones.wrenches(shares)[:, i], shares[:, cones.owner == i] @ wrench_spans(sole).T)


def test_contacts_that_do_not_touch_do_not_count():
    active = np.random.default_rng(0).uniform(size=(6, 3)) < 0.5
    cones = placed_cones(SOLES, places(), active)
    assert (cones.use == active[:, cones.owner]).all()


def test_friction_over_time():
    """Where it vanishes there are fewer generators; the others are those of each coefficient."""
    mu = np.array([0.0, 0.5, 0.9, 0.5, 0.0, 0.2])[:, None].repeat(3, axis=1)
    cones = placed_cones(SOLES, places(), friction=mu)
    for k in range(6):
        alone = placed_cones(SOLES, places()[k : k + 1], friction=mu[k])
        kept = cones.use[k]
        assert_allclose(cones.generators[k][:, kept], alone.generators[0], atol=1e-12)
        assert kept.sum() == sum(wrench_spans(sole, mu[k, 0]).shape[1] for sole in SOLES)


def test_pyramids_can_be_chosen():
    for sides, inscribed in ((4, False), (8, True)):
        cones = placed_cones(SOLES[1:2], places()[:, :1], sides=sides, inscribed=inscribed)
        assert_allclose(cones.spans[0], wrench_spans(SOLES[1], sides=sides, inscribed=inscribed))


def test_shapes_are_checked():
    with pytest.raises(ShapeError, match="placements"):
        placed_cones(SOLES, places()[:, :2])
    with pytest.raises(ShapeError, match="activity"):
        placed_cones(SOLES, places(), np.ones((6, 2)))
