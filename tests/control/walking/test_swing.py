"""A foot in the air comes down in time, and slowly, whatever happens to its landing; arms swing against the legs."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pinocchio as pin
import pytest

import surefoot as sf
from surefoot.control.walking.swing import ArmSwing, SwingFoot

DT, LIFT, SPEED = 0.002, 0.05, 0.12


def fly(hurry_at: float | None, duration: float = 0.6) -> tuple[np.ndarray, np.ndarray]:
    """Heights and speeds until touch-down, with a landing that is asked for at once at some time."""
    foot, landing = SwingFoot(np.zeros(4), duration, LIFT, SPEED), np.array([0.4, 0.0, 0.0, 0.0])
    t, heights, speeds = 0.0, [], []
    while t < 2.0 * duration:
        due = duration if hurry_at is None or t < hurry_at else hurry_at
        foot.advance(DT, landing, max(due - t, 0.0))
        t += DT
        heights.append(foot.position[2])
        speeds.append(foot.velocity[2])
        if t > 0.1 and foot.position[2] <= 0.0:
            break
    return np.array(heights), np.array(speeds)


@pytest.mark.parametrize("hurry_at", [None, 0.25, 0.35, 0.45, 0.55])
def test_a_foot_lands_soon_and_slowly(hurry_at):
    """A hurried foot needs no longer than `soonest` says; at a constant landing speed it would take up to 0.4 s."""
    heights, speeds = fly(hurry_at)
    due = 0.6 if hurry_at is None else hurry_at
    above = heights[min(round(due / DT), len(heights)) - 1]
    assert len(heights) * DT <= due + (max(above, 0.0) / 2.0) ** 0.5 + 0.05
    assert -speeds[-1] == pytest.approx(SPEED, rel=0.5)
    assert heights.max() <= LIFT + 0.01


def test_soonest_is_zero_on_the_ground_and_grows_with_the_root_of_the_height():
    foot = SwingFoot(np.array([0.0, 0.0, 0.08, 0.0]), 0.6, LIFT, SPEED)
    low = SwingFoot(np.array([0.0, 0.0, 0.02, 0.0]), 0.6, LIFT, SPEED)
    assert foot.soonest(np.zeros(4)) == pytest.approx(2.0 * low.soonest(np.zeros(4)))
    assert foot.soonest(np.array([0.0, 0.0, 0.08, 0.0])) == 0.0


@pytest.mark.parametrize("name", ["g1", "talos_legs"])
def test_arms_turn_against_the_legs(name):
    """Their momentum by Pinocchio: against that of a left foot that moves ahead, about the vertical alone."""
    robot = sf.load(name)
    joints = robot.nv - 6
    posture = SimpleNamespace(target=np.array(robot.home), velocity=np.zeros(joints), acceleration=np.zeros(joints))
    arms = ArmSwing(robot, posture, 0.1)
    support = next(k for k, foot in enumerate(sf.robot.anatomy(robot).feet) if foot.side == "right")
    arms.lead(support, (0.1, 1.0, 2.0))
    v = np.concatenate([np.zeros(6), posture.velocity])
    moment = pin.computeCentroidalMomentum(robot.model, robot.model.createData(), np.array(robot.home), v).angular
    if name == "talos_legs":
        assert not v.any()
        return
    assert 0.2 < moment[2] < 0.4  # 0.7 of the 0.41 kg m of the leg, which is negative: the left foot is to the left
    np.testing.assert_allclose(moment[:2], 0.0, atol=0.01)
    np.testing.assert_allclose(posture.acceleration, 2.0 * posture.velocity)
    np.testing.assert_allclose((posture.target - robot.home)[7:], 0.1 * posture.velocity, atol=1e-12)
    arms.lead(1 - support, (0.1, 1.0, 2.0))
    np.testing.assert_allclose(posture.velocity, -v[6:])


@pytest.mark.parametrize("rise", [0.04, -0.04])
def test_a_foot_is_high_beside_the_edge_of_a_step(rise):
    """Over the higher level after 3 cm of the way up, and until the last 3 cm of the way down."""
    foot, landing, duration = SwingFoot(np.zeros(4), 0.6, LIFT, SPEED), np.array([0.5, 0.0, rise, 0.0]), 0.6
    places = []
    for k in range(round(duration / DT)):
        foot.advance(DT, landing, duration - k * DT)
        places.append(foot.position)
    x, z = np.array(places)[:, 0], np.array(places)[:, 2]
    beside = (x > 0.03) & (x < 0.25) if rise > 0.0 else (x > 0.25) & (x < 0.47)
    assert z[beside].min() > max(rise, 0.0)
