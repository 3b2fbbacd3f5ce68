import numpy as np
import pytest

from surefoot import ops
from surefoot.dynamics import crba
from surefoot.dynamics.algebra.cholesky import (
    ancestors_of_dofs,
    factor,
    factor_full,
    inverse,
    inverse_of_lower,
    solve,
)
from tests.dynamics.examples import armed, assert_same, followers, operations, robot_named, state, traced, two_roots

ROBOTS = [armed(), two_roots(), robot_named("dill:5"), followers("reduce")]
by_name = {"ids": lambda robot: robot.name}


def nonzeros(matrix: np.ndarray) -> set[tuple[int, int]]:
    return {(int(i), int(j)) for i, j in zip(*np.nonzero(matrix), strict=True)}


@pytest.mark.parametrize("robot", ROBOTS, **by_name)
def test_factors_solutions_and_inverse(robot, rng):
    q, v, _ = state(robot, 1)
    M = crba(robot.tree, q)
    tolerance = 20.0 * np.finfo(float).eps * np.linalg.cond(M)
    factors = factor(robot.tree, M)
    L = factors.L
    assert_same(L.T @ np.diag(1.0 / factors.reciprocals) @ L, M, 1e-14)
    assert (np.diag(L) == 1.0).all()
    assert (np.triu(L, 1) == 0.0).all()
    assert_same(solve(factors, v), np.linalg.solve(M, v), tolerance)
    B = rng.standard_normal((robot.nv, 3))
    assert_same(solve(factors, B), np.linalg.solve(M, B), tolerance)
    assert_same(inverse(factors), np.linalg.inv(M), tolerance)
    assert_same(inverse_of_lower(factors) @ L, np.eye(robot.nv), 1e-12)


def test_no_fill_in_on_the_branched_tree_of_the_literature():
    """Buschmann 2014, (3.33): Dill(5) has 112 nonzeros of 528, a share of (2 + L)/(1 + 2^L) = 0.2121."""
    robot = robot_named("dill:5")
    M = crba(robot.tree, state(robot, 2)[0])
    factors = factor(robot.tree, M)
    pattern = nonzeros(np.tril(M))
    assert nonzeros(factors.L) == pattern
    assert len(pattern) == 112
    assert len(pattern) / (32 * 33 / 2) == pytest.approx(0.2121, abs=5e-5)
    assert nonzeros(inverse_of_lower(factors)) <= pattern
    assert sum(len(above) for above in factors.ancestors) == 112 - 32


@pytest.mark.parametrize("robot", [armed(), robot_named("g1")], **by_name)
def test_no_fill_in(robot):
    q = ops.symbols("q", robot.nq)
    factors = factor(robot.tree, crba(robot.tree, q))
    allowed = {(k, i) for k, above in enumerate(ancestors_of_dofs(robot.tree)) for i in [k, *above]}
    assert {(i, j) for i in range(robot.nv) for j in range(robot.nv) if ops.is_symbolic(factors.L[i, j])} <= allowed


def test_ancestors_run_up_the_tree():
    tree = two_roots().tree
    assert [list(above) for above in ancestors_of_dofs(tree)] == [[], [0], [], [2], [3, 2]]
    assert [list(above) for above in factor_full(np.eye(3)).ancestors] == [[], [0], [1, 0]]
    assert len(ancestors_of_dofs(followers("reduce").tree)[-1]) == len(followers("reduce").tree.armature) - 1


def test_traces_and_structural_zeros(rng):
    A = rng.standard_normal((4, 4))
    M, b = A @ A.T + np.eye(4), rng.standard_normal(4)
    assert_same(traced(lambda M, b: solve(factor_full(M), b), M, b), np.linalg.solve(M, b), 1e-12)

    def count(right) -> int:
        return operations(lambda M: solve(factor_full(M.reshape(4, 4)), right), 16)

    assert count(np.array([1.0, 0.0, 0.0, 0.0])) < count(np.ones(4))
