"""Scenarios by name or file, with overrides such as `simulation.duration=2` or `events.0.speed=0.4`."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from surefoot.errors import FileFormatError, ScenarioError, SurefootError, one_of
from surefoot.scenario.blame import blaming, put_in_place
from surefoot.scenario.schema import Scenario, WorldTable
from surefoot.scenario.table import Table, checked, read_table_file
from surefoot.tables import parse_toml, read_toml_text

_FILES = Path(__file__).parent / "files"
_BARE_WORD = re.compile(r"[A-Za-z_./~][A-Za-z0-9_./:~ -]*")


def names() -> list[str]:
    """Names of the built-in scenarios."""
    return sorted(path.stem for path in _FILES.glob("*.toml"))


def describe(name: str) -> str:
    """One line about a scenario.

    Args:
        name: Its name or file.
    """
    return read_scenario(name).description


def read_scenario(name_or_file: str | Path) -> Scenario:
    """A scenario by name, or from a file.

    Args:
        name_or_file: A name of `names()`, or the path of a TOML file.

    Raises:
        ScenarioError: The file is not as it should be: file, line, key, and the nearest right key.
        UnknownNameError: There is no scenario of that name.
    """
    return read_table_file(own_file(name_or_file) or _file(os.fspath(name_or_file)), Scenario)


class _WorldFile(Table):
    """A file with a `[world]` table and nothing else.

    Args:
        world: The world.
    """

    world: WorldTable


def read_world_table(name_or_file: str | Path) -> WorldTable:
    """The `[world]` of a scenario by its name, or of a TOML file: a scenario, or a `[world]` table alone.

    Args:
        name_or_file: A scenario's name or file, or a file with a `[world]` table.
    """
    file = own_file(name_or_file)
    if file is not None and "name" not in parse_toml(read_toml_text(file), file):  # every scenario has a name
        return read_table_file(file, _WorldFile).world
    return read_scenario(name_or_file).world


def own_file(name_or_file: str | Path) -> Path | None:
    """The path of a user's file; None for the name of a built-in scenario.

    Args:
        name_or_file: As in `read_scenario`.
    """
    text = os.fspath(name_or_file)
    return Path(text) if isinstance(name_or_file, Path) or os.sep in text or text.endswith(".toml") else None


def scenario_text(name: str) -> str:
    """The text of a built-in scenario file.

    Args:
        name: A name of `names()`.

    Raises:
        UnknownNameError: There is no scenario of that name.
    """
    return _file(name).read_text(encoding="utf-8")


def _file(name: str) -> Path:
    if name not in names():
        raise one_of("scenario", name, names())
    return _FILES / f"{name}.toml"


def resolved_scenario(
    name_or_file: str | Path,
    robot: str | Path | None = None,
    seed: int | None = None,
    overrides: Sequence[str] = (),
    world: str | Path | None = None,
) -> Scenario:
    """The scenario with world, overrides, robot and seed applied and absolute paths of robot files.

    Args:
        name_or_file: Name or file of the scenario.
        robot: Another robot.
        seed: Another seed.
        overrides: Changes, `dotted.key=value`.
        world: Another world, as in `read_world_table`.
    """
    scenario = read_scenario(name_or_file)
    if world is not None:
        scenario = scenario.model_copy(update={"world": read_world_table(world)})
    scenario = overridden(scenario, overrides)
    tables = scenario.model_dump(mode="python", exclude_none=True)
    if seed is not None:
        tables["simulation"]["seed"] = seed
        checked(tables, Scenario, f"--seed {seed}")
    named = str(robot) if robot is not None else scenario.robot.name
    try:
        tables["robot"]["name"] = _full_path(named, None if robot is not None else own_file(name_or_file))
    except SurefootError as error:
        changes = changes_of(robot, seed, overrides, world)
        raise put_in_place(error, tables, own_file(name_or_file), changes) from error
    return checked(tables, Scenario, os.fspath(name_or_file))


def _full_path(robot: str, scenario: Path | None) -> str:
    """The absolute path of a robot file, sought beside the scenario and in the current folder; other names as given."""
    from surefoot.robot import is_file_name  # reading and listing scenarios needs no robots

    if not is_file_name(robot):
        return robot
    places = [Path(robot)] if scenario is None else [scenario.parent / robot, Path(robot)]
    for path in places:
        if path.exists():
            return str(path.resolve())
    with blaming("robot", "name"):
        raise FileFormatError(
            f"there is no robot file `{robot}`",
            evidence={"looked in": ", ".join(dict.fromkeys(str(path.parent.resolve()) for path in places))},
            next_step="check the path; it is relative to the folder of the scenario file",
        )


def changes_of(
    robot: str | Path | None, seed: int | None, overrides: Sequence[str], world: str | Path | None = None
) -> dict[str, str]:
    """Overridden keys, and the option that set each.

    Args:
        robot: Another robot.
        seed: Another seed.
        overrides: Changes, `dotted.key=value`.
        world: Another world.
    """
    changes = {} if world is None else {"world": f"--world {world}"}
    changes |= {text.partition("=")[0].strip(): f"--set {text}" for text in overrides}
    if seed is not None:
        changes["simulation.seed"] = f"--seed {seed}"
    if robot is not None:
        changes["robot.name"] = f"--robot {robot}"
    return changes


def overridden(scenario: Scenario, overrides: Sequence[str]) -> Scenario:
    """The scenario with changes, each checked against the schema.

    Args:
        scenario: The scenario.
        overrides: `dotted.key=value`; the value is TOML, a bare word is a text, entries of lists go by their number.

    Raises:
        ScenarioError: A key does not exist or a value does not fit; the message names the override.
    """
    for text in overrides:
        key, sign, value = text.partition("=")
        if not sign or not key.strip():
            raise ScenarioError(
                f"`{text}` is not an override", next_step="write key=value, e.g. --set simulation.duration=2"
            )
        tables = scenario.model_dump(mode="python", exclude_none=True)
        _put(tables, key.strip().split("."), _parsed(value.strip(), text), text)
        scenario = checked(tables, Scenario, f"--set {text}")
    return scenario


def _parsed(value: str, text: str) -> Any:
    """The value of an override: TOML, or a bare word as text."""
    try:
        return parse_toml(f"x = {value}", f"--set {text}")["x"]
    except ScenarioError as error:
        if _BARE_WORD.fullmatch(value):
            return value
        raise ScenarioError(
            f"the value of `{text[:100]}` is not TOML",
            evidence={"reason": error.message},
            next_step='quote texts: --set robot.name=\\"…\\"',
        ) from error


def _put(tables: Any, keys: list[str], value: Any, text: str) -> None:
    """Set a value in nested tables and lists; missing tables are created for the schema to check."""
    for depth, key in enumerate(keys):
        is_last = depth == len(keys) - 1
        place: str | int = key
        if isinstance(tables, list):
            place = _index(tables, key, text)
        elif isinstance(tables, dict):
            if not is_last:
                tables.setdefault(key, {})
        else:
            raise ScenarioError(f"`{'.'.join(keys[:depth])}` in `{text}` is a value and has no key `{key}`")
        if is_last:
            tables[place] = value
        else:
            tables = tables[place]


def _index(items: list[Any], key: str, text: str) -> int:
    if not key.isdecimal() or int(key) >= len(items):
        raise ScenarioError(
            f"`{key}` in `{text}` is not an index of the list, which has {len(items)} entries",
            next_step=f"entries are numbered from 0 to {len(items) - 1}" if items else "the list is empty",
        )
    return int(key)
