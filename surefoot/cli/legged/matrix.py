"""`surefoot matrix`: scenarios × robots × seeds."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from surefoot.cli.console import names_in, progress
from surefoot.errors import one_of

_HUMANOIDS = ("g1", "talos", "humanoid", "small-humanoid", "lola", "icub")
FAMILIES = {
    "walk": (*_HUMANOIDS, "talos_legs", "g1_with_hands"),
    "balance": (*_HUMANOIDS, "anymal", "go2", "solo12", "hexapod"),
}
"""The usual robots of each matrix; its scenarios are those with the study of this name."""


def matrix_command(
    family: str,
    robots: str | None,
    scenarios: str | None,
    seeds: Sequence[int],
    out: Path | None,
    overrides: Sequence[str],
    as_json: bool,
    perturbed: bool = False,
    workers: int | None = None,
) -> int:
    """Run a matrix, or what is left of it; the last line printed is the path of its folder.

    Returns:
        0 if all passed that the robots are made for, 1 if not.
    """
    from surefoot.scenario import names, read_scenario
    from surefoot.scenario.sweeps import OTHER_ROBOT, PASSED, MatrixRow, matrix_jobs, matrix_table, run_matrix

    if family not in FAMILIES:
        raise one_of("matrix", family, FAMILIES)
    folder = out or Path("runs") / f"matrix-{family}-{time.strftime('%Y%m%d-%H%M%S')}"
    chosen = names_in(scenarios) or [name for name in names() if read_scenario(name).study == family]
    jobs = matrix_jobs(chosen, names_in(robots) or FAMILIES[family], seeds, folder, overrides, perturbed)
    with progress("running") as tell:

        def told(row: MatrixRow, left: int) -> None:
            tell(1.0 - left / len(jobs), f"{len(jobs) - left} of {len(jobs)}")
            if not sys.stderr.isatty():
                print(f"{row.scenario} {row.robot} {row.seed}: {row.verdict} {row.reason or ''}", file=sys.stderr)

        rows = run_matrix(jobs, folder, told, workers)
    if as_json:
        print(json.dumps([asdict(row) for row in rows], indent=1, ensure_ascii=False))
    else:
        print(matrix_table(rows))
        print(folder)
    return int(any(row.verdict not in (PASSED, OTHER_ROBOT) for row in rows))
