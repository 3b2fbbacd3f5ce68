import numpy as np
import pinocchio as pin
import pytest
from numpy.testing import assert_allclose
from scipy.linalg import null_space

from surefoot.ik.contacts.kinematics import ContactSystem
from surefoot.ik.contacts.rates import base_twist_of_joints, joint_rates_of_base, joint_rates_of_mixed, split_velocity
from surefoot.robot.loading import load
from surefoot.spatial import twist

FEET = {
    "g1": ("left_ankle_roll_link", "right_ankle_roll_link"),
    "talos": ("leg_left_6_link", "leg_right_6_link"),
    "humanoid": ("left_foot", "right_foot"),
}
HANDS = {
    "g1": ("left_wrist_yaw_link", "right_wrist_yaw_link"),
    "talos": ("gripper_left_base_link", "gripper_right_base_link"),
    "humanoid": ("left_palm", "right_palm"),
}


@pytest.fixture(scope="module", params=FEET)
def stance(request):
    """Both feet welded to the ground, hands free, in a posture near home."""
    robot = load(request.param)
    rng = np.random.default_rng(3)
    step = np.zeros(robot.nv)
    step[6:] = 0.15 * rng.uniform(-1.0, 1.0, robot.nv - 6)
    q = pin.integrate(robot.model, np.array(robot.home), step)
    contacts = dict.fromkeys(FEET[request.param], "weld") | dict.fromkeys(HANDS[request.param], "free")
    return robot, q, ContactSystem(robot, contacts).at(q)


def feet_twists(robot, q, v, names):
    data = robot.model.createData()
    pin.computeJointJacobians(robot.model, data, q)
    pin.updateFramePlacements(robot.model, data)
    frames = [robot.contacts[name].frame if name in robot.contacts else name for name in names]
    return [pin.getFrameJacobian(robot.model, data, robot.frame_id(f), pin.LOCAL_WORLD_ALIGNED) @ v for f in frames]


def least_joint_rates(A, b):
    """Independent: smallest |θ'| of all (V_B, θ') with A (V_B, θ') = b, by a null-space basis."""
    x = np.linalg.lstsq(A, b, rcond=1e-11)[0]
    Z = null_space(A, rcond=1e-11)
    return x - Z @ np.linalg.lstsq(Z[6:], x[6:], rcond=1e-11)[0]


def test_centre_of_mass_and_attitude_move_as_told_and_feet_rest(stance, rng):
    robot, q, now = stance
    V = 0.1 * rng.normal(size=6)
    rates = joint_rates_of_mixed(now, V)
    base = now.base_twist(V, rates)
    v = now.velocity(base, rates)
    for foot in feet_twists(robot, q, v, FEET[robot.name]):
        assert np.abs(foot).max() < 1e-10
    assert_allclose(now.constraint_jacobian @ np.concatenate([base, rates]), 0.0, atol=1e-10)
    assert_allclose(pin.jacobianCenterOfMass(robot.model, robot.model.createData(), q) @ v, V[:3], atol=1e-10)
    assert_allclose(base[3:], V[3:])


def test_mixed_law_is_the_stacked_least_squares(stance, rng):
    _, _, now = stance
    V = 0.1 * rng.normal(size=6)
    to_mixed = np.array([now.mixed_twist(unit[:6], unit[6:]) for unit in np.eye(6 + now.J_c.shape[1])]).T
    A = np.vstack([now.constraint_jacobian, to_mixed])
    expected = least_joint_rates(A, np.concatenate([np.zeros(len(now.J_c)), V]))
    rates = joint_rates_of_mixed(now, V)
    assert_allclose(np.concatenate([now.base_twist(V, rates), rates]), expected, atol=1e-9)


def test_hands_move_as_told_below_the_feet(stance, rng):
    """(2.133): mobility tasks of the free ends, with contacts and V_M held."""
    robot, q, now = stance
    V, hands, rest = 0.1 * rng.normal(size=6), 0.1 * rng.normal(size=12), rng.normal(size=robot.nv - 6)
    rates = joint_rates_of_mixed(now, V, free_rate=hands, rest=rest)
    base = now.base_twist(V, rates)
    v = now.velocity(base, rates)
    for foot in feet_twists(robot, q, v, FEET[robot.name]):
        assert np.abs(foot).max() < 1e-9
    missed = now.C_m.T @ base + now.J_m @ rates - hands
    _, J_c, _, J_m = now.mixed()
    N = np.eye(robot.nv - 6) - np.linalg.pinv(J_c, rcond=1e-10) @ J_c
    assert_allclose((J_m @ N).T @ missed, 0.0, atol=1e-9)  # nothing left to gain in the null space of the contacts
    if robot.name != "humanoid":  # its arms have six joints and share one torso
        assert np.abs(missed).max() < 1e-9
    without = joint_rates_of_mixed(now, V, free_rate=hands)
    assert np.abs(rates - without).max() > 1e-3
    assert_allclose(J_c @ (rates - without), 0.0, atol=1e-9)
    assert_allclose(J_m @ (rates - without), 0.0, atol=1e-9)


def test_joints_carry_the_base_over_fixed_feet(stance, rng):
    robot, q, now = stance
    base = 0.1 * rng.normal(size=6)
    rates = joint_rates_of_base(now, base)
    for foot in feet_twists(robot, q, now.velocity(base, rates), FEET[robot.name]):
        assert np.abs(foot).max() < 1e-10
    assert_allclose(base_twist_of_joints(now, rates), base, atol=1e-9)


def test_one_leg_of_six_joints_is_the_ordinary_inverse(rng):
    """θ'_F = −J_B⁻¹ T_FB V_B; (2.87) as printed, +J_B⁻¹ V_B, would move the foot."""
    robot = load("humanoid")
    q = np.array(robot.home)
    now = ContactSystem(robot, {"left_foot": "weld"}).at(q)
    base = rng.normal(size=6)
    rates = joint_rates_of_base(now, base)
    leg = np.flatnonzero(np.abs(now.J_c).sum(axis=0) > 0.0)
    assert len(leg) == 6
    T = now.placements[0]
    turn = twist.rotation_matrix(T[:3, :3])
    J_B, T_FB = turn @ now.J_c[:, leg], twist.shift_matrix(T[:3, 3] - q[:3])
    assert_allclose(rates[leg], -np.linalg.solve(J_B, T_FB @ base), atol=1e-9)
    printed = np.zeros_like(rates)
    printed[leg] = np.linalg.solve(J_B, base)
    assert np.abs(now.C_c.T @ base + now.J_c @ printed).max() > 0.1


def test_contacts_that_move(stance, rng):
    _, _, now = stance
    held = 0.1 * rng.normal(size=len(now.J_c))
    V = 0.1 * rng.normal(size=6)
    rates = joint_rates_of_mixed(now, V, held_rate=held)
    moved = now.constraint_jacobian @ np.concatenate([now.base_twist(V, rates), rates])
    assert_allclose(moved, held, atol=1e-9)


def test_split_of_quasi_velocities(stance, rng):
    robot, _, now = stance
    wanted = rng.normal(size=robot.nv)
    tangent, constraint = split_velocity(now, wanted)
    J = now.constraint_jacobian
    assert_allclose(tangent + constraint, wanted, atol=1e-12)
    assert_allclose(J @ tangent, 0.0, atol=1e-10)
    assert_allclose(constraint, np.linalg.pinv(J) @ J @ wanted, atol=1e-9)
    assert abs(tangent @ constraint) < 1e-10


def test_base_that_contacts_do_not_tie_moves_as_told(rng):
    """One point foot (c = 3): three freedoms of the base are left; (2.90) as printed has factors that do not fit."""
    robot = load("humanoid")
    now = ContactSystem(robot, {"left_foot": "ball"}).at(robot.home)
    rates, wanted = rng.normal(size=robot.nv - 6), rng.normal(size=6)
    base = base_twist_of_joints(now, rates, wanted)
    assert_allclose(now.C_c.T @ base + now.J_c @ rates, 0.0, atol=1e-10)
    free = null_space(now.C_c.T)
    assert free.shape == (6, 3)
    assert_allclose(free.T @ (base - wanted), 0.0, atol=1e-10)
    assert now.C_c.shape == (6, 3)  # E − C Cᵀ⁺ would need (6, 6) of (3, 3)


def test_closed_loop_of_hands_and_feet(rng):
    """Feet on the ground and both hands on rods: eight more directions are held, along the rods hands slide."""
    robot = load("humanoid")
    q = np.array(robot.home)
    for joint, value in {"shoulder_pitch": -0.6, "elbow": -1.2, "shoulder_yaw": 0.1, "wrist_pitch": 0.2}.items():
        for side in ("left", "right"):
            q[robot.tree.q_index[robot.joint_index(f"{side}_{joint}")]] = value
    kinds = {"left_foot": "weld", "right_foot": "weld", "left_palm": "cylindrical", "right_palm": "cylindrical"}
    now = ContactSystem(robot, kinds).at(q)
    assert now.C_c.shape == (6, 20)
    assert now.C_m.shape == (6, 4)
    tangent, _ = split_velocity(now, rng.normal(size=robot.nv))
    moved = feet_twists(robot, q, now.velocity(tangent[:6], tangent[6:]), ("left_palm", "left_foot"))
    assert np.abs(moved[1]).max() < 1e-10
    R = robot.placements(q)["left_palm"][:3, :3]
    local = np.concatenate([R.T @ moved[0][:3], R.T @ moved[0][3:]])
    assert_allclose(local[[0, 2, 3, 5]], 0.0, atol=1e-10)
    assert np.abs(local[[1, 4]]).min() > 1e-4


def test_damping_bounds_the_rates_of_straight_legs():
    robot = load("humanoid")
    q = np.array(robot.neutral)
    q[robot.tree.q_index[robot.joint_index("left_knee")]] = 1e-4
    now = ContactSystem(robot, {"left_foot": "weld"}).at(q)
    up = np.array([0.0, 0.0, 0.1, 0.0, 0.0, 0.0])
    assert np.abs(joint_rates_of_base(now, up)).max() > 100.0
    assert np.abs(joint_rates_of_base(now, up, threshold=0.05, damping=0.05)).max() < 2.0
