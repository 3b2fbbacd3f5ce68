"""`surefoot robots` and `surefoot list`."""

from __future__ import annotations

import json

from rich.console import Console
from rich.table import Table

from surefoot.robot import zoo

__all__ = ["list_robots", "list_scenarios", "page_console"]


def list_robots(as_json: bool) -> int:
    """Print the names of the zoo with a line each."""
    _print("robot", {name: zoo.describe(name) for name in zoo.names()}, as_json)
    return 0


def list_scenarios(as_json: bool) -> int:
    """Print the built-in scenarios with a line each."""
    from surefoot.scenario import describe, names

    _print("scenario", {name: describe(name) for name in names()}, as_json)
    return 0


def _print(heading: str, rows: dict[str, str], as_json: bool) -> None:
    if as_json:
        print(json.dumps(rows, indent=1))
        return
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column(heading, no_wrap=True)
    table.add_column("what it is")
    for name, text in rows.items():
        table.add_row(name, text)
    page_console().print(table)


class _Console(Console):
    """A console that leaves a closed pipe to the border of the command line."""

    def on_broken_pipe(self) -> None:
        raise BrokenPipeError


def page_console() -> Console:
    """A console that cuts nothing off: as wide as the terminal, or 1000 columns into a file or pipe."""
    console = _Console(highlight=False, emoji=False)
    return console if console.is_terminal else _Console(highlight=False, emoji=False, width=1000)
