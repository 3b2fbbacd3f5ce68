import numpy as np
import pytest
from numpy.testing import assert_allclose

from surefoot.contact import placed_cones, wrench_spans
from surefoot.errors import ShapeError
from surefoot.spatial import so3
from tests.contact.soles import point, polygon, rectangle

SOLES = [rectangle(), polygon(5), point()]


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
