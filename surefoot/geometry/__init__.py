"""Shapes and polygons. This room takes placements and never sees a robot."""

from surefoot.geometry.convex_pieces import convex_pieces, is_nearly_convex
from surefoot.geometry.fit_shapes import fit_shapes
from surefoot.geometry.fit_swept import SweptFit, fit_swept
from surefoot.geometry.meshes import load_triangles, load_vertices
from surefoot.geometry.polygon import convex_hull, convex_hulls, distance_inside, is_rectangle
from surefoot.geometry.shapes import Box, Capsule, Cylinder, Ellipsoid, Mesh, Plane, Shape, Sphere, surface_points
from surefoot.geometry.smooth_distance import smooth_distance
from surefoot.geometry.swept import SweptVolume
from surefoot.geometry.swept_distance import (
    DistanceGradient,
    Nearest,
    generator_distance,
    generator_gradient,
    swept_distance,
)

__all__ = [
    "Box",
    "Capsule",
    "Cylinder",
    "DistanceGradient",
    "Ellipsoid",
    "Mesh",
    "Nearest",
    "Plane",
    "Shape",
    "Sphere",
    "SweptFit",
    "SweptVolume",
    "convex_hull",
    "convex_hulls",
    "convex_pieces",
    "distance_inside",
    "fit_shapes",
    "fit_swept",
    "generator_distance",
    "generator_gradient",
    "is_nearly_convex",
    "is_rectangle",
    "load_triangles",
    "load_vertices",
    "smooth_distance",
    "surface_points",
    "swept_distance",
]
