"""Ellipsoids have the inertia that they stand for."""

from __future__ import annotations

import numpy as np

from surefoot.robot import zoo
from surefoot.studio.scene.overlays import inertia_ellipsoid


def test_an_ellipsoid_has_the_inertia_of_its_body():
    tree = zoo.load("g1").tree
    for mass, inertia in zip(tree.masses, tree.inertias, strict=True):
        found = inertia_ellipsoid(float(mass), inertia)
        if found is None:
            assert mass < 1e-9 or np.abs(inertia).max() < 1e-12
            continue
        (a, b, c), R = found
        moments = mass / 5.0 * np.array([b**2 + c**2, a**2 + c**2, a**2 + b**2])
        np.testing.assert_allclose(R @ np.diag(moments) @ R.T, inertia, rtol=1e-4, atol=1e-5 * np.trace(inertia))
        assert np.linalg.det(R) > 0.0


def test_a_body_without_mass_has_none():
    assert inertia_ellipsoid(0.0, np.eye(3)) is None
    assert inertia_ellipsoid(1.0, np.zeros((3, 3))) is None
