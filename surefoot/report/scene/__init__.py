"""Meshes and placements of robot and world for the 3-D replay."""

from surefoot.report.scene.chain_colours import trunk_bodies
from surefoot.report.scene.data import field_triangles, frame_rows, poses, scene_data
from surefoot.report.scene.mesh import SceneMesh, collision_meshes, robot_meshes
from surefoot.report.scene.shape_mesh import Triangles, decimated, shape_triangles, volume_triangles

__all__ = [
    "SceneMesh",
    "Triangles",
    "collision_meshes",
    "decimated",
    "field_triangles",
    "frame_rows",
    "poses",
    "robot_meshes",
    "scene_data",
    "shape_triangles",
    "trunk_bodies",
    "volume_triangles",
]
