import numpy as np

from surefoot import ops
from surefoot.kinematics.recursion.recursion import Recursion, Step, Sweep, dof_rows, run, world_at_rest
from tests.kinematics.examples import robot_named, state


def count_bodies(body, joint, own, parent):
    size = 1.0 + own.get("size", np.zeros(1))
    return Step(own={"size": size}, parent={"size": size})


def test_inward_sums_reach_the_world():
    tree = robot_named("dill:4").tree
    fields, _ = run(Recursion((Sweep("inward", count_bodies),), world_at_rest), tree, {"q": np.zeros(tree.n)})
    assert fields[-1]["size"] == tree.n
    for i in range(tree.n):
        assert fields[i]["size"] == sum(i in [k, *tree.ancestors(k)] for k in range(tree.n))


def test_outward_depth():
    tree = robot_named("dill:4").tree

    def deeper(body, joint, own, parent):
        return Step(own={"depth": parent.get("depth", 0.0) + np.ones(1)})

    fields, _ = run(Recursion((Sweep("outward", deeper),), lambda gravity: {}), tree, {"q": np.zeros(tree.n)})
    assert [f["depth"][0] for f in fields[:-1]] == [1.0 + len(tree.ancestors(i)) for i in range(tree.n)]


def test_only_some_bodies():
    tree = robot_named("dill:3").tree
    fields, _ = run(Recursion((Sweep("inward", count_bodies),), world_at_rest), tree, {"q": np.zeros(8)}, only=[0, 1])
    assert fields[0]["size"] == 2.0
    assert all("size" not in fields[i] for i in range(2, 8))


def test_joint_quantities_of_followers_add_to_the_leader():
    robot = robot_named("followers", "reduce")
    tree = robot.tree

    def ones(body, joint, own, parent):
        return Step(joint={"x": np.ones(len(joint["v"]))})

    q, v, _ = state(robot, 0)
    _, joints = run(Recursion((Sweep("outward", ones),), world_at_rest), tree, {"q": q, "v": v})
    leader = dof_rows(tree, robot.joint_index("j0"))
    assert joints["x"][leader] == [3.0]
    assert joints["x"].sum() == 6.0 + 5.0
    assert dof_rows(tree, robot.joint_index("j2")) == leader == dof_rows(tree, robot.joint_index("j4"))


def test_positions_of_followers():
    robot = robot_named("followers", "reduce")
    seen = []

    def note(body, joint, own, parent):
        seen.append(joint["q"])
        return Step()

    q = np.array(robot.neutral)
    q[robot.tree.q_index[robot.joint_index("j0")]] = 0.5
    run(Recursion((Sweep("outward", note),), world_at_rest), robot.tree, {"q": q})
    assert seen[robot.joint_index("j2")][0] == 0.3 - 1.7 * 0.5


def test_symbols_pass_through():
    tree = robot_named("coil:3").tree
    Q = ops.symbols("q", 3)

    def total(body, joint, own, parent):
        return Step(own={"sum": parent["sum"] + joint["q"]})

    fields, _ = run(Recursion((Sweep("outward", total),), lambda gravity: {"sum": np.zeros(1)}), tree, {"q": Q})
    assert ops.function("f", [Q], [fields[2]["sum"]])([1.0, 2.0, 4.0]) == 7.0
