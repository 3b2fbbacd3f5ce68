"""`surefoot compare`: runs over each other, and what differs."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from textwrap import shorten

from rich.markup import escape
from rich.table import Table

from surefoot.cli.listings import page_console
from surefoot.errors import FileFormatError, ShapeError
from surefoot.files import write_text
from surefoot.report.compare_page import compare_page, number_text
from surefoot.report.compare_tables import Comparison, DifferenceRow, compare_runs
from surefoot.report.run_folder import RunFolder, read_run
from surefoot.words import share_text

__all__ = ["compare_command"]

_LONG_NAME = 14  # characters of a run's name that still make a column
_LONG_TEXT = 28
_ALWAYS = ("verdict", "audit.defects")  # shown also where they are the same


def compare_command(folders: Sequence[Path], html: Path | None, as_json: bool) -> int:
    """Print what differs between runs, and write the page that lays them over each other.

    Args:
        folders: Of two or more runs; differences are to the first one.
        html: File to write the page to, or None.
        as_json: Print JSON.
    """
    if len(folders) < 2:
        raise ShapeError("a comparison needs two runs or more", next_step="give the folders of two runs")
    if html is not None and html.suffix != ".html":
        raise FileFormatError(f"suffix `{html.suffix}` is not known", file=html, next_step="use .html")
    runs = [read_run(folder) for folder in folders]
    comparison = compare_runs(runs)
    if as_json:
        print(json.dumps(comparison.to_dict(), indent=1, ensure_ascii=False))
    else:
        _print(comparison)
    if html is not None:
        _write_page(html, runs)
        if not as_json:
            print(html)
    return 0


def _write_page(path: Path, runs: Sequence[RunFolder]) -> None:
    from surefoot.scenario.world_file import read_world

    text = compare_page(runs, read_world(runs[0].path / "scenario.toml", runs[0].robot))
    write_text(path, text)


def _print(comparison: Comparison) -> None:
    """What differs; long names of runs stand once, above the tables."""
    console, names = page_console(), comparison.names
    if max(map(len, names)) > _LONG_NAME:
        letters = [chr(ord("A") + k) if k < 26 else str(k) for k in range(len(names))]
        for letter, name in zip(letters, names, strict=True):
            console.print(f"{letter}  {escape(name)}")
        console.print()
        names = tuple(letters)
    metrics = comparison.metrics_in_short()
    differing = [row for row in metrics if row.differs or row.key in _ALWAYS]
    same = [row.key for row in metrics if not row.differs and row.key not in _ALWAYS]
    for title, rows in (("metric", differing), ("scenario", comparison.scenario), ("versions", comparison.versions)):
        console.print(_table(title, names, rows) if rows else f"{title}: no difference")
        if title == "metric" and same:
            console.print(f"the same in all runs: {escape(', '.join(same))}")
        console.print()


def _table(title: str, names: Sequence[str], rows: Sequence[DifferenceRow]) -> Table:
    """Values of all runs, then differences to the first one."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column(title, no_wrap=True)
    for name in names:
        table.add_column(escape(name), justify="right")
    numeric = any(value is not None for row in rows for value in row.absolute)
    for name in names[1:] if numeric else ():
        table.add_column(f"Δ {escape(name)}", justify="right", no_wrap=True)
        table.add_column("%", justify="right", no_wrap=True)
    for row in rows:
        table.add_row(*_cells(row, numeric))
    return table


def _cells(row: DifferenceRow, numeric: bool) -> list[str]:
    texts = [row.key, *(shorten(number_text(value), _LONG_TEXT, placeholder=" …") for value in row.values)]
    if numeric:
        for absolute, relative in zip(row.absolute, row.relative, strict=True):
            texts.append("" if absolute is None else f"{absolute:+.4g}" if absolute else "=")
            texts.append(share_text(relative, ""))
    return [escape(text) for text in texts]
