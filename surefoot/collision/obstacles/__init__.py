"""Things in the world that a robot may hit."""

from surefoot.collision.obstacles.obstacles import PlacedObstacle, placed_obstacle, world_obstacles
from surefoot.collision.obstacles.pairs import ObstaclePairs
from surefoot.collision.obstacles.pieces import PointCloud
from surefoot.collision.obstacles.solids import SolidKernels, box_distance

__all__ = [
    "ObstaclePairs",
    "PlacedObstacle",
    "PointCloud",
    "SolidKernels",
    "box_distance",
    "placed_obstacle",
    "world_obstacles",
]
