"""One robot between its engine, sensors, estimator and controller."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from surefoot.control import JointPd
from surefoot.errors import NotSupportedError, UnknownNameError
from surefoot.estimation import BaseEstimator
from surefoot.motion import Command, State, World
from surefoot.sim import ControlError, Push, SensorSettings, Settings, Simulation, simulate

from .drive_examples import GEAR, MOTOR
from .examples import block, pendulum
from .native_examples import robot_named

BOTH = pytest.mark.parametrize("engine", ["mujoco", "native"])


class Recording:
    """A controller, and an estimator that knows nothing but encoders, that write down what they see."""

    def __init__(self) -> None:
        self.seen, self.told = [], []

    def command(self, t, state):
        self.seen.append((t, state.t, float(state.q[0])))
        return Command(torque=np.zeros(1))

    def reset(self, state):
        self.first = state

    def update(self, t, measurements):
        self.told.append((t, float(measurements["encoder.position"][0])))
        return State(t, measurements["encoder.position"], measurements["encoder.velocity"])


@BOTH
def test_readings_and_estimates_of_a_row_are_of_its_time(engine):
    """Ideal encoders say what the same row of the log has as truth, and the estimate is made of them."""
    one, start = Recording(), State.of(pendulum(), [0.7])
    log = simulate(
        pendulum(), one, None, 0.2, engine=engine, control_dt=0.01, initial=start, sensors=SensorSettings.ideal(),
        estimators=one,
    )  # fmt: skip
    assert np.isnan(log["sensor.encoder.position"][0]).all()
    np.testing.assert_array_equal(log["sensor.encoder.position"][1:], log["q"][1:])
    np.testing.assert_array_equal(log["estimate.q"], log["q"])
    np.testing.assert_allclose([t for t, _ in one.told], log.time[1:])
    np.testing.assert_allclose([row[0] for row in one.seen], log.time[:-1])
    np.testing.assert_allclose([row[2] for row in one.seen], log["q"][:-1, 0])
    assert one.first.q[0] == 0.7
    assert np.ptp(log["q"]) > 0.1


def test_the_controller_sees_the_estimate_and_not_the_truth():
    class Wrong(Recording):
        def update(self, t, measurements):
            return State(t, np.array([-1.0]), np.zeros(1))

    one = Wrong()
    simulate(pendulum(), one, None, 0.05, sensors=SensorSettings.ideal(), estimators=one)
    assert one.seen[0][2] == 0.0  # the first state is told
    assert {row[2] for row in one.seen[1:]} == {-1.0}


def test_an_estimator_that_fails_is_named_and_the_log_is_kept():
    class Failing(Recording):
        def update(self, t, measurements):
            if t > 0.02:
                raise RuntimeError("no convergence")
            return super().update(t, measurements)

    one = Failing()
    with pytest.raises(ControlError, match="RuntimeError: no convergence") as caught:
        simulate(pendulum(), one, None, 0.1, sensors=SensorSettings.ideal(), estimators=one)
    assert caught.value.log.time[-1] == pytest.approx(0.02)


def test_an_estimator_needs_sensors():
    robot = robot_named("solo12")
    with pytest.raises(NotSupportedError, match="needs sensors"):
        simulate(robot, JointPd(robot), World(), 0.1, estimators=BaseEstimator(robot))


def test_sensors_that_do_not_exist():
    seeing = Simulation(block(), Recording(), World(), Settings(0.1), sensors=SensorSettings())
    participant = seeing.participants[0]
    participant.require_sensor("contact.*.wrench")
    with pytest.raises(UnknownNameError, match=r"imu\.gyro"):
        participant.require_sensor("imu.giro")
    blind = Simulation(block(), Recording(), World(), Settings(0.1)).participants[0]
    with pytest.raises(NotSupportedError, match="has no sensors"):
        blind.require_sensor("imu.gyro")


@pytest.mark.parametrize(
    ("drives", "shown"),
    [
        ("torque", set()),
        ("torque_speed", set()),
        ("dc_motor", {"drive.current", "drive.voltage", "drive.electrical_power"}),
        ("elastic", {"drive.motor_angle"}),
        ("servo", {"drive.servo_reference"}),
    ],
)
def test_every_column_that_is_announced_is_filled(drives, shown):
    kind = {"dc_motor": MOTOR, "elastic": GEAR}.get(drives, {})
    described = robot_named("hexapod")
    robot = described.replace(drives=tuple(replace(drive, **kind) for drive in described.drives))
    simulation = Simulation(
        robot, JointPd(robot), World(), Settings(0.02, drives=drives), sensors=SensorSettings(),
        estimators=BaseEstimator(robot),
    )  # fmt: skip
    log = simulation.run()
    participant = simulation.participants[0]
    channels = participant.channels(simulation.engine, np.zeros(3))
    for channel in channels:
        assert np.shape(channel.read()) == (() if channel.size is None else (channel.size,)), channel.name
    names = {channel.name for channel in channels}
    assert names < set(log.columns)
    assert {name for name in names if name.startswith("drive.")} == shown
    for name in names:
        assert np.isfinite(log[name][-1]).all() or name.startswith("sensor.") or name == "tracking.error", name


def test_the_largest_share_of_a_limit_between_two_rows_counts():
    class Kick:
        def command(self, t, state):
            return Command(torque=np.array([0.0]), position=np.zeros(1), kp=np.array([400.0]))

    robot = pendulum()
    limit = 50.0
    strong = robot.replace(drives=tuple(type(d)(d.joint, torque_limit=limit) for d in robot.drives))
    fine = simulate(strong, Kick(), None, 0.2, dt=0.001, control_dt=0.001, initial=State.of(robot, [0.1]))
    coarse = simulate(strong, Kick(), None, 0.2, dt=0.001, control_dt=0.1, initial=State.of(robot, [0.1]))
    each = np.abs(fine["tau"][1:, 0]) / limit
    np.testing.assert_allclose(coarse["torque.ratio"][1:], [each[:100].max(), each[100:].max()], rtol=1e-6)


def test_robots_of_the_same_name_are_told_apart():
    away = State.of(block(), [2.0, 0.0, 0.1, 0.0, 0.0, 0.0, 1.0])

    class Off:
        def command(self, t, state):
            return Command(torque=np.zeros(0))

    push = Push(0.1, 0.3, "box", np.array([60.0, 0.0, 0.0, 0.0, 0.0, 0.0]), robot=1)
    log = simulate([block(), block()], [Off(), Off()], World(), 0.4, initial=[State.of(block()), away], events=[push])
    assert {"block-0/q", "block-1/q"} <= set(log.columns)
    assert {item["robot"] for item in log.metadata["incidents"]} == {"block-1"}
