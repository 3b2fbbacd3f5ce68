"""A world from a file of its own, or from the `[world]` of a scenario."""

from __future__ import annotations

from pathlib import Path

from surefoot.errors import SurefootError
from surefoot.motion import World
from surefoot.robot import Robot
from surefoot.scenario.blame import put_in_place
from surefoot.scenario.build import build_world
from surefoot.scenario.catalogue import own_file, read_world_table


def read_world(name_or_file: str | Path, robot: Robot) -> World:
    """The world of a scenario by its name, or of a TOML file: a scenario, or a `[world]` table alone.

    Args:
        name_or_file: A scenario's name or file, or a file with a `[world]` table.
        robot: The robot that moves in it.

    Raises:
        ScenarioError: The file is not as it should be.
        UnknownNameError: There is no scenario of that name.
    """
    file = own_file(name_or_file)
    table = read_world_table(name_or_file)
    try:
        return build_world(table, robot)
    except SurefootError as error:
        raise put_in_place(error, {"world": table.model_dump(exclude_none=True)}, file, {}) from error
