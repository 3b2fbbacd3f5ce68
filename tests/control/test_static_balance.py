import numpy as np
import pinocchio as pin
import pytest
from numpy.testing import assert_allclose

from surefoot.control import StaticBalance, standing_contacts
from surefoot.robot import Loop
from surefoot.robot.load import load


@pytest.mark.parametrize("name", ["g1", "talos", "anymal", "hexapod"])
def test_nothing_accelerates(name):
    """With the torques and some corner forces the robot is in equilibrium: rows of the drives and of the base."""
    robot = load(name)
    q = np.array(robot.home)
    contacts = standing_contacts(robot, q)
    balance = StaticBalance(robot, contacts)
    tau = np.zeros(robot.nv)
    tau[robot.driven] = balance.torques(q)
    data = robot.model.createData()
    rest = pin.computeGeneralizedGravity(robot.model, data, q) - tau
    J = balance._corner_jacobian(q)
    force, *_ = np.linalg.lstsq(J.T, rest, rcond=None)
    rows = np.concatenate([np.arange(6), robot.driven])
    assert_allclose((J.T @ force)[rows], rest[rows], atol=1e-8 * robot.mass)
    assert_allclose(force.reshape(-1, 3).sum(axis=0), [0.0, 0.0, 9.81 * robot.mass], rtol=1e-9, atol=1e-8 * robot.mass)


def test_corner_jacobian_against_differences():
    robot = load("g1")
    q = pin.integrate(robot.model, np.array(robot.home), 0.2 * np.random.default_rng(0).standard_normal(robot.nv))
    balance = StaticBalance(robot, tuple(robot.contacts))
    J = balance._corner_jacobian(q)

    def corners(q):
        frames = robot.placements(q)
        rows = []
        for contact in robot.contacts.values():
            T = frames[contact.frame] @ contact.placement
            rows.append(contact.corners @ T[:3, :3].T + T[:3, 3])
        return np.vstack(rows).ravel()

    for k in range(0, robot.nv, 5):
        step = 1e-6 * np.eye(robot.nv)[k]
        ahead, behind = (corners(pin.integrate(robot.model, q, s * step)) for s in (1.0, -1.0))
        assert_allclose(J[:, k], (ahead - behind) / 2e-6, atol=1e-7)


def test_fixed_robot_needs_plain_gravity():
    robot = load("panda")
    q = np.array(robot.home)
    gravity = pin.computeGeneralizedGravity(robot.model, robot.model.createData(), q)
    tau = StaticBalance(robot, ()).torques(q)
    lead = [d.joint for d in robot.drives].index("panda_joint2")
    assert_allclose(tau[lead], gravity[robot.driven[lead]])


def test_leader_carries_its_follower():
    robot = load("baxter")
    q = np.array(robot.home)
    gravity = pin.computeGeneralizedGravity(robot.model, robot.model.createData(), q)
    tau = StaticBalance(robot, ()).torques(q)
    for coupling in robot.couplings:
        rows = [int(robot.tree.v_index[robot.joint_index(n)]) for n in (coupling.source, coupling.joint)]
        place = int(np.flatnonzero(robot.driven == rows[0])[0])
        assert_allclose(tau[place], gravity[rows[0]] + coupling.ratio * gravity[rows[1]])


def test_standing_contacts_are_the_low_ones():
    robot = load("anymal")
    q = np.array(robot.home)
    assert set(standing_contacts(robot, q)) == set(robot.contacts)
    q[robot.tree.q_index[robot.joint_index("LF_KFE")]] -= 0.6
    assert set(standing_contacts(robot, q)) == set(robot.contacts) - {"LF_FOOT"}


@pytest.mark.parametrize("name", ["talos", "hyq"])
def test_passive_knees_get_what_the_ground_can_give(name):
    """The base stays in balance, and the passive rows are as near to it as any corner forces bring them."""
    robot = load(name)
    knees = [d.joint for d in robot.drives if "leg_left_4" in d.joint or "leg_right_4" in d.joint or "kfe" in d.joint]
    robot = robot.replace(drives=tuple(d for d in robot.drives if d.joint not in knees))
    passive = np.array([robot.tree.v_index[robot.joint_index(joint)] for joint in knees])
    assert len(passive) >= 2
    q = np.array(robot.home)
    balance = StaticBalance(robot, standing_contacts(robot, q))
    A = balance._corner_jacobian(q).T
    g = np.array(pin.computeGeneralizedGravity(robot.model, robot.model.createData(), q))
    force = balance._corner_forces(A, g)
    base, size = robot.base_rows, A.shape[1]
    zero = np.zeros((len(base), len(base)))
    conditions = np.block([[A[passive].T @ A[passive], A[base].T], [A[base], zero]])  # Karush, Kuhn and Tucker
    best = np.linalg.lstsq(conditions, np.concatenate([A[passive].T @ g[passive], g[base]]), rcond=1e-12)[0][:size]
    assert_allclose(A[base] @ force, g[base], atol=1e-8 * robot.mass)
    assert_allclose(A[passive] @ force - g[passive], A[passive] @ best - g[passive], atol=1e-6 * robot.mass)
    assert np.linalg.norm(force) <= np.linalg.norm(best) * (1.0 + 1e-6)
    assert_allclose(balance.torques(q), (g - A @ force)[robot.driven], atol=1e-9 * robot.mass)


def test_passive_joints_of_closed_chains_are_left_to_the_chain():
    robot = load("talos")
    knee = "leg_left_4_joint"
    driven = robot.replace(drives=tuple(d for d in robot.drives if d.joint != knee))
    chained = driven.replace(loops=(Loop("rod", "leg_left_5_link", "leg_left_3_link"),))
    q = np.array(robot.home)
    feet = standing_contacts(robot, q)
    rest = [k for k, drive in enumerate(robot.drives) if drive.joint != knee]
    assert_allclose(StaticBalance(chained, feet).torques(q), StaticBalance(robot, feet).torques(q)[rest])
    assert np.abs(StaticBalance(driven, feet).torques(q) - StaticBalance(robot, feet).torques(q)[rest]).max() > 1.0


def test_planar_robot_is_held_in_its_plane():
    robot = load("biped")
    q = np.array(robot.home)
    balance = StaticBalance(robot, standing_contacts(robot, q))
    g = np.array(pin.computeGeneralizedGravity(robot.model, robot.model.createData(), q))
    A = balance._corner_jacobian(q).T
    force = balance._corner_forces(A, g)
    assert_allclose((A @ force)[robot.base_rows], g[robot.base_rows], atol=1e-8 * robot.mass)
    assert_allclose(force.reshape(-1, 3).sum(axis=0)[2], 9.81 * robot.mass, rtol=1e-9)
