"""Positions whose springs make the torques of a solution; admittance where the springs are not as believed."""

import numpy as np
import pinocchio as pin
import pytest

import surefoot as sf
from surefoot.control.balance import BalanceController, BalanceSettings, Squat
from surefoot.errors import ScenarioError
from surefoot.motion import Command
from surefoot.scenario import run_scenario
from surefoot.sim import SensorSettings


def balanced(robot, output, moves=()):
    return BalanceController(robot, moves, BalanceSettings(output=output))


class OtherSprings:
    """Drives whose springs differ by a factor from what the controller believes."""

    def __init__(self, control, factor):
        self.control, self.factor = control, factor
        self.observe, self.channels = control.observe, control.channels

    def command(self, t, state):
        c = self.control.command(t, state)
        return Command(position=c.position, kp=self.factor * c.kp, kd=self.factor * c.kd)


def test_the_springs_make_the_torques_of_the_solution():
    robot = sf.load("small-humanoid")
    state = sf.State.of(robot)
    torque = balanced(robot, "torque").command(0.0, state).torque
    told = balanced(robot, "position").command(0.0, state)
    assert told.torque is None
    q = np.array([state.q[robot.tree.q_index[robot.joint_index(drive.joint)]] for drive in robot.drives])
    np.testing.assert_allclose(told.kp * (told.position - q), torque, atol=1e-9)


def test_torques_of_wrenches_are_those_of_the_contact_jacobian():
    robot = sf.load("small-humanoid")
    control = balanced(robot, "torque")
    control.command(0.0, sf.State.of(robot))
    name, surface = next(iter(robot.contacts.items()))
    model, data, q = robot.model, robot.model.createData(), np.array(robot.home)
    pin.computeJointJacobians(model, data, q)
    pin.updateFramePlacements(model, data)
    frame = data.oMf[robot.frame_id(surface.frame)]
    at = pin.SE3(surface.placement)
    J = at.toActionMatrixInverse() @ pin.getFrameJacobian(model, data, robot.frame_id(surface.frame), pin.LOCAL)
    w = np.array([1.0, -2.0, 30.0, 0.1, 0.2, -0.3])
    target = control.body.problem.contact(name).target[:9].reshape(3, 3)
    np.testing.assert_allclose(target, frame.rotation @ at.rotation, atol=1e-6)  # flat, so that the axes agree
    np.testing.assert_allclose(control.body.problem.torques_of({name: w}), -(J.T @ w)[robot.driven], atol=1e-5)


def test_a_hexapod_squats_on_hobby_servos():
    robot = sf.load("hexapod")
    control = balanced(robot, "position", [Squat(0.015, start=0.0, duration=0.6, ramp=0.3, frequency=0.0)])
    log = sf.simulate(robot, control, sf.World(), 0.7, drives="servo")
    off = np.linalg.norm(log["control.com"] - log["control.com_reference"], axis=1)
    assert off.max() < 3e-3
    assert log["com.height"][0] - log["com.height"].min() > 0.01
    assert log["control.fallbacks"][-1] == 0.0


def force_error(robot, output, factor):
    """Root mean square of what measured normal forces miss at the end, over the weight."""
    control = balanced(robot, output)
    log = sf.simulate(robot, OtherSprings(control, factor), sf.World(), 2.0, sensors=SensorSettings.ideal())
    assert log.metadata["fall_time_s"] is None
    wished = control.body.problem.solve(np.array(log["q"][-1]), np.zeros(robot.nv)).wrenches
    last = log.time > log.time[-1] - 0.1
    missing = [wished[name][2] - log[f"contact.{name}.wrench"][last, 2].mean() for name in robot.contacts]
    return np.sqrt(np.mean(np.square(missing))) / control.body.weight


@pytest.mark.slow
def test_admittance_finds_the_forces_with_springs_that_are_not_as_believed():
    """Every other spring is half as stiff."""
    robot = sf.load("hexapod")
    factor = np.where(np.arange(robot.nu) % 2, 0.5, 1.0)
    blind, feeling = (force_error(robot, output, factor) for output in ("position", "admittance"))
    assert feeling < 0.3 * blind


def test_admittance_without_force_sensors_is_refused(tmp_path):
    with pytest.raises(ScenarioError, match="force sensors"):
        run_scenario(
            "stand",
            "hexapod",
            tmp_path / "r",
            0,
            ['balance.output="admittance"', "sensors.kind=none", "estimator.kind=none"],
        )


@pytest.mark.slow
@pytest.mark.parametrize("output", ["position", "admittance"])
@pytest.mark.parametrize("name", ["stand", "squat"])
def test_a_biped_with_position_drives_stands_and_squats_on_estimates(tmp_path, name, output):
    result = run_scenario(name, "g1", tmp_path / "r", 0, ["audit.kind=none", f'balance.output="{output}"'])
    assert result.passed, result.metrics["verdict"]
