"""Replay in MuJoCo: a squat survives, a lean over the toes does not."""

from __future__ import annotations

import numpy as np

from surefoot.feasibility import audit
from tests.feasibility.good_motions import loaded, squat


def test_a_squat_is_replayed_to_its_end() -> None:
    result = audit(squat("g1", 200.0, 2.0), loaded("g1"), collisions=False)
    assert result.replay is not None
    assert result.replay.survived
    assert np.nanmax(result.replay.base_error) < 0.01
    assert result.replay.joint_error.max() < 0.02
    assert result.passed


def test_a_robot_that_leans_too_far_falls_and_the_time_is_told() -> None:
    result = audit(squat("g1", 200.0, 6.0, 0.08, 0.0, 0.13), loaded("g1"), collisions=False)
    assert result.replay is not None
    assert not result.replay.survived
    assert 0.5 < result.replay.until < 6.0
    assert not result.passed
