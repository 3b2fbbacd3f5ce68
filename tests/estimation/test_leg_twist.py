from __future__ import annotations

import numpy as np
import pytest

from surefoot.estimation.invariant_filter import leg_twist


def test_three_points_at_rest_tell_the_whole_twist(rng):
    true, points = rng.standard_normal(6), rng.standard_normal((4, 3))
    moving = -(true[:3] + np.cross(true[3:], points))
    found = leg_twist(points, moving, np.ones(4), np.zeros(6))
    assert found == pytest.approx(true, abs=2e-3)
    assert leg_twist(points, moving, np.ones(4), true) == pytest.approx(true, abs=1e-12)


def test_points_without_grip_do_not_count(rng):
    true, points = rng.standard_normal(6), rng.standard_normal((5, 3))
    moving = -(true[:3] + np.cross(true[3:], points))
    moving[4] += 100.0
    assert leg_twist(points, moving, np.array([1.0, 1.0, 1.0, 1.0, 0.0]), true) == pytest.approx(true, abs=1e-12)


def test_without_points_the_twist_stays(rng):
    before = rng.standard_normal(6)
    assert leg_twist(np.zeros((0, 3)), np.zeros((0, 3)), np.zeros(0), before) == pytest.approx(before)
