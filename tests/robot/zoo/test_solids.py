"""Solids: masses and inertias against sampled points, shapes where they belong."""

import numpy as np
import pytest

from surefoot.errors import ModelError
from surefoot.geometry import surface_points
from surefoot.robot.zoo.solids import ball, bar, block, drum, link_of, mass_properties

rng = np.random.default_rng(3)


def inside(solid, n=400_000):
    """Points drawn uniformly from a solid, in the link's frame."""
    reach = np.abs(surface_points(solid.shape)).max(axis=0)
    points = rng.uniform(-reach, reach, (n, 3))
    shape = solid.shape
    aside = np.hypot(points[:, 0], points[:, 1])
    match type(shape).__name__:
        case "Box":
            keep = np.full(n, True)
        case "Sphere":
            keep = np.linalg.norm(points, axis=1) <= shape.radius
        case "Cylinder":
            keep = aside <= shape.radius
        case "Capsule":
            beyond = np.maximum(np.abs(points[:, 2]) - 0.5 * shape.length, 0.0)
            keep = np.hypot(aside, beyond) <= shape.radius
    return points[keep] @ solid.placement[:3, :3].T + solid.placement[:3, 3]


@pytest.mark.parametrize(
    "solid",
    [
        block(2.0, (0.3, 0.1, 0.2), (0.1, -0.2, 0.3)),
        ball(1.5, 0.2, (0.3, 0.0, -0.1)),
        bar(3.0, 0.05, (0.1, 0.2, 0.0), (0.3, -0.2, 0.4)),
        drum(3.0, 0.08, (0.0, 0.3, 0.0), (0.0, -0.2, 0.0)),
    ],
    ids=["block", "ball", "bar", "drum"],
)
def test_mass_properties_are_those_of_the_points(solid):
    points = inside(solid)
    mass, com, inertia = mass_properties([solid])
    away = points - points.mean(axis=0)
    sampled = mass * ((away**2).sum() * np.eye(3) - away.T @ away) / len(points)
    np.testing.assert_allclose(com, points.mean(axis=0), atol=1e-3)
    np.testing.assert_allclose(inertia, sampled, atol=0.01 * np.linalg.norm(sampled))


def test_several_solids_add_up():
    halves = [block(1.0, (0.1, 0.2, 0.3), (x, 0.0, 0.0)) for x in (-0.05, 0.05)]
    whole = block(2.0, (0.2, 0.2, 0.3))
    for a, b in zip(mass_properties(halves), mass_properties([whole]), strict=True):
        np.testing.assert_allclose(a, b, atol=1e-15)


def test_bar_reaches_from_tip_to_tip():
    start, end = np.array([0.1, 0.2, 0.3]), np.array([-0.3, 0.1, 0.5])
    solid = bar(1.0, 0.03, start, end)
    along = (end - start) / np.linalg.norm(end - start)
    points = surface_points(solid.shape) @ solid.placement[:3, :3].T + solid.placement[:3, 3]
    heights = (points - start) @ along
    assert heights.min() == pytest.approx(0.0, abs=1e-12)
    assert heights.max() == pytest.approx(np.linalg.norm(end - start))


def test_shapes_that_do_not_touch_are_seen():
    link = link_of("a", None, None, [ball(1.0, 0.1), block(1.0, (0.1, 0.1, 0.1), touches=False)])
    assert [shape.name for shape in link.collisions] == ["a_0"]
    assert len(link.visuals) == 2


def test_impossible_bars_are_refused():
    with pytest.raises(ModelError, match="shorter"):
        bar(1.0, 0.1, (0, 0, 0), (0, 0, 0.15))
    with pytest.raises(ModelError, match="one point"):
        drum(1.0, 0.1, (0, 0, 0), (0, 0, 0))
