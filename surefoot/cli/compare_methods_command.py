"""`surefoot compare-methods`: the methods that hold constraints, side by side on one scenario."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rich.markup import escape

from surefoot.cli.bench_page import plain_table, print_lines, print_table, progress
from surefoot.errors import FileFormatError
from surefoot.files import write_text
from surefoot.report.methods_data import MethodRun, MethodsComparison
from surefoot.report.methods_page import COLUMNS, cell_text, methods_page
from surefoot.words import counted

__all__ = ["compare_methods_command"]

_OF_WAYS = ("largest gap", "grows as t^", "largest rate", "energy error", "step")


def compare_methods_command(
    scenario: str, out: Path | None, html: Path | None, as_json: bool, overrides: Sequence[str] = ()
) -> int:
    """Print drift, energy error, conditioning, agreement and time of every method; files are written at the end, whole.

    Args:
        scenario: Name or file of a scenario whose robot is held by constraints.
        out: Folder for `methods.json`, `timing.json` and `methods.html`, new or empty; None for none.
        html: File to write the page to, or None.
        as_json: Print JSON.
        overrides: `key=value` texts.
    """
    from surefoot.scenario.compare_methods import compare_methods
    from surefoot.scenario.folder import run_folder

    _require_page_name(html)
    if out is None:
        with progress() as tell:
            found = compare_methods(scenario, overrides, tell)
    else:
        with run_folder(Path(scenario).stem, out) as folder, progress() as tell:
            found = compare_methods(scenario, overrides, tell)
            _write_folder(folder, found)
    if html is not None:
        _write(html, methods_page(found))
    _print(found, as_json)
    for path in (html, out):
        if path is not None and not as_json:
            print(path)
    return 0


def _require_page_name(path: Path | None) -> None:
    """Said before the runs, which may take a while."""
    if path is not None and path.suffix != ".html":
        raise FileFormatError(f"suffix `{path.suffix}` is not known", file=path, next_step="use .html")
    if path is not None and not path.absolute().parent.is_dir():
        raise FileFormatError(f"there is no folder `{path.parent}`", file=path, next_step="create the folder first")


def _write_folder(folder: Path, found: MethodsComparison) -> None:
    _write(folder / "methods.html", methods_page(found))
    _write(folder / "timing.json", _text(found.timing()))
    _write(folder / "methods.json", _text(found.to_dict()))


def _write(path: Path, text: str) -> None:
    write_text(path, text)


def _text(data: dict[str, Any]) -> str:
    return json.dumps(data, indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def _print(found: MethodsComparison, as_json: bool) -> None:
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
    print_lines("not run", [f"{run.name}: {run.trouble}" for run in found.methods if run.trouble])


def _print_runs(title: str, runs: Sequence[MethodRun], shown: Sequence[str]) -> None:
    heads = [f"{name} [{COLUMNS[name][0]}]" if COLUMNS[name][0] else name for name in shown]
    table = plain_table(title, *(escape(head) for head in heads))
    for run in runs:
        table.add_row(run.name, *(cell_text(COLUMNS[name][1](run)) for name in shown))
    print_table(table)
