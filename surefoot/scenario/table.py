"""`Table`: a table of a scenario file; values are never converted, and errors are readable and have a next step."""

from __future__ import annotations

import difflib
import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Self, TypeVar

from pydantic import ConfigDict, ModelWrapValidatorHandler, ValidationError, model_validator
from pydantic_core import InitErrorDetails, PydanticCustomError

from surefoot.errors import SurefootError
from surefoot.scenario.schema_words import choices_at, expected_at
from surefoot.tables import MISSING_KEY, KeyPath, StrictModel, check_tables, parse_toml, read_toml_text

Schema = TypeVar("Schema", bound="Table")
_ADD = "add it; docs/scenarios.md lists the values of each key"
_CHANGE = "change the value; docs/scenarios.md lists the values of each key, `surefoot show stand` prints an example"
_TOLD = "told"  # type of the errors that have their words already
_ORDER = {"extra_forbidden": 0, "missing": 2}  # the others between them


@contextmanager
def helping() -> Iterator[None]:
    """Add a next step to errors about the content of a file that have neither a next step nor a suggestion."""
    try:
        yield
    except SurefootError as error:
        if not error.next_step and not error.suggestions:
            error.next_step = _ADD if error.kind == MISSING_KEY else _CHANGE
        raise


def read_table_file(path: str | Path, schema: type[Schema]) -> Schema:
    """Read and check a file.

    Args:
        path: The file.
        schema: What it must look like.

    Raises:
        FileFormatError: There is no such file, it cannot be read, or it is too large.
        ScenarioError: It is not UTF-8 text, not TOML, or not as the schema demands.
    """
    text = read_toml_text(path)
    return checked(parse_toml(text, path), schema, path, text)


def checked(tables: Mapping[str, Any], schema: type[Schema], file: str | Path, text: str = "") -> Schema:
    """The tables as an instance of the schema.

    Args:
        tables: The content of the file.
        schema: What it must look like.
        file: The file, for messages.
        text: Its text, for the lines of keys.

    Raises:
        ScenarioError: They are not as the schema demands.
    """
    with helping():
        return check_tables(tables, schema, file, text)


def complaint(key: str, value: Any, words: str) -> ValidationError:
    """The error about one key of a table, for its validators to raise.

    Args:
        key: The key; "" for the table as a whole.
        value: What stands there.
        words: What is wrong.
    """
    return ValidationError.from_exception_data("table", [_told((key,) if key else (), value, words)])


class Table(StrictModel):
    """Refuses unknown keys, values of another type (a text is not a number, true is not 1), NaN and infinity."""

    model_config = ConfigDict(strict=True)

    @model_validator(mode="wrap")
    @classmethod
    def _tell_in_words(cls, given: Any, check: ModelWrapValidatorHandler[Self]) -> Self:
        try:
            return check(given)
        except ValidationError as error:
            items = _without_echoes(cls, error.errors(include_url=False))
            details = [_in_words(cls, item) for item in sorted(items, key=lambda item: _ORDER.get(item["type"], 1))]
            raise ValidationError.from_exception_data(cls.__name__, details) from None


def _without_echoes(table: type[Table], items: Sequence[Any]) -> list[Any]:
    """The errors without the keys that are missing because they are misspelt."""
    unknown = [str(item["loc"][0]) for item in items if item["type"] == "extra_forbidden" and len(item["loc"]) == 1]
    meant = {(key,) for word in unknown for key in difflib.get_close_matches(word, table.model_fields, 1, 0.55)}
    return [item for item in items if item["type"] != "missing" or item["loc"] not in meant]


def _told(path: KeyPath, value: Any, words: str, suggestions: Sequence[str] = ()) -> InitErrorDetails:
    error = PydanticCustomError(_TOLD, words, {"suggestions": tuple(suggestions)})
    return InitErrorDetails(type=error, loc=path, input=value)


def _in_words(table: type[Table], item: Mapping[str, Any]) -> InitErrorDetails:
    """One of pydantic's errors, with words of our own."""
    path, value, kind = item["loc"], item["input"], item["type"]
    if kind == _TOLD or not path:
        words = item["msg"] if path else "expected a table"
        return _told(path, value, words, item.get("ctx", {}).get("suggestions", ()))
    if kind == "missing" and isinstance(path[-1], int):  # a list that is too short
        path, kind = path[:-1], "too_short"
    if kind in ("extra_forbidden", "missing"):
        return InitErrorDetails(type=kind, loc=path, input=value)
    if kind == "value_error":
        return _told(path, value, item["msg"].removeprefix("Value error, "))
    return _expectation(table, path, value)


def _expectation(table: type[Table], path: KeyPath, value: Any) -> InitErrorDetails:
    """The error that names the expected type, and the choice that is nearest."""
    words = f"expected {expected_at(table, path)}"
    if isinstance(value, float) and not math.isfinite(value):
        words = words.replace(" number", " finite number", 1)
    if isinstance(value, dict) and words == "expected a list of tables":
        words += f", each under [[…{path[-1]}]]"
    near = difflib.get_close_matches(str(value), choices_at(table, path), n=1, cutoff=0.5)
    return _told(path, value, f'{words}; did you mean "{near[0]}"?' if near else words, near)
