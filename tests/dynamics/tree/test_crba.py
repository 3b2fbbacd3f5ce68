from dataclasses import replace

import numpy as np
import pinocchio as pin
import pytest

from surefoot import ops
from surefoot.dynamics import crba
from surefoot.dynamics.algebra.block_inertia import inertia_times, join, own_inertia, unpacked
from surefoot.dynamics.algebra.cholesky import ancestors_of_dofs
from surefoot.dynamics.tree import composite_bodies
from surefoot.kinematics.recursion.bodies import bodies
from surefoot.robot.loading import load
from surefoot.spatial import inertia
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
)


@pytest.mark.parametrize("robot", [armed(), two_roots(), robot_named("g1")], ids=lambda robot: robot.name)
def test_a_trace_gives_the_same_numbers(robot):
    q, _, _ = state(robot, 1)
    assert_same(traced(lambda x: crba(robot.tree, x), q), crba(robot.tree, q), 1e-14)


def test_followers_project():
    robot, full = followers("reduce"), followers("coupling")
    q, _, _ = state(robot, 2)
    G, q_full = widened(robot, full), full_configuration(robot, full, q)
    assert_same(crba(robot.tree, q), G.T @ crba(full.tree, q_full) @ G)


@pytest.mark.parametrize("name", ["baxter", "panda", "pr2", "talos_full", "tiago_pro"])
def test_followers_of_the_zoo_project(name):
    robot, full = robot_named(name, "reduce"), robot_named(name)
    q, _, _ = state(robot, 3)
    G, q_full = widened(robot, full), full_configuration(robot, full, q)
    assert_same(crba(robot.tree, q), G.T @ crba(full.tree, q_full) @ G)


@pytest.mark.parametrize("robot", [armed(), robot_named("dill:5"), two_roots()], ids=lambda robot: robot.name)
def test_zeros_between_branches_are_exact(robot):
    lines = [{k, *above} for k, above in enumerate(ancestors_of_dofs(robot.tree))]
    M = crba(robot.tree, ops.symbols("q", robot.nq))
    for i, line in enumerate(lines):
        for j in range(i):
            if j not in line:
                assert M[i, j] == M[j, i] == 0.0


def test_the_base_block_is_the_locked_inertia():
    robot = robot_named("g1")
    q, _, _ = state(robot, 4)
    traced_block = crba(robot.tree, ops.symbols("q", robot.nq))[:3, :3]
    assert_same(traced_block, robot.mass * np.eye(3))  # numbers, also in a trace
    whole = composite_bodies(robot.tree, q)[0]
    assert_same(crba(robot.tree, q)[:6, :6], inertia_times(whole, np.eye(6)))


def test_composites_are_sums_of_spatial_inertias(rng):
    """A body joined to another about another point: by blocks, and by 6 × 6 matrices."""
    tree = armed().tree
    body, R, p = bodies(tree)[3], np.linalg.qr(rng.standard_normal((3, 3)))[0], rng.standard_normal(3)
    R *= np.sign(np.linalg.det(R))
    found = join({**own_inertia(body), "turn": R, "mount": np.eye(3)}, p)
    T = np.eye(4)
    T[:3, :3], T[:3, 3] = R, p
    expected = inertia.transform(T, inertia.make(tree.masses[3], tree.coms[3], tree.inertias[3]))
    assert_same(inertia_times(found, np.eye(6)), expected, 1e-13)
    assert_same(unpacked(found["inertia"]), expected[3:, 3:], 1e-13)


def test_the_world_gets_the_whole_robot():
    robot = two_roots()
    q, _, _ = state(robot, 5)
    whole = composite_bodies(robot.tree, q)[-1]
    assert_same(whole["mass"], robot.mass)


def test_armature_is_on_the_diagonal_once():
    """A leader's armature does not count again for its followers."""
    tree = followers("reduce").tree
    with_drive = replace(tree, armature=np.full(len(tree.armature), 0.25))
    q, _, _ = state(followers("reduce"), 6)
    assert_same(crba(with_drive, q) - crba(tree, q), 0.25 * np.eye(len(tree.armature)))


@pytest.mark.parametrize(("name", "most"), [("g1", 4550), ("talos", 3600)])
def test_few_operations(name, most):
    robot = robot_named(name)
    assert operations(lambda q: crba(robot.tree, q), robot.nq) <= most


@pytest.mark.parametrize("name", ["coil:3:driven", "coil:8:driven", "dill:3:driven"])
def test_many_followers_each_copy_their_own_leader(name):
    """Pinocchio lists followers and leaders in different orders: are they paired right?."""
    robot = load(name, mimic="reduce")
    q = np.random.default_rng(0).normal(size=robot.nq)
    upper = np.triu(pin.crba(robot.model, robot.model.createData(), q))
    np.testing.assert_allclose(crba(robot.tree, q), upper + np.triu(upper, 1).T, atol=1e-14)
