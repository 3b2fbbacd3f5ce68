"""How far a robot is from itself and from the world: volumes, pairs, obstacles, bounds between postures."""

from surefoot.collision.exact import ExactCollision
from surefoot.collision.model import CollisionModel
from surefoot.collision.motion_check import MotionCheck, motion_is_free, motions_are_free
from surefoot.collision.obstacles import PlacedObstacle, PointCloud, placed_obstacle, world_obstacles
from surefoot.collision.pairs import ClosestPairs, NearestPair, Proximity, Pruning, PruningSettings, pair_kernel
from surefoot.collision.selection import shipped_srdf
from surefoot.collision.volumes import RobotVolumes, random_postures, robot_volumes

__all__ = [
    "ClosestPairs",
    "CollisionModel",
    "ExactCollision",
    "MotionCheck",
    "NearestPair",
    "PlacedObstacle",
    "PointCloud",
    "Proximity",
    "Pruning",
    "PruningSettings",
    "RobotVolumes",
    "motion_is_free",
    "motions_are_free",
    "pair_kernel",
    "placed_obstacle",
    "random_postures",
    "robot_volumes",
    "shipped_srdf",
    "world_obstacles",
]
