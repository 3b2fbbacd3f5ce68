"""TOML text of a model: one table for each body, hinge, link, actuator and contact, inline tables below them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

__all__ = ["model_text"]

_TABLES = {"bodies", "hinges", "links", "actuators", "contacts"}


def model_text(tables: Mapping[str, Any]) -> str:
    """The text of the tables of a model.

    Args:
        tables: Nested mappings, lists, texts and finite numbers.
    """
    return "\n".join(_lines("", tables)).strip("\n") + "\n"


def _lines(path: str, table: Mapping[str, Any]) -> list[str]:
    """Plain entries first, then arrays of tables."""
    below = {key: value for key, value in table.items() if key in _TABLES and value}
    lines = [f"{key} = {_value(value)}" for key, value in table.items() if key not in below]
    for key, items in below.items():
        for item in items:
            lines += ["", f"[[{path}{key}]]", *_lines(f"{path}{key}.", item)]
    return lines


def _value(value: Any) -> str:
    match value:
        case str():
            return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
        case Mapping():
            return "{ " + ", ".join(f"{key} = {_value(item)}" for key, item in value.items()) + " }"
        case list():
            return "[" + ", ".join(_value(item) for item in value) + "]"
    return repr(float(value))
