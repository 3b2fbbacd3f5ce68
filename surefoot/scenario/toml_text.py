"""Plain tables as TOML text; `tomllib` reads back the same values."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from typing import Any

from surefoot.errors import ScenarioError

__all__ = ["toml_text"]

_BARE = re.compile(r"[A-Za-z0-9_-]+")


def toml_text(tables: Mapping[str, Any]) -> str:
    """The TOML text of nested tables, lists, texts, numbers and booleans.

    Args:
        tables: What to write; None is not TOML and refused.
    """
    return "\n".join(_table((), tables)).strip("\n") + "\n"


def _table(path: tuple[str, ...], table: Mapping[str, Any]) -> list[str]:
    """Lines of a table: its own values first, then the tables below it."""
    plain = {k: v for k, v in table.items() if not isinstance(v, Mapping) and not _is_tables(v)}
    lines = [f"{_key(name)} = {_value(value)}" for name, value in plain.items()]
    for name, value in table.items():
        here = (*path, name)
        dotted = ".".join(_key(part) for part in here)
        if isinstance(value, Mapping):
            lines += ["", f"[{dotted}]", *_table(here, value)]
        elif _is_tables(value):
            for item in value:
                lines += ["", f"[[{dotted}]]", *_table(here, item)]
    return lines


def _is_tables(value: Any) -> bool:
    return isinstance(value, list | tuple) and len(value) > 0 and all(isinstance(item, Mapping) for item in value)


def _key(name: str) -> str:
    return name if _BARE.fullmatch(name) else _text(name)


def _text(value: str) -> str:
    """A basic string; JSON's escapes are TOML's, but for DEL."""
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def _value(value: Any) -> str:
    match value:
        case bool():
            return "true" if value else "false"
        case str():
            return _text(value)
        case int():
            return str(value)
        case float() if math.isfinite(value):
            return repr(value)
        case list() | tuple():
            return "[" + ", ".join(_value(item) for item in value) + "]"
    raise ScenarioError(f"{value!r} cannot be written as TOML")
