"""`surefoot compare-controllers`: many controllers under the same pushes."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from surefoot.cli.console import names_in, progress
from surefoot.cli.frame import Json


def compare_controllers(
    scenario: Annotated[str, typer.Argument(metavar="SCENARIO", help="Scenario with a push; `push` is one.")] = "push",
    robot: Annotated[str | None, typer.Option(help="Robot name or file; default: the scenario's.")] = None,
    controllers: Annotated[
        str | None, typer.Option(metavar="A,B", help="Comma-separated controllers; default: all.")
    ] = None,
    pace: Annotated[
        float | None, typer.Option(help="Speed of the classic controllers' loops over that of a fall; default: 3.")
    ] = None,
    out: Annotated[Path | None, typer.Option(help="HTML file; default: controllers-ROBOT.html.")] = None,
    as_json: Json = False,
) -> int:
    """Push a standing robot under many controllers: survived push, tracking, torque and time per tick on one page."""
    from surefoot.files import write_text
    from surefoot.scenario import read_scenario
    from surefoot.scenario.sweeps import CONTROLLERS, SHARES, compare_controllers, controllers_page, push_unit

    read = read_scenario(scenario)
    name, unit = robot or read.robot.name or "robot", push_unit(read)
    with progress("pushing") as tell:
        rows = compare_controllers(
            scenario, robot, names_in(controllers) or CONTROLLERS, pace=pace,
            told=lambda done, total, text: tell(done / total, text),
        )  # fmt: skip
    page = out or Path(f"controllers-{Path(str(name)).stem}.html")
    if out is not None or not as_json:
        write_text(page, controllers_page(scenario, str(name), rows, SHARES, unit))
    if as_json:
        plain = [{k: v for k, v in asdict(row).items() if k not in ("time", "way")} for row in rows]
        print(json.dumps(plain, indent=1, ensure_ascii=False))
        return 0
    for row in rows:
        error = "–" if row.com_error_mm is None else f"{row.com_error_mm:.1f} mm"
        torque = "–" if row.torque_share is None else f"{row.torque_share:.0%}"
        tick = "–" if row.tick_ms is None else f"{row.tick_ms:.2f} ms"
        print(f"  {row.name:<18} {row.survived:>6.1%} of {unit}   CoM {error:>8}   torque {torque:>5}   tick {tick:>8}"
              f"   {row.trouble or ''}")  # fmt: skip
    print(page)
    return 0
