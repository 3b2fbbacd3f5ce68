"""Locate the scenario key that an error is about."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from surefoot.errors import SurefootError
from surefoot.tables import KeyPath, key_lines, line_of, read_toml_text, walk_tables

_KEY = "key"


@contextmanager
def blaming(*keys: str | int) -> Iterator[None]:
    """Attach this scenario key to errors from inside that name neither a file nor a key.

    Args:
        *keys: Path of the key.
    """
    try:
        yield
    except SurefootError as error:
        if error.file is None and not error.key:
            _blame(error, keys)
        raise


def _blame(error: SurefootError, path: KeyPath) -> None:
    """Attach a key to an error, as data and in its message."""
    error.key = path
    error.evidence = {_KEY: "", **error.evidence} | {_KEY: ".".join(map(str, path))}


def put_in_place(
    error: SurefootError, tables: Mapping[str, Any], file: Path | None, changes: Mapping[str, str]
) -> SurefootError:
    """An error with the file and line of the key that it blames or names, or with the option that set the key.

    Args:
        error: The error.
        tables: The content of the scenario.
        file: Its file; None for a scenario that comes with the package.
        changes: Keys that were changed from outside, and the option that did so.
    """
    path = () if error.file is not None else _blamed(error, tables)
    if not path:
        return error
    _blame(error, path)
    for key, option in reversed(list(changes.items())):
        if _overlap(path, key.split(".")):
            return error.with_place(option)
    return error if file is None else error.with_place(file, line_of(path, key_lines(read_toml_text(file))))


def _blamed(error: SurefootError, tables: Mapping[str, Any]) -> KeyPath:
    """The key that is blamed, or the only one below it that is the error's subject, or whose value is; () for none."""
    around = error.key
    named = [
        path
        for path, value in walk_tables(tables)
        if error.subject and path[: len(around)] == around and error.subject in (path[-1], value)
    ]
    return named[0] if len(named) == 1 else around


def _overlap(path: KeyPath, other: Sequence[str]) -> bool:
    return all(str(one) == two for one, two in zip(path, other, strict=False))
