"""Impacts: the law, the balance of momentum, energy, closed forms, redundant contacts, the trace."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from surefoot.dynamics import crba, kinetic_energy
from surefoot.dynamics.constraints.constraints import constraints_of, contact
from surefoot.dynamics.impacts.impact import impact, impact_jump
from surefoot.errors import ModelError, ShapeError
from surefoot.robot import Coupling, Joint, Link, Loop, NamedFrame, Robot
from surefoot.robot.model.links import placement
from tests.dynamics.examples import armed, robot_named, state, traced

LANDING = {
    "small-humanoid": [("left_foot", "flat"), ("right_foot", "point")],
    "biped": [("left_foot", "line")],
    "hexapod": [("leg1_tip", "point"), ("leg2_tip", "normal"), ("leg4_tip", "soft_finger")],
}


def landing(name, q):
    robot = robot_named(name)
    frames = list(robot.contacts)
    return [contact(robot, q, frames[k], kind) for k, (_, kind) in enumerate(LANDING[name])]


def redundant(robot, q):
    """One foot held flat, and four of its points besides."""
    foot = robot.contacts["left_foot"]
    points = [
        Loop(
            f"corner{k}",
            "universe",
            foot.frame,
            placement(),
            foot.placement @ placement(corner),
            (True,) * 3 + (False,) * 3,
        )
        for k, corner in enumerate(foot.corners)
    ]
    return [contact(robot, q, "left_foot"), *points]


def jacobian(robot, q, ties):
    return np.asarray(constraints_of(robot, ties).jacobian(robot.tree, q))


@pytest.mark.parametrize("name", LANDING)
@given(seed=st.integers(0, 10_000), e=st.floats(0.0, 1.0))
@settings(max_examples=15, deadline=None)
def test_laws(name, seed, e):
    """J (v⁺ + e v⁻) = 0, M Δv = Jᵀ Λ, energy lost = (1 - e²) ½ Δᵀ M Δ with Δ the velocities lost at e = 0."""
    robot = robot_named(name)
    q, v, _ = state(robot, seed)
    ties = landing(name, q)
    found, plastic = impact(robot, q, v, ties, e), impact(robot, q, v, ties)
    J, M = jacobian(robot, q, ties), crba(robot.tree, q)
    scale = np.abs(v).max() * np.abs(M).max()
    np.testing.assert_allclose(J @ (found.v_after + e * v), 0.0, atol=1e-9)
    np.testing.assert_allclose(M @ found.jump, J.T @ found.impulses, atol=1e-9 * scale)
    np.testing.assert_allclose(found.joint_impulse, J.T @ found.impulses, atol=1e-9 * scale)
    np.testing.assert_allclose(found.v_after, v + found.jump, atol=1e-12)
    before, after = (float(kinetic_energy(robot.tree, q, x)) for x in (v, found.v_after))
    assert found.energy_lost >= 0.0
    assert before - after == pytest.approx(found.energy_lost, abs=1e-9 * before)
    carnot = float(kinetic_energy(robot.tree, q, plastic.jump))
    assert found.energy_lost == pytest.approx((1.0 - e**2) * carnot, abs=1e-9 * before)
    assert found.rank == np.linalg.matrix_rank(J, tol=1e-9)  # the biped is planar: three rows of its line are nothing
    assert len(found.redundant) == len(J) - found.rank
    assert found.residual < 1e-9


def test_the_printed_law_is_not_what_holds():
    """Koch (2.24b) prints J (e v⁺ + v⁻) = 0, which would make a plastic impact keep its velocity."""
    robot = robot_named("small-humanoid")
    q, v, _ = state(robot, 1)
    ties = landing("small-humanoid", q)
    J, found = jacobian(robot, q, ties), impact(robot, q, v, ties, 0.5)
    assert np.abs(J @ (0.5 * found.v_after + v)).max() > 0.1


@pytest.mark.parametrize("e", [0.0, 0.4, 1.0])
def test_redundant_contacts_change_nothing(e):
    robot = robot_named("small-humanoid")
    q, v, _ = state(robot, 3)
    lean, fat = impact(robot, q, v, redundant(robot, q)[:1], e), impact(robot, q, v, redundant(robot, q), e)
    assert fat.rank == lean.rank == 6
    assert len(fat.redundant) == 12
    assert all(name.startswith("corner") for name in fat.redundant)
    np.testing.assert_allclose(fat.v_after, lean.v_after, atol=1e-9)
    np.testing.assert_allclose(fat.joint_impulse, lean.joint_impulse, atol=1e-9)
    assert fat.residual < 1e-9
    assert np.linalg.norm(fat.impulses) < np.linalg.norm(lean.impulses)
    np.testing.assert_allclose(jacobian(robot, q, redundant(robot, q)).T @ fat.impulses, fat.joint_impulse, atol=1e-9)


def test_what_stands_takes_part():
    """A planted foot keeps its rest when the other lands; without it in J it would be torn off."""
    robot = robot_named("small-humanoid")
    q = np.array(robot.home)
    left, right = contact(robot, q, "left_foot"), contact(robot, q, "right_foot")
    v = impact(robot, q, state(robot, 4)[1], [left]).v_after
    both, alone = impact(robot, q, v, [left, right]), impact(robot, q, v, [right])
    J = jacobian(robot, q, [left])
    np.testing.assert_allclose(J @ both.v_after, 0.0, atol=1e-10)
    assert np.abs(J @ alone.v_after).max() > 1e-2


def test_loops_and_couplings_hold_through_an_impact():
    robot = armed()
    q, v, _ = state(robot, 5)
    joints = [robot.joint_names[i] for i in range(robot.tree.n) if robot.tree.nq_of(i) == 1][:2]
    ties = [Coupling(joints[0], joints[1], 2.0), contact(robot, q, "l1", "point")]
    loose = impact(robot, q, v, ties[:1])
    found = impact(robot, q, loose.v_after, ties, 0.5)
    rows = [int(robot.tree.v_index[robot.joint_index(name)]) for name in joints]
    assert found.v_after[rows[0]] == pytest.approx(2.0 * found.v_after[rows[1]], abs=1e-12)


def rod(length=1.0, mass=3.0):
    """A slender rod along x that moves in the x–z plane."""
    inertia = np.diag([1e-6, mass * length**2 / 12.0, mass * length**2 / 12.0])
    link = Link("rod", None, None, mass, np.zeros(3), inertia)
    frames = (NamedFrame("tip", "rod", placement((0.5 * length, 0.0, 0.0))),)
    return Robot.from_tree("rod", [link], "floating", frames=frames, drives=())


@pytest.mark.parametrize("e", [0.0, 0.5, 1.0])
def test_falling_rod_on_its_tip(e):
    """A level rod that falls with speed u: the tip meets m/4, Λ = (1 + e) m u / 4, centre -u + (1 + e) u / 4."""
    robot, u = rod(), 2.0
    q, v = np.array(robot.neutral), np.array([0.0, 0.0, -u, 0.0, 0.0, 0.0])
    found = impact(robot, q, v, [contact(robot, q, "tip", "normal")], e)
    assert found.impulses[0] == pytest.approx((1.0 + e) * 3.0 * u / 4.0)
    assert found.v_after[2] == pytest.approx(-u + (1.0 + e) * u / 4.0)
    assert found.v_after[4] == pytest.approx(-(1.0 + e) * 1.5 * u)  # 12/(m l²) · (l/2) Λ about -y
    assert found.energy_lost == pytest.approx((1.0 - e**2) * 0.5 * (3.0 / 4.0) * u**2)


@pytest.mark.parametrize("e", [0.0, 0.3, 1.0])
def test_two_masses_collide(e):
    """On one line: v₁⁺ = v₁ - (1 + e) m₂/(m₁ + m₂) (v₁ - v₂); the loop between them is the contact."""
    m1, m2, v = 2.0, 5.0, np.array([3.0, -1.0])
    links = [
        Link(f"m{k}", None, Joint(f"x{k}", "prismatic", axis=(1.0, 0.0, 0.0)), m, np.zeros(3), np.eye(3))
        for k, m in enumerate((m1, m2))
    ]
    robot = Robot.from_tree("masses", links, "fixed", drives=())
    touch = Loop("touch", "m0", "m1", directions=(True, False, False, False, False, False))
    found = impact(robot, [0.0, 0.0], v, [touch], e)
    closing, total = v[0] - v[1], m1 + m2
    expected = [v[0] - (1 + e) * m2 / total * closing, v[1] + (1 + e) * m1 / total * closing]
    np.testing.assert_allclose(found.v_after, expected, rtol=1e-12)
    assert found.energy_lost == pytest.approx((1 - e**2) * 0.5 * m1 * m2 / total * closing**2, abs=1e-12)


def test_a_ball_bounces():
    ball = Robot.from_tree(
        "ball", [Link("ball", None, None, 2.0, np.zeros(3), 0.01 * np.eye(3))], "floating", drives=()
    )
    v = np.array([1.0, 0.0, -3.0, 0.0, 0.0, 0.0])
    found = impact(ball, ball.neutral, v, [contact(ball, ball.neutral, "ball", "normal")], 0.8)
    np.testing.assert_allclose(found.v_after, [1.0, 0.0, 2.4, 0.0, 0.0, 0.0], atol=1e-12)


def test_restitutions_that_add_energy_are_refused():
    """Velocities that one row alone would stop: where the others hold it back, its full rebound takes more energy."""
    robot = robot_named("small-humanoid")
    for seed in range(5):
        q, _, _ = state(robot, seed)
        ties = landing("small-humanoid", q)
        J, M = jacobian(robot, q, ties), crba(robot.tree, q)
        v = -np.linalg.solve(M, J[2])
        only = np.eye(len(J))[2]
        jump = np.linalg.solve(M, J.T @ np.linalg.solve(J @ np.linalg.solve(M, J.T), -(1.0 + only) * (J @ v)))
        gained = 0.5 * ((v + jump) @ M @ (v + jump) - v @ M @ v)
        with pytest.raises(ModelError, match="would add") as caught:
            impact(robot, q, v, ties, {"left_foot.z": 1.0})
        assert f"{gained:.3g} J" in caught.value.message
        assert caught.value.evidence["restitution"]["left_foot.z"] == 1.0
        assert impact(robot, q, v, ties, 1.0).energy_lost == pytest.approx(0.0, abs=1e-9)


def test_rows_that_contradict_are_named():
    robot = robot_named("small-humanoid")
    q, v, _ = state(robot, 3)
    with pytest.raises(ModelError) as caught:
        impact(robot, q, v, redundant(robot, q), {"corner1.z": 0.1})
    assert "corner1.z" in caught.value.message
    assert caught.value.evidence["residual"] > 0.0


def test_wrong_velocity_is_refused():
    robot = robot_named("small-humanoid")
    with pytest.raises(ShapeError):
        impact(robot, robot.home, np.zeros(3), [])


@pytest.mark.parametrize("with_redundant", [False, True])
def test_traced_jump(with_redundant):
    robot = robot_named("small-humanoid")
    q, v, _ = state(robot, 6)
    ties = constraints_of(robot, redundant(robot, q) if with_redundant else landing("small-humanoid", q))
    expected = impact(robot, q, v, ties, 0.3)
    found = traced(lambda q, v: impact_jump(robot.tree, ties, q, v, 0.3)[0], q, v)
    np.testing.assert_allclose(found, expected.jump, atol=1e-8)
    jump, impulses = impact_jump(robot.tree, ties, q, v, 0.3)
    np.testing.assert_allclose(jump, expected.jump, atol=1e-8)
    np.testing.assert_allclose(jacobian(robot, q, ties).T @ impulses, expected.joint_impulse, atol=1e-8)
