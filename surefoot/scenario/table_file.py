"""TOML files of the user against a schema; mistakes are told with file, line and key."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

from pydantic import ValidationError

from surefoot.errors import FileFormatError, ScenarioError, SurefootError
from surefoot.robot.toml_file import parse_toml, validated
from surefoot.robot.xml_guard import MAX_BYTES, read_bytes
from surefoot.scenario.key_places import key_places
from surefoot.scenario.table import Table

__all__ = ["checked", "helping", "read_table_file", "read_tables", "text_of"]

Schema = TypeVar("Schema", bound=Table)
_HINTS = {  # by what a message says; the last one is for all others
    "is missing": "add it; docs/scenarios.md says what each key takes",
    "does not increase": "give the times in their order, each later than the one before",
    "": "change what stands there; docs/scenarios.md says what each key takes, `surefoot show stand` is an example",
}


@contextmanager
def helping() -> Iterator[None]:
    """Errors about what stands in a file that name no next step, and do not guess what was meant, get one."""
    try:
        yield
    except SurefootError as error:
        if not error.next_step and "did you mean" not in error.message:
            error.next_step = next(hint for part, hint in _HINTS.items() if part in error.message)
        raise


def read_table_file(path: str | Path, schema: type[Schema]) -> Schema:
    """Read and check a file.

    Args:
        path: The file.
        schema: What it must look like.

    Raises:
        FileFormatError: There is no such file, it cannot be read, or it is too large.
        ScenarioError: It is not UTF-8 text, not TOML, or not as the schema says.
    """
    text = text_of(path)
    return checked(parse_toml(text, path), schema, path, text)


def read_tables(path: str | Path) -> dict[str, Any]:
    """What a file says, unchecked; raises as `read_table_file` does.

    Args:
        path: The file.
    """
    return parse_toml(text_of(path), path)


def checked(tables: dict[str, Any], schema: type[Schema], file: str | Path, text: str = "") -> Schema:
    """The tables as an instance of the schema.

    Args:
        tables: What the file says.
        schema: What it must look like.
        file: The file, for messages.
        text: Its text, for the lines of keys.

    Raises:
        ScenarioError: They are not as the schema says.
    """
    try:
        return schema.model_validate(tables)
    except ValidationError:
        with helping():
            return validated(tables, schema, file, key_places(text))


def text_of(path: str | Path) -> str:
    """The text of a file; raises as `read_table_file` does.

    Args:
        path: The file.
    """
    if Path(path).is_file() and Path(path).stat().st_size > MAX_BYTES:
        raise FileFormatError(
            f"the file is larger than {MAX_BYTES >> 20} MiB",
            file=path,
            next_step="check the path: a scenario is text of some kB",
        )
    data = read_bytes(path)
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        raise ScenarioError(
            "the file is not UTF-8 text", file=path, line=line, next_step="save it as UTF-8 text"
        ) from error
