"""Which key of a scenario is to blame for an error, and where it stands."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from surefoot.errors import SurefootError
from surefoot.scenario.key_places import KeyPath, key_places
from surefoot.scenario.table_file import text_of

__all__ = ["blaming", "put_in_place"]

_QUOTED = re.compile(r"`([^`]+)`")
_KEY = "key"


@contextmanager
def blaming(*keys: str | int) -> Iterator[None]:
    """Errors from inside that name no file blame this key of the scenario.

    Args:
        *keys: Path of the key.
    """
    try:
        yield
    except SurefootError as error:
        if error.file is None and _KEY not in error.evidence:
            error.evidence = {_KEY: ".".join(map(str, keys)), **error.evidence}
        raise


def put_in_place(
    error: SurefootError, tables: Mapping[str, Any], file: Path | None, changes: Mapping[str, str]
) -> SurefootError:
    """An error with the file and line of the key that it blames or quotes, or with the option that set the key.

    Args:
        error: The error.
        tables: What the scenario says.
        file: Where it says so; None for a scenario that comes with the package.
        changes: Keys that were changed from outside, and the option that did so.
    """
    path = None if error.file is not None else _blamed(error, tables)
    if path is None:
        return error
    error.evidence = {**error.evidence, _KEY: ".".join(map(str, path))}
    for key, option in reversed(list(changes.items())):
        if _overlap(path, key.split(".")):
            return error.with_place(option)
    return error if file is None else error.with_place(file, _line(path, key_places(text_of(file))))


def _blamed(error: SurefootError, tables: Mapping[str, Any]) -> KeyPath | None:
    """The key that is blamed, or the only one below it that the message quotes, or whose value it quotes."""
    around: KeyPath = tuple(str(error.evidence[_KEY]).split(".")) if _KEY in error.evidence else ()
    quoted = set(_QUOTED.findall(error.message))
    found = [
        path
        for path, value in _walk((), tables)
        if tuple(map(str, path[: len(around)])) == around and (path[-1] in quoted or value in quoted)
    ]
    if len(found) == 1:
        return found[0]
    return tuple(int(part) if str(part).isdecimal() else part for part in around) or None


def _walk(path: KeyPath, value: Any) -> Iterator[tuple[KeyPath, str]]:
    """All keys below a value with the texts that stand there; "" for what is no text."""
    inside = value.items() if isinstance(value, Mapping) else enumerate(value) if isinstance(value, list) else ()
    for key, below in inside:
        yield (*path, key), below if isinstance(below, str) else ""
        yield from _walk((*path, key), below)


def _overlap(path: KeyPath, other: Sequence[str]) -> bool:
    return all(str(one) == two for one, two in zip(path, other, strict=False))


def _line(path: KeyPath, places: Mapping[KeyPath, int]) -> int | None:
    """Line of a key, or of the table around it."""
    return next((places[path[:n]] for n in range(len(path), 0, -1) if path[:n] in places), None)
