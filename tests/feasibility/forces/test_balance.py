from dataclasses import replace

import numpy as np
import pinocchio as pin
import pytest

import surefoot as sf
from surefoot.control import JointPd
from surefoot.feasibility.case import Case
from surefoot.feasibility.efforts.means import moving_windows
from surefoot.feasibility.forces.balance import check_balance
from surefoot.feasibility.forces.joints import friction_counts
from surefoot.feasibility.forces.windows import unseen_steps
from surefoot.motion import Trajectory, World
from surefoot.robot import Joint, Link
from surefoot.sim import Push, Settings, Simulation
from tests.feasibility.good_motions import loaded
from tests.feasibility.stages import judge, stages
from tests.feasibility.standing_motions import failing_times, failures, landing_log, named, of_log, squat_case


def whole(case, **changes):
    """The motion with the torques and wrenches that explain it."""
    wrenches = {name: np.array(stages(case).efforts.wrenches[:, k]) for k, name in enumerate(case.contact_names)}
    given = {"wrenches": wrenches, "tau": np.array(stages(case).efforts.tau)} | changes
    return Case(case.given_robot, case.world, replace(case.trajectory, **given))


@pytest.mark.parametrize("name", ["g1", "talos", "anymal"])
def test_torques_and_wrenches_of_inverse_dynamics_explain_a_motion(name):
    series = judge(check_balance, whole(squat_case(name, rate=100.0)))
    assert failures(series) == set()
    assert max(np.nanmax(one.value) for one in series) < 0.02
    assert {one.item for one in series if one.parts} == {"momentum_residual", "energy_residual"}


def test_a_force_that_nothing_exerts_is_found():
    case = squat_case("g1", rate=100.0)
    wrenches = {name: np.array(stages(case).efforts.wrenches[:, k]) for k, name in enumerate(case.contact_names)}
    for wrench in wrenches.values():
        wrench[200:240, 2] *= 1.3
    series = judge(check_balance, whole(case, wrenches=wrenches))
    assert ("momentum_residual", "net force") in failures(series)
    start, end = failing_times(series[:1], "momentum_residual")
    assert (start, end) == pytest.approx((2.0, 2.39), abs=0.03)
    assert np.nanmax(series[0].value[:, 0]) == pytest.approx(0.3, abs=0.02)


def test_a_torque_that_does_not_belong_to_the_motion_is_found_at_its_joint():
    case = squat_case("g1", rate=100.0)
    tau = np.array(stages(case).efforts.tau)
    tau[200:240, 3] += 20.0
    found = failures(judge(check_balance, whole(case, tau=tau)))
    assert ("momentum_residual", case.given_robot.drives[3].joint) in found
    assert ("momentum_residual", "net force") not in found


def test_torques_of_another_motion_do_not_balance_its_energy():
    case = squat_case("g1", rate=100.0)
    assert ("energy_residual", "whole robot") in failures(
        judge(check_balance, whole(case, tau=0.2 * stages(case).efforts.tau))
    )


@pytest.mark.parametrize(
    ("engine", "control_dt"), [("mujoco", 0.001), ("native", 0.001), ("mujoco", 0.004), ("native", 0.01)]
)
def test_a_log_of_an_engine_balances_also_while_feet_land(engine, control_dt):
    motion = landing_log("hexapod", engine=engine, control_dt=control_dt)
    series = judge(check_balance, Case(loaded("hexapod"), World(), motion))
    assert failures(series) == set()
    if control_dt == 0.001:
        assert "step before" in series[0].note
        assert max(np.nanmax(found.value) for found in series) < 0.025


def test_a_push_that_is_told_balances_and_one_that_is_not_is_found():
    one = loaded("hexapod")
    push = Push(0.1, 0.1, one.tree.body_names[0], np.array([2.0, 0.0, 0.0, 0.0, 0.0, 0.0]))
    simulation = Simulation(one, JointPd(one), World(), Settings(0.3, 0.001, 0.001), events=[push])
    log = simulation.run()
    silent = judge(check_balance, Case(one, World(), of_log(one, log)))
    told = judge(check_balance, Case(one, World(), of_log(one, log, **{"push.force": log["push.force"]})))
    assert ("momentum_residual", "net force") in failures(silent)
    assert failing_times(silent[:1], "momentum_residual") == pytest.approx((0.1, 0.2), abs=0.02)
    assert failures(told) == set()


def test_a_joint_that_nothing_drives_must_move_by_itself():
    links = [
        Link("upper", None, Joint("driven", "revolute", axis=(0.0, 1.0, 0.0)), mass=1.0, com=(0.0, 0.0, -0.3)),
        Link("lower", "upper", Joint("passive", "revolute", axis=(0.0, 1.0, 0.0)), mass=1.0, com=(0.0, 0.0, -0.3)),
    ]
    one = sf.Robot.from_tree("double", links, drives=(sf.Drive("driven"),))
    time = np.arange(101) * 0.01
    held = np.zeros((101, 2))
    hanging = Trajectory.of(one, time, held, held, a=held)
    assert failures(judge(check_balance, Case(one, World(), hanging))) == set()
    raised = Trajectory.of(one, time, np.tile([0.0, 1.5], (101, 1)), held, a=held)
    assert failures(judge(check_balance, Case(one, World(), raised))) == {("momentum_residual", "passive")}


def test_dry_friction_takes_what_it_can():
    def arm(friction):
        joint = Joint("hinge", "revolute", axis=(0.0, 1.0, 0.0), friction=friction, effort=10.0)
        return sf.Robot.from_tree("arm", [Link("bar", None, joint, mass=1.0, com=(0.2, 0.0, 0.0))])

    time, held = np.arange(51) * 0.01, np.zeros((51, 1))
    for friction, fails in ((2.5, False), (1.0, True)):  # the weight turns it with 1.96 N m
        one = arm(friction)
        series = judge(check_balance, Case(one, World(), Trajectory.of(one, time, held, held, a=held, tau=held)))
        assert bool(failures(named(series, "momentum_residual"))) is fails


@pytest.mark.parametrize("name", ["talos_arm", "z1"])
def test_torques_are_those_of_rigid_bodies_or_overcome_friction(name):
    one, t = sf.load(name), np.arange(401) * 0.005
    angle = 0.15 * (1.0 - np.cos(np.pi * t))
    room = np.where(one.limits.upper - one.home > 0.4, 1.0, -1.0)  # away from the nearer stop
    q, v = one.home + np.outer(angle, room), np.outer(0.15 * np.pi * np.sin(np.pi * t), room)
    a = np.outer(0.15 * np.pi**2 * np.cos(np.pi * t), room)
    motion = Trajectory.of(one, t, q, v, a=a)
    overcome = np.array(stages(Case(one, World(), motion)).efforts.tau)
    rigid = np.array([pin.rnea(one.model, one.model.createData(), *row) for row in zip(q, v, a, strict=True)])
    for tau, counts in ((overcome, True), (rigid[:, one.driven], False)):
        told = Case(one, World(), replace(motion, tau=tau))
        assert judge(friction_counts, told) is counts
        series = judge(check_balance, told)
        assert failures(series) == set()
    assert "without joint friction" in series[0].note
    assert failures(judge(check_balance, Case(one, World(), replace(motion, tau=0.5 * rigid[:, one.driven]))))


def test_joints_that_barely_move_do_not_tell_that_torques_know_no_friction():
    """A torque that sticking friction takes explains an arm that trembles in place."""
    joint = Joint("hinge", "revolute", axis=(0.0, 1.0, 0.0), friction=2.5, effort=10.0)
    one = sf.Robot.from_tree("arm", [Link("bar", None, joint, mass=1.0, com=(0.2, 0.0, 0.0))])
    t, rate, size = np.arange(401) * 0.005, 10.0 * np.pi, 5e-4
    q, v, a = (
        x[:, None]
        for x in (size * np.sin(rate * t), size * rate * np.cos(rate * t), -size * rate**2 * np.sin(rate * t))
    )
    weight = np.array([pin.rnea(one.model, one.model.createData(), *row) for row in zip(q, v, a, strict=True)])
    told = Case(one, World(), Trajectory.of(one, t, q, v, a=a, tau=weight + 0.25 * 2.5))
    assert judge(friction_counts, told)
    assert failures(judge(check_balance, told)) == set()


def test_without_torques_and_wrenches_nothing_is_said():
    series = judge(check_balance, squat_case("g1", rate=100.0))
    assert all(not one.parts and one.note for one in series)


def test_a_single_long_step_that_fails_is_unseen_and_a_longer_misfit_is_not():
    failed = np.array([[False], [True], [False], [True], [True]])
    coarse, fine = moving_windows(np.arange(6) * 0.05, 0.02), moving_windows(np.arange(6) * 0.01, 0.02)
    assert unseen_steps(failed, coarse)[:, 0].tolist() == [False, True, False, False, False]
    assert not unseen_steps(failed[:4], fine).any()
