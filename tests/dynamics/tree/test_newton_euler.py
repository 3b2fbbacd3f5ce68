import numpy as np
import pytest

from surefoot.dynamics import crba, rnea
from surefoot.dynamics.tree import assembled_equations, assembled_mass_matrix
from tests.dynamics.examples import (
    armed,
    assert_same,
    followers,
    full_configuration,
    operations,
    robot_named,
    state,
    traced,
    two_roots,
    widened,
    wrenches,
)


@pytest.mark.parametrize(
    "robot", [armed(), armed("fixed"), two_roots(), robot_named("dill:5"), followers("reduce")], ids=lambda r: r.name
)
def test_same_equations_as_the_recursions(robot):
    q, v, _ = state(robot, 1)
    F = wrenches(robot, 1)
    M, h = assembled_equations(robot.tree, q, v, F)
    assert_same(M, crba(robot.tree, q))
    assert_same(h, rnea(robot.tree, q, v, np.zeros(robot.nv), F))


def test_a_trace_gives_the_same_numbers():
    robot = armed()
    q, v, _ = state(robot, 2)
    assert_same(traced(lambda q: assembled_mass_matrix(robot.tree, q), q), crba(robot.tree, q))
    found = traced(lambda q, v: assembled_equations(robot.tree, q, v)[1], q, v)
    assert_same(found, assembled_equations(robot.tree, q, v)[1])


def test_followers_project():
    robot, full = followers("reduce"), followers("coupling")
    q, v, _ = state(robot, 3)
    G, q_full = widened(robot, full), full_configuration(robot, full, q)
    M, h = assembled_equations(robot.tree, q, v)
    M_full, h_full = assembled_equations(full.tree, q_full, G @ v)
    assert_same(M, G.T @ M_full @ G)
    assert_same(h, G.T @ h_full)


def test_branches_cost_less_than_chains():
    """Buschmann 2014, Table 3.1: assembly with ancestor lists gains on the branched tree of as many bodies."""
    chain, branched = robot_named("coil:32"), robot_named("dill:5")
    counts = [operations(lambda q, r=r: assembled_mass_matrix(r.tree, q), r.nq) for r in (chain, branched)]
    assert chain.tree.n == branched.tree.n == 32
    assert counts[1] < counts[0] / 4
