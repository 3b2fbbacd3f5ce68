import numpy as np

from surefoot.collision.pairs.pruning import proven_apart
from surefoot.collision.pairs.table import PairTable
from surefoot.collision.volumes.motion import VolumeMotion
from surefoot.geometry import SweptVolume
from surefoot.robot import BodyVolume
from tests.collision.examples import robot_named, slider


def ball(body, place, radius=0.1):
    return BodyVolume(body, SweptVolume(np.array([place], dtype=float), radius), f"{body}")


def test_beside_the_rail_and_on_it():
    volumes = [ball(0, (0, 0, 0)), ball(-1, (1.0, 0.0, 0.31)), ball(-1, (1.0, 0.0, 0.15)), ball(-1, (2.3, 0.0, 0.0))]
    table = PairTable(VolumeMotion(slider(), volumes), np.array([[0, 1], [0, 2], [0, 3]]))
    assert proven_apart(table, 0.1, 1000).tolist() == [True, False, False]
    assert proven_apart(table, 0.05, 1000).tolist() == [True, False, True]


def test_too_few_boxes_prove_nothing():
    table = PairTable(VolumeMotion(slider(), [ball(0, (0, 0, 0)), ball(-1, (1.0, 0.0, 0.31))]), np.array([[0, 1]]))
    assert not proven_apart(table, 0.1, 2).any()


def test_joints_without_limits_prove_nothing():
    robot = robot_named("every joint")
    motion = VolumeMotion(robot, [ball(0, (9, 9, 9)), ball(robot.tree.n - 1, (0, 0, 0))])
    assert not proven_apart(PairTable(motion, np.array([[0, 1]])), 0.0, 100).any()


def test_what_is_proven_holds_everywhere():
    robot = robot_named("panda")
    rng = np.random.default_rng(3)
    volumes = [ball(b, rng.uniform(-0.1, 0.1, 3), 0.05) for b in (-1, *range(4))]
    pairs = np.array([(i, j) for i in range(5) for j in range(i + 1, 5)])
    motion = VolumeMotion(robot, volumes)
    table = PairTable(motion, pairs)
    proven = proven_apart(table, 0.02, 5000)
    grid = np.stack(
        np.meshgrid(
            *[np.linspace(a, b, 7) for a, b in zip(robot.limits.lower[:4], robot.limits.upper[:4], strict=True)]
        ),
        axis=-1,
    ).reshape(-1, 4)
    Q = np.tile(np.array(robot.home), (len(grid), 1))
    Q[:, :4] = grid
    assert proven.sum() > 0
    assert table.distances(motion.points(Q))[:, proven].min() > 0.02
