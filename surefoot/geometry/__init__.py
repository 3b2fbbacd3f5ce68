"""Shapes and polygons. This room takes placements and never sees a robot."""

from surefoot.geometry.convex_pieces import convex_pieces, is_nearly_convex, method_version, pack_pieces, unpack_pieces
from surefoot.geometry.fit import SweptFit, fit_swept
from surefoot.geometry.meshes import MAX_MESH_BYTES
from surefoot.geometry.polygon import convex_hull, convex_hulls, distance_inside, is_rectangle
from surefoot.geometry.shapes import (
    Box,
    Capsule,
    Cylinder,
    Ellipsoid,
    Mesh,
    Plane,
    Shape,
    Sphere,
    contains,
    farthest_points,
    require_size,
    surface_points,
)
from surefoot.geometry.swept import SweptVolume
from surefoot.geometry.swept_distance import (
    Nearest,
    generator_distance,
    generator_gradient,
    smooth_distance,
    swept_distance,
)

__all__ = [
    "MAX_MESH_BYTES",
    "Box",
    "Capsule",
    "Cylinder",
    "Ellipsoid",
    "Mesh",
    "Nearest",
    "Plane",
    "Shape",
    "Sphere",
    "SweptFit",
    "SweptVolume",
    "contains",
    "convex_hull",
    "convex_hulls",
    "convex_pieces",
    "distance_inside",
    "farthest_points",
    "fit_swept",
    "generator_distance",
    "generator_gradient",
    "is_nearly_convex",
    "is_rectangle",
    "method_version",
    "pack_pieces",
    "require_size",
    "smooth_distance",
    "surface_points",
    "swept_distance",
    "unpack_pieces",
]
