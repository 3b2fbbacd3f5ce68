"""Keeps links off obstacles of the world, with the rows of `BodyClearance`."""

from __future__ import annotations

from dataclasses import replace

from surefoot.arrays import Array
from surefoot.collision import CollisionModel, robot_volumes
from surefoot.control.whole_body.clearance import BodyClearance, ClearanceSettings
from surefoot.motion import World
from surefoot.robot import Robot

__all__ = ["WALLS", "wall_clearance"]

WALLS = ClearanceSettings(braking=5.0, weight=100.0, stopping_time=0.1)
"""Goes before reaching and the centre of mass, beside the posture of the limbs, so it weighs more than that."""


def wall_clearance(
    robot: Robot, q0: Array, world: World | None, settings: ClearanceSettings = WALLS
) -> BodyClearance | None:
    """Keeps all links off the obstacles that nobody may touch; None if there are none. Ground is not an obstacle.

    Obstacles stay where they are in the world; what an estimate is off adds to the distance.

    Args:
        robot: The robot.
        q0: (nq,) posture whose distances decide the margins.
        world: With obstacles.
        settings: How links keep off.
    """
    if world is None or not (obstacles := tuple(item for item in world.obstacles if not item.touchable)):
        return None
    links = {volume.link for volume in robot_volumes(robot).volumes}
    pairs = [(link, item.name) for link in sorted(links) for item in obstacles]
    model = CollisionModel(robot, replace(world, ground=(), objects=(), obstacles=obstacles), pairs=pairs)
    return BodyClearance(robot, q0, settings, model)
