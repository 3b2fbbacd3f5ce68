"""TOML files against a pydantic schema; errors name file, line, key, what was expected and the nearest key."""

from __future__ import annotations

import difflib
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from types import UnionType
from typing import Annotated, Any, TypeVar, Union, get_args, get_origin

from pydantic import BaseModel, ConfigDict, ValidationError

from surefoot.errors import ScenarioError
from surefoot.robot.xml_guard import read_bytes

__all__ = ["StrictModel", "key_lines", "parse_toml", "read_toml", "validated"]

Schema = TypeVar("Schema", bound=BaseModel)
Path_ = tuple[str | int, ...]
_KEY = r"""(?:[A-Za-z0-9_-]+|"(?:[^"\\]|\\.)*"|'[^']*')"""
_DOTTED = rf"{_KEY}(?:\s*\.\s*{_KEY})*"
_HEADER = re.compile(rf"\s*(\[\[?)\s*({_DOTTED})\s*\]\]?")
_ASSIGNMENT = re.compile(rf"\s*({_DOTTED})\s*=")


class StrictModel(BaseModel):
    """A schema that refuses unknown keys, NaN and infinity."""

    model_config = ConfigDict(extra="forbid", allow_inf_nan=False, frozen=True)


def read_toml(path: str | Path, schema: type[Schema]) -> Schema:
    """Read and check a TOML file.

    Args:
        path: The file.
        schema: What it must look like.

    Raises:
        ScenarioError: Not TOML, or not as the schema says.
    """
    data = read_bytes(path)
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        raise ScenarioError("the file is not UTF-8 text", file=path, line=line) from error
    return validated(parse_toml(text, path), schema, path, key_lines(text))


def parse_toml(text: str, file: str | Path) -> dict[str, Any]:
    """The tables of a TOML text, or an error with its line."""
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        found = re.search(r"line (\d+)", str(error))
        raise ScenarioError(
            f"not TOML: {error}", file=file, line=int(found[1]) if found else None, next_step="repair that line"
        ) from error
    except RecursionError as error:
        raise ScenarioError("not TOML: nested too deeply", file=file) from error


def validated(tables: dict[str, Any], schema: type[Schema], file: str | Path, lines: dict[Path_, int]) -> Schema:
    """The tables as an instance of the schema.

    Args:
        tables: What the file says.
        schema: What it must look like.
        file: The file, for messages.
        lines: Line of each key path.
    """
    try:
        return schema.model_validate(tables)
    except ValidationError as error:
        problems = [_problem(item, schema, lines) for item in error.errors()]
        first = problems[0]
        raise ScenarioError(
            first[1],
            file=file,
            line=first[0],
            evidence={f"line {line}" if line else f"{i}": text for i, (line, text) in enumerate(problems[1:9], 2)},
        ) from error


def _problem(item: Any, schema: type[BaseModel], lines: dict[Path_, int]) -> tuple[int | None, str]:
    """Line and sentence for one of pydantic's errors."""
    path = tuple(part for part in item["loc"] if not (isinstance(part, str) and part.startswith("function-")))
    key = ".".join(str(part) for part in path)
    line = next((lines[path[:n]] for n in range(len(path), 0, -1) if path[:n] in lines), None)
    if item["type"] == "extra_forbidden":
        near = difflib.get_close_matches(str(path[-1]), _known_keys(schema, path[:-1]), n=1, cutoff=0.55)
        known = ", ".join(sorted(_known_keys(schema, path[:-1])))
        return line, f"unknown key `{key}`; " + (f"did you mean `{near[0]}`?" if near else f"known: {known}")
    if item["type"] == "missing":
        return line, f"`{key}` is missing"
    given = repr(item.get("input"))
    return line, f"`{key}` = {given[:60]}: {item['msg'][0].lower()}{item['msg'][1:]}"


def _known_keys(schema: type[BaseModel], path: Path_) -> list[str]:
    """Keys that the schema has at a path."""
    at: list[Any] = [schema]
    for part in path:
        at = [below for item in at for below in _below(item, part)]
    return sorted({key for item in at if _is_model(item) for key in item.model_fields})


def _below(annotation: Any, part: str | int) -> list[Any]:
    """What may stand below one key: the field of a model, or the values of a dict or list."""
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


def key_lines(text: str) -> dict[Path_, int]:
    """Line of every table and key of a TOML text, by key path; inline tables have the line of their key.

    Tables of an array have their number within the table that the array belongs to, as TOML means them: of
    `[[a]] [[a.b]] [[a]] [[a.b]]` the last is `("a", 1, "b", 0)`.

    Args:
        text: The text.
    """
    lines: dict[Path_, int] = {}
    table: Path_ = ()
    counts: dict[Path_, int] = {}
    for number, line in _statements(text):
        if header := _HEADER.match(line):
            table = _opened(_parts(header[2]), counts, more=header[1] == "[[")
            lines.setdefault(table, number)
        elif assignment := _ASSIGNMENT.match(line):
            path = (*table, *_parts(assignment[1]))
            for n in range(len(table) + 1, len(path) + 1):
                lines.setdefault(path[:n], number)
    return lines


def _opened(keys: Path_, counts: dict[Path_, int], more: bool) -> Path_:
    """The table that a header opens: below arrays it belongs to their last table; `[[…]]` makes one more."""
    out = keys[:1]
    for key in keys[1:]:
        out = (*out, counts[out], key) if out in counts else (*out, key)
    if more:
        counts[out] = counts.get(out, -1) + 1
    return (*out, counts[out]) if out in counts else out


def _parts(dotted: str) -> Path_:
    return tuple(key.strip("\"'") for key in re.findall(_KEY, dotted))


def _statements(text: str) -> Iterator[tuple[int, str]]:
    """Lines on which a statement starts: not inside a string of several lines or an open bracket."""
    depth, quote = 0, ""
    for number, line in enumerate(text.splitlines(), start=1):
        if not quote and depth == 0:
            yield number, line
            if _HEADER.match(line):
                continue
        depth, quote = _scan_line(line, depth, quote)


def _scan_line(line: str, depth: int, quote: str) -> tuple[int, str]:
    """Bracket depth and open multi-line quote after a line."""
    i = 0
    while i < len(line):
        here = line[i : i + 3]
        if quote:
            closes = here == quote if len(quote) == 3 else line[i] == quote
            if line[i] == "\\" and quote[0] == '"':
                i += 1
            elif closes:
                i += len(quote) - 1
                quote = ""
        elif here in ('"""', "'''"):
            quote, i = here, i + 2
        elif line[i] in "\"'":
            quote = line[i]
        elif line[i] == "#":
            break
        else:
            depth += (line[i] in "[{") - (line[i] in "]}")
        i += 1
    return max(depth, 0), quote if len(quote) == 3 else ""
