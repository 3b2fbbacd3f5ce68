"""`surefoot robots`, `surefoot list`, `surefoot show` and `surefoot new`."""

from __future__ import annotations

import json
from pathlib import Path

from rich.table import Table

from surefoot.cli.console import page_console, require_page_name
from surefoot.errors import FileFormatError
from surefoot.files import write_text


def list_robots(as_json: bool, html: Path | None = None) -> int:
    """Print the robots with one line each."""
    from surefoot.robot import zoo

    facts = zoo.facts()
    if as_json:
        print(
            json.dumps({name: facts[name]._asdict() | {"about": zoo.describe(name)} for name in zoo.names()}, indent=1)
        )
    else:
        table = Table(box=None, pad_edge=False, header_style="bold")
        for heading in ("robot", "kind"):
            table.add_column(heading, no_wrap=True)
        for heading in ("dof", "mass \\[kg]"):
            table.add_column(heading, justify="right", no_wrap=True)
        for heading in ("licence", "description"):
            table.add_column(heading)
        for name in zoo.names():
            row = facts[name]
            table.add_row(name, row.kind, str(row.dof), f"{row.mass:.4g}", row.licence, zoo.describe(name))
        page_console().print(table)
    if html is not None:
        from surefoot.report import write_zoo_page

        require_page_name(html)
        write_zoo_page(html)
        print(html)
    return 0


def list_scenarios(as_json: bool) -> int:
    """Print the built-in scenarios with one line each."""
    from surefoot.scenario import describe, names

    _print("scenario", {name: describe(name) for name in names()}, as_json)
    return 0


def _print(heading: str, rows: dict[str, str], as_json: bool) -> None:
    if as_json:
        print(json.dumps(rows, indent=1))
        return
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column(heading, no_wrap=True)
    table.add_column("description")
    for name, text in rows.items():
        table.add_row(name, text)
    page_console().print(table)


def show_scenario(name: str) -> int:
    """Print the file of a scenario."""
    from surefoot.scenario import scenario_text

    print(scenario_text(name), end="")
    return 0


def new_scenario(name: str, file: Path) -> int:
    """Copy the file of a scenario."""
    from surefoot.scenario import scenario_text

    text = scenario_text(name)
    if file.suffix != ".toml":
        raise FileFormatError(
            f"suffix `{file.suffix}` is not that of a scenario file", file=file, next_step="use .toml"
        )
    if file.exists() or file.is_symlink():
        raise FileFormatError("already exists and is not overwritten", file=file, next_step="choose another name")
    write_text(file, text)
    print(f"run it with: surefoot run {file}")
    print(file)
    return 0
