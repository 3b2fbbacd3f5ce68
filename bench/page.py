"""Options, tables on the terminal, JSON in a file and progress on stderr, shared by all benchmarks."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table
from rich.text import Text

from bench.timing import listen
from surefoot.cli.console import page_console
from surefoot.errors import FileFormatError, UnknownNameError
from surefoot.files import atomic_write

__all__ = [
    "File", "Json", "Quick", "Robots", "Seed", "States", "machine_line", "named", "number_text", "print_lines",
    "print_table", "progress", "require_folder", "times_text", "write_json",
]  # fmt: skip

Json = dict[str, Any]
Robots = Annotated[str, typer.Option(metavar="NAMES", help="Robots, separated by commas.")]
States = Annotated[int, typer.Option(help="States of a batch.", min=1)]
Seed = Annotated[int, typer.Option(help="Seed of the states.", min=0)]
Quick = Annotated[bool, typer.Option("--quick", help="Measure for a short time.")]
File = Annotated[Path | None, typer.Option("--json", metavar="[FILE]", help="Print JSON, or write it to a file.")]


def named(text: str, what: str = "", example: str = "") -> list[str]:
    """Names that are separated by commas; at least one if it is told of what."""
    names = [name.strip() for name in text.split(",") if name.strip()]
    if what and not names:
        raise UnknownNameError(f"no {what} was named", next_step=f"give {example}")
    return names


@contextmanager
def progress() -> Iterator[None]:
    """A bar on stderr that shows what `tell` is told; nothing where stderr is not a terminal."""
    console = Console(file=sys.stderr)
    text = TextColumn("{task.description}", markup=False)
    columns = (BarColumn(), TextColumn("{task.percentage:3.0f} %"), TimeRemainingColumn(), text)
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task("loading", total=1.0)
        with listen(lambda share, what: bar.update(task, completed=share, description=what)):
            yield


def require_folder(file: Path | None) -> None:
    """Refuse early a file that could not be written: a measurement takes minutes."""
    if file is not None and not file.absolute().parent.is_dir():
        raise FileFormatError(
            f"cannot be written: there is no folder `{file.parent}`", file=file, next_step="create the folder first"
        )


def write_json(file: Path | None, result: Json) -> None:
    """Write the result, whole or not at all."""
    if file is not None:
        with atomic_write(file) as temporary:
            temporary.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")


def print_table(headings: Sequence[str], rows: Iterable[Sequence[str | Text]], left: int = 1) -> None:
    """Print a table, with nothing cut off; the first columns are texts."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    for k, heading in enumerate(headings):
        table.add_column(heading, no_wrap=True, justify="left" if k < left else "right")
    for row in rows:
        table.add_row(*row)
    page_console().print(table)


def print_lines(title: str, lines: Sequence[str]) -> None:
    """Print lines under a title; nothing if there are none."""
    if lines:
        print("\n" + "\n  ".join([f"{title}:", *lines]))


def number_text(value: float | None, digits: int = 3) -> str:
    """So many digits, without an exponent; a dash for None."""
    if value is None:
        return "–"
    return f"{value:.0f}" if abs(value) >= 10 ** (digits - 1) else f"{value:#.{digits}g}"


def times_text(row: Json, *further: str, scale: float = 1.0) -> list[str]:
    """Percentiles, multiplied by `scale`, and further entries of a row, empty where it has none."""
    times = [number_text(scale * row[f"{p}_us"]) for p in ("p5", "p50", "p95")]
    return times + [number_text(row[key]) if key in row else "" for key in further]


def machine_line(result: Json) -> str:
    """Machine, versions, seed and date."""
    m, versions = result["machine"], ", ".join(f"{k} {v}" for k, v in result["versions"].items())
    return (
        f"{m['cpu']}, {m['cores']} cores, {m['doubles_per_vector']} doubles per vector, {1e-9 * m['clock_hz']:.2f} GHz "
        f"({m['clock_from']})\n{versions} · seed {result['seed']} · {result['date']}"
    )
