"""Contacts that only push: complementarity, a quadratic program as oracle, energy, closed forms."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import nnls

from surefoot.dynamics import crba, kinetic_energy
from surefoot.dynamics.constraints.constraints import constraints_of, contact
from surefoot.dynamics.impacts.impact import impact
from surefoot.dynamics.impacts.pushing import pushing_impact
from surefoot.errors import SimulationError, UnknownNameError
from surefoot.robot import Link, Loop, NamedFrame, Robot
from surefoot.robot.model.links import placement
from tests.dynamics.examples import robot_named, state

NORMAL = (False, False, True, False, False, False)


def corners(robot, foot, directions=NORMAL):
    surface = robot.contacts[foot]
    return [
        Loop(f"{foot}{k}", "universe", surface.frame, placement(), surface.placement @ placement(corner), directions)
        for k, corner in enumerate(surface.corners)
    ]


def normals(robot, q, ties):
    constraints = constraints_of(robot, ties)
    rows = [k for k, row in enumerate(constraints.rows) if row.endswith(".z")]
    return np.asarray(constraints.jacobian(robot.tree, q))[rows]


@given(seed=st.integers(0, 10_000), e=st.floats(0.0, 1.0))
@settings(max_examples=25, deadline=None)
def test_eight_corners_that_slide_against_nonnegative_least_squares(seed, e):
    """min ½ Λᵀ A Λ + (1 + e) Λᵀ J v⁻ over Λ ≥ 0 has the same conditions; the corners of one sole are redundant."""
    robot = robot_named("small-humanoid")
    q, v, _ = state(robot, seed)
    ties = [*corners(robot, "left_foot"), *corners(robot, "right_foot")]
    J, M = normals(robot, q, ties), crba(robot.tree, q)
    found = pushing_impact(robot, q, v, ties, e)
    C = np.linalg.cholesky(M)
    B = np.linalg.solve(C, J.T)
    impulses, _ = nnls(B, -(1.0 + e) * (C.T @ v), maxiter=1000)
    np.testing.assert_allclose(found.jump, np.linalg.solve(C.T, B @ impulses), atol=1e-7)
    gap = J @ (found.v_after + e * v)
    assert found.impulses.min() > -1e-7
    assert gap.min() > -1e-7
    assert abs(found.impulses @ gap) < 1e-7
    before = float(kinetic_energy(robot.tree, q, v))
    assert float(kinetic_energy(robot.tree, q, found.v_after)) <= before * (1.0 + 1e-9)


@pytest.mark.parametrize("law", ["newton", "poisson"])
@given(seed=st.integers(0, 10_000), e=st.floats(0.0, 1.0))
@settings(max_examples=25, deadline=None)
def test_sticking_feet(law, seed, e):
    """Either a foot pushes and its rows hold, or it gives nothing and parts; energy never grows."""
    robot = robot_named("small-humanoid")
    q = np.array(robot.home)
    v = 0.3 * state(robot, seed)[1]
    v[2] -= 1.0  # falling: with any velocity whatever there may be no such impact
    ties = [contact(robot, q, foot, "point") for foot in ("left_foot", "right_foot")]
    found = pushing_impact(robot, q, v, ties, e, law)
    J = normals(robot, q, ties)
    assert (found.impulses[[2, 5]] > -1e-9).all()
    for name, rows in (("left_foot", slice(0, 3)), ("right_foot", slice(3, 6))):
        assert (name in found.released) == bool(np.abs(found.impulses[rows]).max() < 1e-9)
    slowest = J @ found.v_after + (e * (J @ v) if law == "newton" else 0.0)
    assert slowest.min() > -1e-8
    before = float(kinetic_energy(robot.tree, q, v))
    assert before - float(kinetic_energy(robot.tree, q, found.v_after)) == pytest.approx(found.energy_lost, abs=1e-9)


def plate():
    """A level rod that sticks out beyond two points, 1 m apart: 3 kg, 1.5 kg m²."""
    frames = [NamedFrame(side, "rod", placement((x, 0.0, 0.0))) for side, x in (("left", -0.5), ("right", 0.5))]
    link = Link("rod", None, None, 3.0, np.zeros(3), 1.5 * np.eye(3))
    return Robot.from_tree("rod", [link], "floating", frames=tuple(frames), drives=())


def test_a_rod_that_lands_on_one_end_lifts_the_other():
    """The left point rests on the ground, the right one closes with 1 m/s and meets 2 kg: the left would pull."""
    robot = plate()
    q = np.array(robot.neutral)
    ties = [contact(robot, q, side, "normal") for side in ("left", "right")]
    v = np.array([0.0, 0.0, -0.5, 0.0, 1.0, 0.0])
    rigid, found = impact(robot, q, v, ties), pushing_impact(robot, q, v, ties)
    np.testing.assert_allclose(rigid.impulses, [-0.75, 2.25], rtol=1e-12)
    assert found.released == ("left",)
    np.testing.assert_allclose(found.impulses, [0.0, 2.0], rtol=1e-12)
    np.testing.assert_allclose(normals(robot, q, ties) @ found.v_after, [1.0 / 3.0, 0.0], atol=1e-12)


def test_a_flat_fall_presses_on_both():
    robot = plate()
    q, v = np.array(robot.neutral), np.array([0.0, 0.0, -1.0, 0.0, 0.0, 0.0])
    ties = [contact(robot, q, side, "normal") for side in ("left", "right")]
    for law in ("newton", "poisson"):
        found = pushing_impact(robot, q, v, ties, 0.5, law)
        assert found.released == ()
        np.testing.assert_allclose(found.impulses, [2.25, 2.25], rtol=1e-12)
        np.testing.assert_allclose(found.v_after, -0.5 * v, atol=1e-12)


def test_one_contact_obeys_both_laws_alike():
    robot = plate()
    q, v = np.array(robot.neutral), np.array([0.2, 0.1, -1.0, 0.0, 0.3, 0.1])
    tie = [contact(robot, q, "right", "normal")]
    newton, poisson = (pushing_impact(robot, q, v, tie, 0.6, law) for law in ("newton", "poisson"))
    np.testing.assert_allclose(newton.v_after, poisson.v_after, atol=1e-12)


def test_what_parts_already_is_left_alone():
    robot = plate()
    q, v = np.array(robot.neutral), np.array([0.0, 0.0, 1.0, 0.0, 0.0, 0.0])
    found = pushing_impact(robot, q, v, [contact(robot, q, "left", "normal")], 0.5)
    np.testing.assert_array_equal(found.v_after, v)
    assert found.released == ("left",)


def test_no_such_impact_is_said():
    """Feet that stick and may not pull: some velocities have no answer, and none is invented."""
    robot = robot_named("small-humanoid")
    q = np.array(robot.home)
    ties = [contact(robot, q, foot, "point") for foot in ("left_foot", "right_foot")]
    refused = 0
    for seed in range(60):
        try:
            found = pushing_impact(robot, q, state(robot, seed)[1], ties)
        except SimulationError as error:
            refused += 1
            assert error.evidence["contacts"] == ["left_foot", "right_foot"]
        else:
            assert found.impulses[[2, 5]].min() > -1e-9
    assert 0 < refused < 30


def test_unknown_law():
    robot = plate()
    with pytest.raises(UnknownNameError):
        pushing_impact(robot, robot.neutral, np.zeros(6), [], law="newtn")
