"""`surefoot push-map`: the largest pushes that a standing robot survives."""

from __future__ import annotations

import json
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from surefoot.cli.console import progress
from surefoot.cli.frame import Json, RobotName


def push_map(
    robot: RobotName,
    out: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Output folder, or that of an interrupted map to go on with.")
    ] = None,
    stepping: Annotated[
        bool, typer.Option(help="Also push a controller that steps, if the robot has two feet.")
    ] = True,
    ideal: Annotated[bool, typer.Option("--ideal", help="Show the controllers the true state.")] = False,
    as_json: Json = False,
) -> int:
    """Find the largest push that a standing robot survives in 8 directions; resumable, with a polar picture."""
    from surefoot.robot import anatomy, load
    from surefoot.scenario.sweeps import is_stale, run_push_map

    folder = out or Path("runs") / f"push-map-{Path(robot).stem}{'-ideal' if ideal else ''}"
    methods = ["joint_pd", "balance", *(["steps"] if stepping and len(anatomy(load(robot)).feet) == 2 else [])]
    if is_stale(robot, folder, ideal):
        print(f"{folder}: of another version of surefoot or of the robot; searched anew", file=sys.stderr)
    with progress("pushing") as tell:
        found = run_push_map(
            robot, folder, methods, ideal, lambda done, total: tell(done / total, f"{done} of {total} directions")
        )
    if as_json:
        rows = [asdict(row) for row in found.rows if row.controller != "joint_pd"]
        print(json.dumps([{k: v for k, v in row.items() if k != "controller"} for row in rows], indent=1))
        return 0
    for row in found.rows:
        share = f"{row.share_of_m_omega_s:5.0%} of M ω s"
        print(f"  {row.controller:<9} {row.direction_deg:5.0f}°  {row.impulse_ns:7.2f} N s  {share}")
    print(folder)
    return 0
