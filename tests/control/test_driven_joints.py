import numpy as np
from numpy.testing import assert_allclose, assert_array_equal

from surefoot.control.driven_joints import coupled_motion
from surefoot.robot.loading import load


def test_followers_move_with_their_leaders():
    robot = load("pr2")
    speed = np.random.default_rng(0).standard_normal(robot.nv)
    leaders = {c.source for c in robot.couplings}
    followers = [int(robot.tree.v_index[robot.joint_index(c.joint)]) for c in robot.couplings]
    speed[followers] = 0.0
    moved = coupled_motion(robot) @ speed
    for item in robot.couplings:
        follower, leader = (robot.tree.v_index[robot.joint_index(n)] for n in (item.joint, item.source))
        assert_allclose(moved[follower], item.ratio * speed[leader])
    others = np.setdiff1d(np.arange(robot.nv), followers)
    assert leaders
    assert_array_equal(moved[others], speed[others])


def test_nothing_to_follow():
    robot = load("anymal")
    assert_array_equal(coupled_motion(robot), np.eye(robot.nv))
