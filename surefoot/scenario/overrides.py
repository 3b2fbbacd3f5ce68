"""Changes to a scenario from outside: `simulation.duration=2`, `events.0.speed=0.4`."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Sequence
from typing import Any

from surefoot.errors import ScenarioError
from surefoot.scenario.schema import Scenario
from surefoot.scenario.table import checked

__all__ = ["overridden"]

_BARE_WORD = re.compile(r"[A-Za-z_./~][A-Za-z0-9_./:~ -]*")


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
                f"`{text}` is no override", next_step="write key=value, e.g. --set simulation.duration=2"
            )
        tables = scenario.model_dump(mode="python", exclude_none=True)
        _put(tables, key.strip().split("."), _parsed(value.strip(), text), text)
        scenario = checked(tables, Scenario, f"--set {text}")
    return scenario


def _parsed(value: str, text: str) -> Any:
    """The value of an override: TOML, or a bare word as text."""
    try:
        return tomllib.loads(f"x = {value}")["x"]
    except tomllib.TOMLDecodeError as error:
        if _BARE_WORD.fullmatch(value):
            return value
        raise ScenarioError(
            f"the value of `{text}` is not TOML",
            evidence={"reason": error},
            next_step='quote texts: --set robot.name=\\"…\\"',
        ) from error


def _put(tables: Any, keys: list[str], value: Any, text: str) -> None:
    """Set a value in nested tables and lists; tables that are missing are made, for the schema to judge."""
    for depth, key in enumerate(keys):
        is_last = depth == len(keys) - 1
        place: str | int = key
        if isinstance(tables, list):
            place = _index(tables, key, text)
        elif isinstance(tables, dict):
            if not is_last:
                tables.setdefault(key, {})
        else:
            raise ScenarioError(f"`{'.'.join(keys[:depth])}` in `{text}` is a value, it has no `{key}`")
        if is_last:
            tables[place] = value
        else:
            tables = tables[place]


def _index(items: list[Any], key: str, text: str) -> int:
    if not key.isdecimal() or int(key) >= len(items):
        raise ScenarioError(
            f"`{key}` in `{text}` is no entry of a list of {len(items)}",
            next_step=f"entries are numbered from 0 to {len(items) - 1}" if items else "the list is empty",
        )
    return int(key)
