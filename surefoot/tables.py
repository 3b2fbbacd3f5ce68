"""TOML files: read with the line of every key, checked against a schema, and written."""

from __future__ import annotations

import difflib
import json
import math
import re
import tomllib
from bisect import bisect_right
from collections.abc import Collection, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from types import UnionType
from typing import Annotated, Any, TypeVar, Union, get_args, get_origin

from pydantic import BaseModel, ConfigDict, ValidationError, field_validator

from surefoot.errors import ScenarioError
from surefoot.files import read_bytes

__all__ = [
    "MISSING_KEY",
    "UNKNOWN_KEY",
    "WRONG_VALUE",
    "KeyPath",
    "StrictModel",
    "check_tables",
    "key_lines",
    "line_of",
    "parse_toml",
    "read_toml",
    "read_toml_text",
    "toml_text",
    "walk_tables",
]

Schema = TypeVar("Schema", bound=BaseModel)
KeyPath = tuple[str | int, ...]
"""Keys from the whole file to a value; entries of lists go by their number."""

MISSING_KEY, UNKNOWN_KEY, WRONG_VALUE = "missing key", "unknown key", "wrong value"  # kinds of errors of a schema
_GAP = re.compile(r"(?:[ \t\r\n]|#[^\n]*)*")
_KEY = re.compile(r"""[A-Za-z0-9_-]+|"(?:[^"\\\n]|\\.)*"|'[^'\n]*'""")
_DOT = re.compile(r"[ \t]*\.[ \t]*")
_STRING = re.compile(
    r'"""(?:[^"\\]|\\.|"(?!""))*"{3,5}' r"|'''(?:[^']|'(?!''))*'{3,5}" r'|"(?:[^"\\\n]|\\.)*"' r"|'[^'\n]*'", re.DOTALL
)
_MOST_PARTS = 32  # of a dotted key: the time and memory to parse them grow with the square
_ASIDE = re.compile(rf"""#[^\n]*|{_STRING.pattern}|\"{{3}}.*|'{{3}}.*|["'][^\n]*""", re.DOTALL)  # also open strings
_LONG_KEY = re.compile(rf"(?<![A-Za-z0-9_ \t-])(?:[ \t]*+[A-Za-z0-9_-]*+[ \t]*+\.){{{_MOST_PARTS}}}")
_BARE = re.compile(r"[^,\]}\n#]+")
_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")
_SIZES = (1e-12, 1e12)  # of numbers that are not zero


class StrictModel(BaseModel):
    """A schema that refuses unknown keys, NaN and infinity, and numbers that overflow or vanish in products."""

    model_config = ConfigDict(extra="forbid", allow_inf_nan=False, frozen=True)

    @field_validator("*")
    @classmethod
    def _numbers_are_moderate(cls, value: Any) -> Any:
        low, high = _SIZES
        if wrong := [number for number in _floats(value) if number != 0.0 and not low <= abs(number) <= high]:
            raise ValueError(f"{wrong[0]:g} is not between {low:g} and {high:g} in size, and not 0")
        return value


def _floats(value: Any) -> Iterator[float]:
    """All floats in nested lists and dictionaries."""
    if isinstance(value, float):
        yield value
    elif isinstance(value, list | tuple | dict):
        for item in value.values() if isinstance(value, dict) else value:
            yield from _floats(item)


def read_toml(path: str | Path, schema: type[Schema]) -> Schema:
    """Read and check a TOML file.

    Raises:
        FileFormatError: There is no such file, it cannot be read, or it is too large.
        ScenarioError: It is not UTF-8 text, not TOML, or not as the schema demands.
    """
    text = read_toml_text(path)
    return check_tables(parse_toml(text, path), schema, path, text)


def read_toml_text(path: str | Path) -> str:
    """The text of a file, UTF-8 with or without a byte order mark; raises as `read_toml` does."""
    data = read_bytes(path, advice="check the path: this file should be text of some kB")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        raise ScenarioError(
            "the file is not UTF-8 text", file=path, line=line, next_step="save it as UTF-8 text"
        ) from error


def parse_toml(text: str, file: str | Path) -> dict[str, Any]:
    """The tables of a TOML text, or an error with its line.

    Raises:
        ScenarioError: It is not TOML.
    """
    if _LONG_KEY.search(_ASIDE.sub("", text)):
        raise ScenarioError(f"a key has more than {_MOST_PARTS} parts", file=file, next_step="nest less deeply")
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        place = re.search(r"line (\d+)", str(error))
        raise ScenarioError(
            f"not TOML: {error}", file=file, line=int(place[1]) if place else None, next_step="fix that line"
        ) from error
    except ValueError as error:  # an integer of thousands of digits
        raise ScenarioError("holds a number of thousands of digits", file=file, next_step="write it shorter") from error
    except (RecursionError, MemoryError) as error:
        raise ScenarioError("not TOML: nested too deeply", file=file) from error


def check_tables(tables: Mapping[str, Any], schema: type[Schema], file: str | Path, text: str = "") -> Schema:
    """The tables as an instance of the schema.

    Args:
        tables: The content of the file.
        schema: Its schema.
        file: The file, for messages.
        text: Its text, for the lines of keys.

    Raises:
        ScenarioError: They are not as the schema demands; its `kind` is one of `MISSING_KEY`, `UNKNOWN_KEY` and
            `WRONG_VALUE`.
    """
    try:
        return schema.model_validate(tables)
    except ValidationError as error:
        lines = key_lines(text)
        first, *more = (_problem(item, schema, file, lines) for item in error.errors())
        first.evidence = {
            f"line {item.line}" if item.line else f"{i}": item.message for i, item in enumerate(more[:8], 2)
        }
        raise first from error


def _problem(item: Any, schema: type[BaseModel], file: str | Path, lines: Mapping[KeyPath, int]) -> ScenarioError:
    """One of pydantic's errors as one of ours."""
    path = tuple(part for part in item["loc"] if not (isinstance(part, str) and part.startswith("function-")))
    key = ".".join(map(str, path))
    near = list(item.get("ctx", {}).get("suggestions", ()))
    match item["type"]:
        case "extra_forbidden":
            # Keys that the schema has at a path
            at: list[Any] = [schema]
            for part in path[:-1]:
                at = [below for item in at for below in _below(item, part)]
            known = sorted({key for item in at if _is_model(item) for key in item.model_fields})
            near = difflib.get_close_matches(str(path[-1]), known, n=1, cutoff=0.55)
            kind = UNKNOWN_KEY
            words = f"unknown key `{key}`; " + (
                f"did you mean `{near[0]}`?" if near else f"known: {', '.join(sorted(known))}"
            )
        case "missing":
            kind, words = MISSING_KEY, f"`{key}` is missing"
        case _:
            kind = WRONG_VALUE
            words = f"`{key}` = {repr(item.get('input'))[:60]}: {item['msg'][0].lower()}{item['msg'][1:]}"
    return ScenarioError(words, file=file, line=line_of(path, lines), kind=kind, key=path, suggestions=near)


def _below(annotation: Any, part: str | int) -> list[Any]:
    """The types below one key: of the field of a model, or of the values of a dict or list."""
    if _is_model(annotation):
        field = annotation.model_fields.get(str(part))
        return _alternatives(field.annotation) if field else []
    return [item for argument in get_args(annotation) for item in _alternatives(argument)]


def _alternatives(annotation: Any) -> list[Any]:
    """The members of a union (also inside Annotated), or the annotation itself."""
    if get_origin(annotation) is Annotated:
        return _alternatives(get_args(annotation)[0])
    if get_origin(annotation) in (Union, UnionType):
        return [item for member in get_args(annotation) for item in _alternatives(member)]
    return [annotation]


def _is_model(annotation: Any) -> bool:
    return isinstance(annotation, type) and issubclass(annotation, BaseModel)


def walk_tables(value: Any, path: KeyPath = ()) -> Iterator[tuple[KeyPath, str]]:
    """All keys below a value, and the texts there; "" for a value that is not a text.

    Args:
        value: Nested tables and lists.
        path: Keys above the value.
    """
    inside = value.items() if isinstance(value, Mapping) else enumerate(value) if isinstance(value, list) else ()
    for key, below in inside:
        yield (*path, key), below if isinstance(below, str) else ""
        yield from walk_tables(below, (*path, key))


def line_of(path: KeyPath, lines: Mapping[KeyPath, int]) -> int | None:
    """Line of a key, or of the nearest table around it; None if there is none.

    Args:
        path: Path of the key.
        lines: From `key_lines`.
    """
    return next((lines[path[:n]] for n in range(len(path), 0, -1) if path[:n] in lines), None)


def key_lines(text: str) -> dict[KeyPath, int]:
    """Line of every table, key and entry of a list, counted from 1, by its path.

    Tables of an array have their number within the table that the array belongs to, as TOML means them: of
    `[[a]] [[a.b]] [[a]] [[a.b]]` the last is `("a", 1, "b", 0)`.

    Args:
        text: TOML; of a text that is not, the lines before the mistake.
    """
    reader = _LineReader(text)
    with suppress(ValueError, IndexError, RecursionError):
        reader.read()
    return reader.lines


class _LineReader:
    """Goes through a TOML text once."""

    def __init__(self, text: str) -> None:
        self.lines: dict[KeyPath, int] = {}
        self._text, self._at = text, 0
        self._ends = [end.start() for end in re.finditer("\n", text)]
        self._entries: dict[KeyPath, int] = {}

    def read(self) -> None:
        """Note the lines of all keys; raises ValueError or IndexError where the text is not TOML."""
        table: KeyPath = ()
        self._skip(_GAP)
        while self._at < len(self._text):
            if self._text.startswith("[", self._at):
                table = self._header()
            else:
                self._assignment(table)
            self._skip(_GAP)

    def _skip(self, pattern: re.Pattern[str]) -> str:
        """Go over what the pattern matches."""
        match = pattern.match(self._text, self._at)
        self._at = match.end() if match else self._at
        return match[0] if match else ""

    def _note(self, path: KeyPath, known: int, at: int) -> None:
        """The line of a path, and of the tables on the way to it that are not known yet."""
        for n in range(known + 1, len(path) + 1):
            self.lines.setdefault(path[:n], bisect_right(self._ends, at - 1) + 1)

    def _header(self) -> KeyPath:
        """`[table]` or `[[table]]`; tables below the entry of a list belong to the last one."""
        start, is_list = self._at, self._text.startswith("[[", self._at)
        self._at += 2 if is_list else 1
        self._skip(_GAP)
        *parents, last = self._dotted()
        self._at = self._text.index("]", self._at) + (2 if is_list else 1)
        path: KeyPath = ()
        for part in parents:
            path = self._last_entry((*path, part))
        path = (*path, last)
        if is_list:
            self._note(path, 0, start)
            self._entries[path] = self._entries.get(path, -1) + 1
        path = self._last_entry(path)
        self._note(path, 0, start)
        return path

    def _last_entry(self, path: KeyPath) -> KeyPath:
        return (*path, self._entries[path]) if path in self._entries else path

    def _dotted(self) -> list[str]:
        keys = [self._key()]
        while self._skip(_DOT):
            keys.append(self._key())
        return keys

    def _key(self) -> str:
        text = self._skip(_KEY)
        if not text:
            raise ValueError(f"no key at character {self._at}")
        return next(iter(tomllib.loads(f"{text}=0"))) if text[0] in "\"'" else text

    def _assignment(self, table: KeyPath) -> None:
        start = self._at
        path = (*table, *self._dotted())
        self._note(path, len(table), start)
        self._at = self._text.index("=", self._at) + 1
        self._value(path)

    def _value(self, path: KeyPath) -> None:
        self._skip(_GAP)
        match self._text[self._at : self._at + 1]:
            case "[":
                self._list(path)
            case "{":
                self._inline_table(path)
            case start:
                if not self._skip(_STRING if start in ('"', "'") else _BARE):
                    raise ValueError(f"no value at character {self._at}")

    def _list(self, path: KeyPath) -> None:
        number = 0
        while self._is_inside("]"):
            self._note((*path, number), len(path), self._at)
            self._value((*path, number))
            number += 1

    def _inline_table(self, path: KeyPath) -> None:
        while self._is_inside("}"):
            self._assignment(path)

    def _is_inside(self, end: str) -> bool:
        """Go over an opening bracket or a comma; False, and over it, at the closing one."""
        self._skip(_GAP)
        if self._text[self._at] != end:
            if self._text[self._at] in "[{,":
                self._at += 1
            self._skip(_GAP)
        if self._text[self._at] != end:
            return True
        self._at += 1
        return False


def toml_text(tables: Mapping[str, Any], headers: Collection[str] | None = None) -> str:
    """The TOML text of nested tables, lists, texts, numbers and booleans; `tomllib` reads back the same values.

    Args:
        tables: What to write; None is not TOML and refused.
        headers: Keys whose tables get headers of their own, `[key]` or `[[key]]`; tables of other keys are written
            inline. None for headers wherever they are possible.
    """
    return "\n".join(_table_lines((), tables, headers)).strip("\n") + "\n"


def _table_lines(path: tuple[str, ...], table: Mapping[str, Any], headers: Collection[str] | None) -> list[str]:
    """Lines of a table: its own values first, then the tables below it."""
    below = {k: v for k, v in table.items() if (headers is None or k in headers) and _is_tables(v)}
    lines = [f"{_key_text(name)} = {_value_text(value)}" for name, value in table.items() if name not in below]
    for name, value in below.items():
        here = (*path, name)
        dotted = ".".join(_key_text(part) for part in here)
        if isinstance(value, Mapping):
            lines += ["", f"[{dotted}]", *_table_lines(here, value, headers)]
        else:
            for item in value:
                lines += ["", f"[[{dotted}]]", *_table_lines(here, item, headers)]
    return lines


def _is_tables(value: Any) -> bool:
    """Whether it is a table, or a list of tables alone."""
    is_list = isinstance(value, list | tuple) and len(value) > 0 and all(isinstance(item, Mapping) for item in value)
    return isinstance(value, Mapping) or is_list


def _key_text(name: str) -> str:
    return name if _BARE_KEY.fullmatch(name) else _quoted(name)


def _quoted(value: str) -> str:
    """A basic string; JSON's escapes are TOML's, but for DEL."""
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def _value_text(value: Any) -> str:
    match value:
        case bool():
            return "true" if value else "false"
        case str():
            return _quoted(value)
        case int():
            return str(value)
        case float() if math.isfinite(value):
            return repr(value)
        case Mapping():
            return "{ " + ", ".join(f"{_key_text(key)} = {_value_text(item)}" for key, item in value.items()) + " }"
        case list() | tuple():
            return "[" + ", ".join(_value_text(item) for item in value) + "]"
    raise ScenarioError(f"{value!r} cannot be written as TOML")
