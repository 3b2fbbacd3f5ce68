"""How far a robot is from itself and from the world: volumes, pairs, obstacles, bounds between postures."""

from surefoot.collision.exact import ExactCollision
from surefoot.collision.model import CollisionModel
from surefoot.collision.motion_check import MotionCheck, motion_is_free, motions_are_free
from surefoot.collision.obstacle_pieces import PointCloud
from surefoot.collision.obstacles import PlacedObstacle, placed_obstacle, world_obstacles
from surefoot.collision.pair_gradients import Proximity
from surefoot.collision.pair_kernels import pair_kernel
from surefoot.collision.pair_pruning import Pruning, PruningSettings
from surefoot.collision.postures import random_postures
from surefoot.collision.records import ClosestPairs, NearestPair
from surefoot.collision.robot_volumes import RobotVolumes, robot_volumes
from surefoot.collision.srdf import shipped_srdf

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
