import numpy as np
import pytest

from surefoot import ops
from surefoot.kinematics import Frame, body_jacobians, frame_jacobian
from tests.kinematics.examples import assert_same, robot_named, state


@pytest.mark.parametrize(
    ("name", "mimic"), [("every joint", "coupling"), ("g1", "coupling"), ("followers", "reduce"), ("pr2", "reduce")]
)
def test_same_as_local_frame_jacobians(name, mimic):
    robot = robot_named(name, mimic)
    q, _, _ = state(robot, 1)
    for i, jacobian in enumerate(body_jacobians(robot.tree, q)):
        assert_same(jacobian.dense(robot.nv), frame_jacobian(robot.tree, Frame(i), q, "local"))


def test_columns_are_those_of_the_ancestors():
    tree = robot_named("dill:4").tree
    for i, jacobian in enumerate(body_jacobians(tree, ops.symbols("q", tree.n))):
        assert jacobian.columns.tolist() == sorted([i, *tree.ancestors(i)])
        assert jacobian.block.shape == (6, len(jacobian.columns))


def test_tree_of_the_figure():
    """Four bodies, 1 to 4, the third on the first: its Jacobian has columns 1 and 3 (Buschmann 2014, Fig. 2.6)."""
    from surefoot.robot import Joint, Link, Robot

    parents = {"b1": None, "b2": "b1", "b3": "b1", "b4": "b3"}
    links = [Link(name, parent, Joint(f"j{name}", "revolute"), mass=1.0) for name, parent in parents.items()]
    jacobians = body_jacobians(Robot.from_tree("figure", links, drives=()).tree, np.zeros(4))
    assert (jacobians[2].columns + 1).tolist() == [1, 3]
