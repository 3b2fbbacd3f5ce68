import numpy as np
import pytest

from surefoot.collision.pairs.fused import FusedPairs
from surefoot.collision.pairs.table import PairTable
from surefoot.collision.volumes.motion import VolumeMotion
from tests.collision.examples import mixed_volumes, postures, robot_named

from .test_pair_table import all_pairs


@pytest.fixture(scope="module")
def table():
    robot = robot_named("panda")
    motion = VolumeMotion(robot, mixed_volumes(robot, 2))
    return PairTable(motion, all_pairs(motion))


@pytest.mark.parametrize("most", [0, 600, 10**6])
@pytest.mark.parametrize("n", [0, 1, 70])
def test_fused_or_not_it_is_the_same(table, most, n):
    Q = postures(table.motion.robot, n, 5)
    pairs = FusedPairs(table, most)
    assert (len(pairs.fused) > 0) == (most > 0)
    found = pairs.distances(Q, np.full(n, np.inf))
    assert found.shape == (n, len(table))
    assert np.allclose(found, table.distances(table.motion.points(Q)), atol=1e-13)


def test_what_is_far_has_a_lower_bound(table):
    Q = postures(table.motion.robot, 20, 5)
    exact = table.distances(table.motion.points(Q))
    found = FusedPairs(table, 600).distances(Q, np.full(20, 0.1))
    near = exact < 0.1
    assert near.any()
    assert np.allclose(found[near], exact[near], atol=1e-13)
    assert (found <= exact + 1e-13).all()
    assert (found[~near] >= 0.1 - 1e-13).all()


def test_balls_and_capsules_are_all_fused():
    robot = robot_named("panda")
    motion = VolumeMotion(robot, [x for x in mixed_volumes(robot, 2) if len(x.volume.vertices) < 3])
    table = PairTable(motion, all_pairs(motion))
    Q = postures(robot, 3, 1)
    assert len(FusedPairs(table).fused) == len(table) > 5
    found = FusedPairs(table).distances(Q, np.zeros(3))
    assert np.allclose(found, table.distances(motion.points(Q)), atol=1e-13)


def test_the_cheapest_pairs_are_fused_first(table):
    kinds = {table.kinds[k] for k in FusedPairs(table, 600).fused}
    assert kinds
    assert ("triangle", "triangle") not in kinds
