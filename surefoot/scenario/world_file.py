"""A world from a file of its own, or from the `[world]` of a scenario."""

from __future__ import annotations

from pathlib import Path

from surefoot.motion import World
from surefoot.robot import Robot
from surefoot.robot.toml_file import StrictModel, read_toml
from surefoot.scenario.build_world import build_world
from surefoot.scenario.catalogue import names, read_scenario
from surefoot.scenario.schema import WorldTable

__all__ = ["read_world"]


class _WorldFile(StrictModel):
    """A file with a `[world]` table and nothing else.

    Args:
        world: The world.
    """

    world: WorldTable


def read_world(name_or_file: str | Path, robot: Robot) -> World:
    """The world of a scenario by its name, or of a TOML file: a scenario, or a `[world]` table alone.

    Args:
        name_or_file: A scenario's name or file, or a file with a `[world]` table.
        robot: The robot that moves in it.

    Raises:
        ScenarioError: The file is not as it should be.
        UnknownNameError: There is no scenario of that name.
    """
    path = Path(name_or_file)
    if str(name_or_file) not in names() and path.is_file() and "[robot]" not in path.read_text(encoding="utf-8"):
        return build_world(read_toml(path, _WorldFile).world, robot)
    return build_world(read_scenario(name_or_file).world, robot)
