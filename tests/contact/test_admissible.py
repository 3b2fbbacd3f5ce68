import numpy as np
import pinocchio as pin
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import linprog

import surefoot as sf
from surefoot.contact import (
    PlacedCones,
    admissible_with_torques,
    admissible_wrenches,
    placed_cones,
    row_lengths,
    wrench_cone,
)
from surefoot.errors import ShapeError
from tests.contact.soles import EVERY_KIND, least_violation, point, polygon, rectangle

WEIGHT = 400.0


def at(x=0.0, y=0.0, z=0.0):
    T = np.eye(4)
    T[:3, 3] = x, y, z
    return T


def lifted(com):
    """The wrench on the robot that holds its weight, about the centre of mass."""
    return np.tile([0.0, 0.0, WEIGHT, 0.0, 0.0, 0.0], (len(com), 1))


def test_two_points_share_the_weight_by_the_lever():
    """Points without friction at x = −0.1 and 0.3: f = W (0.3 − x) / 0.4 on the first."""
    x = np.linspace(-0.1, 0.3, 9)
    com = np.column_stack([x, 0 * x, 0.8 + 0 * x])
    places = np.tile([at(-0.1), at(0.3)], (9, 1, 1, 1))
    cones = placed_cones([point(0.0), point(0.0)], places, about=com)
    found = admissible_wrenches(cones.generators, lifted(com), cones.use)
    assert found.attained.all()
    wrenches = cones.wrenches(found.shares)
    assert_allclose(wrenches[:, 0, 2], WEIGHT * (0.3 - x) / 0.4, atol=1e-5)
    assert_allclose(wrenches[:, 1, 2], WEIGHT * (x + 0.1) / 0.4, atol=1e-5)


def test_beyond_the_edge_the_least_violation_is_the_lever():
    """A flat sole without friction: a weight beyond its edge by d lacks the moment W d, or vertical force instead.

    About the edge, f_z and m_y of the ground must obey m_y ≤ 0: the nearest wrench in the norm √(f² + (m / l)²), with
    moments about the centre of mass, misses W d / √(d² + l²) of length.
    """
    d, length = np.array([0.01, 0.05, 0.2]), 0.1
    com = np.column_stack([0.1 + d, 0 * d, 0.8 + 0 * d])
    cones = placed_cones([rectangle(0.1, 0.05, friction=0.0)], np.tile(at(), (3, 1, 1, 1)), about=com)
    found = admissible_wrenches(cones.generators, lifted(com), cones.use, length)
    assert not found.attained.any()
    assert_allclose(found.violation, WEIGHT * d / np.hypot(d, length), rtol=1e-6)
    assert_allclose(found.bound, found.violation, rtol=1e-5)


def test_of_two_equal_feet_each_carries_half():
    places = np.array([[at(y=0.1), at(y=-0.1)]])
    cones = placed_cones([rectangle(), rectangle()], places, about=(0.0, 0.0, 0.8))
    found = admissible_wrenches(cones.generators, lifted(np.zeros((1, 3))), cones.use)
    wrenches = cones.wrenches(found.shares)[0]
    assert_allclose(wrenches[:, 2], WEIGHT / 2, rtol=1e-6)
    assert_allclose(wrenches[0] * [1, -1, 1, -1, 1, -1], wrenches[1], atol=1e-5)


def random_places(rng, n, c):
    from surefoot.spatial import so3

    T = np.tile(np.eye(4), (n, c, 1, 1))
    for k in range(n):
        for i in range(c):
            T[k, i, :3, :3] = so3.exp(0.5 * rng.normal(size=3))
            T[k, i, :3, 3] = [0.3 * rng.normal(), 0.3 * rng.normal(), -0.8]
    return T


def test_every_kind_in_the_world_against_the_active_set_method():
    """Changing contacts, turned and shifted: wrenches lie in their cones, add up, and miss the least."""
    rng, n = np.random.default_rng(0), 60
    surfaces = list(EVERY_KIND.values())
    T = random_places(rng, n, len(surfaces))
    active = rng.uniform(size=(n, len(surfaces))) < 0.35
    needed = np.column_stack(
        [30.0 * rng.normal(size=(n, 2)), 100.0 + 50.0 * rng.normal(size=n), 20.0 * rng.normal(size=(n, 3))]
    )
    cones = placed_cones(surfaces, T, active)
    found = admissible_wrenches(cones.generators, needed, cones.use)
    wrenches = cones.wrenches(found.shares)
    assert (wrenches[~active] == 0.0).all()
    for i, surface in enumerate(surfaces):
        assert (wrenches[:, i] @ wrench_cone(surface).faces.T).min(initial=0.0) > -1e-6
    force = np.einsum("ncij,ncj->nci", T[:, :, :3, :3], wrenches[:, :, :3])
    moment = np.einsum("ncij,ncj->nci", T[:, :, :3, :3], wrenches[:, :, 3:]) + np.cross(T[:, :, :3, 3], force)
    total = np.concatenate([force.sum(axis=1), moment.sum(axis=1)], axis=1)
    assert_allclose(total + found.missing, needed, atol=1e-6)
    expected = [least_violation(G[:, u], w, 0.1) for G, u, w in zip(cones.generators, cones.use, needed, strict=True)]
    assert_allclose(found.violation, expected, atol=1e-4)
    assert 0.1 < found.attained.mean() < 0.95


def test_missing_wrench_separates():
    """Farkas: the missing wrench has no positive product with any generator, and a positive one with what is needed."""
    rng, n = np.random.default_rng(1), 40
    cones = placed_cones([rectangle(), polygon()], random_places(rng, n, 2))
    needed = np.column_stack([200.0 * rng.normal(size=(n, 2)), np.full(n, 100.0), 50.0 * rng.normal(size=(n, 3))])
    found = admissible_wrenches(cones.generators, needed, cones.use, 1.0)
    short = ~found.attained
    assert short.sum() > 10
    way = found.missing[short] / found.violation[short, None]
    assert (np.einsum("ni,nik->nk", way, cones.generators[short])).max() < 1e-6
    assert_allclose((way * needed[short]).sum(axis=1), found.violation[short], rtol=1e-5)


def test_no_contacts():
    needed = np.array([[3.0, 0.0, 4.0, 0.0, 0.0, 0.0], np.zeros(6)])
    for cones in (
        placed_cones([], np.zeros((2, 0, 4, 4))),
        placed_cones([point()], np.tile(at(), (2, 1, 1, 1)), [[False], [False]]),
    ):
        found = admissible_wrenches(cones.generators, needed, cones.use)
        assert_allclose(found.violation, [5.0, 0.0])
        assert_allclose(found.bound, [5.0, 0.0])
        assert found.attained.tolist() == [False, True]
        assert cones.wrenches(found.shares).shape == (2, cones.contacts, 6)


def test_no_samples():
    cones = placed_cones([point()], np.zeros((0, 1, 4, 4)))
    assert admissible_wrenches(cones.generators, np.zeros((0, 6)), cones.use).violation.shape == (0,)


def test_wrong_input_is_refused():
    with pytest.raises(ShapeError, match="needed"):
        admissible_wrenches(np.zeros((2, 6, 3)), np.zeros((3, 6)))
    with pytest.raises(ShapeError, match="finite"):
        admissible_wrenches(np.zeros((2, 6, 3)), np.full((2, 6), np.nan))
    with pytest.raises(ShapeError, match="length"):
        admissible_wrenches(np.zeros((2, 6, 3)), np.zeros((2, 6)), length=0.0)
    with pytest.raises(ShapeError, match="activity"):
        admissible_wrenches(np.zeros((2, 6, 3)), np.zeros((2, 6)), np.ones((2, 2)))


# -- with torques -------------------------------------------------------------------------------------------------


class LegPress:
    """Two vertical sliders under a beam: rows (height of the beam, its tilt, left and right slider)."""

    half, nv = 0.5, 4
    # the foot's height is that of the beam ± half · tilt − slider
    rows = np.array([[1.0, half, -1.0, 0.0], [1.0, -half, 0.0, -1.0]])

    def jacobians(self, n):
        J = np.zeros((n, 2, 6, self.nv))
        J[:, :, 2] = self.rows
        return J

    def cones(self, n):
        return placed_cones([point(0.0), point(0.0)], np.tile(at(), (n, 2, 1, 1)))


def press(offset, limit):
    """A weight at some offset from the middle; sliders push with at most `limit`."""
    machine, x = LegPress(), np.atleast_1d(offset).astype(float)
    needed = np.column_stack([np.full(len(x), WEIGHT), WEIGHT * x, 0 * x, 0 * x])
    bound = np.array([0.0, 0.0, limit, limit])
    return admissible_with_torques(
        machine.cones(len(x)), machine.jacobians(len(x)), needed, -bound, bound, [1.0, 0.5, 1.0, 1.0]
    )


def test_sliders_carry_what_the_lever_gives_them():
    found = press([0.0, 0.25, -0.5], 500.0)
    assert found.attained.all()
    assert_allclose(found.tau[:, 2:], [[200.0, 200.0], [300.0, 100.0], [0.0, 400.0]], atol=1e-4)
    assert_allclose(found.tau[:, :2], 0.0, atol=1e-4)


def test_a_weak_slider_is_found_and_proven():
    """The left one must carry 300 N and can 280. With rows weighed (1, 2, 1, 1) it is best to go a beyond the limit:

    2 (20 − a)² + a² is least at a = 40 / 3, which misses 20 √(2/3) N.
    """
    found = press([0.25], 280.0)
    assert not found.attained.any()
    assert_allclose(found.violation, 20.0 * np.sqrt(2.0 / 3.0), rtol=1e-6)
    assert_allclose(found.bound, found.violation, rtol=1e-5)
    assert_allclose(found.missing[0, 2:], [40.0 / 3.0, 0.0], atol=1e-4)


def fake_robot(seed, n=25, contacts=3, nv=14):
    rng = np.random.default_rng(seed)
    surfaces = [rectangle(), polygon(4), point()][:contacts]
    cones = placed_cones(surfaces, np.tile(at(), (n, contacts, 1, 1)), rng.uniform(size=(n, contacts)) < 0.8)
    J = rng.normal(size=(n, contacts, 6, nv))
    carried = rng.exponential(size=(n, cones.use.shape[1])) * cones.use * 20.0
    effect = np.einsum("ncdv,ncd->nv", J, cones.wrenches(carried))
    torque = np.column_stack([np.zeros((n, 6)), 40.0 * rng.normal(size=(n, nv - 6))])
    return cones, J, effect + torque


@pytest.mark.parametrize("limit", [20.0, 60.0, 200.0, np.inf])
def test_torque_limits_against_a_linear_programme(limit):
    cones, J, needed = fake_robot(0)
    high = np.r_[np.zeros(6), np.full(8, limit)]
    found = admissible_with_torques(cones, J, needed, -high, high, 1.0)
    wrenches = cones.wrenches(found.shares)
    assert_allclose(found.tau, needed - np.einsum("ncdv,ncd->nv", J, wrenches), atol=1e-6)
    for k in range(len(needed)):
        A = np.hstack([J[k, c].T @ cones.spans[0][:, cones.owner == c] for c in range(3)])[:, cones.use[k]]
        rows = np.isfinite(high)
        sides = np.vstack([A[rows], -A[rows]]), np.r_[(needed[k] + high)[rows], (high - needed[k])[rows]] + 1e-6
        feasible = linprog(np.ones(A.shape[1]), *sides).status == 0 if A.size else False
        assert found.attained[k] == feasible
        assert found.attained[k] == (np.abs(found.tau[k]) <= high + 1e-5).all()
    assert_allclose(found.bound, np.where(found.attained, 0.0, found.violation), rtol=1e-4, atol=1e-6)


def test_torques_of_changing_friction():
    """Cones that change from sample to sample are those of each sample alone."""
    _, J, needed = fake_robot(1)
    n = len(needed)
    mu = np.linspace(0.2, 0.9, n)[:, None].repeat(3, axis=1)
    surfaces = [rectangle(), polygon(4), point()]
    high = np.r_[np.zeros(6), np.full(8, 80.0)]
    changing = placed_cones(surfaces, np.tile(at(), (n, 3, 1, 1)), friction=mu)
    found = admissible_with_torques(changing, J, needed, -high, high)
    for k in (0, 7, n - 1):
        alone = placed_cones(surfaces, np.tile(at(), (1, 3, 1, 1)), friction=mu[k])
        one = admissible_with_torques(alone, J[k : k + 1], needed[k : k + 1], -high, high)
        assert_allclose(one.violation, found.violation[k], atol=1e-5)
        assert one.attained[0] == found.attained[k]


def test_torque_shapes_are_checked():
    cones, J, needed = fake_robot(2)
    with pytest.raises(ShapeError, match="Jacobians"):
        admissible_with_torques(cones, J[:, :2], needed, 0.0, 0.0)
    with pytest.raises(ShapeError, match="above"):
        admissible_with_torques(cones, J, needed, 1.0, -1.0)
    assert isinstance(cones, PlacedCones)


@pytest.mark.parametrize("name", ["humanoid", "cartpole", "biped", "g1"])
def test_rows_that_do_work_by_moving_without_turning_are_forces(name):
    """By Pinocchio: a row is a force if its unit velocity moves the joint's body without turning it."""
    robot = sf.load(name)
    lengths, data = row_lengths(robot, 0.25), robot.model.createData()
    q = pin.neutral(robot.model)
    for i in range(1, robot.model.njoints):
        joint = robot.model.joints[i]
        for row in range(joint.idx_v, joint.idx_v + joint.nv):
            pin.forwardKinematics(robot.model, data, q, np.eye(robot.nv)[row])
            assert lengths[row] == (1.0 if not np.any(data.v[i].angular) else 0.25)
