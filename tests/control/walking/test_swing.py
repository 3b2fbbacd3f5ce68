"""A foot in the air comes down in time, and slowly, whatever happens to the time of its landing."""

from __future__ import annotations

import numpy as np
import pytest

from surefoot.control.walking.swing import SwingFoot

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
