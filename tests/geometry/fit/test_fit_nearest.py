"""Nearest points against dense sampling, the volume against counting, its slopes against differences."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from surefoot.geometry.fit.nearest import farthest, nearest_weights, union_volume, volume_of, volume_slopes

DEGENERATE = [
    np.zeros((3, 3)),
    np.array([[0.0, 0, 0], [1, 0, 0], [1, 0, 0]]),
    np.array([[0.0, 0, 0], [1, 0, 0], [0.3, 0, 0]]),
    np.zeros((2, 3)),
]


@pytest.mark.parametrize("k", [1, 2, 3])
def test_weights_name_the_nearest_point(k, rng):
    generators, points = rng.standard_normal((5, k, 3)), 2.0 * rng.standard_normal((40, 3))
    weights = nearest_weights(generators, points)
    assert weights.min() >= 0.0
    assert_allclose(weights.sum(axis=-1), 1.0, atol=1e-12)
    distance = np.linalg.norm(points - weights @ generators, axis=-1)
    shares = rng.dirichlet(np.full(k, 0.5), 4000)
    for generator, own in zip(generators, distance, strict=True):
        sampled = np.linalg.norm(points[:, None] - shares @ generator, axis=2).min(axis=1)
        assert (own <= sampled + 1e-12).all()
        assert (sampled - own).max() < 0.02
        assert farthest(generator, points) == pytest.approx(own.max(), rel=1e-12)


@pytest.mark.parametrize("generator", DEGENERATE)
def test_degenerate_generators_have_distances_too(generator, rng):
    points = rng.standard_normal((30, 3))
    feet = nearest_weights(generator, points) @ generator
    ends = generator[[0, 1]] if len(generator) > 1 else generator[[0, 0]]
    share = np.linspace(0.0, 1.0, 2001)[:, None]
    line = ends[0] + share * (ends[1] - ends[0])
    sampled = np.linalg.norm(points[:, None] - line, axis=2).min(axis=1)
    assert_allclose(np.linalg.norm(points - feet, axis=1), sampled, atol=1e-6)


@pytest.mark.parametrize("k", [1, 2, 3])
def test_slopes_of_the_volume(k, rng):
    g, r, step = rng.standard_normal((4, k, 3)), rng.uniform(0.1, 1.0, 4), 1e-6
    _, by_vertex, by_radius = volume_slopes(g, r)
    for index in np.ndindex(k, 3):
        move = np.zeros((k, 3))
        move[index] = step
        slope = (volume_of(g + move, r) - volume_of(g - move, r)) / (2 * step)
        assert_allclose(by_vertex[(slice(None), *index)], slope, atol=1e-7)
    assert_allclose(by_radius, (volume_of(g, r + step) - volume_of(g, r - step)) / (2 * step), atol=1e-7)


@pytest.mark.parametrize("k", [1, 2, 3])
def test_volume_by_counting(k, rng):
    g, r = rng.uniform(-1.0, 1.0, (k, 3)), 0.5
    low, high = g.min(axis=0) - r, g.max(axis=0) + r
    points = rng.uniform(low, high, (200_000, 3))
    inside = np.linalg.norm(points - nearest_weights(g, points) @ g, axis=1) <= r
    assert_allclose(volume_of(g, np.array(r)), inside.mean() * np.prod(high - low), rtol=0.02)


def test_volume_of_a_union():
    ball = np.zeros((1, 3)), 0.3
    far = np.array([[2.0, 0, 0]]), 0.2
    inside = np.array([[0.1, 0, 0]]), 0.1
    one = 4.0 / 3.0 * np.pi * 0.3**3
    assert union_volume([ball]) == pytest.approx(one)
    assert union_volume([ball, inside]) == pytest.approx(one, rel=0.03)
    assert union_volume([ball, far]) == pytest.approx(one + 4.0 / 3.0 * np.pi * 0.2**3, rel=0.1)
