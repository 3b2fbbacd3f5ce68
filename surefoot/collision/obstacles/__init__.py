"""Things in the world that a robot may hit."""

from surefoot.collision.obstacles.obstacles import PlacedObstacle, placed_obstacle, world_obstacles
from surefoot.collision.obstacles.pairs import ObstaclePairs
from surefoot.collision.obstacles.pieces import PointCloud

__all__ = ["ObstaclePairs", "PlacedObstacle", "PointCloud", "placed_obstacle", "world_obstacles"]
