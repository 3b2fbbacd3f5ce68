import numpy as np
import pinocchio as pin
import pytest
from numpy.testing import assert_allclose

from surefoot.control import StaticBalance, standing_contacts
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
