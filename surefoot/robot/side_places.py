"""Where in a side file stands what an error is about."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from surefoot.errors import ScenarioError, SurefootError, UnknownNameError
from surefoot.robot.toml_file import key_lines, parse_toml
from surefoot.robot.xml_guard import read_bytes

__all__ = ["placed_in_side_file"]

_WRONG_NAME = re.compile(r"there is no (\w+) `([^`]+)`")
_TABLE = re.compile(r"`([^`]+)`")
_OF_FRAMES = ("frame", "frame_a", "frame_b", "link")  # keys whose values name links and frames; the rest names joints


def placed_in_side_file(error: SurefootError, side: Path | None) -> SurefootError:
    """The error with file and line of the side file, if it is about a name or a table that stands there.

    Args:
        error: Raised while a robot with this side file was loaded; one that knows another file is left as it is.
        side: The side file, or None.

    Returns:
        The same error.
    """
    if side is None or error.line is not None or error.file not in (None, str(side)):
        return error
    text = read_bytes(side).decode("utf-8")
    lines = key_lines(text)
    for path, value in _walk((), parse_toml(text, side)):
        if _is_about(error, path, value):
            line = next((lines[path[:n]] for n in range(len(path), 0, -1) if path[:n] in lines), None)
            return error.with_place(side, line)
    return error


def _is_about(error: SurefootError, path: tuple[str, ...], value: str) -> bool:
    """Whether an error is about a key or the text that stands there."""
    if isinstance(error, UnknownNameError) and (wrong := _WRONG_NAME.search(error.message)):
        names_frame = path[-1] in _OF_FRAMES
        if wrong[1] in ("frame", "link"):
            return names_frame and value == wrong[2]
        return not names_frame and wrong[2] in (path[-1], value)
    table = _TABLE.search(error.message) if isinstance(error, ScenarioError) else None
    return table is not None and table[1] == ".".join(path)


def _walk(path: tuple[str, ...], value: Any) -> Iterator[tuple[tuple[str, ...], str]]:
    """All keys below a value, and the texts that stand there or in lists there; "" for what is no text."""
    inside = value.items() if isinstance(value, Mapping) else ()
    for key, below in inside:
        yield (*path, key), below if isinstance(below, str) else ""
        for item in below if isinstance(below, list) else ():
            yield (*path, key), item if isinstance(item, str) else ""
        yield from _walk((*path, key), below)
