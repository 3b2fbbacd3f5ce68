"""Which motions are allowed: limits, couplings, chosen joints."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest

import surefoot as sf
from surefoot.errors import ShapeError, UnknownNameError
from surefoot.ik.position.free_motion import free_motion
from surefoot.ik.position.problem import Starts
from surefoot.robot import Coupling


def test_all_joints_move_by_default() -> None:
    robot = sf.load("g1")
    motion = free_motion(robot)
    np.testing.assert_array_equal(motion.S, np.eye(robot.nv))
    assert (motion.entry[:6] == -1).all()
    np.testing.assert_array_equal(motion.lower[6:], robot.limits.lower[7:])
    assert (free_motion(robot, limits=False).entry == -1).all()


def test_followers_move_with_their_leaders_and_narrow_their_limits() -> None:
    robot = sf.load("ur5")
    a, b = robot.joint_names[1:3]
    tied = robot.replace(couplings=(Coupling(b, a, -2.0, 0.5),))
    motion = free_motion(tied)
    ia, ib = (robot.joint_index(x) for x in (a, b))
    assert motion.S.shape == (robot.nv, robot.nv - 1)
    np.testing.assert_array_equal(motion.S[robot.tree.v_index[ib]], -2.0 * motion.S[robot.tree.v_index[ia]])
    column = int(np.argmax(motion.S[robot.tree.v_index[ia]]))
    low, high = robot.limits.lower[robot.tree.q_index[ib]], robot.limits.upper[robot.tree.q_index[ib]]
    assert motion.upper[column] <= (low - 0.5) / -2.0 + 1e-12
    assert motion.lower[column] >= (high - 0.5) / -2.0 - 1e-12
    q = motion.moved(np.array(robot.home), np.full(motion.S.shape[1], 0.1))
    assert q[robot.tree.q_index[ib]] == pytest.approx(0.5 - 2.0 * q[robot.tree.q_index[ia]])


def test_starts_are_inside_and_repeat() -> None:
    for name in ("panda", "g1", "tiago", "anymal"):
        robot = sf.load(name)
        motion = free_motion(robot)
        first, again = (Starts(motion).draw(robot.home, 50, np.random.default_rng(1)) for _ in range(2))
        np.testing.assert_array_equal(first, again)
        assert (np.std(first, axis=0) > 0.0).sum() >= robot.nv // 2
        for q in first:
            assert pin.isNormalized(robot.model, q, 1e-9)
            has = motion.entry >= 0
            assert (q[motion.entry[has]] >= motion.lower[has]).all()
            assert (q[motion.entry[has]] <= motion.upper[has]).all()


def test_odd_joints_are_refused() -> None:
    robot = sf.load("panda")
    with pytest.raises(UnknownNameError):
        free_motion(robot, ["tail"])
    with pytest.raises(ShapeError):
        free_motion(robot, [])
