from dataclasses import replace

import numpy as np
import pinocchio as pin
import pytest

import surefoot as sf
from surefoot.feasibility.case import Case, Tolerances
from surefoot.motion import Trajectory, World
from surefoot.robot import Coupling, Drive, Joint, Link
from tests.feasibility.good_motions import loaded as robot
from tests.feasibility.stages import stages
from tests.feasibility.standing_motions import squat_case, still


def contact_jacobian(one, q, name):
    """(6, nv) of a contact frame in its own axes, by Pinocchio."""
    contact = one.contacts[name]
    data = one.model.createData()
    J = pin.computeFrameJacobian(one.model, data, np.array(q), one.frame_id(contact.frame), pin.LOCAL)
    return pin.SE3(np.array(contact.placement)).toActionMatrixInverse() @ J


@pytest.mark.parametrize("name", ["g1", "anymal", "hexapod"])
def test_a_standing_robot_is_carried_and_its_torques_balance(name):
    one = robot(name)
    case = Case(one, World(), still(one))
    efforts = stages(case).efforts
    assert np.all(efforts.violation == 0.0)
    up = np.einsum("ncj,ncj->n", stages(case).touch.placements[:, :, 2, :3], efforts.wrenches[:, :, :3])
    assert up == pytest.approx(case.weight, rel=1e-8)
    data, zero = one.model.createData(), np.zeros(one.nv)
    forces = pin.rnea(one.model, data, np.array(one.home), zero, zero)
    for k, contact in enumerate(case.contact_names):
        forces = forces - contact_jacobian(one, one.home, contact).T @ efforts.wrenches[0, k]
    assert np.abs(forces[:6]).max() < 1e-6 * case.weight  # nothing is left for the base
    assert efforts.tau[0] == pytest.approx(forces[one.driven], abs=1e-6)


def test_given_wrenches_and_torques_are_taken_as_they_are():
    one = robot("g1")
    wrench = np.tile([0.0, 0.0, 150.0, 1.0, -2.0, 0.5], (11, 1))
    tau = np.full((11, one.nu), 3.0)
    case = Case(one, World(), still(one, tau=tau, wrenches={"left_ankle_roll_link": wrench}))
    efforts = stages(case).efforts
    assert efforts.tau_given
    assert efforts.wrenches_given
    assert (efforts.tau == tau).all()
    assert (efforts.wrenches[:, case.contact_names.index("left_ankle_roll_link")] == wrench).all()
    assert not efforts.wrenches[:, case.contact_names.index("right_ankle_roll_link")].any()


def test_torques_under_given_wrenches_are_those_of_pinocchio():
    one = robot("g1")
    wrench = {name: np.tile([4.0, -3.0, 160.0, 1.0, -2.0, 0.5], (11, 1)) for name in one.contacts}
    case = Case(one, World(), still(one, wrenches=wrench))
    zero = np.zeros(one.nv)
    forces = pin.rnea(one.model, one.model.createData(), np.array(one.home), zero, zero)
    for name in one.contacts:
        forces = forces - contact_jacobian(one, one.home, name).T @ wrench[name][0]
    assert stages(case).efforts.tau[5] == pytest.approx(forces[one.driven], abs=1e-8)


def test_free_fall_asks_for_nothing_and_hovering_for_the_weight():
    one = robot("hexapod")
    high = np.array(one.home)
    high[2] += 2.0
    hover = Case(one, World(), still(one, high))
    assert stages(hover).efforts.violation == pytest.approx(hover.weight, rel=1e-6)
    assert np.isnan(stages(hover).efforts.tau).all()
    time = np.arange(101) * 0.002
    q = np.tile(high, (101, 1))
    q[:, 2] -= 0.5 * 9.81 * time**2
    fall = Case(one, World(), Trajectory.of(one, time, q))
    assert stages(fall).efforts.violation[10:-10].max() < 1e-3 * fall.weight
    assert np.abs(stages(fall).efforts.tau[10:-10]).max() < 1e-4


def pendulum(**drive):
    bob = Link("bob", None, Joint("hinge", "revolute", axis=(0.0, 1.0, 0.0)), mass=2.0, com=(0.0, 0.0, -0.5))
    return sf.Robot.from_tree("pendulum", [bob], drives=(Drive("hinge", **drive),) if drive else ())


def test_a_pendulum_needs_the_torque_of_the_textbook():
    one = pendulum(viscous_friction=0.3, dry_friction=0.1, rotor_inertia=0.01, gear_ratio=3.0)
    time = np.arange(201) * 0.005
    angle, speed, acceleration = 0.5 * np.sin(2.0 * time), np.cos(2.0 * time), -2.0 * np.sin(2.0 * time)
    trajectory = Trajectory.of(one, time, angle[:, None], speed[:, None], a=acceleration[:, None])
    case = Case(one, World(), trajectory)
    inertia = 2.0 * 0.25 + 0.01 * 9.0
    expected = (
        inertia * acceleration + 2.0 * 9.81 * 0.5 * np.sin(angle) + 0.3 * speed + 0.1 * np.clip(speed / 0.01, -1, 1)
    )
    assert stages(case).efforts.tau[:, 0] == pytest.approx(expected, abs=1e-9)


def test_accelerations_that_were_not_given_are_means():
    """Positions rounded to 1 µm at 1 kHz: second differences alone would be off by up to 4 rad/s²."""
    one = pendulum(viscous_friction=0.0)
    time = np.arange(1001) * 0.001
    angle = np.round(0.5 * np.sin(2.0 * time), 6)
    tau = stages(Case(one, World(), Trajectory.of(one, time, angle[:, None]))).efforts.tau[:, 0]
    exact = -0.5 * 2.0 * np.sin(2.0 * time) + 9.81 * np.sin(0.5 * np.sin(2.0 * time))
    assert np.abs(tau - exact)[20:-20].max() < 0.1
    unsmoothed = Case(one, World(), Trajectory.of(one, time, angle[:, None]), Tolerances(window=0.0))
    rough = stages(unsmoothed).efforts.tau[:, 0]
    assert np.abs(rough - exact)[20:-20].max() > 0.5


def test_a_follower_hands_its_force_on_to_its_leader():
    def arm(couplings):
        links = [
            Link("upper", None, Joint("lead", "revolute", axis=(0.0, 1.0, 0.0)), mass=1.0, com=(0.3, 0.0, 0.0)),
            Link("lower", "upper", Joint("follow", "revolute", axis=(0.0, 1.0, 0.0)), mass=1.0, com=(0.2, 0.0, 0.0)),
        ]
        return sf.Robot.from_tree("arm", links, couplings=couplings, mimic="coupling")

    tied = arm((Coupling("follow", "lead", ratio=-0.5),))
    q = np.array([0.4, -0.2])
    zero = np.zeros(2)
    forces = pin.rnea(tied.model, tied.model.createData(), q, zero, zero)
    tau = stages(Case(tied, World(), still(tied, q))).efforts.tau
    assert tied.nu == 1
    assert tau[0, 0] == pytest.approx(forces[0] - 0.5 * forces[1])


def test_feet_push_against_each_other_where_that_keeps_torques_within_limits():
    """A squat loads knees; with weak hips the load is shared in another way than by least forces."""
    case = squat_case("g1", rate=50.0)
    tau = stages(case).efforts.tau
    one = case.given_robot
    drive = int(np.argmax(np.abs(tau).max(axis=0)))
    name = one.drives[drive].joint
    weak = tuple(
        d if d.joint != name else Drive(name, torque_limit=0.9 * float(np.abs(tau[:, drive]).max())) for d in one.drives
    )
    weaker = one.replace(drives=weak)
    shared = stages(Case(weaker, case.world, case.trajectory)).efforts
    assert np.abs(tau[:, drive]).max() > weak[drive].torque_limit
    assert np.nanmax(np.abs(shared.tau[:, drive])) <= weak[drive].torque_limit * 1.001
    up = np.einsum("ncj,ncj->n", stages(case).touch.placements[:, :, 2, :3], shared.wrenches[:, :, :3])
    assert up == pytest.approx(stages(case).efforts.demand.net[:, 2], rel=2e-3)


def test_wrenches_of_unknown_contacts_are_refused():
    one = robot("g1")
    case = Case(one, World(), still(one, wrenches={"left_elbow": np.zeros((11, 6))}))
    with pytest.raises(sf.SurefootError, match="left_elbow"):
        _ = stages(case).efforts


def test_closed_chains_leave_torques_unknown_and_say_so():
    one = pendulum(viscous_friction=0.0)
    from surefoot.robot import Loop

    tied = one.replace(loops=(Loop("ring", "bob", "universe"),))
    efforts = stages(Case(tied, World(), still(one))).efforts
    assert np.isnan(efforts.tau).all()
    assert "closed chains" in efforts.note


@pytest.mark.parametrize("side", [1.0, -1.0])
def test_the_load_is_shared_at_the_very_edge_of_the_support_too(side):
    """Where a little force is missing, less than is judged, there still is a choice of wrenches."""
    one = robot("a1")
    weak = one.replace(drives=tuple(replace(d, torque_limit=0.3 * d.torque_limit) for d in one.drives))
    limits = np.array([d.torque_limit for d in weak.drives])

    def rolling(turn):
        """Standing still with an angular acceleration that is said to roll the robot over."""
        a = np.zeros((11, one.nv))
        a[:, 3] = turn
        return Case(weak, World(), replace(still(one), a=a))

    low, high = 0.0, 400.0 * side  # [rad/s²]
    for _ in range(40):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if stages(rolling(middle)).efforts.violation[5] == 0.0 else (low, middle)
    cases = map(rolling, high * np.linspace(1.0, 1.2, 200))
    edge = next(case for case in cases if stages(case).efforts.violation[5] > 1e-3)
    assert stages(edge).efforts.violation[5] < edge.tolerances.admissible * edge.weight
    inside, outside = (np.abs(stages(case).efforts.tau[5] / limits).max() for case in (rolling(low), edge))
    assert inside > 1.0
    assert outside == pytest.approx(inside, rel=0.02)
