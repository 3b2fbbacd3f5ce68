"""Scenarios by name: the files that come with the package, and those of the user."""

from __future__ import annotations

import os
from pathlib import Path

from surefoot.errors import one_of
from surefoot.scenario.schema import Scenario
from surefoot.scenario.table import read_table_file

__all__ = ["describe", "names", "own_file", "read_scenario", "scenario_text"]

_FILES = Path(__file__).parent / "files"


def names() -> list[str]:
    """Names of the scenarios that come with the package."""
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


def own_file(name_or_file: str | Path) -> Path | None:
    """The file of the user that is meant; None if it is the name of a scenario.

    Args:
        name_or_file: As in `read_scenario`.
    """
    text = os.fspath(name_or_file)
    return Path(text) if isinstance(name_or_file, Path) or os.sep in text or text.endswith(".toml") else None


def scenario_text(name: str) -> str:
    """The file of a scenario that comes with the package, as it stands.

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
