import numpy as np
import pinocchio as pin
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.linalg import eigh, null_space

from surefoot.control import moved_inertia, standing_contacts
from surefoot.control.drive_inertia import standing_inertia
from surefoot.robot import ContactSurface, Coupling, Drive, Joint, Link, Loop, Robot
from surefoot.robot.loading import load

WHEELS = (("first", 0.2), ("second", 0.5))


def test_hanging_limb_is_the_diagonal_of_the_mass_matrix():
    robot = load("ur5")
    M = pin.crba(robot.model, robot.model.createData(), np.array(robot.home))
    assert_allclose(moved_inertia(robot, robot.home), np.diag(M)[robot.driven], rtol=1e-10)


def test_standing_ankle_moves_the_robot_above_it():
    robot = load("talos")
    inertia = moved_inertia(robot, robot.home, tuple(robot.contacts))
    name = "leg_left_6_joint"
    ankle = inertia[[d.joint for d in robot.drives].index(name)]
    T = robot.placements(robot.home)[name]
    com = pin.centerOfMass(robot.model, robot.model.createData(), np.array(robot.home))
    arm = com - T[:3, 3]
    axis = T[:3, :3] @ robot.tree.axes[robot.joint_index(name)]
    least = 0.5 * robot.mass * np.sum(np.cross(axis, arm) ** 2)
    assert least < ankle < 2.0 * least


def test_prismatic_joint_moves_mass_and_armature_counts():
    joint = Joint("j", "prismatic")
    links = [Link("a"), Link("b", "a", joint, mass=3.0, inertia=np.eye(3))]
    robot = Robot.from_tree("r", links, drives=(Drive("j", gear_ratio=10.0, rotor_inertia=0.02),))
    assert_allclose(moved_inertia(robot, robot.home), 5.0)


@pytest.mark.parametrize("name", ["talos_full", "romeo", "pr2"])
def test_couplings_kept_and_couplings_reduced_move_the_same(name):
    """A drive that "reduce" puts on another joint of its group sees the inertia by the square of the ratio."""
    inertias = []
    for mimic in ("coupling", "reduce"):
        robot = load(name, mimic=mimic)
        found = moved_inertia(robot, robot.home, standing_contacts(robot, np.array(robot.home)))
        inertias.append(dict(zip([drive.joint for drive in robot.drives], found, strict=True)))
    kept, reduced = inertias
    ratios = {(c.source, c.joint): c.ratio for c in load(name).couplings}
    assert ratios
    for joint, value in reduced.items():
        source, ratio = next(((s, n) for (s, j), n in ratios.items() if j == joint and s in kept), (joint, 1.0))
        assert_allclose(value * ratio**2, kept[source], rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("mimic", ["coupling", "reduce"])
def test_leader_moves_its_followers(mimic):
    """Two wheels geared 1 : 3 turn with I₁ + 9 I₂."""
    links = [Link("a"), *(Link(n, "a", Joint(n, "revolute"), mass=1.0, inertia=i * np.eye(3)) for n, i in WHEELS)]
    robot = Robot.from_tree("r", links, couplings=(Coupling("second", "first", -3.0),), mimic=mimic)
    assert_allclose(moved_inertia(robot, robot.home), 0.2 + 9.0 * 0.5)


def test_fixed_robot_has_no_standing_limbs():
    robot = load("talos", base="fixed")
    foot = ContactSurface("sole", "leg_left_6_link", "point")
    robot = robot.replace(contacts={"sole": foot})
    M = pin.crba(robot.model, robot.model.createData(), np.array(robot.home))
    assert_allclose(moved_inertia(robot, robot.home, ("sole",)), np.diag(M)[robot.driven], rtol=1e-10)


def test_standing_ankle_of_a_planar_robot_moves_what_is_above_it():
    """Against the sum over the bodies: turning about the ankle, shared by the four contacts of which it carries two."""
    robot = load("biped")
    q, ankle = np.array(robot.home), robot.joint_index("left_ankle")
    data = robot.model.createData()
    pin.forwardKinematics(robot.model, data, q)
    axis = data.oMi[ankle + 1].rotation @ robot.tree.axes[ankle]
    wanted = 0.0
    for i in (k for k in range(robot.tree.n) if k != ankle):
        body = data.oMi[i + 1].act(robot.model.inertias[i + 1])
        arm = np.cross(axis, body.lever - data.oMi[ankle + 1].translation)
        wanted += 0.5 * (axis @ body.inertia @ axis + body.mass * arm @ arm)
    place = [drive.joint for drive in robot.drives].index("left_ankle")
    found = moved_inertia(robot, q, tuple(robot.contacts))[place]
    assert_allclose(found, wanted + robot.tree.armature[robot.driven[place]], rtol=1e-9)


def rows_of(corners, robot, q):
    """Velocities of the corners by central differences."""
    rows = []
    for k in range(robot.nv):
        step = 1e-6 * np.eye(robot.nv)[k]
        ahead, behind = (corners(pin.integrate(robot.model, q, s * step)) for s in (1.0, -1.0))
        rows.append((ahead - behind) / 2e-6)
    return np.array(rows).T


@pytest.mark.parametrize("name", ["laikago", "anymal", "g1", "humanoid"])
def test_every_sway_is_fast_and_damped(name):
    """Springs ω² m and dampers 2 ζ ω m at the drives: frequencies ≥ ω, damping ratios ≥ ζ, feet held."""
    robot = load(name)
    q = np.array(robot.home)
    feet = standing_contacts(robot, q)
    m = standing_inertia(robot, q, feet)
    corners = lambda q: np.vstack([robot.contact_corners(q)[foot] for foot in feet]).ravel()  # noqa: E731
    N = null_space(rows_of(corners, robot, q), rcond=1e-6)
    M = N.T @ pin.crba(robot.model, robot.model.createData(), q) @ N
    u = N[robot.driven]
    squares, ways = eigh(u.T @ (144.0 * m[:, None] * u), M)
    damping = np.einsum("ki,k,ki->i", u @ ways, 2.0 * 0.7 * 12.0 * m, u @ ways) / (2.0 * np.sqrt(squares))
    assert squares.min() >= 144.0 * (1.0 - 1e-3)
    assert squares.min() <= 144.0 * 1.05
    assert damping.min() >= 0.7 * (1.0 - 1e-3)
    single = moved_inertia(robot, q, feet)
    assert (m >= single * (1.0 - 1e-12)).all()
    assert eigh(u.T @ (144.0 * single[:, None] * u), M, eigvals_only=True).min() < 0.7 * 144.0


def test_couplings_kept_and_couplings_reduced_agree():
    found = []
    for mimic in ("coupling", "reduce"):
        robot = load("talos_full", mimic=mimic)
        feet = standing_contacts(robot, np.array(robot.home))
        inertia = standing_inertia(robot, np.array(robot.home), feet)
        found.append(dict(zip([drive.joint for drive in robot.drives], inertia, strict=True)))
    shared = [joint for joint in found[0] if "leg" in joint or "torso" in joint]
    assert shared
    assert_allclose([found[0][j] for j in shared], [found[1][j] for j in shared], rtol=1e-6)


def test_point_feet_that_nothing_holds_are_left_alone():
    """A biped on two points can turn about the line between them; no gain grows for that."""
    robot = load("bolt")
    q = np.array(robot.home)
    m = standing_inertia(robot, q, standing_contacts(robot, q))
    assert np.isfinite(m).all()
    height = pin.centerOfMass(robot.model, robot.model.createData(), q)[2]
    assert m.max() < 100.0 * robot.mass * height**2


def test_what_does_not_stand_keeps_its_inertia():
    panda, talos = load("panda"), load("talos")
    assert_array_equal(standing_inertia(panda, panda.home, ()), moved_inertia(panda, panda.home))
    assert_array_equal(standing_inertia(talos, talos.home, ()), moved_inertia(talos, talos.home))
    feet = tuple(talos.contacts)
    chained = talos.replace(loops=(Loop("rod", "leg_left_5_link", "leg_left_3_link"),))
    assert_array_equal(standing_inertia(chained, talos.home, feet), moved_inertia(talos, talos.home, feet))
