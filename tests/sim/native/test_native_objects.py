import numpy as np
import pytest

from surefoot.errors import NotSupportedError
from surefoot.geometry import Box, Capsule, Cylinder, Ellipsoid, Sphere
from surefoot.motion import MovableObject
from surefoot.sim.native.manifold import contact_points
from surefoot.sim.native.world import object_robot


def test_moments_of_inertia_of_objects():
    """Against points spread over the shape."""
    rng = np.random.default_rng(0)
    inside = {
        "box": (Box((0.1, 0.2, 0.3)), lambda p: (np.abs(p) <= [0.05, 0.1, 0.15]).all(axis=1)),
        "ball": (Sphere(0.2), lambda p: np.linalg.norm(p, axis=1) <= 0.2),
        "drum": (Cylinder(0.1, 0.3), lambda p: (np.hypot(p[:, 0], p[:, 1]) <= 0.1) & (np.abs(p[:, 2]) <= 0.15)),
        "pill": (
            Capsule(0.1, 0.2),
            lambda p: np.hypot(np.hypot(p[:, 0], p[:, 1]), np.maximum(np.abs(p[:, 2]) - 0.1, 0.0)) <= 0.1,
        ),
    }
    for name, (shape, test) in inside.items():
        points = rng.uniform(-0.25, 0.25, (400_000, 3))
        r = points[test(points)]
        expected = 2.0 * (np.sum(r * r) * np.eye(3) - r.T @ r) / len(r)
        found = object_robot(MovableObject(name, shape, 2.0), 0.5).tree.inertias[0]
        np.testing.assert_allclose(np.diag(found), np.diag(expected), rtol=0.02)


def test_points_lie_on_the_surface():
    for shape, count, reach in ((Box((2.0, 4.0, 4.0)), 8, 3.0), (Sphere(0.2), 1, 0.2), (Cylinder(3.0, 8.0), 16, 5.0)):
        points = contact_points(object_robot(MovableObject("thing", shape, 1.0), 0.5))
        assert len(points) == count
        for point in points:
            assert np.linalg.norm(point.position) + point.radius == pytest.approx(reach)
            assert point.friction == 0.5
    ends = [p.position for p in contact_points(object_robot(MovableObject("pill", Capsule(0.1, 0.4), 1.0), 0.5))]
    np.testing.assert_allclose(ends, [[0, 0, 0.2], [0, 0, -0.2]], atol=1e-15)


def test_other_shapes_are_refused():
    with pytest.raises(NotSupportedError, match="ellipsoid"):
        object_robot(MovableObject("egg", Ellipsoid((0.1, 0.1, 0.2)), 1.0), 0.5)
