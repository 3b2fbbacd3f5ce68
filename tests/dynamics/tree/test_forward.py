from dataclasses import replace

import numpy as np
import pytest

from surefoot.dynamics import aba, crba, forward_dynamics, minverse, rnea
from surefoot.dynamics.tree import require_invertible, singular_joints
from surefoot.errors import ModelError, NotSupportedError, UnknownNameError
from surefoot.robot import Joint, Link, Robot
from tests.dynamics.examples import armed, assert_same, followers, robot_named, state, traced, two_roots, wrenches

METHODS = ("auto", "aba", "crba", "newton_euler")


@pytest.mark.parametrize("robot", [armed(), armed("fixed"), two_roots(), robot_named("g1")], ids=lambda r: r.name)
@pytest.mark.parametrize("method", METHODS)
def test_methods_undo_inverse_dynamics(robot, method):
    q, v, a = state(robot, 1)
    F = wrenches(robot, 1)
    tolerance = 200.0 * np.finfo(float).eps * np.linalg.cond(crba(robot.tree, q))
    tau = rnea(robot.tree, q, v, a, F)
    assert_same(forward_dynamics(robot.tree, q, v, tau, F, method), a, tolerance)


@pytest.mark.parametrize(
    "robot",
    [followers("reduce"), *(robot_named(n, "reduce") for n in ("panda", "baxter", "talos_full"))],
    ids=lambda r: r.name,
)
def test_followers_are_taken_by_the_mass_matrix(robot):
    q, v, a = state(robot, 2)
    M = crba(robot.tree, q)
    tolerance = 20.0 * np.finfo(float).eps * np.linalg.cond(M)
    tau = rnea(robot.tree, q, v, a)
    assert_same(forward_dynamics(robot.tree, q, v, tau), a, tolerance * max(1.0, np.abs(tau).max()))
    assert_same(minverse(robot.tree, q), np.linalg.inv(M), tolerance)
    with pytest.raises(NotSupportedError, match="copy others"):
        aba(robot.tree, q, v, tau)


def test_traces():
    robot = followers("reduce")
    q, v, tau = state(robot, 3)
    expected = forward_dynamics(robot.tree, q, v, tau)
    assert_same(traced(lambda *x: forward_dynamics(robot.tree, *x), q, v, tau), expected, 1e-11)
    assert_same(traced(lambda q: minverse(robot.tree, q), q), minverse(robot.tree, q), 1e-11)


def test_an_unknown_method_is_refused():
    robot = two_roots()
    q, v, a = state(robot, 4)
    with pytest.raises(UnknownNameError, match="there is no method `abba`; did you mean `aba`"):
        forward_dynamics(robot.tree, q, v, a, method="abba")


def bar(kind: str, **properties) -> Robot:
    """A body on a skew axis, and on it another one with these properties, on a joint of that kind along z."""
    solid = {"mass": 2.0, "com": np.array([0.3, 0.1, -0.2]), "inertia": np.diag([0.2, 0.3, 0.4])}
    armature = properties.pop("armature", 0.0)
    links = [
        Link("floor"),
        Link("arm", "floor", Joint("first", "revolute", axis=(1.0, 2.0, 3.0)), **solid),
        Link("tip", "arm", Joint("second", kind, axis=(0.2, 0.5, 1.0), armature=armature), **properties),
    ]
    return Robot.from_tree("bar", links, "fixed", drives=())


AXIS = np.array([0.2, 0.5, 1.0]) / np.linalg.norm([0.2, 0.5, 1.0])


@pytest.mark.parametrize(
    ("robot", "names"),
    [
        (bar("revolute"), ("second",)),
        (bar("revolute", armature=1e-3), ()),
        (bar("prismatic"), ("second",)),
        (bar("prismatic", mass=1e-3), ()),
        (bar("revolute", mass=1.0, com=0.4 * AXIS), ("second",)),
        (bar("revolute", mass=1.0, com=0.4 * AXIS + [1e-3, 0.0, 0.0]), ()),
        (bar("spherical", mass=1.0), ("second",)),
        (bar("spherical", mass=1.0, inertia=1e-6 * np.eye(3)), ()),
    ],
    ids=["massless", "drive", "massless slider", "slider", "on the axis", "off the axis", "point", "ball"],
)
def test_joints_that_move_no_inertia(robot, names):
    assert singular_joints(robot.tree) == names
    q, v, a = state(robot, 5)
    if names:
        assert np.linalg.cond(crba(robot.tree, q)) > 1e14
        with pytest.raises(ModelError, match="singular") as error:
            minverse(robot.tree, q)
        assert error.value.evidence == {"joints": "second"}
        assert "armature" in error.value.next_step
    else:
        require_invertible(robot.tree)
        assert_same(forward_dynamics(robot.tree, q, v, rnea(robot.tree, q, v, a)), a, 1e-6)


def test_chains_of_massless_links_are_named():
    """Three hinges on one axis, all inertia on the last: it can undo whatever the other two do."""
    hinge = {"kind": "revolute", "axis": (0.0, 0.0, 1.0)}
    links = [
        Link("floor"),
        Link("a", "floor", Joint("j0", **hinge)),
        Link("b", "a", Joint("j1", **hinge)),
        Link("c", "b", Joint("j2", **hinge), mass=1.0, com=np.array([0.5, 0.0, 0.0]), inertia=0.1 * np.eye(3)),
    ]
    tree = Robot.from_tree("chain", links, "fixed", drives=()).tree
    assert singular_joints(tree) == ("j0", "j1")
    assert singular_joints(replace(tree, armature=np.full(3, 0.1))) == ()


def test_robots_with_massless_fingers():
    assert singular_joints(robot_named("bravo7_gripper").tree) == ("bravo_finger1_joint", "bravo_finger2_joint")
    romeo = robot_named("romeo")
    names = singular_joints(romeo.tree)
    assert all("Finger" in name or "Hand" in name or "Thumb" in name for name in names)
    kept = np.array(
        [k for k in range(romeo.nv) if not any(k == romeo.tree.v_index[romeo.joint_index(n)] for n in names)]
    )
    M = crba(romeo.tree, state(romeo, 6)[0])
    assert np.linalg.cond(M[np.ix_(kept, kept)]) < 1e10
