import numpy as np
import pytest

from surefoot.dynamics.algebra.block_inertia import grouped_bodies
from surefoot.dynamics.tree.aba import ABA
from surefoot.dynamics.tree.crba import composite_bodies
from surefoot.dynamics.tree.rnea import RNEA
from surefoot.kinematics.recursion.bodies import bodies
from surefoot.kinematics.recursion.recursion import run
from tests.dynamics.examples import armed, assert_same, followers, operations, robot_named, state, two_roots, wrenches

ROBOTS = [armed(), armed("fixed"), two_roots(), followers("reduce"), robot_named("g1"), robot_named("panda")]


@pytest.mark.parametrize("robot", ROBOTS, ids=lambda robot: f"{robot.name} {robot.base}")
def test_dynamics_do_not_change(robot):
    q, v, a = state(robot, 1)
    inputs = {"q": q, "v": v, "a": a, "external": wrenches(robot, 1)}
    own, grouped = (run(RNEA, robot.tree, inputs, constants=which)[1]["tau"] for which in (bodies, grouped_bodies))
    assert_same(grouped, own)
    if (robot.tree.mimic_source < 0).all():
        inputs = {"q": q, "v": v, "tau": own, "armature": robot.tree.armature}
        own, grouped = (run(ABA, robot.tree, inputs, constants=which)[1]["a"] for which in (bodies, grouped_bodies))
        assert_same(grouped, own, 1e-9)


@pytest.mark.parametrize("robot", ROBOTS, ids=lambda robot: f"{robot.name} {robot.base}")
def test_the_whole_robot_does_not_change(robot):
    q, _, _ = state(robot, 2)
    own, grouped = (composite_bodies(robot.tree, q, which)[-1] for which in (bodies, grouped_bodies))
    for name in ("mass", "moment", "inertia"):
        assert_same(grouped[name], own[name])


def test_bodies_keep_what_their_parents_cannot_have():
    for tree in (armed().tree, robot_named("g1").tree):
        for i, body in enumerate(grouped_bodies(tree)):
            e, second = body.axis, 0.5 * np.trace(body.inertia) * np.eye(3) - body.inertia
            scale = np.abs(bodies(tree)[i].inertia).max() + 1.0
            if tree.parents[i] < 0:
                continue
            if body.kind in ("revolute", "continuous"):
                assert body.mass == 0.0
                assert abs(body.moment @ e) <= 1e-15 * scale
                assert abs(e @ second @ e) <= 1e-14 * scale
            if body.kind in ("prismatic", "translation"):
                assert (body.inertia == 0.0).all()
            if body.kind == "spherical":
                assert body.mass == 0.0


def test_aligned_hinges_have_exact_zeros():
    for body in grouped_bodies(robot_named("talos").tree)[1:]:
        (k,) = np.flatnonzero(body.axis)
        i, j = (k + 1) % 3, (k + 2) % 3
        assert body.moment[k] == 0.0
        assert body.inertia[i, i] + body.inertia[j, j] - body.inertia[k, k] == 0.0


def test_fewer_operations():
    robot = robot_named("g1")

    def count(which) -> int:
        def torque(q, v, a):
            return run(RNEA, robot.tree, {"q": q, "v": v, "a": a}, constants=which)[1]["tau"]

        return operations(torque, robot.nq, robot.nv, robot.nv)

    assert count(grouped_bodies) < 0.9 * count(bodies)
