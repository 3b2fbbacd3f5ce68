"""`surefoot compare` and `surefoot compare-methods`: runs, or methods on one scenario, side by side."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from textwrap import shorten
from typing import Any

from rich.markup import escape
from rich.table import Table

from surefoot.cli.console import page_console, progress, require_page_name
from surefoot.errors import ShapeError
from surefoot.files import write_text
from surefoot.report import RunFolder, read_run
from surefoot.report.compare import Comparison, DifferenceRow, compare_page, compare_runs, number_text
from surefoot.report.methods import COLUMNS, MethodRun, MethodsComparison, cell_text, methods_page
from surefoot.words import counted, share_text

_LONG_NAME = 14  # characters of a run's name that still make a column
_LONG_TEXT = 28
_ALWAYS = ("verdict", "audit.defects")  # shown also where they are the same
_OF_WAYS = ("largest gap", "grows as t^", "largest rate", "energy error", "step")


def compare_command(folders: Sequence[Path], html: Path | None, as_json: bool) -> int:
    """Print the differences between runs, and write the page that compares them."""
    if len(folders) < 2:
        raise ShapeError("a comparison needs at least two runs", next_step="pass two run folders")
    require_page_name(html)
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
    from surefoot.scenario import read_world

    write_text(path, compare_page(runs, read_world(runs[0].path / "scenario.toml", runs[0].robot)))


def _print(comparison: Comparison) -> None:
    """Print the differences; long run names are listed once above the tables."""
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
            console.print(f"identical in all runs: {escape(', '.join(same))}")
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


def compare_methods_command(
    scenario: str, out: Path | None, html: Path | None, as_json: bool, overrides: Sequence[str] = ()
) -> int:
    """Print drift, energy error, conditioning, agreement and time of every method; files come last, whole."""
    from surefoot.scenario import compare_methods, run_folder

    require_page_name(html)
    if out is None:
        with progress() as tell:
            found = compare_methods(scenario, overrides, tell)
    else:
        with run_folder(Path(scenario).stem, out) as folder, progress() as tell:
            found = compare_methods(scenario, overrides, tell)
            write_text(folder / "methods.html", methods_page(found))
            write_text(folder / "timing.json", _text(found.timing()))
            write_text(folder / "methods.json", _text(found.to_dict()))
    if html is not None:
        write_text(html, methods_page(found))
    _print_methods(found, as_json)
    for path in (html, out):
        if path is not None and not as_json:
            print(path)
    return 0


def _text(data: dict[str, Any]) -> str:
    return json.dumps(data, indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def _print_methods(found: MethodsComparison, as_json: bool) -> None:
    if as_json:
        print(json.dumps({**found.to_dict(), "timing": found.timing()}, indent=1, ensure_ascii=False, allow_nan=False))
        return
    print(
        f"{found.scenario} · {found.robot} · {counted(len(found.rows), 'row')}, {found.rank} independent · "
        f"{found.integrator}, {1e3 * found.dt:g} ms, {found.duration:g} s; reference {found.reference}; "
        "times are noisy\n"
    )
    _print_runs("method, not stabilised", found.methods, tuple(COLUMNS))
    print()
    _print_runs("stabilisation", found.stabilisations, _OF_WAYS)
    if troubles := [f"{run.name}: {run.trouble}" for run in found.methods if run.trouble]:
        print("\n" + "\n  ".join(["not run:", *troubles]))


def _print_runs(title: str, runs: Sequence[MethodRun], shown: Sequence[str]) -> None:
    heads = [f"{name} [{COLUMNS[name][0]}]" if COLUMNS[name][0] else name for name in shown]
    table = Table(box=None, pad_edge=False, header_style="bold")
    for k, head in enumerate([title, *map(escape, heads)]):
        table.add_column(head, no_wrap=True, justify="right" if k else "left")
    for run in runs:
        table.add_row(run.name, *(cell_text(COLUMNS[name][1](run)) for name in shown))
    page_console().print(table)


_FIGURES = ("formulation", "converged", "iterations", "objective", "variables", "constraints", "kkt_residual",
            "solve_time_s", "build_time_s", "defect", "torque_excess", "position_excess", "speed_excess")  # fmt: skip


def compare_formulations_command(scenario: str, solver: str, as_json: bool, overrides: Sequence[str] = ()) -> int:
    """Solve and print."""
    from surefoot.scenario import compare_formulations

    with progress() as tell:
        runs = [run.to_dict() for run in compare_formulations(scenario, overrides, tell, solver)]
    if as_json:
        print(json.dumps({"scenario": scenario, "solver": solver, "formulations": runs}, indent=2))
        return 0
    table = Table(*(name.removesuffix("_s").replace("_", " ") for name in _FIGURES))
    for run in runs:
        table.add_row(*(_figure(run[name]) for name in _FIGURES))
    page_console().print(table)
    return 0


def _figure(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "–" if value is None else f"{value:.4g}" if isinstance(value, float) else str(value)
