from dataclasses import replace

import numpy as np
import pinocchio as pin
import pytest
from numpy.testing import assert_allclose

from surefoot.control import JointPd
from surefoot.errors import NotSupportedError
from surefoot.motion import Controller, GroundPlane, State, World
from surefoot.robot import Drive
from surefoot.robot.loading import load
from surefoot.sim import Push, simulate


def test_is_a_controller_and_pulls_to_its_posture():
    robot = load("panda")
    controller = JointPd(robot)
    assert isinstance(controller, Controller)
    command = controller.command(0.0, State.of(robot))
    rows = [robot.tree.q_index[robot.joint_index(d.joint)] for d in robot.drives]
    assert_allclose(command.position, robot.home[rows])
    assert (command.kp > 0.0).all()
    assert_allclose(command.kd, 2.0 * 0.7 * command.kp / 12.0)


def test_gains_of_servos_go_before_those_of_the_inertia():
    robot = load("panda")
    drives = (replace(robot.drives[0], servo_stiffness=321.0, servo_damping=4.5), *robot.drives[1:])
    own, other = JointPd(robot), JointPd(robot.replace(drives=drives))
    assert (other.kp[0], other.kd[0]) == (321.0, 4.5)
    assert_allclose(other.kp[1:], own.kp[1:])


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


@pytest.mark.parametrize("direction", [(1.0, 0.0), (0.0, -1.0)])
def test_a_push_of_half_the_capture_impulse_is_withstood(direction):
    """Sideways, `laikago` needs the gains of the whole robot that sways: 0.5 M ω s, the edge s away."""
    robot = load("laikago")
    controller = JointPd(robot)
    q = np.array(robot.home)
    com = pin.centerOfMass(robot.model, robot.model.createData(), q)
    feet = np.vstack(list(robot.contact_corners(q).values()))[:, :2]
    reach = float(np.max((feet - com[:2]) @ direction))
    force = 0.5 * robot.mass * np.sqrt(9.81 / com[2]) * reach / 0.1 * np.array([*direction, 0.0])
    push = Push(0.2, 0.1, robot.tree.body_names[0], np.concatenate([force, np.zeros(3)]), at="com_height")
    log = simulate(robot, controller, World(ground=(GroundPlane(),)), 1.2, events=[push])
    assert log.metadata["fall_time_s"] is None
    assert log["base.height"].min() >= 0.97 * log["base.height"][0]
    assert log["base.tilt"].max() <= np.deg2rad(5.0)
    side = log["q"][:, :2] @ direction
    assert 0.005 < side.max() < 0.5 * reach
    assert side[-1] < 0.5 * side.max()
