"""`surefoot bench loops`: what it prints."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from rich.table import Table

from surefoot.benchmarks import LoopsBench, run_loops
from surefoot.cli.bench_page import (
    machine_line,
    number_text,
    plain_table,
    print_table,
    progress,
    require_folder,
    write_json,
)

__all__ = ["bench_loops"]


def bench_loops(largest: int, states: int, seed: int, quick: bool, file: Path | None) -> int:
    """Measure and print; 1 if an answer is wrong.

    Args:
        largest: Most bodies; sizes are doubled from 8 on.
        states: Of a batch.
        seed: Of the states.
        quick: Measure for a short time.
        file: Where JSON goes, or None.
    """
    require_folder(file)
    sizes = [2**k for k in range(3, largest.bit_length())]
    with progress() as show:
        result = run_loops(LoopsBench(sizes, states, seed, quick, show))
    write_json(file, result)
    print(machine_line(result))
    print("\nForward dynamics of closed chains in minimal coordinates [µs per state], one core")
    print_table(_table(result["rows"]))
    print("open chain: compiled O(n) of coil(bodies); Pinocchio: constraintDynamics, one state a call")
    return 0


def _table(rows: list[dict[str, Any]]) -> Table:
    table = plain_table(
        "mechanism", "bodies", "dofs", "single", "batch", "open chain, single", "batch", "over chain, single", "batch",
        "Pinocchio", "× single", "× batch", "error",
    )  # fmt: skip
    for row in rows:
        times = [number_text(row[kind][way]["p50_us"]) for kind in ("loops", "chain") for way in ("single", "batch")]
        over = [number_text(row[f"{way}_over_chain"]) for way in ("single", "batch")]
        peer = ["–"] * 3
        if "pinocchio" in row:
            peer = [number_text(x) for x in (row["pinocchio"]["p50_us"], row["single_ratio"], row["batch_ratio"])]
        table.add_row(row["family"], str(row["bodies"]), str(row["dofs"]), *times, *over, *peer, f"{row['error']:.1e}")
    return table
