"""The excess is never below what dense sampling finds, and not far above."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import minimize
from scipy.spatial import ConvexHull

from surefoot.geometry import Box, SweptVolume, surface_points
from surefoot.geometry.fit.cut import Piece
from surefoot.geometry.fit.excess import Surface, excess_of_hull, hull_triangles
from tests.geometry.mesh_examples import slotted_block


def points_of(volume: SweptVolume, count: int, rng: np.random.Generator) -> np.ndarray:
    """Points of a swept volume, half of them on its surface or near."""
    base = rng.dirichlet(np.full(len(volume.vertices), 0.3), count) @ volume.vertices
    direction = rng.standard_normal((count, 3))
    direction /= np.linalg.norm(direction, axis=1)[:, None]
    length = np.where(rng.random(count) < 0.5, 1.0, rng.random(count))
    return base + volume.radius * length[:, None] * direction


def distance_from_hull(point: np.ndarray, points: np.ndarray) -> float:
    """By quadratic programming over the weights of the corners: independent of any triangles."""
    start = np.full(len(points), 1.0 / len(points))
    found = minimize(
        lambda w: ((w @ points - point) ** 2).sum(), start, jac=lambda w: 2.0 * points @ (w @ points - point),
        bounds=[(0.0, 1.0)] * len(points), constraints={"type": "eq", "fun": lambda w: w.sum() - 1.0}, method="SLSQP",
        options={"ftol": 1e-15, "maxiter": 300},
    )  # fmt: skip
    return float(np.sqrt(found.fun))


@pytest.mark.parametrize("k", [1, 2, 3])
def test_excess_of_a_hull_is_exact(k, rng):
    points = rng.standard_normal((12, 3))
    hull = ConvexHull(points)
    for shift in (0.0, 0.3, 2.0):  # inside, in part and wholly outside
        volume = SweptVolume(0.2 * rng.standard_normal((k, 3)) + [shift, 0.0, 0.0], 0.6)
        bound = excess_of_hull([volume], points)
        sampled = points_of(volume, 4000, rng)
        outside = sampled[(sampled @ hull.equations[:, :3].T + hull.equations[:, 3]).max(axis=1) > 0.0]
        heights = (outside @ hull.equations[:, :3].T + hull.equations[:, 3]).max(axis=1)
        worst = [distance_from_hull(outside[i], points) for i in np.argsort(-heights)[:25]]
        assert max(worst, default=0.0) <= bound + 1e-6
        # the support functions on many directions: a lower bound of the excess that comes close to it
        middle, width = np.zeros(3), 1.0
        for _ in range(6):
            n = middle + width * rng.standard_normal((8000, 3))
            n /= np.linalg.norm(n, axis=1)[:, None]
            reach = (volume.vertices @ n.T).max(axis=0) + volume.radius - (points @ n.T).max(axis=0)
            middle, width = n[np.argmax(reach)], 0.2 * width
        assert_allclose(bound, reach.max(), atol=1e-3)
        assert bound >= reach.max() - 1e-12


def test_excess_of_flat_hulls():
    square = np.array([[0.0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0], [0.5, 0.5, 0]])
    middle = SweptVolume([[0.5, 0.5, 0.1]], 0.2)
    assert excess_of_hull([middle], square) == pytest.approx(0.3)
    assert excess_of_hull([SweptVolume([[0.5, 0.0, 0.1]], 0.2)], square[:2]) == pytest.approx(0.3)
    assert excess_of_hull([middle], square[:1]) == pytest.approx(0.2 + np.sqrt(0.51))


@pytest.mark.parametrize(
    "volume",
    [
        SweptVolume([[0.0, 0, 0.3], [0, 0, 0.9]], 0.3),  # mostly in the slot
        SweptVolume([[0.0, 0, 0.5]], 1.1),
        SweptVolume([[-0.5, 0, 0.1], [0.5, 0, 0.1], [0, 0.4, 0.5]], 0.15),
    ],
)
def test_excess_of_a_mesh_is_above_dense_sampling_and_not_far(volume, rng):
    """An oracle of its own: points inside the profile have distance zero, others that of densely sampled faces."""
    points, faces = slotted_block()
    surface = Surface(Piece(points, faces))
    bound = surface.excess([volume])
    p = points_of(volume, 6000, rng)
    x, y, z = p.T
    inside = (np.abs(x) <= 0.5) & (np.abs(y) <= 0.25) & (z >= 0) & (z <= 1) & ~((np.abs(x) < 0.2) & (z > 0.2))
    weights = rng.dirichlet(np.ones(3), (len(faces), 800))
    dense = np.einsum("fsk,fkd->fsd", weights, points[faces]).reshape(-1, 3)
    far = p[~inside][np.argsort(-surface.distance(p[~inside]))[:300]]
    true = np.array([np.linalg.norm(dense - q, axis=1).min() for q in far])
    assert true.max() - 0.03 <= bound <= 1.08 * true.max() + 0.02
    assert surface.distance(far).max() >= true.max() - 0.03


def test_what_a_closed_surface_encloses_is_no_excess():
    corners = surface_points(Box((1.0, 1.0, 1.0)))
    box = Surface(Piece(corners, hull_triangles(corners)))
    distance = box.distance(np.array([[0.0, 0, 0], [0.3, 0.1, -0.2], [0, 0, 0.7]]))
    assert_allclose(distance[2], 0.2, atol=0.01)
    assert (-distance[:2] <= [0.5, 0.2]).all()
    assert (distance[:2] < -0.1).all()
    assert box.excess([SweptVolume([[0.0, 0, 0]], 0.4)]) < 0.01
    opened = Surface(Piece(corners, hull_triangles(corners)[2:]))
    assert opened.excess([SweptVolume([[0.0, 0, 0]], 0.4)]) > 0.3
