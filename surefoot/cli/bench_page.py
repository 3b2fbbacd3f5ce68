"""What all of `surefoot bench` share: tables on the terminal, JSON in a file, progress on stderr."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table

from surefoot.cli.listings import page_console
from surefoot.errors import FileFormatError
from surefoot.files import write_text

__all__ = [
    "listed_names",
    "machine_line",
    "number_text",
    "plain_table",
    "print_lines",
    "print_table",
    "progress",
    "require_folder",
    "write_json",
]

Json = dict[str, Any]


def listed_names(text: str) -> list[str]:
    """Names that are separated by commas.

    Args:
        text: What the user gave.
    """
    return [name.strip() for name in text.split(",") if name.strip()]


@contextmanager
def progress() -> Iterator[Callable[[float, str], None]]:
    """A bar on stderr while something is measured; nothing where that is no terminal."""
    console = Console(file=sys.stderr)
    columns = (
        BarColumn(),
        TextColumn("{task.percentage:3.0f} %"),
        TimeRemainingColumn(),
        TextColumn("{task.description}", markup=False),
    )
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task("loading", total=1.0)
        yield lambda share, text: bar.update(task, completed=share, description=text)


def require_folder(file: Path | None) -> None:
    """A measurement takes minutes: refuse early what could not be written.

    Args:
        file: The file to write later, or None.
    """
    if file is not None and not file.absolute().parent.is_dir():
        raise FileFormatError(
            f"cannot be written: there is no folder `{file.parent}`", file=file, next_step="create the folder first"
        )


def write_json(file: Path | None, result: Json) -> None:
    """Write the result, whole or not at all.

    Args:
        file: Where, or None for nowhere.
        result: Plain data.
    """
    if file is not None:
        write_text(file, json.dumps(result, indent=1) + "\n")


def print_table(table: Table) -> None:
    """Print a table, with nothing cut off.

    Args:
        table: The table.
    """
    page_console().print(table)


def print_lines(title: str, lines: list[str]) -> None:
    """Print lines under a title; nothing if there are none.

    Args:
        title: The title.
        lines: The lines.
    """
    if lines:
        print("\n" + "\n  ".join([f"{title}:", *lines]))


def plain_table(*headings: str, left: int = 1) -> Table:
    """An empty table.

    Args:
        *headings: One for each column.
        left: How many of the first columns are texts.
    """
    table = Table(box=None, pad_edge=False, header_style="bold")
    for k, heading in enumerate(headings):
        table.add_column(heading, no_wrap=True, justify="left" if k < left else "right")
    return table


def number_text(value: float | None, digits: int = 3) -> str:
    """Three digits, without an exponent.

    Args:
        value: The number; None for a dash.
        digits: Other than three.
    """
    if value is None:
        return "–"
    return f"{value:.0f}" if abs(value) >= 10 ** (digits - 1) else f"{value:#.{digits}g}"


def machine_line(result: Json) -> str:
    """Machine, versions, seed and date.

    Args:
        result: Of a benchmark.
    """
    m, versions = result["machine"], ", ".join(f"{k} {v}" for k, v in result["versions"].items())
    return (
        f"{m['cpu']}, {m['cores']} cores, {m['doubles_per_vector']} doubles per vector, {1e-9 * m['clock_hz']:.2f} GHz "
        f"({m['clock_from']})\n{versions} · seed {result['seed']} · {result['date']}"
    )
