"""Planar closed chains against their closed forms: Freudenstein's equation, the crank's length and lever."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from surefoot.errors import ModelError
from surefoot.kinematics import Frame, relative_jacobian
from surefoot.kinematics.frames import WORLD, frame_of, relative_placement
from surefoot.kinematics.frames.path import relative_bias
from surefoot.robot.zoo.built import build
from surefoot.robot.zoo.loop_mechanisms import crank, crank_length, crank_lever, four_bar, four_bar_angles

HELD = [0, 2]


def ends(robot):
    """The two tied frames of the only loop."""
    loop = robot.loops[0]
    found = []
    for name, T in ((loop.frame_a, loop.placement_a), (loop.frame_b, loop.placement_b)):
        base = WORLD if name == "universe" else frame_of(robot, name)
        found.append(Frame(base.body, base.R @ T[:3, :3], base.p + base.R @ T[:3, 3]))
    return found


def gap(robot, q):
    return relative_placement(robot.tree, *ends(robot), np.asarray(q, dtype=float))[:3, 3]


LENGTHS = [(1.0, 0.4, 1.1, 0.8), (1.0, 0.3, 0.9, 0.7), (0.5, 0.5, 0.7, 0.6), (2.0, 1.0, 1.0, 2.5)]


@pytest.mark.parametrize("lengths", LENGTHS)
def test_four_bar_closes_at_home(lengths):
    robot = four_bar(*lengths).robot()
    np.testing.assert_allclose(gap(robot, robot.home), 0.0, atol=1e-12)
    assert (robot.nv, len(robot.loops), robot.loops[0].size) == (3, 1, 2)


@given(angle=st.floats(-3.1, 3.1), lengths=st.tuples(*[st.floats(0.2, 2.0)] * 4))
@settings(max_examples=60, deadline=None)
def test_angles_fulfil_the_equation_of_freudenstein(angle, lengths):
    """K₁ cos ψ - K₂ cos θ + K₃ = cos(θ - ψ), K₁ = g/a, K₂ = g/c, K₃ = (a² - b² + c² + g²) / 2ac; Freudenstein 1955."""
    g, a, b, c = lengths
    try:
        _, psi = four_bar_angles(angle, *lengths)
    except ModelError as error:
        diagonal = np.hypot(g - a * np.cos(angle), a * np.sin(angle))
        assert not abs(b - c) <= diagonal <= b + c or diagonal < 1e-6
        assert error.evidence["residual"] >= 0.0
        return
    K1, K2, K3 = g / a, g / c, (a**2 - b**2 + c**2 + g**2) / (2 * a * c)
    assert K1 * np.cos(psi) - K2 * np.cos(angle) + K3 == pytest.approx(np.cos(angle - psi), abs=1e-9)


def closed(robot, lengths, angle):
    coupler, rocker = four_bar_angles(angle, *lengths)
    return np.array([angle, coupler - angle, rocker])


@pytest.mark.parametrize("lengths", LENGTHS)
def test_four_bar_velocities_and_accelerations(lengths):
    """J annihilates the velocities of the closed form, and J a + J̇ v = 0 with its accelerations (by differences)."""
    robot, angle, w, h = four_bar(*lengths).robot(), 1.1, 2.0, 1e-4
    before, at, after = (closed(robot, lengths, angle + k * h) for k in (-1, 0, 1))
    np.testing.assert_allclose(gap(robot, at), 0.0, atol=1e-12)
    v, a = w * (after - before) / (2 * h), w**2 * (after - 2 * at + before) / h**2
    J = relative_jacobian(robot.tree, *ends(robot), at)[HELD]
    bias = relative_bias(robot.tree, *ends(robot), at, v)[HELD]
    np.testing.assert_allclose(J @ v, 0.0, atol=1e-6)
    np.testing.assert_allclose(J @ a + bias, 0.0, atol=1e-5)
    assert np.linalg.matrix_rank(J) == 2


def test_four_bar_with_a_real_hinge_has_redundant_rows():
    robot = build("four-bar", ["1", "0.4", "1.1", "0.8", "hinge"])
    held = np.flatnonzero(robot.loops[0].directions)
    J = relative_jacobian(robot.tree, *ends(robot), np.array(robot.home))[held]
    assert J.shape == (5, 3)
    assert np.linalg.matrix_rank(J, tol=1e-9) == 2


def test_lengths_follow_the_name():
    robot = build("four-bar", ["2", "1", "1.5"])
    np.testing.assert_allclose(robot.loops[0].placement_b[:3, 3], [1.5, 0.0, 0.0])
    np.testing.assert_allclose(robot.loops[0].placement_a[:3, 3], [0.8, 0.0, 0.0])


@pytest.mark.parametrize("lengths", [(5.0, 0.4, 1.1, 0.8), (1.0, 0.1, 5.0, 0.2)])
def test_bars_that_cannot_close_are_named_with_their_residual(lengths):
    with pytest.raises(ModelError, match="closing") as caught:
        four_bar(*lengths)
    assert caught.value.evidence["residual"] > 0.1


OFFSETS = [(0.3, 0.05, 0.06, 0.02), (0.25, 0.0, 0.08, 0.03), (0.2, 0.1, 0.2, 0.1)]


@pytest.mark.parametrize("offsets", OFFSETS)
@given(q=st.floats(0.1, 2.5))
@settings(max_examples=20, deadline=None)
def test_length_and_lever_of_the_crank(offsets, q):
    """x is the distance of the two points; ∂x/∂q by differences; the printed (12.2f) is something else."""
    l1, r1, l2, r2 = offsets
    nut, end = np.array([l1, -r1]), np.array([l2 * np.cos(q) - r2 * np.sin(q), l2 * np.sin(q) + r2 * np.cos(q)])
    x = crank_length(q, *offsets)
    assume(x > 1e-3)
    assert x == pytest.approx(np.linalg.norm(end - nut), rel=1e-12)
    h = 1e-6
    slope = (crank_length(q + h, *offsets) - crank_length(q - h, *offsets)) / (2 * h)
    assert crank_lever(q, *offsets) == pytest.approx(slope, rel=1e-6, abs=1e-8)
    a, b, alpha = np.hypot(l1, r1), np.hypot(l2, r2), np.arctan(r1 / l1) + np.arctan(r2 / l2)
    printed = -2.0 * a * b * np.sin(q + alpha) / x**2
    assert abs(printed - slope) > 0.1 * abs(slope)


@pytest.mark.parametrize("offsets", OFFSETS)
def test_the_mechanism_has_the_length_and_the_lever(offsets):
    robot = crank(*offsets).robot()
    for q in (0.4, 1.0, 1.9):
        l1, r1, l2, r2 = offsets
        x = crank_length(q, *offsets)
        end = np.array([l2 * np.cos(q) - r2 * np.sin(q) - l1, l2 * np.sin(q) + r2 * np.cos(q) + r1])
        at = robot.q_of({"knee": q, "swivel": float(np.arctan2(end[1], end[0])), "slide": float(x)})
        np.testing.assert_allclose(gap(robot, at), 0.0, atol=1e-12)
        J = relative_jacobian(robot.tree, *ends(robot), at)[HELD]
        rows = [int(robot.tree.v_index[robot.joint_index(name)]) for name in ("knee", "swivel", "slide")]
        rates = np.linalg.solve(J[:, rows[1:]], -J[:, rows[0]])
        assert rates[1] == pytest.approx(crank_lever(q, *offsets), rel=1e-9)


def test_crank_is_driven_through_a_spring():
    robot = build("crank")
    assert [(drive.joint, drive.gear) for drive in robot.drives] == [("slide", "elastic")]
    assert robot.drives[0].stiffness > 0.0
    np.testing.assert_allclose(gap(robot, robot.home), 0.0, atol=1e-12)


def test_a_crank_without_length_is_refused():
    with pytest.raises(ModelError):
        crank(0.0, 0.0, 0.0, 0.0)
