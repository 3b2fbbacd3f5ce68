import itertools

import numpy as np
import pytest

from surefoot.collision.pairs.table import PairTable
from surefoot.collision.volumes.motion import VolumeMotion
from tests.collision.examples import coal_distances, mixed_volumes, postures, robot_named


def all_pairs(motion):
    pairs = [(i, j) for i, j in itertools.combinations(range(len(motion.volumes)), 2)]
    return np.array([(i, j) for i, j in pairs if motion.bodies[i] != motion.bodies[j]])


@pytest.mark.parametrize("name", ["g1", "panda", "anymal"])
def test_distances_are_those_of_coal(name):
    robot = robot_named(name)
    motion = VolumeMotion(robot, mixed_volumes(robot, 4))
    table = PairTable(motion, all_pairs(motion))
    assert {*table.kinds} == set(itertools.combinations_with_replacement(("point", "line", "triangle"), 2))
    Q = postures(robot, 2, 7)
    found = table.distances(motion.points(Q))
    for q, row in zip(Q, found, strict=True):
        pairs = [(motion.volumes[a], motion.volumes[b]) for a, b in zip(table.first, table.second, strict=True)]
        expected = coal_distances(robot, pairs, q)
        apart = row > 1e-3
        assert apart.sum() > 20
        assert np.allclose(row[apart], expected[apart], atol=2e-6)


def test_nearest_points_of_single_pairs_are_those_of_the_whole(rng):
    robot = robot_named("panda")
    motion = VolumeMotion(robot, mixed_volumes(robot, 8))
    table = PairTable(motion, all_pairs(motion))
    points = motion.points(postures(robot, 5, 1))
    rows, columns = rng.integers(0, 5, 40), rng.integers(0, len(table), 40)
    near = table.some_nearest(points, rows, columns)
    whole = table.distances(points)[rows, columns]
    assert np.allclose(near.distance - table.radii[columns], whole, atol=1e-14)
    assert np.allclose(np.linalg.norm(near.point_b - near.point_a, axis=1), near.distance, atol=1e-12)


def test_the_volume_with_fewer_vertices_comes_first():
    robot = robot_named("panda")
    motion = VolumeMotion(robot, mixed_volumes(robot, 8))
    table = PairTable(motion, all_pairs(motion)[:, ::-1])
    assert (motion.kinds[table.first] <= motion.kinds[table.second]).all()
    assert {frozenset(x) for x in zip(table.first, table.second, strict=True)} == {
        frozenset(map(int, x)) for x in all_pairs(motion)
    }


def test_no_pairs():
    robot = robot_named("panda")
    motion = VolumeMotion(robot, mixed_volumes(robot, 8))
    table = PairTable(motion, np.zeros((0, 2), dtype=np.int64))
    assert table.distances(motion.points(postures(robot, 3, 1))).shape == (3, 0)
