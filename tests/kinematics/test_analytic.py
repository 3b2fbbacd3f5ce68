import numpy as np
import pytest

from surefoot.errors import UnknownNameError
from surefoot.kinematics import Frame, analytic_jacobian, frame_jacobian, frame_placement
from surefoot.robot import Joint, Link, Robot
from surefoot.spatial import SingularParametersError, euler
from tests.kinematics.examples import assert_same, moved, robot_named, some_frame, state


@pytest.mark.parametrize("convention", euler.SEQUENCES)
def test_rates_of_position_and_angles(convention):
    robot, step = robot_named("every joint"), 1e-6
    q, v, _ = state(robot, 1)
    frame = some_frame(robot, 2)

    def task(t):
        T = frame_placement(robot.tree, frame, moved(robot, q, v, t))
        return np.concatenate([T[:3, 3], euler.from_matrix(convention, T[:3, :3])])

    J = analytic_jacobian(robot.tree, frame, q, convention)
    assert_same(J @ v, (task(step) - task(-step)) / (2 * step), 1e-7)
    assert_same(J[:3], frame_jacobian(robot.tree, frame, q)[:3])


def test_near_the_singularity():
    joint = Joint("j", "revolute", axis=(0.0, 1.0, 0.0))
    tree = Robot.from_tree("pitch", [Link("a", None, joint, mass=1.0)], drives=()).tree
    assert_same(analytic_jacobian(tree, Frame(0), np.array([1.5]))[3:, 0], [0.0, 1.0, 0.0])
    with pytest.raises(SingularParametersError, match="zyx"):
        analytic_jacobian(tree, Frame(0), np.array([0.5 * np.pi]))


def test_wrong_convention():
    robot = robot_named("panda")
    with pytest.raises(UnknownNameError, match="axis sequence"):
        analytic_jacobian(robot.tree, Frame(0), np.array(robot.home), "zzy")
