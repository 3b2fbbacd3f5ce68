"""Shapes and polygons. This room takes placements and never sees a robot."""

from surefoot.geometry.convex_pieces import convex_pieces, is_nearly_convex
from surefoot.geometry.meshes import load_triangles, load_vertices
from surefoot.geometry.polygon import convex_hull, is_rectangle
from surefoot.geometry.shapes import Box, Capsule, Cylinder, Ellipsoid, Mesh, Plane, Shape, Sphere, surface_points
from surefoot.geometry.swept import SweptVolume

__all__ = [
    "Box",
    "Capsule",
    "Cylinder",
    "Ellipsoid",
    "Mesh",
    "Plane",
    "Shape",
    "Sphere",
    "SweptVolume",
    "convex_hull",
    "convex_pieces",
    "is_nearly_convex",
    "is_rectangle",
    "load_triangles",
    "load_vertices",
    "surface_points",
]
