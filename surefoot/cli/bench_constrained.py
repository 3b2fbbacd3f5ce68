"""`surefoot bench constrained`: what it prints."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from rich.table import Table

from surefoot.benchmarks.constrained import ConstrainedBench, run_constrained
from surefoot.cli.bench_page import (
    listed_names,
    machine_line,
    number_text,
    plain_table,
    print_lines,
    print_table,
    progress,
    require_folder,
    write_json,
)
from surefoot.errors import UnknownNameError
from surefoot.words import counted

__all__ = ["bench_constrained"]

_TITLES = {"constrained": "accelerations and contact forces", "constrained_derivatives": "their derivatives"}
_WAYS = {
    "pinocchio": "Pinocchio, before", "pinocchio_after": "Pinocchio, after", "single": "surefoot, one state per call",
    "batch": "surefoot, batch",
}  # fmt: skip


def bench_constrained(robots: str, states: int, seed: int, quick: bool, file: Path | None) -> int:
    """Measure and print; 1 if an answer is wrong."""
    names = listed_names(robots)
    if not names:
        raise UnknownNameError("no robot was named", next_step="give --robots talos,g1")
    require_folder(file)
    with progress() as show:
        result = run_constrained(ConstrainedBench(names, states, seed, quick, show))
    write_json(file, result)
    print(machine_line(result))
    for name, robot in result["robots"].items():
        held = ", ".join(f"{contact} ({kind})" for contact, kind in robot["contacts"].items())
        print(f"\n{name}: nv {robot['nv']}, held by {held}: {counted(robot['rows'], 'row')}")
        print_table(_table(robot))
    print_lines("what is compared", [f"Pinocchio: {next(iter(result['robots'].values()))['peer']}"])
    return 0


def _table(robot: dict[str, Any]) -> Table:
    table = plain_table("µs per state", "p5", "p50", "p95", "× Pinocchio", "error")
    for what, case in robot["cases"].items():
        table.add_row(_TITLES[what], "", "", "", "", f"{case['error']:.1e}")
        for way, title in _WAYS.items():
            cells = [number_text(case[way][f"{p}_us"]) for p in ("p5", "p50", "p95")]
            table.add_row(f"  {title}", *cells, number_text(case[way]["ratio"]) if "ratio" in case[way] else "")
    return table
