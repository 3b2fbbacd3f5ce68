import numpy as np
from numpy.testing import assert_allclose

from surefoot.contact import support_polygon, zero_moment_point
from surefoot.geometry import distance_inside


def test_moment_vanishes_in_the_plane():
    """Random wrenches and planes: about the point found, the moment has only its part along the normal."""
    rng = np.random.default_rng(0)
    w, about, point = rng.normal(size=(50, 6)), rng.normal(size=(50, 3)), rng.normal(size=(50, 3))
    normal = rng.normal(size=(50, 3))
    normal /= np.linalg.norm(normal, axis=1, keepdims=True)
    normal *= np.sign((w[:, :3] * normal).sum(axis=1, keepdims=True))
    p = zero_moment_point(w, about, point, normal)
    assert_allclose(((p - point) * normal).sum(axis=1), 0.0, atol=1e-9)
    moment = w[:, 3:] + np.cross(about - p, w[:, :3])
    assert_allclose(np.cross(normal, moment), 0.0, atol=1e-9)


def test_a_resting_body_presses_below_its_centre_of_mass():
    """The weight m g up through the centre of mass, whatever the height of the ground."""
    com = np.array([[0.1, -0.2, 0.8]])
    for height in (0.0, 0.3):
        p = zero_moment_point([[0.0, 0.0, 500.0, 0.0, 0.0, 0.0]], com, (0.0, 0.0, height))
        assert_allclose(p, [[0.1, -0.2, height]])


def test_cart_table():
    """x_p = x − z ẍ / g of the cart-table model (Kajita et al. 2003)."""
    m, g, z, ddx = 40.0, 9.81, 0.7, 1.3
    p = zero_moment_point([[m * ddx, 0.0, m * g, 0.0, 0.0, 0.0]], [[0.2, 0.0, z]])
    assert_allclose(p[0], [0.2 - z * ddx / g, 0.0, 0.0])


def test_without_load_there_is_no_point():
    w = np.zeros((3, 6))
    w[:, 2] = [0.0, -5.0, 3.0]
    assert np.isnan(zero_moment_point(w)).all(axis=1).tolist() == [True, True, False]
    assert np.isnan(zero_moment_point(w, least_load=4.0)).all()


def test_support_changes_with_the_contacts():
    sole = np.array([[0.1, 0.05, 0.0], [-0.1, 0.05, 0.0], [-0.1, -0.05, 0.0], [0.1, -0.05, 0.0]])
    corners = np.vstack([sole + np.array([0.0, side, 0.0]) for side in (0.1, -0.1)])[None].repeat(4, axis=0)
    active = np.array([[1, 1], [1, 0], [0, 1], [0, 0]], dtype=bool).repeat(4, axis=1)
    found = distance_inside(np.tile([0.0, 0.08], (4, 1)), support_polygon(corners, active))
    assert_allclose(found, [0.07, 0.03, -0.13, np.nan], atol=1e-12)


def test_support_on_a_wall():
    """Seen along x, with y and z as axes of the plane."""
    corners = np.array([[[0.5, 0.0, 0.0], [0.5, 1.0, 0.0], [0.5, 0.0, 1.0]]])
    hull = support_polygon(corners, axes=((0.0, 1.0, 0.0), (0.0, 0.0, 1.0)))
    assert_allclose(distance_inside([[0.2, 0.3]], hull), 0.2)
