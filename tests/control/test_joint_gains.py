import numpy as np
import pinocchio as pin
from numpy.testing import assert_allclose

from surefoot.control import moved_inertia
from surefoot.robot import Drive, Joint, Link, Robot
from surefoot.robot.load import load


def test_hanging_limb_is_the_diagonal_of_the_mass_matrix():
    robot = load("panda")
    M = pin.crba(robot.model, robot.model.createData(), np.array(robot.home))
    assert_allclose(moved_inertia(robot, robot.home), np.diag(M)[robot.driven], rtol=1e-10)


def test_standing_ankle_moves_the_robot_above_it():
    robot = load("talos")
    inertia = moved_inertia(robot, robot.home, tuple(robot.contacts))
    name = "leg_left_6_joint"
    ankle = inertia[[d.joint for d in robot.drives].index(name)]
    T = robot.placements(robot.home)[name]
    com = pin.centerOfMass(robot.model, robot.model.createData(), np.array(robot.home))
    arm = com - T[:3, 3]
    axis = T[:3, :3] @ robot.tree.axes[robot.joint_index(name)]
    least = 0.5 * robot.mass * np.sum(np.cross(axis, arm) ** 2)
    assert least < ankle < 2.0 * least


def test_prismatic_joint_moves_mass_and_armature_counts():
    joint = Joint("j", "prismatic")
    links = [Link("a"), Link("b", "a", joint, mass=3.0, inertia=np.eye(3))]
    robot = Robot.from_tree("r", links, drives=(Drive("j", gear_ratio=10.0, rotor_inertia=0.02),))
    assert_allclose(moved_inertia(robot, robot.home), 5.0)
