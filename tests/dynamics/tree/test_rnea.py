from dataclasses import replace

import numpy as np
import pinocchio as pin
import pytest

from surefoot.dynamics import aba, generalized_gravity, nonlinear_effects, rnea
from surefoot.dynamics.tree import RNEA
from surefoot.dynamics.tree.rnea import net_wrench
from surefoot.kinematics.recursion.bodies import bodies
from surefoot.kinematics.recursion.motion import acceleration_matrix
from surefoot.kinematics.recursion.recursion import run
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
    with_constants_as_inputs,
    wrenches,
)


@pytest.mark.parametrize("robot", [armed(), two_roots()], ids=lambda robot: robot.name)
def test_a_trace_gives_the_same_numbers(robot):
    q, v, a = state(robot, 1)
    F = wrenches(robot, 1)
    found = traced(lambda *x: rnea(robot.tree, *x), q, v, a, F)
    assert_same(found, rnea(robot.tree, q, v, a, F), 1e-13)


def test_one_text_serves_all_bodies():
    """The steps take bodies whose constants are symbols, as loops over many bodies need."""
    robot = armed()
    q, v, a = state(robot, 8)

    def torque(parts, q, v, a):
        return run(RNEA, robot.tree, {"q": q, "v": v, "a": a}, constants=lambda _: parts)[1]["tau"]

    expected = rnea(robot.tree, q, v, a) - robot.tree.armature * a
    assert_same(with_constants_as_inputs(torque, robot.tree, q, v, a), expected)


def test_net_wrench_is_that_of_newton_and_euler(rng):
    """F = I A + V ×* I V with the whole spatial inertia, at a body with nothing aligned."""
    body, tree = bodies(armed().tree)[2], armed().tree
    V, A = rng.standard_normal((2, 6))
    classical = A[:3] + np.cross(V[3:], V[:3])
    I = inertia.make(tree.masses[2], tree.coms[2], tree.inertias[2])  # noqa: E741
    found = net_wrench(body, acceleration_matrix(V[3:], A[3:]), classical)
    assert_same(found, inertia.net_wrench(I, V, A), 1e-13)


def test_whole_forces_are_handed_on():
    """Erratum of Buschmann 2014, (3.40): what reaches the world is the sum of all wrenches, not of projected ones."""
    robot = armed()
    q, v, a = state(robot, 2)
    fields, _ = run(RNEA, robot.tree, {"q": q, "v": v, "a": a})
    data = robot.model.createData()
    pin.computeCentroidalMomentumTimeVariation(robot.model, data, q, v, a)
    weight = robot.mass * robot.tree.gravity
    assert_same(fields[-1]["wrench"][:3], data.dhg.linear - weight)


def test_external_wrenches_enter_by_their_power():
    """tau falls by J_iᵀ F_i: the virtual power of the wrenches is that of the torques that they replace."""
    robot = armed()
    q, v, a = state(robot, 3)
    F, tree = wrenches(robot, 3), robot.tree
    data = robot.model.createData()
    pin.forwardKinematics(robot.model, data, q, v)
    power = sum(twist_.vector @ f for twist_, f in zip(list(data.v)[1:], F, strict=True))
    assert_same((rnea(tree, q, v, a) - rnea(tree, q, v, a, F)) @ v, power)


def test_parts_of_the_torque():
    robot = armed()
    q, v, a = state(robot, 4)
    rest = np.zeros(robot.nv)
    assert_same(nonlinear_effects(robot.tree, q, v), rnea(robot.tree, q, v, rest))
    assert_same(generalized_gravity(robot.tree, q), rnea(robot.tree, q, rest, rest))
    double = rnea(robot.tree, q, v, 2.0 * a) - rnea(robot.tree, q, v, a)
    assert_same(double, rnea(robot.tree, q, v, a) - nonlinear_effects(robot.tree, q, v))


def test_followers_project():
    robot, full = followers("reduce"), followers("coupling")
    q, v, a = state(robot, 5)
    G, q_full = widened(robot, full), full_configuration(robot, full, q)
    F = wrenches(full, 5)
    assert_same(rnea(robot.tree, q, v, a, F), G.T @ rnea(full.tree, q_full, G @ v, G @ a, F))


def test_does_not_depend_on_where_the_robot_is():
    robot = robot_named("g1")
    q, v, a = state(robot, 6)
    far = q.copy()
    far[:3] += 1e6
    assert (rnea(robot.tree, q, v, a) == rnea(robot.tree, far, v, a)).all()


@pytest.mark.parametrize(("name", "most"), [("g1", 3750), ("talos", 3800)])
def test_few_operations(name, most):
    robot = robot_named(name)
    assert operations(lambda *x: rnea(robot.tree, *x), robot.nq, robot.nv, robot.nv) <= most


def test_gravity_alone_folds_what_velocities_need():
    robot = robot_named("g1")
    assert operations(lambda q: generalized_gravity(robot.tree, q), robot.nq) <= 800


@pytest.mark.parametrize("algorithm", [rnea, aba])
def test_masses_lengths_and_placements_can_be_symbols(algorithm):
    """Every number of a tree may be traced, as free parameters of a robot are."""
    robot = armed()
    q, v, a = state(robot, 5)
    names = ("masses", "coms", "inertias", "placements", "armature")
    parts = [np.array(getattr(robot.tree, name)) for name in names]

    def changed(q, v, a, *flat):
        given = {name: x.reshape(part.shape) for name, x, part in zip(names, flat, parts, strict=True)}
        return algorithm(replace(robot.tree, **given), q, v, a)

    scaled = [1.1 * part.ravel() for part in parts[:3]] + [part.ravel() for part in parts[3:]]
    assert_same(traced(changed, q, v, a, *scaled), changed(q, v, a, *scaled), 1e-12)
