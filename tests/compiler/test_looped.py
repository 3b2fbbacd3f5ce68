"""Looped code computes what straight-line code computes, for every kind of tree, and does not grow with it."""

import numpy as np
import pinocchio as pin
import pytest

import surefoot as sf
from surefoot.codegen.build import Build
from surefoot.compiler import large_trees
from surefoot.compiler.kernel_set import compile_robot
from surefoot.compiler.large_trees import LOOPED
from surefoot.compiler.looped import loop_program
from surefoot.compiler.looped_text import loop_text
from surefoot.compiler.quantities import input_shape
from surefoot.errors import NotSupportedError

ROBOTS = ["coil:9", "dill:4", "anymal", "g1", "panda", "tiago"]


def states(robot, n, rng):
    q = np.array([pin.integrate(robot.model, robot.neutral, rng.uniform(-1, 1, robot.nv)) for _ in range(n)])
    return q, rng.standard_normal((n, robot.nv)), rng.standard_normal((n, robot.nv))


def close(a, b, tolerance=1e-12):
    return np.abs(a - b).max() <= tolerance * max(1.0, np.abs(b).max())


@pytest.mark.slow
@pytest.mark.parametrize("name", ROBOTS)
def test_loops_equal_the_reference(name, rng, monkeypatch):
    monkeypatch.setattr(large_trees, "LOOP_FROM", 1)
    monkeypatch.setattr(large_trees, "LOOP_FROM_PAIRS", 0)
    robot = sf.load(name)
    looped, reference = compile_robot(robot), compile_robot(robot, backend="numpy")
    q, v, a = states(robot, 5, rng)
    external = rng.standard_normal((5, robot.tree.n, 6))
    assert close(looped.rnea(q, v, a), reference.rnea(q, v, a))
    assert close(looped.rnea(q, v, a, external=external), reference.rnea(q, v, a, external=external))
    assert close(looped.nonlinear_effects(q, v), reference.nonlinear_effects(q, v))
    assert close(looped.generalized_gravity(q), reference.generalized_gravity(q))
    assert close(looped.placements(q), reference.placements(q))
    assert close(looped.crba(q), reference.crba(q))
    condition = np.linalg.cond(reference.crba(q)).max()
    found, expected = looped.aba(q, v, a), reference.aba(q, v, a)
    assert close(found, expected, 20 * np.finfo(float).eps * condition)
    assert np.array_equal(looped.aba(q[0], v[0], a[0]), found[0]), "one state and a batch differ"


def test_followers(rng, monkeypatch):
    monkeypatch.setattr(large_trees, "LOOP_FROM", 1)
    monkeypatch.setattr(large_trees, "LOOP_FROM_PAIRS", 0)
    robot = sf.load("romeo", mimic="reduce")
    assert (robot.tree.mimic_source >= 0).any()
    q, v, a = states(robot, 3, rng)
    looped, reference = compile_robot(robot), compile_robot(robot, backend="numpy")
    assert close(looped.rnea(q, v, a), reference.rnea(q, v, a))
    assert close(looped.crba(q), reference.crba(q))


@pytest.mark.slow
def test_long_chains_against_pinocchio(rng):
    robot = sf.load("coil:300")
    k, data = sf.compile(robot), robot.model.createData()
    q, v, a = states(robot, 2, rng)
    assert close(k.rnea(q, v, a)[1], pin.rnea(robot.model, data, q[1], v[1], a[1]))
    M = pin.crba(robot.model, data, q[1])
    M = np.triu(M) + np.triu(M, 1).T
    assert close(k.crba(q)[1], M)
    found = k.aba(q, v, a)
    assert close(k.rnea(q, v, found), a, 20 * np.finfo(float).eps * np.linalg.cond(M))


def test_code_does_not_grow_with_the_tree():
    def lines(name):
        tree = sf.load(name).tree
        spec = LOOPED["aba"]
        program = loop_program(tree, spec, [input_shape(tree, x) for x in spec.inputs])
        text = loop_text(program, Build(4, 64), "k").text
        return sum(not line.startswith("@") for line in text.splitlines())

    assert lines("coil:200") == lines("coil:100")


def test_matrices_without_loops_are_refused_when_too_large():
    with pytest.raises(NotSupportedError, match="too large"):
        _ = sf.compile(sf.load("coil:200")).rnea_derivatives
