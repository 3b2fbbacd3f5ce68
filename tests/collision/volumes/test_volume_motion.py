import numpy as np
import pinocchio as pin
import pytest

from surefoot.collision.volumes.motion import VolumeMotion, ball_of
from surefoot.errors import ShapeError
from surefoot.geometry import SweptVolume
from surefoot.robot import BodyVolume
from tests.collision.examples import mixed_volumes, postures, robot_named


@pytest.mark.parametrize("name", ["g1", "panda", "every joint"])
def test_points_are_where_pinocchio_puts_them(name):
    robot = robot_named(name)
    volumes = mixed_volumes(robot, 1)
    motion = VolumeMotion(robot, volumes)
    Q = postures(robot, 3, 2)
    for q, points in zip(Q, motion.points(Q), strict=True):
        data = robot.model.createData()
        pin.forwardKinematics(robot.model, data, q)
        for item, start, count in zip(volumes, motion.starts, motion.kinds, strict=True):
            expected = item.volume.placed(data.oMi[item.body + 1].homogeneous).vertices
            assert np.allclose(points[start : start + count], expected, atol=1e-12)


def test_twists_are_the_columns_of_the_joints():
    robot = robot_named("every joint")
    motion = VolumeMotion(robot, ())
    Q = postures(robot, 4, 3)
    for q, twists in zip(Q, motion.twists(Q), strict=True):
        expected = pin.computeJointJacobians(robot.model, robot.model.createData(), q)
        assert np.allclose(twists.T, expected, atol=1e-12)
    assert np.array_equal(motion.twist_entry, np.arange(robot.nv))


def test_followers_have_rows_of_their_own():
    robot = robot_named("followers", "reduce")
    motion = VolumeMotion(robot, ())
    assert len(motion.twist_entry) == len(motion.twist_body) == robot.nv + 2
    assert set(motion.twist_entry) == set(range(robot.nv))


@pytest.mark.parametrize("count", [1, 2, 3])
def test_ball_is_the_smallest_and_centred_on_the_generator(count, rng):
    for _ in range(30):
        vertices = rng.standard_normal((count, 3))
        center, radius = ball_of(SweptVolume(vertices, 0.2))
        reach = np.linalg.norm(vertices - center, axis=1)
        assert reach.max() + 0.2 == pytest.approx(radius, abs=1e-12)
        weights = np.linalg.lstsq(np.vstack([vertices.T, np.ones(count)]), np.append(center, 1.0), rcond=None)[0]
        assert weights.min() > -1e-9
        for step in 1e-4 * rng.standard_normal((20, 3)):  # no other centre is better
            assert np.linalg.norm(vertices - center - step, axis=1).max() >= reach.max() - 1e-12


def test_carried_names_the_joints_that_move_a_volume():
    robot = robot_named("anymal")
    volumes = mixed_volumes(robot, 5)
    carried = VolumeMotion(robot, volumes).carried
    assert not carried[0].any()
    for item, row in zip(volumes[1:], carried[1:], strict=True):
        assert set(np.flatnonzero(row)) == {item.body, *robot.tree.ancestors(item.body)}


def test_without_volumes_there_are_no_points():
    robot = robot_named("panda")
    assert VolumeMotion(robot, ()).points(postures(robot, 2, 0)).shape == (2, 0, 3)


def test_unknown_bodies_are_refused():
    with pytest.raises(ShapeError, match="no body 99"):
        VolumeMotion(robot_named("panda"), [BodyVolume(99, SweptVolume(np.zeros((1, 3)), 0.1), "x")])
