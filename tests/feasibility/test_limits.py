from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import surefoot as sf
from surefoot.feasibility.case import Case, Tolerances
from surefoot.feasibility.limits import Motors, check_limits, motor_series, power_bounds, torque_bounds
from surefoot.motion import Trajectory, World
from surefoot.robot import Drive, Joint, Link
from tests.feasibility.good_motions import loaded
from tests.feasibility.stages import judge, stages
from tests.feasibility.standing_motions import failing_times, failures, named, squat_case


def arm_case(tau=None, **tolerances):
    """A Panda that moves each joint a little."""
    one = loaded("panda")
    time = np.arange(401) * 0.005
    swing = 0.1 * np.sin(np.pi * time / 2.0) ** 4
    q = np.tile(one.home, (401, 1))
    q[:, :7] += swing[:, None]
    return Case(one, World(), Trajectory.of(one, time, q, tau=tau), Tolerances(**tolerances))


@pytest.mark.parametrize("name", ["g1", "talos", "anymal"])
def test_a_squat_keeps_all_limits(name):
    assert failures(judge(check_limits, squat_case(name, rate=100.0))) == set()


def test_an_arm_keeps_all_limits():
    assert failures(judge(check_limits, arm_case())) == set()


def test_a_position_beyond_its_limit_is_found_where_it_is():
    case = arm_case()
    q = np.array(case.q)
    q[100:120, 3] = 0.05  # upper limit: −0.0698
    series = judge(check_limits, Case(case.given_robot, case.world, replace(case.trajectory, q=q)))
    assert {part for item, part in failures(series) if item == "joint_position"} == {"panda_joint4"}
    assert failing_times(named(series, "joint_position"), "joint_position") == pytest.approx((0.5, 0.595))


def test_velocities_are_judged_as_given():
    case = arm_case()
    v = np.array(stages(case).rates.v)
    v[200, 5] = 3.0  # limit 2.61
    series = judge(check_limits, Case(case.given_robot, case.world, replace(case.trajectory, v=v)))
    assert ("joint_velocity", "panda_joint6") in failures(series)


def test_accelerations_have_a_limit_only_if_one_is_set():
    free = named(judge(check_limits, arm_case()), "joint_acceleration")[0]
    assert np.isinf(free.upper).all()
    assert "no limit" in free.note
    assert failures(named(judge(check_limits, arm_case(acceleration_limit=0.01)), "joint_acceleration"))


def test_a_torque_spike_is_found_at_its_joint_and_time():
    case = squat_case("g1", rate=100.0)
    tau = np.array(stages(case).efforts.tau)
    tau[150:153, 7] = 150.0
    spiked = Case(case.given_robot, case.world, replace(case.trajectory, tau=tau))
    series = named(judge(check_limits, spiked), "joint_torque")
    joint = case.given_robot.drives[7].joint
    assert failures(series) == {("joint_torque", joint)}
    assert failing_times(series, "joint_torque") == pytest.approx((1.5, 1.52))
    assert series[0].bodies[7] == case.velocity_bodies[case.robot.driven[7]]


def test_unit_vectors_have_no_limits_of_position():
    links = [
        Link("base"),
        Link("wheel", "base", Joint("wheel", "continuous", axis=(0.0, 1.0, 0.0)), mass=1.0, com=(0.1, 0.0, 0.0)),
        Link("slide", "base", Joint("slide", "prismatic", lower=-0.1, upper=0.1), mass=1.0),
    ]
    one = sf.Robot.from_tree("cart", links, base="floating")
    time = np.arange(11) * 0.01
    q = np.tile(one.neutral, (11, 1))
    q[:, one.tree.q_index[one.joint_index("slide")]] = 0.2
    position = judge(check_limits, Case(one, World(), Trajectory.of(one, time, q)))[0]
    assert position.parts == ("slide",)
    assert position.unit == "m"
    assert position.failed.all()


def test_findings_have_the_unit_of_their_joint() -> None:
    """Arm and fingers of one robot: an angle in rad, a way in m."""
    robot = loaded("panda")
    q = np.tile(robot.home, (20, 1))
    q[:, [3, 7]] = robot.limits.upper[[3, 7]] + 0.1
    motion = Trajectory.of(robot, 0.01 * np.arange(20), q)
    findings = sf.audit(motion, robot, replay=False, collisions=False).findings
    units = {one.where: one.unit for top in findings for one in (top, *top.covers) if one.item == "joint_position"}
    assert units[robot.joint_names[3]] == "rad"
    assert units[robot.joint_names[7]] == "m"


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
    series = judge(motor_series, wheel_case(SERVO, torque=8.0, speed=6.0))
    assert failures(series) == {("motor_torque_speed", "hinge"), ("motor_power", "hinge")}
    assert failing_times(series, "motor_torque_speed") == pytest.approx((0.4, 0.59))


def test_braking_has_the_full_torque():
    assert failures(judge(motor_series, wheel_case(SERVO, torque=-8.0, speed=6.0))) == set()
    assert failures(judge(motor_series, wheel_case(SERVO, torque=-8.0, speed=-6.0))) != set()


def test_what_is_not_known_is_not_judged():
    series = judge(motor_series, wheel_case(Drive("hinge", torque_limit=10.0), torque=8.0, speed=100.0))
    assert [one.parts for one in series] == [(), ()]
    assert all(one.note for one in series)
