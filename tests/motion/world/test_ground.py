"""Heights of ground pieces against points that are known to lie on them."""

from __future__ import annotations

import numpy as np
import pytest

from surefoot.errors import ShapeError
from surefoot.motion import GroundBox, GroundPlane, HeightField, stairs
from surefoot.robot import placement
from surefoot.spatial import so3


def test_points_of_a_tilted_plane_are_on_it():
    plane = GroundPlane([0.1, 0.2, 0.3], [0.2, -0.1, 2.0])
    x, y = np.random.default_rng(0).normal(size=(2, 20))
    off = np.stack([x, y, plane.height(x, y)], axis=-1) - plane.point
    np.testing.assert_allclose(off @ plane.normal, 0.0, atol=1e-12)


def test_height_of_a_turned_box_is_its_highest_surface_point():
    T = placement((0.3, -0.2, 0.5), so3.exp([0.4, -0.7, 0.9]))
    box = GroundBox((0.6, 0.4, 0.3), T)
    rng = np.random.default_rng(1)
    for _ in range(200):
        inside = rng.uniform(-0.5, 0.5, 3) * box.size
        x, y, z = T[:3, :3] @ inside + T[:3, 3]
        top = float(box.height(x, y))
        assert top >= z - 1e-12
        local = T[:3, :3].T @ (np.array([x, y, top]) - T[:3, 3])
        assert np.abs(np.abs(local) / box.size - 0.5).min() < 1e-9  # on a face
        assert (np.abs(local) <= 0.5 * np.array(box.size) + 1e-9).all()
    assert box.height(5.0, 0.0) == -np.inf


def test_upright_box_has_edges():
    box = GroundBox((1.0, 2.0, 0.4), placement((0, 0, 0.2)))
    np.testing.assert_array_equal(
        box.height([0.0, 0.5, 0.51, 0.0], [0.0, 1.0, 0.0, -1.01]), [0.4, 0.4, -np.inf, -np.inf]
    )


def test_bilinear_functions_are_met_exactly_by_a_height_field():
    def f(x, y):
        return 0.1 + 0.3 * x - 0.2 * y + 0.5 * x * y

    x, y = np.meshgrid(np.arange(4) * 0.25 + 1.0, np.arange(6) * 0.25 - 2.0, indexing="ij")
    field = HeightField(f(x, y) - 0.7, 0.25, [1.0, -2.0, 0.7])
    u, w = np.random.default_rng(2).uniform([[1.0], [-2.0]], [[1.75], [-0.75]], size=(2, 50))
    np.testing.assert_allclose(field.height(u, w), f(u, w), atol=1e-12)
    np.testing.assert_allclose(field.height(1.75, -0.75), f(1.75, -0.75))
    np.testing.assert_array_equal(field.height([0.99, 1.76], [-1.0, -1.0]), -np.inf)


def test_stairs_rise_step_by_step():
    boxes = stairs(3, 0.1, 0.3, start=(1.0, 0.0, 0.05))
    height = np.max([b.height([0.9, 1.1, 1.4, 1.7, 2.0], np.zeros(5)) for b in boxes], axis=0)
    np.testing.assert_allclose(height, [-np.inf, 0.15, 0.25, 0.35, -np.inf])


@pytest.mark.parametrize(
    "make",
    [
        lambda: GroundPlane(normal=[1.0, 0.0, 0.0]),
        lambda: GroundBox((1.0, 0.0, 1.0)),
        lambda: GroundBox((1.0, 1.0, 1.0), 2.0 * np.eye(4)),
        lambda: GroundBox((1.0, 1.0, 1.0), friction=-0.1),
        lambda: HeightField(np.zeros((1, 4)), 0.1),
        lambda: HeightField(np.full((3, 3), np.nan), 0.1),
        lambda: stairs(0, 0.1, 0.3),
    ],
)
def test_impossible_ground_is_refused(make):
    with pytest.raises(ShapeError):
        make()
