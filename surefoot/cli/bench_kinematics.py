"""`surefoot bench distance`, `predictive`, `ik` and `hierarchy`: what they print."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from rich.table import Table

from surefoot.benchmarks import (
    DistanceBench,
    IkBench,
    PredictiveBench,
    bench_control_loop,
    header,
    peer_pythons,
    run_distance,
    run_ik,
    run_predictive,
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
from surefoot.errors import FileFormatError, UnknownNameError, one_of

__all__ = ["bench_distance", "bench_hierarchy", "bench_ik", "bench_predictive"]

Json = dict[str, Any]
_QUICK_SECONDS = 0.5
_DISTANCE_WAYS = {
    "tiles": "distance, tiles",
    "tiles + points": "nearest, tiles",
    "smooth, tiles": "smooth, tiles",
    "rows": "distance, rows",
    "rows + points": "nearest, rows",
}


# -- distance ---------------------------------------------------------------------------------------------------------


def bench_distance(pairs: int, seed: int, quick: bool, file: Path | None) -> int:
    """Measure and print; 1 if a distance is not coal's.

    Args:
        pairs: Of a batch.
        seed: Of the volumes.
        quick: Measure for a short time.
        file: Where JSON goes, or None.
    """
    require_folder(file)
    with progress() as show:
        result = run_distance(DistanceBench(pairs, seed=seed, quick=quick, progress=show))
    write_json(file, result)
    print(machine_line(result))
    print(f"\nTime of a pair [ns], {result['pairs']} pairs in a batch on one core; × how much less than in Table 5.1")
    print("of Buschmann 2014 (2.33 GHz); points: with the nearest points of both; error: against coal")
    print_table(_distance_table(result))
    coal = result["coal"]
    print(f"\n{coal['bodies']} capsules, all pairs; × what Pinocchio's computeDistances takes beyond placements")
    print_table(_coal_table(coal))
    if (robot := result["robot"]) is not None:
        print(
            f"\n{robot['robot']}: all {robot['pairs']} self-distances of {robot['volumes']} fitted volumes, "
            f"{robot['postures']} postures: {robot['seconds']:.2f} s on one core"
        )
    return 0


def _distance_table(result: Json) -> Table:
    headings = [heading for way in _DISTANCE_WAYS for heading in (way, "×")]
    table = plain_table("pair", "Table 5.1", *headings, "error (m)")
    for name, row in result["rows"].items():
        cells = [number_text(1e3 * row["table_us"])]
        for way in _DISTANCE_WAYS.values():
            cells += [number_text(1e3 * row["ways"][way]["p50_us"]), number_text(row["ways"][way]["ratio"])]
        table.add_row(name.replace(" ", "–"), *cells, f"{row['error_m']:.1e}")
    return table


def _coal_table(coal: Json) -> Table:
    table = plain_table("ns per pair", "p5", "p50", "p95", "×")
    for name, way in coal["ways"].items():
        cells = [number_text(1e3 * way[f"{p}_us"]) for p in ("p5", "p50", "p95")]
        table.add_row(name, *cells, "" if name.startswith("pinocchio") else number_text(way["ratio"]))
    return table


# -- predictive -------------------------------------------------------------------------------------------------------


def bench_predictive(studies: str, quick: bool, file: Path | None) -> int:
    """Measure and print.

    Args:
        studies: Names, separated by commas.
        quick: One pass over each motion.
        file: Where JSON goes, or None.
    """
    names, known = listed_names(studies), PredictiveBench().studies
    if not names:
        raise UnknownNameError("no study was named", next_step=f"give --studies {','.join(known)}")
    for name in names:
        if name not in known:
            raise one_of("study", name, known)
    require_folder(file)
    repeats = 1 if quick else PredictiveBench().repeats
    with progress() as show:
        result = run_predictive(PredictiveBench(tuple(names), repeats, show))
    write_json(file, result)
    print(machine_line(result))
    for name, study in result["studies"].items():
        print(f"\n{name}: {study['robot']}, cycle of {study['cycle_ms']:g} ms, one core")
        print_table(_peaks_table(study))
        print_table(_cycles_table(study))
    return 0


def _peaks_table(study: Json) -> Table:
    table = plain_table("method", "peak of pseudo-energy (rad²/s²)", "smallest distance (m)")
    for name, row in study["peaks"].items():
        table.add_row(name, number_text(row["pseudo_energy"]), f"{row['distance_m']:.4f}")
    return table


def _cycles_table(study: Json) -> Table:
    """Times of a cycle by horizon, and how many would fit into the cycle that there is."""
    headings = ("steps", "p5", "p50", "p95", "longest", "step of descent", "cycle / p95")
    table = plain_table("ms per cycle", *headings)
    for horizon, row in study["times"].items():
        times = [1e-3 * row["cycle"][f"{p}_us"] for p in ("p5", "p50", "p95")]
        cells = [*times, row["longest_cycle_ms"], 1e-3 * row["step_of_descent_us"], study["cycle_ms"] / times[2]]
        table.add_row(f"horizon {horizon}", str(row["prediction_steps"]), *(number_text(x) for x in cells))
    return table


# -- inverse kinematics -----------------------------------------------------------------------------------------------


def bench_ik(robots: str, targets: int, seed: int, quick: bool, peers: Path | None, file: Path | None) -> int:
    """Measure and print.

    Args:
        robots: Names, separated by commas.
        targets: Of each robot.
        seed: Of the targets.
        quick: Few targets, no peers.
        peers: Folder with the environments of placo, pink and mink, or None.
        file: Where JSON goes, or None.
    """
    names = listed_names(robots)
    if not names:
        raise UnknownNameError("no robot was named", next_step="give --robots panda,g1")
    require_folder(file)
    pythons = {} if peers is None else peer_pythons(peers)
    if peers is not None and not pythons:
        raise FileFormatError(
            "no peer has an environment there", file=peers, next_step="make them: scripts/make_ik_peers.sh DIR"
        )
    with progress() as show:
        result = run_ik(IkBench(names, targets, seed, quick, pythons, show))
    write_json(file, result)
    print(machine_line(result))
    tolerance = result["tolerance"]
    print(
        f"\n{result['targets']} reachable targets, solved within {1e3 * tolerance['position_m']:g} mm and "
        f"{1e3 * tolerance['angle_rad']:g} mrad inside the joint limits; time over all targets, restarts included"
    )
    for name, robot in result["robots"].items():
        feet = f", feet {', '.join(robot['feet'])}" if robot["feet"] else ""
        print(f"\n{name}: nv {robot['nv']}, hand {robot['hand']}{feet}")
        print_table(_ik_table(robot))
        print_lines("settings", _settings_lines(robot))
    print_lines("not measured", result["skipped"])
    return 0


def _ik_table(robot: Json) -> Table:
    table = plain_table("", "solved", "ms/target", "solves/s", "iterations", "restarts", "× fastest peer")
    fastest = robot["ratios"]["fastest_peer"]
    for way, row in robot["ours"].items():
        ratio = "" if fastest is None else number_text(robot["ratios"][way][fastest])
        _add_solver(table, f"surefoot, {way}", row, ratio)
    for peer, rows in robot["peers"].items():
        _add_solver(table, f"{peer}, with restarts", rows["with_restarts"], "fastest" if peer == fastest else "")
        _add_solver(table, f"{peer}, once", rows["once"], "")
    return table


def _add_solver(table: Table, title: str, row: Json, ratio: str) -> None:
    cells = [f"{100.0 * row['success']:.1f} %", f"{row['ms_per_target']:#.3g}", f"{row['solves_per_second']:,.0f}"]
    table.add_row(title, *cells, f"{row['iterations']:.1f}", f"{row['restarts']:.2f}", ratio)


def _settings_lines(robot: Json) -> list[str]:
    """What every peer was run with."""
    return [
        f"{name} ({', '.join(f'{package} {version}' for package, version in facts['versions'].items())}), best of "
        f"{facts['settings_tried']}: {', '.join(f'{key} {value}' for key, value in facts['settings'].items())}"
        for name, facts in robot["peers"].items()
    ]


# -- strict priorities ------------------------------------------------------------------------------------------------


def bench_hierarchy(seconds: float, quick: bool, file: Path | None) -> int:
    """Measure and print; 1 if a priority or a limit is broken.

    Args:
        seconds: Length of each motion.
        quick: Half a second at most.
        file: Where JSON goes, or None.
    """
    require_folder(file)
    with progress() as show:
        show(0.0, "control loop")
        loop = bench_control_loop(min(seconds, _QUICK_SECONDS) if quick else seconds)
    result = header("hierarchy", 0) | {"quick": quick} | loop
    write_json(file, result)
    print(machine_line(result))
    print(
        f"\n{result['robot']}: {result['tasks']} tasks on {result['levels']} strict levels, a tick every "
        f"{1e3 * result['dt_s']:g} ms; the aim is a p95 of {result['goal_p95_ms']:g} ms"
    )
    print_table(_ticks_table(result))
    for name, motion in result["motions"].items():
        print(
            f"{name}: lower levels change higher ones by {motion['largest_priority_violation']:.1e} at most; joint "
            f"limits bind in {motion['ticks_at_limits']} of {motion['ticks']} ticks; {motion['ticks_damped']} damped"
        )
    return 0


def _ticks_table(result: Json) -> Table:
    table = plain_table("ms per tick", "p50", "p95", "p99", "longest", "p95 as wanted")
    for name, motion in result["motions"].items():
        times = [number_text(motion[f"{p}_ms"]) for p in ("p50", "p95", "p99", "max")]
        table.add_row(name, *times, "yes" if motion["reached"] else "no")
    return table
