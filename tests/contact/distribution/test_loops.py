"""Closed chains: virtual work; and shares of several arms against the matrices of the book."""

import numpy as np
import pytest

import surefoot as sf
from surefoot.contact.distribution import LoopLimb, arm_allocation, loop_statics, rest_posture
from surefoot.errors import NotSupportedError, ShapeError


def limbs(kind="sole"):
    rng = np.random.default_rng(1)
    axes = np.linalg.qr(rng.standard_normal((3, 3)))[0]
    places = ([0.1, 0.3, 0.2], [-0.2, -0.3, 0.1])
    return [LoopLimb(rng.standard_normal((6, 8)), np.array(place), kind, axes) for place in places]


@pytest.mark.parametrize("kind", ["sole", "soft_finger"])
def test_torques_do_the_work_of_the_load(kind):
    """With motions of the loop, torques of the load work as the load does; internal and free ones do not work."""
    rng = np.random.default_rng(2)
    chain, about, load = limbs(kind), np.array([0.0, 0.1, 0.3]), rng.standard_normal(6)
    hard = sum(limb.basis.shape[1] for limb in chain)
    found = loop_statics(chain, load, about, rng.standard_normal(hard), [rng.standard_normal(8) for _ in chain])
    twist = rng.standard_normal(6)  # of the closure link at `about`
    rates = []
    for limb in chain:
        there = np.concatenate([twist[:3] + np.cross(twist[3:], limb.point - about), twist[3:]])
        rates.append(np.linalg.pinv(limb.basis.T @ limb.jacobian) @ (limb.basis.T @ there))
    work = [sum(tau @ rate for tau, rate in zip(part, rates, strict=True)) for part in (found.external, found.internal)]
    assert work[0] == pytest.approx(load @ twist, abs=1e-10)
    assert work[1] == pytest.approx(0.0, abs=1e-10)
    np.testing.assert_allclose(found.root, load, atol=1e-10)
    for limb, free in zip(chain, found.free, strict=True):
        assert np.linalg.norm(free) > 0.1
        np.testing.assert_allclose(limb.basis.T @ limb.jacobian @ free, 0.0, atol=1e-10)
    assert max(np.abs(tau).max() for tau in found.internal) > 0.1


def test_a_load_that_contacts_cannot_carry_is_refused():
    with pytest.raises(NotSupportedError, match="cannot carry"):
        loop_statics(limbs("point"), [1.0, 2.0, 3.0, 0.0, 0.0, 0.0], np.zeros(3))


def test_arms_share_as_the_book_has_it():
    """(6.70), (6.74) and (6.80)."""
    np.testing.assert_allclose(3.0 * arm_allocation(3, [([0], [1]), ([1], [2])]), [[1, -4, -2], [1, 2, -2], [1, 2, 4]])
    two = arm_allocation(4, [([0], [1]), ([2], [3]), ([0, 1], [2, 3])])
    np.testing.assert_allclose(two, [[0.25, -1, 0, -0.5], [0.25, 1, 0, -0.5], [0.25, 0, -1, 0.5], [0.25, 0, 1, 0.5]])
    pairs = [([2 * k], [2 * k + 1]) for k in range(4)]
    four = arm_allocation(8, [(range(4), range(4, 8)), ([0, 1], [2, 3]), ([4, 5], [6, 7]), *pairs])
    np.testing.assert_allclose(four[0], [1 / 8, -1 / 4, -1 / 2, 0, -1, 0, 0, 0])
    np.testing.assert_allclose(four[7], [1 / 8, 1 / 4, 0, 1 / 2, 0, 0, 0, 1])
    with pytest.raises(ShapeError, match="do not depend"):
        arm_allocation(3, [([0], [1]), ([0], [1])])


@pytest.mark.slow
def test_a_rest_posture_needs_less_torque_on_the_same_feet():
    robot = sf.load("humanoid", base="floating")
    found = rest_posture(robot, most_steps=20)
    assert found.cost < 0.7 * found.first
    before, after = robot.contact_corners(robot.home), robot.contact_corners(found.q)
    for name in ("left_foot", "right_foot"):
        np.testing.assert_allclose(after[name], before[name], atol=1e-8)
    assert (found.q[7:] >= robot.limits.lower[7:] - 1e-12).all()
    assert (found.q[7:] <= robot.limits.upper[7:] + 1e-12).all()
