"""The page about scenario files, made from the schema: every table, key, kind of value, default and meaning."""

from __future__ import annotations

import inspect
import re
from typing import Any, get_args, get_origin

from pydantic import BaseModel
from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined

from surefoot.scenario.catalogue import describe, names
from surefoot.scenario.schema import Scenario
from surefoot.scenario.schema_kinds import KindTable
from surefoot.scenario.schema_words import words_of_field

__all__ = ["schema_page"]

_HEAD = """# Scenario files

<!-- made from the schema by scripts/make_pages.py: do not edit -->

A scenario is a TOML file: a robot, a world, a controller, how it is simulated, and what happens. It is data: no code
runs from it. Unknown keys, wrong types and numbers out of range are refused with file, line, key and the nearest key
that exists.

    surefoot list                      # scenarios that come with the package
    surefoot show stand                # the file of one
    surefoot new stand my.toml         # a copy of your own
    surefoot run my.toml               # run it; the last line printed is the folder of the run
    surefoot run my.toml --robot talos --seed 3 --set simulation.duration=2

A run writes a folder: `report.html`, `metrics.json`, `log.parquet`, `timing.parquet` (wall-clock times),
`trajectory.npz`, `audit.json` and `scenario.toml` with all values filled in; `surefoot run FOLDER/scenario.toml`
repeats the run bit for bit. Ctrl-C leaves what was computed, with `completed: false` in the metrics.
"""


def schema_page() -> str:
    """The page as Markdown."""
    listed = "\n".join(f"| `{name}` | {_cell(describe(name))} |" for name in names())
    built_in = f"## Scenarios that come with the package\n\n| name | what it is |\n|---|---|\n{listed}\n"
    return "\n".join([_HEAD, built_in, *(_section(table, path) for table, path in _tables(Scenario, ()))])


def _tables(table: type[BaseModel], path: tuple[str, ...]) -> list[tuple[type[BaseModel], tuple[str, ...]]]:
    """A table and those inside of it, each with its path; [] in the path marks lists."""
    out = [(table, path)]
    for name, field in table.model_fields.items():
        for inner, is_list in _inner_tables(field.annotation):
            out += _tables(inner, (*path, f"{name}[]" if is_list else name))
    return out


def _inner_tables(annotation: Any, is_list: bool = False) -> list[tuple[type[BaseModel], bool]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return [(annotation, is_list)]
    inside = get_origin(annotation) in (list, tuple)
    return [found for part in get_args(annotation) for found in _inner_tables(part, is_list or inside)]


def _section(table: type[BaseModel], path: tuple[str, ...]) -> str:
    """A table of keys with its heading."""
    summary, meanings = _documented(table)
    dotted = ".".join(part.removesuffix("[]") for part in path)
    bracket = f"[[{dotted}]]" if path and path[-1].endswith("[]") else f"[{dotted}]"
    heading = f"## `{bracket}`" if path else "## Top of the file"
    about = re.sub(r"^`[^`]*`:\s*", "", summary)
    rows = [_row(name, field, meanings.get(name, "")) for name, field in table.model_fields.items()]
    lines = ["| key | value | default | meaning |", "|---|---|---|---|", *rows]
    return "\n".join([heading, "", about[:1].upper() + about[1:], "", *lines, *_kinds(table), ""])


def _documented(table: type[BaseModel]) -> tuple[str, dict[str, str]]:
    """First sentence and the meaning of every key, from the docstring."""
    text = inspect.getdoc(table) or ""
    summary = " ".join(text.partition("\n\n")[0].split())
    arguments = text.partition("Args:\n")[2]
    found = re.findall(r"^    (\w+): (.*(?:\n        .*)*)", arguments, re.MULTILINE)
    return summary, {name: " ".join(meaning.split()) for name, meaning in found}


def _row(name: str, field: FieldInfo, meaning: str) -> str:
    return f"| `{name}` | {_kind(field)} | {_default(field)} | {_cell(meaning)} |"


def _kind(field: FieldInfo) -> str:
    """What may stand there: a type, choices as code, a range."""
    return _cell(re.sub(r'"[^"]*"', lambda found: f"`{found[0]}`", words_of_field(field)))


def _default(field: FieldInfo) -> str:
    if field.default_factory is not None or isinstance(field.default, BaseModel):
        return ""
    if field.default is PydanticUndefined:
        return "**needed**"
    value = field.default
    if value is None or value in ({}, [], ()):
        return ""
    if isinstance(value, bool):
        return f"`{str(value).lower()}`"
    return f'`"{value}"`' if isinstance(value, str) else f"`{list(value) if isinstance(value, tuple) else value}`"


def _kinds(table: type[BaseModel]) -> list[str]:
    """Which keys belong to which kind."""
    if not issubclass(table, KindTable):
        return []
    keys = getattr(table, "KEYS", {})
    needs = getattr(table, "NEEDS", {})
    rows = [
        f"| `{kind}` | {', '.join(f'`{key}`' for key in sorted(needs.get(kind, ())))} | "
        f"{', '.join(f'`{key}`' for key in sorted(set(own) - set(needs.get(kind, ()))))} |"
        for kind, own in keys.items()
    ]
    return ["", "| kind | needs | may have |", "|---|---|---|", *rows] if rows else []


def _cell(text: str) -> str:
    return text.replace("|", "\\|")
