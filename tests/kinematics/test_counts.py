import pytest

from surefoot.kinematics import body_jacobians, operation_counts
from surefoot.kinematics.counts import chain_count, dense_count, dill_count, dill_count_printed
from surefoot.robot.loading import load
from tests.kinematics.examples import robot_named, state


def test_printed_numbers():
    """32 bodies (Buschmann 2014, section 2.4, (2.84), (2.85), (2.88))."""
    assert (dense_count(32), chain_count(32), dill_count_printed(32), dill_count(32)) == (9216, 4464, 441, 720)
    assert dense_count(6) / chain_count(6) == 2.4


@pytest.mark.parametrize("n", [1, 6, 32])
def test_chains(n):
    counts = operation_counts(load(f"coil:{n}").tree)
    assert (counts.sparse, counts.dense) == (chain_count(n), dense_count(n))


@pytest.mark.parametrize("levels", [0, 3, 5])
def test_dills(levels):
    counts = operation_counts(load(f"dill:{levels}").tree)
    assert counts.sparse == counts.dill == dill_count(2**levels)
    assert counts.dill_printed == dill_count_printed(2**levels)


def test_the_count_is_of_columns_that_are_carried():
    robot = robot_named("every joint")
    tree = robot.tree
    jacobians = body_jacobians(tree, state(robot, 1)[0])
    carried = sum(len(jacobians[parent].columns) for parent in tree.parents if parent >= 0)
    assert operation_counts(tree).sparse == 9 * carried
