import numpy as np
import pinocchio as pin
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial import ConvexHull

from surefoot.control import JointPd, StaticBalance, standing_contacts
from surefoot.control.static_balance import SoleCorners
from surefoot.robot import Loop, support_doubts
from surefoot.robot.loading import load


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
    J = balance._corners.jacobian(q)
    force, *_ = np.linalg.lstsq(J.T, rest, rcond=None)
    rows = np.concatenate([np.arange(6), robot.driven])
    assert_allclose((J.T @ force)[rows], rest[rows], atol=1e-8 * robot.mass)
    assert_allclose(force.reshape(-1, 3).sum(axis=0), [0.0, 0.0, 9.81 * robot.mass], rtol=1e-9, atol=1e-8 * robot.mass)


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
    """The base stays in balance, and the passive rows are as near to it as any corner forces bring them.

    With forces that stay in their cones the passive rows may lack more, the base hardly anything.
    """
    robot = load(name)
    knees = [d.joint for d in robot.drives if "leg_left_4" in d.joint or "leg_right_4" in d.joint or "kfe" in d.joint]
    robot = robot.replace(drives=tuple(d for d in robot.drives if d.joint not in knees))
    passive = np.array([robot.tree.v_index[robot.joint_index(joint)] for joint in knees])
    assert len(passive) >= 2
    q = np.array(robot.home)
    balance = StaticBalance(robot, standing_contacts(robot, q))
    A = balance._corners.jacobian(q).T
    g = np.array(pin.computeGeneralizedGravity(robot.model, robot.model.createData(), q))
    force = balance._free_forces(A, g)
    base, size = robot.base_rows, A.shape[1]
    zero = np.zeros((len(base), len(base)))
    conditions = np.block([[A[passive].T @ A[passive], A[base].T], [A[base], zero]])  # Karush, Kuhn and Tucker
    best = np.linalg.lstsq(conditions, np.concatenate([A[passive].T @ g[passive], g[base]]), rcond=1e-12)[0][:size]
    assert_allclose(A[base] @ force, g[base], atol=1e-8 * robot.mass)
    assert_allclose(A[passive] @ force - g[passive], A[passive] @ best - g[passive], atol=1e-6 * robot.mass)
    assert np.linalg.norm(force) <= np.linalg.norm(best) * (1.0 + 1e-6)
    real = balance._corner_forces(A, g)
    assert_allclose(A[base] @ real, g[base], atol=2e-3 * 9.81 * robot.mass)
    assert np.linalg.norm((A @ real - g)[passive]) >= np.linalg.norm((A @ force - g)[passive]) - 1e-6 * robot.mass
    assert_allclose(balance.torques(q), (g - A @ real)[robot.driven], atol=1e-9 * robot.mass)


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
    A = balance._corners.jacobian(q).T
    force = balance._corner_forces(A, g)
    assert_allclose((A @ force)[robot.base_rows], g[robot.base_rows], atol=1e-8 * robot.mass)
    assert_allclose(force.reshape(-1, 3).sum(axis=0)[2], 9.81 * robot.mass, rtol=1e-9)


def tilted(robot, roll, pitch):
    """Home, turned as a whole."""
    return pin.integrate(robot.model, np.array(robot.home), np.array([0, 0, 0, roll, pitch, 0] + [0] * (robot.nv - 6)))


def forces_at(robot, q):
    """Corner forces (k, 3), their places (k, 3), and what the base lacks of balance (6,)."""
    contacts = standing_contacts(robot, np.array(robot.home))
    balance = StaticBalance(robot, contacts)
    A = balance._corners.jacobian(q).T
    g = np.array(pin.computeGeneralizedGravity(robot.model, robot.model.createData(), q))
    force = balance._corner_forces(A, g)
    corners = robot.contact_corners(q)
    return force.reshape(-1, 3), np.vstack([corners[name] for name in contacts]), (g - A @ force)[robot.base_rows]


@pytest.mark.parametrize(("name", "pitch"), [("talos", 0.1), ("anymal", 0.6)])
def test_ground_only_pushes_while_the_support_holds(name, pitch):
    """Near the edge the smallest forces would pull; forces that push balance the robot, too."""
    robot = load(name)
    q = tilted(robot, 0.0, pitch)
    balance = StaticBalance(robot, standing_contacts(robot, np.array(robot.home)))
    A = balance._corners.jacobian(q).T
    g = np.array(pin.computeGeneralizedGravity(robot.model, robot.model.createData(), q))
    free = balance._free_forces(A, g).reshape(-1, 3)
    force, places, missing = forces_at(robot, q)
    assert not (np.hypot(free[:, 0], free[:, 1]) <= 0.7 * free[:, 2]).all()
    assert (np.hypot(force[:, 0], force[:, 1]) <= 0.7 * force[:, 2] * (1.0 + 1e-6) + 1e-9).all()
    assert np.abs(missing).max() < 2e-3 * 9.81 * robot.mass
    com = pin.centerOfMass(robot.model, robot.model.createData(), q)
    cop = np.cross(places, force).sum(axis=0)[[1, 0]] * [-1, 1] / force[:, 2].sum()
    assert_allclose(cop, com[:2], atol=2e-3)


@pytest.mark.parametrize("name", ["g1", "laikago"])
def test_beyond_the_edge_the_torques_stay_what_the_ground_can_give(name):
    """The weight stands on the edge corners; the robot is not asked to hold what cannot be held."""
    robot = load(name)
    q = tilted(robot, 0.0, 1.2)
    force, places, missing = forces_at(robot, q)
    com = pin.centerOfMass(robot.model, robot.model.createData(), q)
    assert com[0] > places[:, 0].max()
    assert (force[:, 2] >= -1e-9).all()
    assert force[:, 2].sum() <= 9.81 * robot.mass * (1.0 + 1e-6)
    assert np.abs(missing).max() > 0.01 * 9.81 * robot.mass
    far = places[:, 0] < places[:, 0].max() - 0.05
    assert force[far, 2].sum() < force[~far, 2].sum()


def test_forces_go_over_into_each_other():
    """Where the free forces leave their cones, those inside the cones begin without a jump; history does not count."""
    robot = load("talos")
    feet = standing_contacts(robot, np.array(robot.home))
    balance, sizes = StaticBalance(robot, feet), []
    angles = np.linspace(0.0, 0.15, 61)
    torques = [balance.torques(tilted(robot, 0.0, angle)) for angle in angles]
    for angle, torque in zip(angles[::10], torques[::10], strict=True):
        assert_allclose(StaticBalance(robot, feet).torques(tilted(robot, 0.0, angle)), torque, atol=1e-4)
        sizes.append(np.abs(torque).max())
    steps = np.abs(np.diff(torques, axis=0)).max(axis=1)
    assert steps.max() < 5.0 * np.median(steps)
    assert max(sizes) > 10.0


@pytest.mark.parametrize("name", ["g1", "hexapod"])
def test_jacobian_against_differences(name):
    robot = load(name)
    q = pin.integrate(robot.model, np.array(robot.home), 0.2 * np.random.default_rng(0).standard_normal(robot.nv))
    J = SoleCorners(robot, tuple(robot.contacts)).jacobian(q)

    def corners(q):
        return np.vstack(list(robot.contact_corners(q).values())).ravel()

    for k in range(0, robot.nv, 5):
        step = 1e-6 * np.eye(robot.nv)[k]
        ahead, behind = (corners(pin.integrate(robot.model, q, s * step)) for s in (1.0, -1.0))
        assert_allclose(J[:, k], (ahead - behind) / 2e-6, atol=1e-7)


def test_each_corner_has_the_friction_of_its_sole():
    robot = load("talos")
    names = tuple(robot.contacts)
    corners = SoleCorners(robot, names)
    wanted = [robot.contacts[name].friction for name in names for _ in robot.contacts[name].corners]
    assert_array_equal(corners.friction, wanted)
    assert corners.jacobian(np.array(robot.home)).shape == (3 * len(wanted), robot.nv)


def test_no_contacts():
    robot = load("talos")
    assert SoleCorners(robot, ()).jacobian(np.array(robot.home)).shape == (0, robot.nv)


@pytest.mark.parametrize(("name", "word"), [("bolt", "line"), ("borinot", "point")])
def test_feet_without_area_are_named(name, word):
    notes = JointPd(load(name)).notes
    assert any(word in note and name in note for note in notes)


@pytest.mark.parametrize("name", ["g1", "solo12", "hexapod"])
def test_robots_that_stand_have_no_doubts(name):
    assert JointPd(load(name)).notes == ()


def side_of_support(robot, q):
    """Of a square as large as the rectangle round both soles, which are side by side."""
    points = np.vstack(list(robot.contact_corners(q).values()))[:, :2]
    return float(np.sqrt(ConvexHull(points).volume))


@pytest.mark.parametrize("side", [-1.0, 1.0])
def test_a_lean_beyond_the_edge_is_named_with_its_distance(side):
    """Leaning by an angle puts the centre of mass beyond the toes by what the places of corners and centre say."""
    robot = load("talos")
    feet = tuple(robot.contacts)
    for angle in np.linspace(0.0, 0.4, 9):
        q = pin.integrate(
            robot.model, np.array(robot.home), np.array([0, 0, 0, 0, side * angle] + [0] * (robot.nv - 5))
        )
        com = pin.centerOfMass(robot.model, robot.model.createData(), q)
        x = np.vstack([robot.contact_corners(q)[foot] for foot in feet])[:, 0]
        beyond = max(com[0] - x.max(), x.min() - com[0])
        doubts = support_doubts(robot, q, feet)
        assert bool(doubts) == (beyond > -0.1 * side_of_support(robot, q))
        assert ("outside" in "".join(doubts)) == (beyond > 0.0)
        if doubts:
            told = 1e-3 * float(doubts[0].split(" mm ")[0].split()[-1])
            assert told == pytest.approx(abs(beyond), rel=0.01, abs=1e-3)


def test_planar_and_fixed_robots_need_no_area():
    biped = load("biped")
    assert support_doubts(biped, np.array(biped.home), standing_contacts(biped, np.array(biped.home))) == ()
    talos = load("talos", base="fixed")
    assert support_doubts(talos, np.array(talos.home), ()) == ()
