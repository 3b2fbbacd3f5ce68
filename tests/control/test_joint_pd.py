import numpy as np
import pytest
from numpy.testing import assert_allclose

from surefoot.control import JointPd
from surefoot.errors import NotSupportedError
from surefoot.motion import Controller, State
from surefoot.robot import Drive
from surefoot.robot.load import load


def test_is_a_controller_and_pulls_to_its_posture():
    robot = load("panda")
    controller = JointPd(robot)
    assert isinstance(controller, Controller)
    command = controller.command(0.0, State.of(robot))
    rows = [robot.tree.q_index[robot.joint_index(d.joint)] for d in robot.drives]
    assert_allclose(command.position, robot.home[rows])
    assert (command.kp > 0.0).all()
    assert_allclose(command.kd, 2.0 * 0.7 * command.kp / 12.0)


def test_gains_can_be_given():
    robot = load("panda")
    command = JointPd(robot, stiffness=100.0, damping=np.arange(robot.nu)).command(0.0, State.of(robot))
    assert_allclose(command.kp, 100.0)
    assert_allclose(command.kd, np.arange(robot.nu))


def test_feedforward_stays_inside_the_limits():
    robot = load("panda")
    weak = robot.replace(drives=tuple(Drive(d.joint, torque_limit=0.5) for d in robot.drives))
    torque = JointPd(weak).command(0.0, State.of(weak)).torque
    assert np.abs(torque).max() == 0.5
    assert any("panda_joint2" in note for note in JointPd(weak).notes)
    assert JointPd(robot).notes == ()


def test_continuous_joints_have_angles():
    robot = load("double_pendulum_continuous")
    q = robot.q_of({robot.joint_names[0]: 0.7, robot.joint_names[1]: -2.0})
    command = JointPd(robot, q_ref=q).command(0.0, State.of(robot))
    assert_allclose(command.position, [0.7, -2.0])


def test_floating_robot_without_contacts_is_refused():
    with pytest.raises(NotSupportedError, match="contact"):
        JointPd(load("hector"))


def test_planar_robot_that_could_fall_needs_contacts():
    with pytest.raises(NotSupportedError, match="contact"):
        JointPd(load("biped").replace(contacts={}))
    JointPd(load("talos", base="planar").replace(contacts={}))  # it slides on a level plane
