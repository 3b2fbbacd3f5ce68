"""Moves begin and end at rest, are smooth, and follow each other; the trunk swing catches the pendulum."""

import numpy as np
import pytest

from surefoot.control.balance import Lean, Lift, Reach, Squat, Wipe
from surefoot.control.balance.footing import Footing
from surefoot.control.balance.moves import Wishes
from surefoot.control.balance.push_observer import PushObserver
from surefoot.control.balance.timeline import Timeline
from surefoot.control.balance.trunk_swing import TrunkSwing
from surefoot.errors import ShapeError

MOVES = [
    Squat(0.1, duration=4.0),
    Squat(0.1, frequency=0.0, duration=3.0),
    Lean((0.02, -0.03), duration=3.0),
    Lean((0.0, 0.02), 0.7, duration=5.0),
    Reach("hand", (0.1, 0.2, -0.1), duration=4.0),
    Wipe("palm", 2.0, (0.1, 0.0, 0.0), (0.0, 0.05, 0.02), duration=8.0),
]


def way(move, s: float) -> np.ndarray:
    """(3, 3) what a move wishes for, of the only thing that it moves."""
    wishes = Wishes()
    move.add(s, wishes)
    found = [*wishes.frames.values(), *(press.way for press in wishes.presses.values())]
    return found[0] if found else wishes.com


@pytest.mark.parametrize("move", MOVES, ids=lambda move: type(move).__name__)
def test_rates_are_derivatives_and_ends_are_at_rest(move):
    np.testing.assert_array_equal([way(move, 0.0), way(move, move.duration)], 0.0)
    h = 1e-5
    for s in np.linspace(0.05, move.duration - 0.05, 23):
        before, now, after = (way(move, s + k * h) for k in (-1, 0, 1))
        np.testing.assert_allclose((after[:2] - before[:2]) / (2 * h), now[1:], atol=2e-5)


def test_squat_reaches_its_depth_and_wipe_its_force():
    depths = [way(MOVES[0], s)[0, 2] for s in np.linspace(0, 4, 401)]
    assert min(depths) == pytest.approx(-0.1, abs=1e-3)
    assert max(depths) <= 1e-12
    wishes = Wishes()
    MOVES[5].add(4.0, wishes)
    assert wishes.presses["palm"].force == pytest.approx(2.0)
    with pytest.raises(ShapeError, match="ramp"):
        Squat(0.1, duration=1.0, ramp=0.8)


def test_moves_follow_each_other_or_begin_at_their_time():
    line = Timeline(
        [Squat(0.1, start=1.0, duration=2.0, ramp=0.5), Lift("foot"), Lean((0, 0), duration=2.0), Squat(0.1, start=0.5)]
    )
    assert [k for k, _, _ in line.running(0.6)] == [3]
    assert [k for k, _, _ in line.running(1.0)] == [0, 3]
    assert [k for k, _, _ in line.running(3.1)] == [1, 3]
    line.end(1)
    assert [(k, s) for k, _, s in line.running(3.2)] == [(2, 0.0), (3, pytest.approx(2.6))]


def test_footing_follows_a_rigid_motion_of_the_feet():
    soles = [np.array([[-0.1, -0.03], [0.1, -0.03], [0.1, 0.03], [-0.1, 0.03]])] * 2
    feet = [np.array([0.0, y, 0.0, 0.0]) for y in (0.1, -0.1)]
    footing = Footing(feet, soles, 0.0)
    np.testing.assert_allclose(footing.shares(np.array([0.0, 0.05]), [0, 1]), [0.75, 0.25])
    c, s = np.cos(0.3), np.sin(0.3)
    moved = [np.array([1.0 + c * p[0] - s * p[1], 2.0 + s * p[0] + c * p[1], 0.05, 0.3]) for p in feet]
    footing.follow(moved, [True, True], 1.0)
    np.testing.assert_allclose(footing.frame, [1.0, 2.0, 0.05, 0.3], atol=1e-12)
    footing.follow(moved, [True, False], 1.0)  # one flat foot tells the yaw as well
    np.testing.assert_allclose(footing.frame, [1.0, 2.0, 0.05, 0.3], atol=1e-12)


OMEGA, B = 3.8, 0.01


def survives_pendulum(dcm: float, swing: TrunkSwing | None) -> bool:
    """Whether a pendulum with a trunk comes to rest over a sole of ±8 cm, begun with its DCM at some distance."""
    polygon = np.array([[-0.08, -0.1], [0.08, -0.1], [0.08, 0.1], [-0.08, 0.1]])
    lean = rate = 0.0
    for _ in range(4000):
        upright = -100.0 * lean - 20.0 * rate
        if swing is None:
            alpha = 0.0
        else:
            args = (np.array([x, 0.0]) for x in (lean, rate, upright))
            alpha = swing.decide(np.array([dcm, 0.0]), polygon, *args, OMEGA, np.array([B, B])).acceleration[0]
        cop = np.clip(dcm + 2.0 * dcm - B * alpha / OMEGA, -0.08, 0.08)
        dcm += 0.001 * (OMEGA * (dcm - cop) - B * alpha)
        rate += 0.001 * alpha
        lean += 0.001 * rate
        if abs(dcm) > 0.5:
            return False
    return abs(dcm) < 0.01 and abs(lean) < 0.05


def test_a_trunk_that_swings_catches_what_the_sole_alone_does_not():
    assert survives_pendulum(0.075, None)
    assert not survives_pendulum(0.085, None)
    assert survives_pendulum(0.085, TrunkSwing())
    assert survives_pendulum(0.09, TrunkSwing())
    assert not survives_pendulum(0.2, TrunkSwing())


@pytest.mark.parametrize("half", [0.02, 0.12])
def test_after_a_step_the_trunk_is_righted_as_the_support_allows(half):
    """On a narrow support slowly, but at once; the capture point does not leave it."""
    polygon = np.array([[-half, -0.4], [half, -0.4], [half, 0.4], [-half, 0.4]])
    swing, dcm, lean, rate, most = TrunkSwing(fastest=0.0), 0.25 * half, 0.0, 0.8, 0.0
    for _ in range(4000):
        args = (np.array([x, 0.0]) for x in (lean, rate, -100.0 * lean - 20.0 * rate))
        alpha = swing.decide(np.array([dcm, 0.0]), polygon, *args, OMEGA, np.array([B, B])).acceleration[0]
        cop = np.clip(3.0 * dcm - B * alpha / OMEGA, -half, half)
        dcm += 0.001 * (OMEGA * (dcm - cop) - B * alpha)
        rate += 0.001 * alpha
        lean += 0.001 * rate
        most = max(most, lean)
        assert abs(dcm) < half
    assert abs(lean) < 0.01
    assert most < {0.02: 0.25, 0.12: 0.1}[half]


def test_observer_finds_a_push_on_a_pendulum():
    observer, dcm, push = PushObserver(), np.zeros(2), np.array([0.05, -0.1])
    for _ in range(1000):
        zmp = dcm + push / OMEGA + 0.5 * dcm
        observer.update(dcm, zmp, OMEGA, 0.002)
        dcm = dcm + 0.002 * (OMEGA * (dcm - zmp) + push)
    np.testing.assert_allclose(observer.push, push, atol=1e-3)
    np.testing.assert_allclose(observer.mean, push, atol=2e-3)
