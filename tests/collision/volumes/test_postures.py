import numpy as np
import pinocchio as pin
import pytest

from surefoot.collision.volumes.postures import checked_postures, is_bounded, random_postures
from surefoot.errors import ShapeError
from tests.collision.examples import robot_named


@pytest.mark.parametrize("name", ["g1", "panda", "every joint"])
def test_postures_lie_inside_the_limits(name):
    robot = robot_named(name)
    Q = random_postures(robot, 200, np.random.default_rng(0))
    assert (robot.limits.lower - 1e-9 <= Q).all()
    assert (robot.limits.upper + 1e-9 >= Q).all()
    assert all(pin.isNormalized(robot.model, q, 1e-9) for q in Q)


def test_they_fill_the_limits_and_leave_the_base():
    robot = robot_named("g1")
    Q = random_postures(robot, 2000, np.random.default_rng(0))
    assert np.array_equal(Q[:, :7], np.tile(robot.home[:7], (2000, 1)))
    width = (robot.limits.upper - robot.limits.lower)[7:]
    assert (np.ptp(Q[:, 7:], axis=0) > 0.99 * width).all()


def test_same_seed_same_postures():
    robot = robot_named("panda")
    first, second = (random_postures(robot, 5, np.random.default_rng(3)) for _ in range(2))
    assert np.array_equal(first, second)


def test_slides_without_limits_are_not_covered():
    robot = robot_named("every joint")
    kinds = {robot.tree.kinds[i]: is_bounded(robot, i) for i in range(robot.tree.n)}
    assert kinds["revolute"]
    assert kinds["continuous"]
    assert kinds["spherical"]
    assert not kinds["free"]


def test_wrong_postures_are_refused():
    robot = robot_named("g1")
    with pytest.raises(ShapeError, match=r"needs \(36,\) or \(n, 36\)"):
        checked_postures(robot, np.zeros((2, 5)))
    with pytest.raises(ShapeError, match="has length 0, not 1"):
        checked_postures(robot, np.zeros((2, 36)))
    with pytest.raises(ShapeError, match="not finite"):
        checked_postures(robot, np.full((2, 36), np.nan))
