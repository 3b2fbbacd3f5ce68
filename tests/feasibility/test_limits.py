from dataclasses import replace

import numpy as np
import pytest

import surefoot as sf
from surefoot.feasibility.case import Case
from surefoot.feasibility.limits import check_limits
from surefoot.feasibility.tolerances import Tolerances
from surefoot.motion import Trajectory, World
from surefoot.robot import Joint, Link
from tests.feasibility.good_motions import loaded
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
    assert failures(check_limits(squat_case(name, rate=100.0))) == set()


def test_an_arm_keeps_all_limits():
    assert failures(check_limits(arm_case())) == set()


def test_a_position_beyond_its_limit_is_found_where_it_is():
    case = arm_case()
    q = np.array(case.q)
    q[100:120, 3] = 0.05  # upper limit: −0.0698
    series = check_limits(Case(case.given_robot, case.world, replace(case.trajectory, q=q)))
    assert {part for item, part in failures(series) if item == "joint_position"} == {"panda_joint4"}
    assert failing_times(named(series, "joint_position"), "joint_position") == pytest.approx((0.5, 0.595))


def test_velocities_are_judged_as_given():
    case = arm_case()
    v = np.array(case.v)
    v[200, 5] = 3.0  # limit 2.61
    series = check_limits(Case(case.given_robot, case.world, replace(case.trajectory, v=v)))
    assert ("joint_velocity", "panda_joint6") in failures(series)


def test_accelerations_have_a_limit_only_if_one_is_set():
    free = named(check_limits(arm_case()), "joint_acceleration")[0]
    assert np.isinf(free.upper).all()
    assert "no limit" in free.note
    assert failures(named(check_limits(arm_case(acceleration_limit=0.01)), "joint_acceleration"))


def test_a_torque_spike_is_found_at_its_joint_and_time():
    case = squat_case("g1", rate=100.0)
    tau = np.array(case.efforts.tau)
    tau[150:153, 7] = 150.0
    spiked = Case(case.given_robot, case.world, replace(case.trajectory, tau=tau))
    series = named(check_limits(spiked), "joint_torque")
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
    position = check_limits(Case(one, World(), Trajectory.of(one, time, q)))[0]
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
