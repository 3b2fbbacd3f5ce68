import numpy as np
import pytest
from numpy.testing import assert_allclose

from surefoot.contact import friction_pyramid, wrench_cone, yaw_bounds
from surefoot.contact.friction import corner_spans
from surefoot.contact.wrench_cone import rectangle_of
from tests.contact.soles import extreme, polygon, rectangle


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
