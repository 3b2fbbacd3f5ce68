"""Shapes that clearance is measured with: of obstacles and of the ground, and which links have lost theirs."""

from __future__ import annotations

from surefoot.collision import world_obstacles
from surefoot.geometry import Box, Plane
from surefoot.motion import GroundBox, GroundPlane, Obstacle, World
from surefoot.robot import Robot

__all__ = ["bare_links", "missing_shapes_note", "standing_shapes"]

_MOST_NAMES = 6


def standing_shapes(world: World) -> tuple[Obstacle, ...]:
    """Everything in a world that can be measured exactly: obstacles, objects, level and tilted ground, boxes.

    Args:
        world: The world.
    """
    poses = {thing.name: thing.pose for thing in world_obstacles(world)}
    out = [*world.obstacles, *(Obstacle(thing.name, thing.shape, thing.pose) for thing in world.objects)]
    for k, piece in enumerate(world.ground):
        name = f"ground {k}"
        if isinstance(piece, GroundPlane | GroundBox):
            out.append(Obstacle(name, Box(piece.size) if isinstance(piece, GroundBox) else Plane(), poses[name]))
    return tuple(out)


def bare_links(robot: Robot) -> tuple[str, ...]:
    """Links that lost a collision shape because its mesh is missing, in the order of the robot's links.

    Args:
        robot: The robot.
    """
    lost = {link for note in robot.notes for link in note.bare}
    return tuple(link for link in robot.link_names if link in lost)


def missing_shapes_note(robot: Robot) -> str:
    """One sentence about the links that clearance is judged without; "" where nothing is missing.

    Args:
        robot: The robot.
    """
    lost = bare_links(robot)
    if not lost:
        return ""
    more = f" and {len(lost) - _MOST_NAMES} more" if len(lost) > _MOST_NAMES else ""
    names = ", ".join(f"`{link}`" for link in lost[:_MOST_NAMES])
    return f"clearance is judged without collision meshes that are missing, of {names}{more}"
