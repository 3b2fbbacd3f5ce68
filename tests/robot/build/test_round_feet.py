"""Feet whose underside is round are balls, whatever their size; flat ones are soles."""

import numpy as np
import pytest

from surefoot.robot.build.contact_search import _ball

_UP = np.array([0.0, 0.0, 1.0])


def _sphere(radius, count=2000):
    k = np.arange(count) + 0.5
    polar, around = np.arccos(1.0 - 2.0 * k / count), np.pi * (1.0 + 5.0**0.5) * k
    return radius * np.column_stack([np.cos(around) * np.sin(polar), np.sin(around) * np.sin(polar), np.cos(polar)])


@pytest.mark.parametrize("radius", [0.02, 0.04, 0.06])
def test_a_ball_is_found_with_its_radius_and_its_lowest_point(radius):
    T, found = _ball(np.add(_sphere(radius), [0.1, 0.2, 0.3]), _UP)
    assert found == pytest.approx(radius, rel=0.02)
    assert T[:3, 3] == pytest.approx([0.1, 0.2, 0.3 - radius], abs=1e-3)


def test_a_flat_sole_with_round_edges_is_no_ball():
    x, y = np.meshgrid(np.linspace(-0.1, 0.1, 41), np.linspace(-0.05, 0.05, 21))
    beyond = np.maximum(np.maximum(np.abs(x) - 0.095, np.abs(y) - 0.045), 0.0)
    z = 0.005 - np.sqrt(np.maximum(0.005**2 - beyond**2, 0.0))
    assert _ball(np.column_stack([x.ravel(), y.ravel(), z.ravel()]), _UP) is None
