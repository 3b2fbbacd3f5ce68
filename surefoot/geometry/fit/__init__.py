"""Swept volumes around meshes: small, and proven to enclose them."""

from surefoot.geometry.fit.capsule import capsule_around, capsule_around_points
from surefoot.geometry.fit.shapes import fit_shapes
from surefoot.geometry.fit.swept import DEFAULT_GAIN, DEFAULT_MOST, SweptFit, fit_swept

__all__ = [
    "DEFAULT_GAIN",
    "DEFAULT_MOST",
    "SweptFit",
    "capsule_around",
    "capsule_around_points",
    "fit_shapes",
    "fit_swept",
]
