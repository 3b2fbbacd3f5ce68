"""`surefoot bench dynamics`, `scaling` and `sim`: what they print."""

from __future__ import annotations

from pathlib import Path
from typing import Any

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

__all__ = ["bench_dynamics", "bench_scaling", "bench_sim"]

Json = dict[str, Any]


def bench_dynamics(
    robots: str, states: int, seed: int, quick: bool, drake_python: Path | None, file: Path | None
) -> int:
    """Measure and print; 1 if an answer is wrong."""
    names = listed_names(robots)
    if not names:
        raise UnknownNameError("no robot was named", next_step="give --robots g1,talos")
    require_folder(file)
    with progress() as show:
        result = run_dynamics(DynamicsBench(names, states, seed, quick, drake_python, show))
    write_json(file, result)
    print(machine_line(result))
    for name, robot in result["robots"].items():
        print(f"\n{name}: nq {robot['nq']}, nv {robot['nv']}, end frames {', '.join(robot['frames'])}")
        print_table(_dynamics_table(robot))
        print_table(_limit_table(robot))
    print_lines("what is compared", _compared(result))
    print_lines("not measured", result["skipped"])
    return 0


def bench_scaling(largest: int, seed: int, file: Path | None, plot: Path | None) -> int:
    """Measure, print and plot; 1 if an answer is wrong."""
    for path in (file, plot):
        require_folder(path)
    if plot is not None:
        require_plot_name(plot)
    with progress() as show:
        result = run_scaling(ScalingBench(largest, seed, progress=show))
    write_json(file, result)
    if plot is not None:
        write_plot(plot, result)
    print(machine_line(result))
    print("\nTime of one forward dynamics [µs]; in brackets the exponent of its growth at the end: 1 is linear")
    print_table(_sizes_table(result))
    if result["table_3_1"]:
        print("\nRelative to O(n): measured here, and in Table 3.1 of Buschmann 2014")
        print_table(_facts_table(result))
    if result["readings"]:
        print()
        print_table(_readings_table(result))
    print_lines("left out", [f"{tree}: {methods}: {why}" for tree, methods, why in grouped(result["left_out"])])
    return 0


def bench_sim(free: str, ground: str, copies: int, steps: int, seed: int, quick: bool, file: Path | None) -> int:
    """Measure and print; 1 if engines that should agree do not."""
    require_folder(file)
    with progress() as show:
        result = run_sim(SimBench(listed_names(free), listed_names(ground), copies, steps, seed, quick, show))
    write_json(file, result)
    print(machine_line(result))
    for name, ways in result["free"].items():
        print(f"\n{name} in free flight; one core, × the loop with Pinocchio")
        print_table(_steps_table(ways))
    for name, part in result["ground"].items():
        print(f"\n{name} on {part['points']} contact points; one core, × the faster settings of MuJoCo")
        for case in ("stand", "march"):
            print(case)
            print_table(_steps_table(part[case]))
        print_lines("rest", [_rest_line(part["rest"], who) for who in ("native", "mujoco")])
        energy = part["energy"]
        print(
            f"energy, marching {energy['seconds']:g} s: work {energy['work_j']:.3g} J, residual "
            f"{energy['residual_j']:.2g} J"
        )
    print_lines("not measured", result["skipped"])
    return 0


# -- dynamics ---------------------------------------------------------------------------------------------------------


def _dynamics_table(robot: Json) -> Table:
    """Every way of every case, with Pinocchio above and the others below."""
    table = plain_table("µs per state", "p5", "p50", "p95", "× Pinocchio", "GB/s")
    for name, case in robot["cases"].items():
        table.add_row(Text(f"{name}: {case['title']}", style="bold"))
        for when in ("before", "after"):
            _add_times(table, f"Pinocchio, {when}", case["pinocchio"][when])
        for way in case["ways"].values():
            _add_times(table, way["title"], way)
        _add_times(table, "for comparison: dense results filled with zeros", case["limit"]["fill"])
        for peer, row in case["peers"].items():
            _add_times(table, _PEERS[peer], row)
    return table


_PEERS = {"mujoco": "MuJoCo", "drake": "Drake", "pinocchio_all": "Pinocchio's own batch, all cores"}


def _add_times(table: Table, title: str, row: Json) -> None:
    cells = [number_text(row[f"{p}_us"]) for p in ("p5", "p50", "p95")]
    ratio = number_text(row["ratio"]) if "ratio" in row else ""
    traffic = number_text(row["bandwidth_gb_s"]) if "bandwidth_gb_s" in row else ""
    table.add_row(f"  {title}", *cells, ratio, traffic)


def _limit_table(robot: Json) -> Table:
    """How close the batch in tiles is to what the CPU can do."""
    table = plain_table(
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
    table = plain_table("bodies", "method", "kind", *(str(n) for n in sizes), "growth", left=3)
    for key in dict.fromkeys(key[:3] for key in rows):
        cells = [number_text(rows[*key, n]) if (*key, n) in rows else "" for n in sizes]
        table.add_row(*key, *cells, f"({growth[key]:.2f})" if key in growth else "")
    return table


def _facts_table(result: Json) -> Table:
    table = plain_table("tree", "method", "kind", "µs here", "over O(n)", "µs there", "over O(n) there", left=3)
    for r in result["table_3_1"]:
        cells = [number_text(r[name]) for name in ("time_us", "ratio", "source_us", "source_ratio")]
        table.add_row(f"{r['family']}, {r['bodies']} bodies", r["method"], r["kind"], *cells)
    return table


def _readings_table(result: Json) -> Table:
    table = plain_table("reading (compiled)", "here", "there", "true here")
    for r in result["readings"]:
        table.add_row(r["text"], number_text(r["ratio"]), number_text(r["source_ratio"]), "yes" if r["holds"] else "no")
    return table


# -- simulation -------------------------------------------------------------------------------------------------------


def _steps_table(ways: Json) -> Table:
    table = plain_table("", "steps/s", "µs p50", "µs p95", "×", "error")
    for name, row in ways.items():
        error = f"{row['error']:.1e}" if "error" in row else ""
        cells = [number_text(row["p50_us"]), number_text(row["p95_us"]), number_text(row["ratio"]), error]
        table.add_row(name, f"{row['steps_per_second']:,.0f}", *cells)
    return table


def _rest_line(rest: Json, who: str) -> str:
    load, depth = rest[f"{who}_load_n"], rest[f"{who}_depth_mm"]
    return f"{who}: carries {load:.2f} N of {rest['weight_n']:.2f} N, deepest point {depth:.2f} mm"
