"""`surefoot matrix`: scenarios × robots × seeds."""

from __future__ import annotations

import json
import sys
import time
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from surefoot.cli.console import names_in, progress
from surefoot.cli.frame import Changes, Json
from surefoot.errors import one_of

_HUMANOIDS = ("g1", "talos", "humanoid", "small-humanoid", "lola", "icub")
FAMILIES = {
    "walk": (*_HUMANOIDS, "talos_legs", "g1_with_hands"),
    "balance": (*_HUMANOIDS, "anymal", "go2", "solo12", "hexapod"),
}
"""The usual robots of each matrix; its scenarios are those with the study of this name."""


def matrix(
    family: Annotated[str, typer.Argument(metavar="NAME", help="Which matrix: walk or balance.")],
    robots: Annotated[
        str | None, typer.Option(metavar="A,B", help="Comma-separated robots; default: the usual ones.")
    ] = None,
    scenarios: Annotated[
        str | None, typer.Option(metavar="S,T", help="Comma-separated scenarios; default: all of the matrix.")
    ] = None,
    seeds: Annotated[int, typer.Option(help="Number of seeds.", min=1)] = 1,
    first_seed: Annotated[int, typer.Option(help="The first of them.", min=0)] = 0,
    perturbed: Annotated[
        int | None,
        typer.Option(metavar="N", help="N runs each with masses ±20 %, friction 0.4–1.0, 5 ms delay.", min=1),
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help="Output folder, or that of an interrupted matrix; default: runs/matrix-….")
    ] = None,
    workers: Annotated[int | None, typer.Option(help="Runs at a time; default: one for each core.", min=1)] = None,
    set_: Changes = None,
    as_json: Json = False,
) -> int:
    """Run scenarios × robots × seeds on all cores; resumable. Exit status 1 if a run did not pass."""
    from surefoot.robot import load
    from surefoot.scenario import names, read_scenario
    from surefoot.scenario.sweeps import OTHER_ROBOT, PASSED, MatrixRow, matrix_jobs, matrix_table, run_matrix

    if family not in FAMILIES:
        raise one_of("matrix", family, FAMILIES)
    folder = out or Path("runs") / f"matrix-{family}-{time.strftime('%Y%m%d-%H%M%S')}"
    chosen = names_in(scenarios) or [name for name in names() if read_scenario(name).study == family]
    walkers = names_in(robots) or FAMILIES[family]
    for robot in walkers:
        load(robot)  # refuse wrong names before anything runs
    numbers, drawn = range(first_seed, first_seed + (perturbed or seeds)), perturbed is not None
    jobs = matrix_jobs(chosen, walkers, numbers, folder, set_ or (), drawn)
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
