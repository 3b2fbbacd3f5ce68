"""Generate docs/scenarios.md from the schema: every table and key with its type, default and meaning."""

from __future__ import annotations

import inspect
import re
from typing import Any, get_args, get_origin

from pydantic import BaseModel
from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined

from surefoot.scenario import KindTable, Scenario, describe, names, scenario_text
from surefoot.scenario.schema_words import alternatives, words_of_field

__all__ = ["schema_page"]

_HEAD = """# Scenario files

<!-- made from the schema by scripts/make_pages.py: do not edit -->

A scenario is a TOML file that describes a robot, a world, a controller, the simulation, and events.

    surefoot list                      # list the built-in scenarios
    surefoot show stand                # print the file of one
    surefoot new stand my.toml         # copy it to a file of your own
    surefoot run my.toml               # run it; the last line printed is the run folder
    surefoot run my.toml --robot talos --seed 3 --set simulation.duration=2 --set events.0.speed=0.4

A scenario is pure data: it never executes code, and strings are only names or paths. Unknown keys, wrong types, numbers
out of range and names that the robot does not have are rejected with file, line, key, the expected value and the
closest existing key. Values are not converted: `"1"` is not a number and `1` is not `true`.

## The folder of a run

| file | content |
|---|---|
| `report.html` | self-contained page with replay, plots and audit, ready to share |
| `metrics.json` | verdict, numbers, seed, versions; `completed` is false if the run stopped early |
| `log.parquet` | all logged quantities, one row per tick |
| `timing.parquet` | seconds per tick in `sensors`, `estimator`, `controller`, its `solver`, and `physics` |
| `trajectory.npz` | the motion: states, torques, contact wrenches |
| `audit.json` | findings of [the audit](audit.md) of the motion |
| `scenario.toml` | the scenario with all values filled in and absolute paths of robot files |

`surefoot run FOLDER/scenario.toml` reproduces log, motion, metrics and audit bit for bit. Ctrl-C keeps the results so
far, with `completed: false`, the verdict `interrupted` and exit status 130; a second Ctrl-C exits at once. Each file is
written completely or not at all, the metrics last; a folder is never overwritten.
"""


def schema_page() -> str:
    """The page as Markdown."""
    listed = "\n".join(f"| `{name}` | {_cell(describe(name))} |" for name in names())
    built_in = f"## Built-in scenarios\n\n| name | description |\n|---|---|\n{listed}\n"
    example = f"## An example\n\n```toml\n{scenario_text('stand')}```\n\nAll tables and keys:\n"
    return "\n".join([_HEAD, built_in, example, *_sections()])


def _sections() -> list[str]:
    """All tables; one that occurs at several places is described once."""
    first: dict[type[BaseModel], str] = {}
    out = []
    for table, place in _tables(Scenario, ""):
        if table in first:
            out.append(f"## `{place}`\n\n{_about(table)} As `{first[table]}`.\n")
        else:
            out.append(_section(table, place))
            first[table] = place
    return out


def _tables(table: type[BaseModel], place: str) -> list[tuple[type[BaseModel], str]]:
    """A table and those inside of it, each with its header."""
    out = [(table, place)]
    for name, field in table.model_fields.items():
        for kind in alternatives(field.annotation):
            inner, after, brackets = _inner_table(kind)
            if inner is not None:
                dotted = ".".join(part for part in (place.strip("[]"), name + after) if part)
                out += _tables(inner, f"[{dotted}]" if brackets == 1 else f"[[{dotted}]]")
    return out


def _inner_table(annotation: Any) -> tuple[type[BaseModel] | None, str, int]:
    """The table at a key, the suffix of the key in its header, and the number of brackets."""
    inside = get_args(annotation)[-1:] if get_origin(annotation) in (list, dict) else (annotation,)
    found = next((item for item in inside if isinstance(item, type) and issubclass(item, BaseModel)), None)
    return found, ".NAME" if get_origin(annotation) is dict else "", 2 if get_origin(annotation) is list else 1


def _section(table: type[BaseModel], place: str) -> str:
    """A table of keys with its heading."""
    meanings = _documented(table)[1]
    heading = f"## `{place}`" if place else "## Top of the file"
    rows = [_row(name, field, meanings.get(name, "")) for name, field in table.model_fields.items()]
    lines = ["| key | value | default | meaning |", "|---|---|---|---|", *rows]
    return "\n".join([heading, "", _about(table), "", *lines, *_kinds(table), ""])


def _about(table: type[BaseModel]) -> str:
    text = re.sub(r"^`[^`]*`:\s*", "", _documented(table)[0])
    return text[:1].upper() + text[1:]


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
    """The type, the choices as code, or the range."""
    return _cell(re.sub(r'"[^"]*"', lambda found: f"`{found[0]}`", words_of_field(field)))


def _default(field: FieldInfo) -> str:
    if field.default_factory is not None or isinstance(field.default, BaseModel):
        return ""
    if field.default is PydanticUndefined:
        return "**required**"
    value = field.default
    if value is None or value in ({}, [], ()):
        return ""
    if isinstance(value, bool):
        return f"`{str(value).lower()}`"
    return f'`"{value}"`' if isinstance(value, str) else f"`{list(value) if isinstance(value, tuple) else value}`"


def _kinds(table: type[BaseModel]) -> list[str]:
    """The kinds with their keys."""
    if not issubclass(table, KindTable):
        return []
    rows = [
        f"| `{kind}` | {_cell(table.KINDS[kind])} | {_keys(table.NEEDS.get(kind, set()))} | "
        f"{_keys(own - table.NEEDS.get(kind, set()))} |"
        for kind, own in table.KEYS.items()
    ]
    return ["", "| kind | description | required keys | optional keys |", "|---|---|---|---|", *rows]


def _keys(names: set[str]) -> str:
    return ", ".join(f"`{name}`" for name in sorted(names))


def _cell(text: str) -> str:
    return text.replace("|", "\\|")
