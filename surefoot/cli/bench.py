"""`surefoot bench`: tables on the terminal, JSON in a file, progress on stderr."""

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
from rich.text import Text

from surefoot.benchmarks import (
    DynamicsBench,
    ScalingBench,
    SimBench,
    grouped,
    require_plot_name,
    run_dynamics,
    run_scaling,
    run_sim,
    write_plot,
)
from surefoot.cli.listings import page_console
from surefoot.errors import FileFormatError, UnknownNameError
from surefoot.motion.atomic import atomic_write

__all__ = ["bench_dynamics", "bench_scaling", "bench_sim"]

Json = dict[str, Any]


def bench_dynamics(
    robots: str, states: int, seed: int, quick: bool, drake_python: Path | None, file: Path | None
) -> int:
    """Measure and print; 1 if an answer is wrong."""
    names = _names(robots)
    if not names:
        raise UnknownNameError("no robot was named", next_step="give --robots g1,talos")
    _require_folder(file)
    with _progress() as show:
        result = run_dynamics(DynamicsBench(names, states, seed, quick, drake_python, show))
    _write(file, result)
    print(_machine(result))
    for name, robot in result["robots"].items():
        print(f"\n{name}: nq {robot['nq']}, nv {robot['nv']}, end frames {', '.join(robot['frames'])}")
        _print(_dynamics_table(robot))
        _print(_limit_table(robot))
    _print_lines("what is compared", _compared(result))
    _print_lines("not measured", result["skipped"])
    return 0


def bench_scaling(largest: int, seed: int, file: Path | None, plot: Path | None) -> int:
    """Measure, print and plot; 1 if an answer is wrong."""
    for path in (file, plot):
        _require_folder(path)
    if plot is not None:
        require_plot_name(plot)
    with _progress() as show:
        result = run_scaling(ScalingBench(largest, seed, progress=show))
    _write(file, result)
    if plot is not None:
        write_plot(plot, result)
    print(_machine(result))
    print("\nTime of one forward dynamics [µs]; in brackets the exponent of its growth at the end: 1 is linear")
    _print(_sizes_table(result))
    if result["table_3_1"]:
        print("\nRelative to O(n): measured here, and in Table 3.1 of Buschmann 2014")
        _print(_facts_table(result))
    if result["readings"]:
        print()
        _print(_readings_table(result))
    _print_lines("left out", [f"{tree}: {methods}: {why}" for tree, methods, why in grouped(result["left_out"])])
    return 0


def bench_sim(free: str, ground: str, copies: int, steps: int, seed: int, quick: bool, file: Path | None) -> int:
    """Measure and print; 1 if engines that should agree do not."""
    _require_folder(file)
    with _progress() as show:
        result = run_sim(SimBench(_names(free), _names(ground), copies, steps, seed, quick, show))
    _write(file, result)
    print(_machine(result))
    for name, ways in result["free"].items():
        print(f"\n{name} in free flight; one core, × the loop with Pinocchio")
        _print(_steps_table(ways))
    for name, part in result["ground"].items():
        print(f"\n{name} on {part['points']} contact points; one core, × the faster settings of MuJoCo")
        for case in ("stand", "march"):
            print(case)
            _print(_steps_table(part[case]))
        _print_lines("rest", [_rest_line(part["rest"], who) for who in ("native", "mujoco")])
        energy = part["energy"]
        print(
            f"energy, marching {energy['seconds']:g} s: work {energy['work_j']:.3g} J, residual "
            f"{energy['residual_j']:.2g} J"
        )
    _print_lines("not measured", result["skipped"])
    return 0


def _names(text: str) -> list[str]:
    return [name.strip() for name in text.split(",") if name.strip()]


# -- terminal and files -----------------------------------------------------------------------------------------------


@contextmanager
def _progress() -> Iterator[Callable[[float, str], None]]:
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


def _require_folder(file: Path | None) -> None:
    """A measurement takes minutes: refuse early what could not be written."""
    if file is not None and not file.absolute().parent.is_dir():
        raise FileFormatError(
            f"cannot be written: there is no folder `{file.parent}`", file=file, next_step="create the folder first"
        )


def _write(file: Path | None, result: Json) -> None:
    if file is not None:
        with atomic_write(file) as temporary:
            temporary.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")


def _print(table: Table) -> None:
    page_console().print(table)


def _print_lines(title: str, lines: list[str]) -> None:
    if lines:
        print("\n" + "\n  ".join([f"{title}:", *lines]))


def _table(*headings: str, left: int = 1) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    for k, heading in enumerate(headings):
        table.add_column(heading, no_wrap=True, justify="left" if k < left else "right")
    return table


def _number(value: float | None, digits: int = 3) -> str:
    """Three digits, without an exponent."""
    if value is None:
        return "–"
    return f"{value:.0f}" if abs(value) >= 10 ** (digits - 1) else f"{value:#.{digits}g}"


def _machine(result: Json) -> str:
    m, versions = result["machine"], ", ".join(f"{k} {v}" for k, v in result["versions"].items())
    return (
        f"{m['cpu']}, {m['cores']} cores, {m['doubles_per_vector']} doubles per vector, {1e-9 * m['clock_hz']:.2f} GHz "
        f"({m['clock_from']})\n{versions} · seed {result['seed']} · {result['date']}"
    )


# -- dynamics ---------------------------------------------------------------------------------------------------------


def _dynamics_table(robot: Json) -> Table:
    """Every way of every case, with Pinocchio above and the others below."""
    table = _table("µs per state", "p5", "p50", "p95", "× Pinocchio", "GB/s")
    for name, case in robot["cases"].items():
        table.add_row(Text(f"{name}: {case['title']}", style="bold"))
        for when in ("before", "after"):
            _add_times(table, f"Pinocchio, {when}", case["pinocchio"][when])
        for way in case["ways"].values():
            _add_times(table, way["title"], way)
        for peer, row in case["peers"].items():
            _add_times(table, _PEERS[peer], row)
    return table


_PEERS = {"mujoco": "MuJoCo", "drake": "Drake", "pinocchio_all": "Pinocchio's own batch, all cores"}


def _add_times(table: Table, title: str, row: Json) -> None:
    cells = [_number(row[f"{p}_us"]) for p in ("p5", "p50", "p95")]
    ratio = _number(row["ratio"]) if "ratio" in row else ""
    traffic = _number(row["bandwidth_gb_s"]) if "bandwidth_gb_s" in row else ""
    table.add_row(f"  {title}", *cells, ratio, traffic)


def _limit_table(robot: Json) -> Table:
    """How close the batch in tiles is to what the CPU can do."""
    table = _table(
        "limit (batch in tiles)", "operations", "stored", "loads", "spill stores", "instructions/cycle", "of peak"
    )
    for name, case in robot["cases"].items():
        limit = case["limit"]
        counts = [limit["operations_per_state"], limit["stored_values_per_state"], limit.get("loads"),
                  limit.get("spill_stores")]  # fmt: skip
        cells = ["–" if x is None else str(x) for x in counts]
        table.add_row(name, *cells, f"{limit['instructions_per_cycle']:.2f}", f"{100.0 * limit['share_of_peak']:.0f} %")
    return table


def _compared(result: Json) -> list[str]:
    """The calls of the other libraries; the same for all robots."""
    found: dict[str, None] = {}
    for robot in result["robots"].values():
        for name, case in robot["cases"].items():
            found[f"{name}: Pinocchio: {case['pinocchio']['calls']}"] = None
            for peer, row in case["peers"].items():
                found[f"{name}: {_PEERS[peer]}: {row['calls']}"] = None
    return list(found)


# -- scaling ----------------------------------------------------------------------------------------------------------


def _sizes_table(result: Json) -> Table:
    rows = {(r["family"], r["method"], r["kind"], r["bodies"]): r["p50_us"] for r in result["rows"]}
    growth = {(g["family"], g["method"], g["kind"]): g["exponent"] for g in result["growth"]}
    sizes = sorted({bodies for *_, bodies in rows})
    table = _table("bodies", "method", "kind", *(str(n) for n in sizes), "growth", left=3)
    for key in dict.fromkeys(key[:3] for key in rows):
        cells = [_number(rows[*key, n]) if (*key, n) in rows else "" for n in sizes]
        table.add_row(*key, *cells, f"({growth[key]:.2f})" if key in growth else "")
    return table


def _facts_table(result: Json) -> Table:
    table = _table("tree", "method", "kind", "µs here", "over O(n)", "µs there", "over O(n) there", left=3)
    for r in result["table_3_1"]:
        cells = [_number(r[name]) for name in ("time_us", "ratio", "source_us", "source_ratio")]
        table.add_row(f"{r['family']}, {r['bodies']} bodies", r["method"], r["kind"], *cells)
    return table


def _readings_table(result: Json) -> Table:
    table = _table("reading (compiled)", "here", "there", "true here")
    for r in result["readings"]:
        table.add_row(r["text"], _number(r["ratio"]), _number(r["source_ratio"]), "yes" if r["holds"] else "no")
    return table


# -- simulation -------------------------------------------------------------------------------------------------------


def _steps_table(ways: Json) -> Table:
    table = _table("", "steps/s", "µs p50", "µs p95", "×", "error")
    for name, row in ways.items():
        error = f"{row['error']:.1e}" if "error" in row else ""
        cells = [_number(row["p50_us"]), _number(row["p95_us"]), _number(row["ratio"]), error]
        table.add_row(name, f"{row['steps_per_second']:,.0f}", *cells)
    return table


def _rest_line(rest: Json, who: str) -> str:
    load, depth = rest[f"{who}_load_n"], rest[f"{who}_depth_mm"]
    return f"{who}: carries {load:.2f} N of {rest['weight_n']:.2f} N, deepest point {depth:.2f} mm"
