import numpy as np
import pytest

from surefoot.dynamics import aba, crba, nonlinear_effects, rnea
from surefoot.dynamics.tree import ABA
from surefoot.kinematics.recursion.recursion import run
from surefoot.robot import Joint, Link, Robot
from tests.dynamics.examples import (
    armed,
    assert_same,
    operations,
    robot_named,
    state,
    traced,
    two_roots,
    with_constants_as_inputs,
    wrenches,
)

ROBOTS = [armed(), armed("planar"), armed("fixed"), two_roots()]


@pytest.mark.parametrize("robot", ROBOTS, ids=lambda robot: f"{robot.name} {robot.base}")
def test_undoes_inverse_dynamics(robot):
    for seed in range(5):
        q, v, a = state(robot, seed)
        F = wrenches(robot, seed)
        tolerance = 20.0 * np.finfo(float).eps * np.linalg.cond(crba(robot.tree, q))
        assert_same(aba(robot.tree, q, v, rnea(robot.tree, q, v, a, F), F), a, tolerance)


@pytest.mark.parametrize("robot", [*ROBOTS, robot_named("g1")], ids=lambda robot: f"{robot.name} {robot.base}")
def test_a_trace_gives_the_same_numbers(robot):
    q, v, tau = state(robot, 1)
    found = traced(lambda *x: aba(robot.tree, *x), q, v, tau)
    assert_same(found, aba(robot.tree, q, v, tau), 1e-11)


def test_a_trace_takes_wrenches():
    robot = armed()
    q, v, tau = state(robot, 2)
    F = wrenches(robot, 2)
    assert_same(traced(lambda *x: aba(robot.tree, *x), q, v, tau, F), aba(robot.tree, q, v, tau, F), 1e-11)


def test_one_text_serves_all_bodies():
    """The steps take bodies, and an armature, that are symbols, as loops over many bodies need."""
    robot = armed()
    q, v, tau = state(robot, 8)

    def acceleration(parts, *values):
        inputs = dict(zip(("q", "v", "tau", "armature"), values, strict=True))
        return run(ABA, robot.tree, inputs, constants=lambda _: parts)[1]["a"]

    found = with_constants_as_inputs(acceleration, robot.tree, q, v, tau, robot.tree.armature)
    assert_same(found, aba(robot.tree, q, v, tau), 1e-10)


def test_pendulum_by_hand():
    """(m l² + I + armature) a = tau - m g l sin(q)."""
    joint = Joint("hinge", "revolute", axis=(0.0, -1.0, 0.0), armature=0.3)
    bob = Link("bob", "frame", joint, mass=2.0, com=np.array([0.0, 0.0, -0.5]), inertia=np.diag([0.1, 0.2, 0.1]))
    tree = Robot.from_tree("one", [Link("frame"), bob], "fixed").tree
    q, v, tau = np.array([0.4]), np.array([1.3]), np.array([0.7])
    expected = (0.7 - 2.0 * 9.81 * 0.5 * np.sin(0.4)) / (2.0 * 0.25 + 0.2 + 0.3)
    assert_same(aba(tree, q, v, tau), [expected])


def test_free_fall():
    """Without forces a floating robot at rest falls, and nothing moves in its joints."""
    robot = robot_named("g1")
    rest = np.zeros(robot.nv)
    a = aba(robot.tree, np.array(robot.neutral), rest, rest)
    assert_same(a[:3], robot.tree.gravity)
    assert_same(a[3:], rest[3:], 1e-10)


def test_does_not_depend_on_where_the_robot_is():
    robot = robot_named("g1")
    q, v, tau = state(robot, 6)
    far = q.copy()
    far[:3] -= 1e6
    assert (aba(robot.tree, q, v, tau) == aba(robot.tree, far, v, tau)).all()


def test_armature_acts_as_inertia_of_the_joint():
    robot = armed()
    q, v, tau = state(robot, 7)
    a = aba(robot.tree, q, v, tau)
    assert_same(crba(robot.tree, q) @ a + nonlinear_effects(robot.tree, q, v), tau, 1e-11)
    assert robot.tree.armature.any()


@pytest.mark.parametrize(("name", "most"), [("g1", 9600), ("talos", 8800)])
def test_few_operations(name, most):
    robot = robot_named(name)
    assert operations(lambda *x: aba(robot.tree, *x), robot.nq, robot.nv, robot.nv) <= most
