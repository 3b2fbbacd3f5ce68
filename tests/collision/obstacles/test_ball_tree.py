import numpy as np
import pytest

from surefoot.collision.obstacles import obstacles
from surefoot.collision.obstacles.obstacles import BallTree
from surefoot.collision.pairs.kernels import generator_distances


def brute(generators, pieces, radii):
    rows = [generator_distances(np.repeat(x[None], len(pieces), axis=0), pieces) - radii for x in generators]
    return np.array(rows)


@pytest.mark.parametrize("count", [1, 2, 3])
@pytest.mark.parametrize("size", [1, 3, 5, 9, 64, 1000])
def test_nothing_is_nearer(size, count, rng):
    pieces, radii = rng.standard_normal((size, count, 3)), rng.uniform(0.0, 0.2, size)
    tree = BallTree(pieces, radii)
    for corners in (1, 2, 3):
        generators = rng.standard_normal((40, corners, 3))
        found = tree.nearest(generators, np.full(40, np.inf))
        expected = brute(generators, pieces, radii)
        assert np.allclose(found.distance, expected.min(axis=1), atol=1e-13)
        assert np.allclose(expected[np.arange(40), found.piece], found.distance, atol=1e-13)
        gaps = np.linalg.norm(found.nearest.point_b - found.nearest.point_a, axis=1) - radii[found.piece]
        assert np.allclose(gaps, found.distance, atol=1e-12)


def test_what_is_too_far_is_not_looked_for(rng):
    pieces = rng.standard_normal((500, 1, 3))
    generators = 3.0 * rng.standard_normal((200, 2, 3))
    expected = brute(generators, pieces, np.zeros(500)).min(axis=1)
    found = BallTree(pieces, np.zeros(500)).nearest(generators, np.full(200, 0.3))
    near = expected < 0.3
    assert 20 < near.sum() < 180
    assert np.array_equal(found.piece >= 0, near)
    assert np.allclose(found.distance, np.minimum(expected, 0.3), atol=1e-13)


def test_the_ball_holds_everything(rng):
    pieces, radii = rng.standard_normal((77, 3, 3)), rng.uniform(0.0, 0.2, 77)
    center, radius = BallTree(pieces, radii).ball
    assert (np.linalg.norm(pieces - center, axis=2).max(axis=1) + radii <= radius + 1e-12).all()


def test_equal_points_and_no_points():
    same = BallTree(np.ones((50, 1, 3)), np.zeros(50))
    assert same.nearest(np.zeros((1, 1, 3)), np.array([np.inf])).distance == pytest.approx(np.sqrt(3.0))
    empty = BallTree(np.zeros((0, 1, 3)), np.zeros(0))
    found = empty.nearest(np.zeros((2, 2, 3)), np.array([np.inf, 1.0]))
    assert found.distance.tolist() == [np.inf, 1.0]
    assert found.piece.tolist() == [-1, -1]


def test_what_is_equally_far_is_looked_at_in_parts(rng, monkeypatch):
    """Seen from the middle of a dome, no ball can be ruled out; memory must not grow with queries times points."""
    most = 200
    directions = rng.standard_normal((400, 1, 3))
    pieces = 1e3 * directions / np.linalg.norm(directions, axis=2, keepdims=True)
    generators, asked = 0.1 * rng.standard_normal((30, 2, 3)), []

    def watched(A, B):
        asked.append(len(A))
        return generator_distances(A, B)

    monkeypatch.setattr(obstacles, "generator_distances", watched)
    monkeypatch.setattr(obstacles, "_MOST_OPEN", most)
    found = BallTree(pieces, np.zeros(400)).nearest(generators, np.full(30, np.inf))
    assert max(asked) == 2 * most
    assert np.allclose(found.distance, brute(generators, pieces, np.zeros(400)).min(axis=1), atol=1e-9)
