"""Equivalent mass, blows on a standing robot, the jump of its centre of pressure, gears."""

import numpy as np
import pytest

from surefoot.dynamics import crba
from surefoot.dynamics.algebra.block_inertia import unpacked
from surefoot.dynamics.constraints.constraints import constraints_of, contact
from surefoot.dynamics.impacts.impact import impact
from surefoot.dynamics.impacts.mass import blow, cop_jump, equivalent_mass, gear_augmentation
from surefoot.dynamics.tree import composite_bodies
from surefoot.errors import ShapeError, SimulationError, UnknownNameError
from surefoot.kinematics import frame_jacobian
from surefoot.kinematics.frames import frame_of
from surefoot.robot import Link, NamedFrame, Robot
from surefoot.robot.model.links import placement
from surefoot.spatial import so3
from tests.dynamics.examples import robot_named, state

ROBOT = robot_named("small-humanoid")
HOME = np.array(ROBOT.home)
HAND = "right_forearm"
FEET = [contact(ROBOT, HOME, foot) for foot in ("left_foot", "right_foot")]
DIRECTIONS = np.vstack([np.eye(3), so3.random(np.random.default_rng(0))])


def row(robot, q, frame, direction):
    return direction @ frame_jacobian(robot.tree, frame_of(robot, frame), q)[:3]


@pytest.mark.parametrize("direction", DIRECTIONS)
def test_it_is_the_impulse_per_speed_of_an_impact(direction):
    """An impact that stops the hand along a direction, feet planted, needs M_eq times its speed."""
    q, v, _ = state(ROBOT, 2)
    feet = [contact(ROBOT, q, foot) for foot in ("left_foot", "right_foot")]
    standing = impact(ROBOT, q, v, feet).v_after
    across = np.linalg.svd(direction[None])[2][1]
    axis = placement(rotation=np.column_stack([across, np.cross(direction, across), direction]))
    hand = contact(ROBOT, q, HAND, "normal")
    aligned = type(hand)("hand", "universe", HAND, axis, axis, (False, False, True, False, False, False))
    found = impact(ROBOT, q, standing, [*feet, aligned])
    speed = row(ROBOT, q, HAND, direction) @ standing
    assert found.impulses[-1] == pytest.approx(-equivalent_mass(ROBOT, q, HAND, direction, feet) * speed, rel=1e-7)


@pytest.mark.parametrize("direction", DIRECTIONS)
def test_closed_forms(direction):
    M, J = crba(ROBOT.tree, HOME), row(ROBOT, HOME, HAND, direction)
    Jc = np.asarray(constraints_of(ROBOT, FEET).jacobian(ROBOT.tree, HOME))
    inverse = np.linalg.inv(M)
    N = inverse - inverse @ Jc.T @ np.linalg.solve(Jc @ inverse @ Jc.T, Jc @ inverse)
    free, planted, rigid = (
        equivalent_mass(ROBOT, HOME, HAND, 3.0 * direction),
        equivalent_mass(ROBOT, HOME, HAND, direction, FEET),
        equivalent_mass(ROBOT, HOME, HAND, direction, locked_joints=True),
    )
    assert free == pytest.approx(1.0 / (J @ inverse @ J), rel=1e-9)
    assert planted == pytest.approx(1.0 / (J @ N @ J), rel=1e-8)
    assert rigid == pytest.approx(1.0 / (J[:6] @ np.linalg.solve(M[:6, :6], J[:6])), rel=1e-9)
    assert free < planted < np.inf
    assert free < rigid < ROBOT.mass


def test_locked_joints_leave_the_composite_rigid_body():
    """One body with the mass, centre and inertia that the whole robot has, hit at the same place."""
    whole = composite_bodies(ROBOT.tree, HOME)[-1]
    centre = np.asarray(whole["moment"], dtype=float) / ROBOT.mass
    about = np.asarray(unpacked(whole["inertia"]), dtype=float)  # about the world's origin
    inertia = about + ROBOT.mass * so3.skew(centre) @ so3.skew(centre)
    frame = NamedFrame("hand", "body", placement(ROBOT.placements(HOME)[HAND][:3, 3]))
    body = Link("body", None, None, ROBOT.mass, centre, 0.5 * (inertia + inertia.T))
    solid = Robot.from_tree("body", [body], "floating", frames=(frame,), drives=(), home_base=(0, 0, 0, 0, 0, 0, 1))
    for direction in DIRECTIONS:
        expected = equivalent_mass(solid, solid.neutral, "hand", direction)
        assert equivalent_mass(ROBOT, HOME, HAND, direction, locked_joints=True) == pytest.approx(expected, rel=1e-9)


def printed_mobility(robot, q, frame, direction, feet):
    """1 / M_eq of Nenchev & Konno 2019, (7.75), with the reaction of a foot that stays."""
    M = crba(robot.tree, q)[:6, :6]
    J = row(robot, q, frame, direction)[:6]
    Jc = np.asarray(constraints_of(robot, feet).jacobian(robot.tree, q))[:6, :6]
    reaction = -np.linalg.solve(Jc.T, J)
    return J @ np.linalg.solve(M, Jc.T @ reaction) + J @ np.linalg.solve(M, J)


@pytest.mark.parametrize("direction", DIRECTIONS)
def test_the_printed_formula_diverges_with_planted_feet(direction):
    assert abs(printed_mobility(ROBOT, HOME, HAND, direction, FEET)) < 1e-10
    assert equivalent_mass(ROBOT, HOME, HAND, direction, FEET) < ROBOT.mass
    assert equivalent_mass(ROBOT, HOME, HAND, direction, FEET, locked_joints=True) == np.inf


def test_a_planted_foot_cannot_be_moved_and_stiffer_joints_weigh_more():
    assert equivalent_mass(ROBOT, HOME, "left_foot", [0.0, 0.0, 1.0], FEET) == np.inf
    elbow = [ROBOT.joint_names[-1]]
    some = equivalent_mass(ROBOT, HOME, HAND, [1.0, 0.0, 0.0], FEET, elbow)
    assert equivalent_mass(ROBOT, HOME, HAND, [1.0, 0.0, 0.0], FEET) < some < np.inf
    with pytest.raises(UnknownNameError):
        equivalent_mass(ROBOT, HOME, HAND, [1.0, 0.0, 0.0], FEET, ["elbow"])


@pytest.mark.parametrize("direction", [[0.0, 0.0, 0.0], [1.0, 0.0], [np.nan, 0.0, 0.0]])
def test_wrong_directions(direction):
    with pytest.raises(ShapeError):
        equivalent_mass(ROBOT, HOME, HAND, direction)


def test_blow_balances_momentum():
    """M Δv = Jᵀ I + Jcᵀ Λ, feet at rest; free in space the ground gives nothing."""
    hit = np.array([1.0, -2.0, 0.5])
    found = blow(ROBOT, HOME, HAND, hit, FEET)
    J = np.asarray(frame_jacobian(ROBOT.tree, frame_of(ROBOT, HAND), HOME))[:3]
    Jc = np.asarray(constraints_of(ROBOT, FEET).jacobian(ROBOT.tree, HOME))
    balance = crba(ROBOT.tree, HOME) @ found.jump
    np.testing.assert_allclose(balance, J.T @ hit + Jc.T @ found.planted, atol=1e-10)
    np.testing.assert_allclose(Jc @ found.jump, 0.0, atol=1e-10)
    np.testing.assert_allclose(blow(ROBOT, HOME, HAND, hit).ground, 0.0, atol=1e-12)


def test_ground_impulse_is_the_sum_of_the_feet():
    found = blow(ROBOT, HOME, HAND, [1.0, -2.0, 0.5], FEET)
    total = np.zeros(6)
    for k, foot in enumerate(FEET):
        T, wrench = foot.placement_a, found.planted[6 * k : 6 * k + 6]
        force, moment = T[:3, :3] @ wrench[:3], T[:3, :3] @ wrench[3:]
        total += np.concatenate([force, moment + np.cross(T[:3, 3], force)])
    np.testing.assert_allclose(found.ground, total, atol=1e-10)


@pytest.mark.parametrize("hit", [(0.0, 0.0, -3.0), (0.6, -0.4, -3.0), (0.2, 0.1, 1.0)])
def test_cop_of_a_rigid_robot_is_where_the_line_of_the_blow_meets_the_ground(hit):
    places = ROBOT.placements(HOME)
    way = places[HAND][:3, 3] - places["left_foot"][:3, 3]
    expected = way[:2] - way[2] / hit[2] * np.array(hit[:2])
    found = cop_jump(ROBOT, HOME, HAND, hit, FEET, "left_foot", locked_joints=True)
    np.testing.assert_allclose(found, expected, atol=1e-10)
    soft = cop_jump(ROBOT, HOME, HAND, hit, FEET, "left_foot")
    assert np.abs(soft - found).max() > 1e-3


def test_weight_counts_during_a_long_blow():
    """A level blow has no centre of pressure of its own; with the weight it shifts it by the moment over the force."""
    hit, time = np.array([0.5, 0.0, 0.0]), 0.02
    with pytest.raises(SimulationError) as caught:
        cop_jump(ROBOT, HOME, HAND, hit, FEET, "left_foot", locked_joints=True)
    assert "duration" in caught.value.next_step
    shift = [
        cop_jump(ROBOT, HOME, HAND, x, FEET, "left_foot", locked_joints=True, duration=time) for x in (hit, 1e-9 * hit)
    ]
    height = ROBOT.placements(HOME)[HAND][2, 3] - ROBOT.placements(HOME)["left_foot"][2, 3]
    gravity = float(-ROBOT.tree.gravity[2])
    expected = [hit[0] * height / (ROBOT.mass * gravity * time), 0.0]
    np.testing.assert_allclose(shift[0] - shift[1], expected, atol=1e-8)


def test_gears_augment_the_inertia():
    """M_G - M is diagonal: ratio² times rotor inertia for rigid gears, nothing for elastic ones."""
    rigid, elastic = robot_named("lola"), robot_named("lola:elastic")
    inertia, damping = gear_augmentation(rigid)
    M = [crba(robot.tree, np.array(rigid.home)) for robot in (rigid, elastic)]
    np.testing.assert_allclose(M[0] - M[1], np.diag(inertia), atol=1e-9)
    assert (inertia[rigid.driven] > 0.0).all()
    np.testing.assert_array_equal(damping[rigid.driven], [drive.viscous_friction for drive in rigid.drives])
    assert not gear_augmentation(elastic)[0].any()
