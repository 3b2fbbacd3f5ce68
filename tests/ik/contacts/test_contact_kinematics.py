import numpy as np
import pinocchio as pin
import pytest
from numpy.testing import assert_allclose

from surefoot.errors import NotSupportedError, UnknownNameError
from surefoot.ik.contacts.kinematics import CONTACT_JOINTS, ContactSystem, constraint_basis, motion_basis
from surefoot.kinematics import relative_jacobian
from surefoot.kinematics.frames import frame_of
from surefoot.robot import ContactSurface
from surefoot.robot.loading import load

CASES = {
    "g1": {"left_ankle_roll_link": "weld", "right_ankle_roll_link": "planar", "left_wrist_yaw_link": "cylindrical"},
    "talos": {"leg_left_6_link": "weld", "leg_right_6_link": "line", "gripper_right_base_link": "point"},
    "small-humanoid:arms7": {"left_foot": "weld", "right_foot": "free", "left_grip": "ball"},
}


@pytest.fixture(scope="module", params=CASES)
def case(request):
    """A robot in some posture, its contacts, and Pinocchio's view of both."""
    robot = load(request.param)
    rng = np.random.default_rng(7)
    q = pin.integrate(robot.model, np.array(robot.home), 0.2 * rng.uniform(-1.0, 1.0, robot.nv))
    data = robot.model.createData()
    pin.computeJointJacobians(robot.model, data, q)
    pin.jacobianCenterOfMass(robot.model, data, q)
    pin.updateFramePlacements(robot.model, data)
    return robot, CASES[request.param], q, data


def contact_jacobian(robot, data, name):
    """(6, nv) of the contact frame in its own axes, by Pinocchio."""
    if name not in robot.contacts:
        return pin.getFrameJacobian(robot.model, data, robot.frame_id(name), pin.LOCAL)
    contact = robot.contacts[name]
    J = pin.getFrameJacobian(robot.model, data, robot.frame_id(contact.frame), pin.LOCAL)
    return pin.SE3(np.array(contact.placement)).toActionMatrixInverse() @ J


@pytest.mark.parametrize("kind", CONTACT_JOINTS)
def test_bases_split_all_directions(kind):
    held, free = constraint_basis(kind), motion_basis(kind)
    assert_allclose(held.T @ free, 0.0)
    assert_allclose(held @ held.T + free @ free.T, np.eye(6))


@pytest.mark.parametrize(
    ("kind", "surface"), [("point", "point"), ("line", "line"), ("planar", "rectangle"), ("cylindrical", "cylinder")]
)
def test_bases_are_those_of_frictionless_surfaces(kind, surface):
    corners = np.array([[1, 1, 0], [1, -1, 0], [-1, -1, 0], [-1, 1, 0.0]])
    contact = ContactSurface("it", "foot", surface, corners=corners, friction=0.0)
    assert_allclose(constraint_basis(kind), contact.constraint_basis)
    assert_allclose(motion_basis(kind), contact.motion_basis)


def test_numbers_of_the_book():
    """Nenchev & Konno 2019, section 2.9: cylindrical c = 4 (free along and about y), planar c = 3, weld 6, free 0."""
    sizes = {kind: constraint_basis(kind).shape[1] for kind in CONTACT_JOINTS}
    assert (sizes["cylindrical"], sizes["planar"], sizes["weld"], sizes["free"], sizes["point"]) == (4, 3, 6, 0, 1)
    assert_allclose(motion_basis("cylindrical"), np.eye(6)[:, [1, 4]])
    with pytest.raises(UnknownNameError):
        constraint_basis("glued")


def test_relations_are_the_jacobians_of_the_contacts(case, rng):
    robot, contacts, q, data = case
    now = ContactSystem(robot, contacts).at(q)
    v = rng.normal(size=robot.nv)
    R = data.oMi[1].rotation
    base = np.concatenate([R @ v[:3], R @ v[3:6]])
    twists = {name: contact_jacobian(robot, data, name) @ v for name in contacts}
    held = np.concatenate([constraint_basis(kind).T @ twists[name] for name, kind in contacts.items()])
    free = np.concatenate([motion_basis(kind).T @ twists[name] for name, kind in contacts.items()])
    assert_allclose(now.C_c.T @ base + now.J_c @ v[6:], held, atol=1e-10)
    assert_allclose(now.C_m.T @ base + now.J_m @ v[6:], free, atol=1e-10)
    assert_allclose(now.constraint_jacobian @ np.concatenate([base, v[6:]]), held, atol=1e-10)
    assert_allclose(now.velocity(base, v[6:]), v, atol=1e-12)


def test_mixed_relations_say_the_same(case, rng):
    robot, contacts, q, data = case
    now = ContactSystem(robot, contacts).at(q)
    base, rates = rng.normal(size=6), rng.normal(size=robot.nv - 6)
    mixed = now.mixed_twist(base, rates)
    v = now.velocity(base, rates)
    assert_allclose(mixed[:3], data.Jcom @ v, atol=1e-10)
    assert_allclose(mixed[3:], base[3:])
    assert_allclose(now.base_twist(mixed, rates), base, atol=1e-12)
    C_c, J_c, C_m, J_m = now.mixed()
    assert_allclose(C_c.T @ mixed + J_c @ rates, now.C_c.T @ base + now.J_c @ rates, atol=1e-10)
    assert_allclose(C_m.T @ mixed + J_m @ rates, now.C_m.T @ base + now.J_m @ rates, atol=1e-10)


def test_the_printed_moment_arm_is_wrong(case, rng):
    """(2.123) prints r_kB in C_cC: that is C_cB, and leaves out the way from the base to the centre of mass."""
    robot, contacts, q, _ = case
    now = ContactSystem(robot, contacts).at(q)
    base, rates = rng.normal(size=6), rng.normal(size=robot.nv - 6)
    mixed, J_c = now.mixed_twist(base, rates), now.mixed()[1]
    right = now.C_c.T @ base + now.J_c @ rates
    assert np.abs(now.C_c.T @ mixed + J_c @ rates - right).max() > 1e-3


def test_placements_and_centre_of_mass(case):
    robot, contacts, q, _ = case
    now = ContactSystem(robot, contacts).at(q)
    frames = robot.placements(q)
    for T, name in zip(now.placements, contacts, strict=True):
        contact = robot.contacts.get(name)
        expected = frames[name] if contact is None else frames[contact.frame] @ contact.placement
        assert_allclose(T, expected, atol=1e-12)
    assert_allclose(now.com, pin.centerOfMass(robot.model, robot.model.createData(), q), atol=1e-12)
    assert_allclose(now.offset, now.com - q[:3], atol=1e-15)


@pytest.mark.parametrize(("name", "ends"), [
    ("small-humanoid:arms7", ("left_foot", "right_foot", "left_grip", "right_grip")),
    ("humanoid", ("left_foot", "right_foot")),  # its arms have six joints, and lose two directions
])  # fmt: skip
def test_upright_limbs_have_rank_five(name, ends):
    """Nenchev & Konno 2019, section 2.5: in the upright posture each of the four limbs has lost one direction."""
    robot = load(name)
    base = frame_of(robot, robot.tree.body_names[0])
    bent = np.array(robot.home)
    for joint, value in {
        "left_shoulder_roll": 0.5,
        "right_shoulder_roll": -0.5,
        "left_elbow": -1,
        "right_elbow": -1,
    }.items():
        bent[robot.tree.q_index[robot.joint_index(joint)]] = value
    for end in ends:
        J, regular = (relative_jacobian(robot.tree, base, frame_of(robot, end), q) for q in (robot.neutral, bent))
        assert np.linalg.matrix_rank(J, tol=1e-9) == 5
        assert np.linalg.matrix_rank(regular, tol=1e-6) == 6


def test_fixed_robots_and_unknown_frames_are_refused():
    with pytest.raises(NotSupportedError, match="floating"):
        ContactSystem(load("arm4"), {"tip": "weld"})
    with pytest.raises(UnknownNameError):
        ContactSystem(load("small-humanoid"), {"left_hoof": "weld"})
    with pytest.raises(UnknownNameError):
        ContactSystem(load("small-humanoid"), {"left_foot": "wled"})
