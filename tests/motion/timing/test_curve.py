"""Curves: they pass through their points, are as smooth as promised, and round corners by no more than asked."""

from __future__ import annotations

import numpy as np
import pytest

from surefoot.errors import ShapeError
from surefoot.motion.timing import rounded_curve, spline_curve

POINTS = np.random.default_rng(3).uniform(-1.0, 1.0, (6, 4))


def test_spline_passes_through_points_with_continuous_second_derivative() -> None:
    curve = spline_curve(POINTS)
    np.testing.assert_allclose(curve.at(curve.breaks)[0], POINTS, atol=1e-12)
    for after, before in zip(curve.at(curve.breaks[1:-1]), curve.at(curve.breaks[1:-1], before=True), strict=True):
        np.testing.assert_allclose(after, before, atol=1e-9)


@pytest.mark.parametrize("deviation", [1e-3, 0.05, 10.0])
def test_rounded_corners_stay_near_and_turn_smoothly(deviation: float) -> None:
    curve = rounded_curve(POINTS, deviation)
    inner = curve.breaks[1:-1]
    for k in (0, 1):
        np.testing.assert_allclose(curve.at(inner)[k], curve.at(inner, before=True)[k], atol=1e-9)
    steps = np.linspace(0.0, 1.0, 101)
    x = curve.at(np.unique(curve.breaks[:-1, None] + np.diff(curve.breaks)[:, None] * steps))[0]
    distances = np.linalg.norm(x[:, None] - POINTS[1:-1], axis=2).min(axis=0)
    assert (distances <= deviation + 1e-6).all()
    assert (distances > 0.3 * min(deviation, 0.1)).all()
    np.testing.assert_allclose(x[[0, -1]], POINTS[[0, -1]], atol=1e-9)


def test_speed_along_straight_parts_is_one() -> None:
    weights = np.array([1.0, 2.0, 0.5, 1.0])
    curve = rounded_curve(POINTS, 1e-3, weights)
    slope = curve.at(0.5 * (curve.breaks[:-1] + curve.breaks[1:]))[1][::2]
    np.testing.assert_allclose(np.linalg.norm(weights * slope, axis=1), 1.0, atol=1e-12)


def test_a_line_in_two_points_and_refusals() -> None:
    np.testing.assert_allclose(spline_curve(POINTS[:2]).at([0.1])[2], 0.0)
    with pytest.raises(ShapeError, match="equal"):
        spline_curve([[0.0], [0.0], [1.0]])
    with pytest.raises(ShapeError, match="two points"):
        rounded_curve([[0.0]], 0.1)
