import numpy as np
import pytest
from numpy.testing import assert_allclose

from surefoot.contact import contact_placements, sum_wrenches, support_polygon, zero_moment_point
from surefoot.geometry import distance_inside
from surefoot.robot import zoo
from surefoot.spatial import so3


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


def pressed(points, forces):
    """Wrench (6,) about the origin of forces at points."""
    return np.concatenate([forces.sum(axis=0), np.cross(points, forces).sum(axis=0)])


def test_centre_of_pressure_is_the_mean_of_the_points_by_load(rng):
    points = np.column_stack([rng.uniform(-0.1, 0.1, (5, 2)), np.zeros(5)])
    forces = np.column_stack([rng.normal(0, 3, (5, 2)), rng.uniform(1, 20, 5)])
    found = zero_moment_point([pressed(points, forces), np.zeros(6)], least_load=1.0)
    assert found[0, :2] == pytest.approx(forces[:, 2] @ points[:, :2] / forces[:, 2].sum())
    assert np.isnan(found[1]).all()


def test_zmp_is_the_mean_of_all_points_by_load_wherever_the_frames_are(rng):
    """Forces at points on the ground z = 0; the wrenches are given in turned frames above it."""
    wrenches, placements, points, loads = [], [], [], []
    for _ in range(3):
        ground = np.column_stack([rng.uniform(-0.5, 0.5, (4, 2)), np.zeros(4)])
        forces = np.column_stack([rng.normal(0, 3, (4, 2)), rng.uniform(1, 20, 4)])
        T = np.eye(4)
        T[:3, :3], T[:3, 3] = so3.random(rng), rng.standard_normal(3)
        about = pressed(ground - T[:3, 3], forces)
        wrenches.append(np.concatenate([T[:3, :3].T @ about[:3], T[:3, :3].T @ about[3:]]))
        placements.append(T)
        points.append(ground[:, :2])
        loads.append(forces[:, 2])
    load, place = np.concatenate(loads), np.concatenate(points)
    found = zero_moment_point(sum_wrenches(wrenches, placements), least_load=0.1)
    assert found[:2] == pytest.approx(load @ place / load.sum(), abs=1e-12)
    point = rng.standard_normal(3)
    moved = zero_moment_point(sum_wrenches(wrenches, placements, point), point, least_load=0.1)
    assert moved == pytest.approx(found, abs=1e-12)


@pytest.mark.parametrize("force", [0.0, 0.5, -3.0, np.nan])
def test_there_is_no_zmp_in_the_air_or_without_readings(force):
    net = sum_wrenches([[0.0, 0.0, force, 0.1, 0.2, 0.0]], np.eye(4)[None])
    assert np.isnan(zero_moment_point(net, least_load=1.0)).all()


@pytest.fixture(scope="module")
def humanoid():
    return zoo.load("humanoid")


def test_placements_of_contacts_carry_their_corners(humanoid):
    found = contact_placements(humanoid, np.tile(humanoid.home, (2, 1)))
    for T, (name, corners) in zip(found[1], humanoid.contact_corners(humanoid.home).items(), strict=True):
        assert_allclose(humanoid.contacts[name].corners @ T[:3, :3].T + T[:3, 3], corners, atol=1e-9)
    bare = humanoid.replace(contacts={})
    assert contact_placements(bare, np.tile(humanoid.home, (2, 1))).shape == (2, 0, 4, 4)


def test_the_zmp_is_where_the_moment_of_all_forces_vanishes(humanoid, rng):
    frames = contact_placements(humanoid, np.tile(humanoid.home, (20, 1)))
    wrenches = rng.normal(size=(*frames.shape[:2], 6)) * 20.0 + [0, 0, 300, 0, 0, 0]
    level = rng.uniform(-0.1, 0.1, 20)
    found = zero_moment_point(sum_wrenches(wrenches, frames), point=np.column_stack([np.zeros((20, 2)), level]))
    assert_allclose(found[:, 2], level)
    assert_allclose(sum_wrenches(wrenches, frames, found)[:, 3:5], 0.0, atol=1e-9)
    moment = np.zeros((20, 3))
    for w, T in zip(wrenches.swapaxes(0, 1), frames.swapaxes(0, 1), strict=True):
        force = np.einsum("nij,nj->ni", T[:, :3, :3], w[:, :3])
        moment += np.einsum("nij,nj->ni", T[:, :3, :3], w[:, 3:]) + np.cross(T[:, :3, 3] - found, force)
    assert_allclose(moment[:, :2], 0.0, atol=1e-9)


def test_no_contacts_sum_to_nothing():
    assert_allclose(sum_wrenches(np.zeros((3, 0, 6)), np.zeros((3, 0, 4, 4))), np.zeros((3, 6)))
