"""Changes of the ground, and what the native engine leaves out of a world."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from surefoot.arrays import number
from surefoot.errors import NotSupportedError, ShapeError
from surefoot.motion import Ground, World
from surefoot.robot import Robot

__all__ = ["notes_of", "with_friction", "with_ground"]


def with_friction(world: World | None, friction: float, pieces: Sequence[int] | None) -> World | None:
    """The world with another Coulomb coefficient of pieces of ground.

    Args:
        world: The world; None for empty space.
        friction: ≥ 0.
        pieces: Their indices; None for all.
    """
    ground = [] if world is None else list(world.ground)
    chosen = range(len(ground)) if pieces is None else [int(k) for k in pieces]
    if wrong := [k for k in chosen if not 0 <= k < len(ground)]:
        raise ShapeError(
            "there are no such pieces of ground", evidence={"pieces": wrong, "number of pieces": len(ground)}
        )
    value = number(friction, "friction of the ground")
    for k in chosen:
        ground[k] = replace(ground[k], friction=value)
    return None if world is None else replace(world, ground=tuple(ground))


def with_ground(world: World | None, ground: Sequence[Ground]) -> World | None:
    """The world with other ground.

    Args:
        world: The world; None for empty space.
        ground: As many pieces of the same kinds as before.

    Raises:
        NotSupportedError: Another number of pieces, or other kinds.
    """
    old = () if world is None else world.ground
    before, after = ([type(piece).__name__ for piece in pieces] for pieces in (old, ground))
    if before != after:
        raise NotSupportedError(
            "ground can be replaced only by as many pieces of the same kinds",
            evidence={"before": before, "after": after},
            next_step="build the world with all pieces that will be needed; boxes can wait below the ground",
        )
    return None if world is None else replace(world, ground=tuple(ground))


def notes_of(robots: Sequence[Robot], world: World | None, self_collision: bool) -> tuple[str, ...]:
    """What is simulated otherwise than described.

    Args:
        robots: The robots.
        world: The world; None for empty space.
        self_collision: Whether robots should touch themselves.
    """
    out = []
    if world is not None and world.ground:
        out.append("robots touch the ground by the points of their contact surfaces, and nothing else")
    things = 0 if world is None else len(world.objects)
    if len(robots) + things > 1:
        out.append("robots and objects do not touch each other in the native engine")
    if world is not None and world.obstacles:
        out.append("obstacles are not touched in the native engine")
    if self_collision:
        out.append("robots do not touch themselves in the native engine")
    for robot in robots:
        names = [contact.name for contact in robot.contacts.values() if robot.body_of(contact.frame) < 0]
        out += [f"contact surface `{name}` of {robot.name} is fixed to the world" for name in names]
    return tuple(out)
