"""A swing foot gives way to obstacles that its plan runs into, and lands where it was planned."""

from dataclasses import replace

import numpy as np
import pytest

import surefoot as sf
from surefoot.errors import NotSupportedError, ShapeError, UnknownNameError
from surefoot.gait.swings.reactive import BLOCK, SWINGS, TRIANGLE, shifted, swing_over
from surefoot.gait.swings.walker import SwingStep

SLOW = sorted(set(SWINGS) - {"block-over", "triangle-around"})


@pytest.fixture(scope="module")
def lola():
    return sf.load("lola")


def test_obstacles_contain_what_they_stand_for():
    """The block of 16.1 × 8 × 35 cm and the triangle of 30 × 9 × 13 cm lie inside their swept volumes."""
    a, b = BLOCK.vertices
    for corner in [(x, y, z) for x in (-0.04, 0.04) for y in (-0.175, 0.175) for z in (0.0, 0.161)]:
        s = np.clip((np.array(corner) - a) @ (b - a) / ((b - a) @ (b - a)), 0.0, 1.0)
        assert np.linalg.norm(a + s * (b - a) - corner) <= BLOCK.radius
    assert np.ptp(TRIANGLE.vertices, axis=0) == pytest.approx([0.0, 0.13, 0.30])
    assert TRIANGLE.radius == 0.045


@pytest.mark.parametrize(
    "name", ["block-over", *(pytest.param(n, marks=pytest.mark.slow) for n in ("triangle-around", *SLOW))]
)
def test_the_foot_gives_way_and_lands_as_planned(lola, name):
    obstacle, step = SWINGS[name]
    found = swing_over(lola, [obstacle], step)
    blind = swing_over(lola, [obstacle], step, avoid=False)
    assert blind.distance.min() < -0.005  # the plan runs into it
    assert found.distance.min() > 0.002
    assert found.legs_apart.min() > 0.03
    assert len(found.t) == 501
    assert found.t[-1] == pytest.approx(1.0)
    assert (found.q <= lola.limits.upper + 1e-9).all()
    assert (found.q >= lola.limits.lower - 1e-9).all()
    np.testing.assert_allclose(found.foot[-1], blind.foot[-1], atol=1e-3)
    np.testing.assert_allclose(found.foot, found.plan + found.deviation, atol=2e-3)
    assert np.abs(found.deviation[-1]).max() < 1e-9
    check_return(found, step)


def check_return(found, step):
    """After the potentials are off: no coordinate of the deviation changes its sign, and it is C² throughout."""
    back = found.deviation[found.t >= step.off * step.duration]
    assert (back * np.sign(back[0]) >= -1e-12).all()
    acceleration = np.gradient(found.deviation_rate, step.cycle, axis=0)
    scale = np.abs(found.deviation_acceleration).max()
    np.testing.assert_allclose(acceleration[2:-2], found.deviation_acceleration[2:-2], atol=0.2 * scale)
    assert np.abs(np.diff(found.deviation_acceleration, axis=0)).max() < 0.5 * scale


def test_feet_and_base_keep_to_their_tasks(lola):
    obstacle, step = SWINGS["block-around"]
    found = swing_over(lola, [obstacle], replace(step, cycle=0.004))
    k = sf.compile(lola)
    stance = k.frames(found.q, ["right_foot"])[:, 0]
    np.testing.assert_allclose(stance[:, :3, 3], np.tile(stance[0, :3, 3], (251, 1)), atol=1e-3)
    torso = k.frames(found.q, ["torso"])[:, 0]
    np.testing.assert_allclose(torso[:, :3, :3], np.tile(np.eye(3), (251, 1, 1)), atol=1e-3)
    moved = found.deviation[:, 1].min()
    assert -0.12 < moved < -0.03  # to the inside, past an overlap of 3.8 cm


def test_without_obstacles_nearby_nothing_changes(lola):
    far = SWINGS["block-over"][0].placed(np.array([[1, 0, 0, 0], [0, 1, 0, 3.0], [0, 0, 1, 0], [0, 0, 0, 1.0]]))
    found = swing_over(lola, [far], SwingStep(lift=0.06, cycle=0.004))
    np.testing.assert_allclose(found.deviation, 0.0, atol=1e-6)


@pytest.fixture(scope="module")
def balanced(lola):
    """A step that shifts the weight, and its history."""
    step = SwingStep(behind=0.24, ahead=0.30, apart=0.25, lift=0.18, tilt=0.45, sink=0.07, shift=0.6, cycle=0.004)
    return step, swing_over(lola, [shifted(BLOCK, 0.075, 0.15)], step)


def test_the_centre_of_mass_rests_over_the_stance_sole(lola, balanced):
    """During the swing; before and after it goes from and to the middle of both soles."""
    _, found = balanced
    com = sf.compile(lola).com(found.q)[:, :2]
    soles = [lola.contact_corners(q) for q in (found.q[0], found.q[-1])]
    stance, starts, lands = (
        np.vstack([soles[k][f"{side}_{part}"] for part in ("foot", "toe")])[:, :2]
        for side, k in (("right", 0), ("left", 0), ("left", -1))
    )
    middles = [0.5 * (x.min(axis=0) + x.max(axis=0)) for x in (stance, starts, lands)]
    swinging = (found.t >= 0.6) & (found.t <= 1.6)
    np.testing.assert_allclose(com[swinging], np.tile(middles[0], (swinging.sum(), 1)), atol=1e-3)
    np.testing.assert_allclose(com[0], 0.5 * (middles[0] + middles[1]), atol=1e-3)
    np.testing.assert_allclose(com[-1], 0.5 * (middles[0] + middles[2]), atol=1e-3)


def test_feet_and_toes_rest_while_the_weight_is_shifted(lola, balanced):
    step, found = balanced
    both = sf.compile(lola).frames(found.q, ["right_foot", "left_foot"])[:, :, :3, 3]
    for rows in (found.t <= 0.6, found.t >= 1.6):
        np.testing.assert_allclose(both[rows], np.tile(both[rows][0], (rows.sum(), 1, 1)), atol=5e-4)
        np.testing.assert_array_equal(found.deviation[rows], 0.0)
    toes = [int(lola.tree.q_index[lola.joint_index(name)]) for name in ("left_toe", "right_toe")]
    np.testing.assert_array_equal(found.q[:, toes], np.tile(lola.home[toes], (len(found.t), 1)))
    assert found.t[-1] == pytest.approx(step.end)
    assert found.distance.min() > 0.0


def test_impossible_steps_are_refused(lola):
    with pytest.raises(ShapeError):
        swing_over(lola, [BLOCK], SwingStep(sink=-0.3))
    with pytest.raises(NotSupportedError, match="name a side"):
        swing_over(lola, [BLOCK], SwingStep(swing="torso"))
    with pytest.raises(UnknownNameError):
        swing_over(lola, [BLOCK], SwingStep(swing="foot"))
    with pytest.raises(ShapeError):
        SwingStep(off=1.5)
