from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import surefoot as sf
from surefoot.feasibility.case import Case
from surefoot.feasibility.limits_motors import Motors, motor_series, power_bounds, torque_bounds
from surefoot.motion import Trajectory, World
from surefoot.robot import Drive, Joint, Link
from tests.feasibility.standing_motions import failing_times, failures

SERVO = Drive("hinge", torque_limit=10.0, speed_limit=8.0, corner_speed=3.0)
DC = Drive("hinge", gear_ratio=50.0, torque_constant=0.05, resistance=2.0, voltage=24.0, torque_limit=20.0)


@given(
    speed=st.floats(-20.0, 20.0),
    torque=st.floats(0.1, 100.0),
    speeds=st.sampled_from([(np.inf, np.inf), (8.0, np.inf), (8.0, 3.0), (8.0, 0.0), (8.0, 8.0), (5.0, 9.0)]),
)
def test_torque_bounds_are_those_of_the_drive(speed, torque, speeds):
    top, corner = speeds
    drive = Drive("hinge", torque_limit=torque, speed_limit=top, corner_speed=corner)
    lower, upper = torque_bounds(Motors.of([drive]), np.array([[speed]]))
    assert upper[0, 0] == pytest.approx(drive.torque_at_speed(speed))
    assert lower[0, 0] == pytest.approx(-drive.torque_at_speed(-speed))


@given(speed=st.floats(-12.0, 12.0))
def test_a_dc_motor_gets_no_more_than_its_supply(speed):
    """At the bounds the voltage R i + N k v is that of the supply, or the current that of the torque limit."""
    lower, upper = (bound[0, 0] for bound in torque_bounds(Motors.of([DC]), np.array([[speed]])))
    gain = DC.gear_ratio * DC.torque_constant
    for torque, sign in ((upper, 1.0), (lower, -1.0)):
        voltage = sign * (DC.resistance * torque / gain + gain * speed)
        assert voltage <= DC.voltage + 1e-9 or torque == 0.0
        assert voltage == pytest.approx(DC.voltage) or abs(torque) in (0.0, DC.torque_limit)


def test_power_is_the_largest_below_the_line():
    speed = np.linspace(0.0, 40.0, 20001)[:, None]
    for drive in (SERVO, replace(SERVO, corner_speed=6.0), replace(DC, torque_limit=1e9)):
        _, upper = torque_bounds(Motors.of([drive]), speed)
        assert power_bounds(Motors.of([drive]))[1][0] == pytest.approx((upper * speed).max(), rel=1e-3)
    assert power_bounds(Motors.of([Drive("hinge", torque_limit=5.0, speed_limit=4.0)]))[1][0] == 20.0
    assert np.isinf(power_bounds(Motors.of([Drive("hinge", torque_limit=5.0)]))[1][0])


def wheel_case(drive, torque, speed):
    """A wheel with constant torque and speed."""
    wheel = Link("wheel", None, Joint("hinge", "revolute", axis=(0.0, 0.0, 1.0)), mass=1.0, inertia=np.eye(3))
    one = sf.Robot.from_tree("wheel", [wheel], drives=(drive,))
    time = np.arange(101) * 0.01
    v = np.full((101, 1), 1.0)
    v[40:60] = speed
    tau = np.full((101, 1), torque)
    return Case(one, World(), Trajectory.of(one, time, np.zeros((101, 1)), v, a=np.zeros((101, 1)), tau=tau))


def test_a_motor_that_is_too_fast_for_its_torque_is_found():
    series = motor_series(wheel_case(SERVO, torque=8.0, speed=6.0))
    assert failures(series) == {("motor_torque_speed", "hinge"), ("motor_power", "hinge")}
    assert failing_times(series, "motor_torque_speed") == pytest.approx((0.4, 0.59))


def test_braking_has_the_full_torque():
    assert failures(motor_series(wheel_case(SERVO, torque=-8.0, speed=6.0))) == set()
    assert failures(motor_series(wheel_case(SERVO, torque=-8.0, speed=-6.0))) != set()


def test_what_is_not_known_is_not_judged():
    series = motor_series(wheel_case(Drive("hinge", torque_limit=10.0), torque=8.0, speed=100.0))
    assert [one.parts for one in series] == [(), ()]
    assert all(one.note for one in series)
