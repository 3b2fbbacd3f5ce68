"""The commands that compare methods."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from surefoot.cli.frame import Json, RobotName

__all__ = ["regions", "study"]

study = typer.Typer()


@study.command()
def regions(
    robot: RobotName,
    moment: Annotated[
        float | None, typer.Option(metavar="N_M", help="Largest moment of angular momentum; default: 10 % of M g z.")
    ] = None,
    out: Annotated[Path | None, typer.Option(help="HTML file; default: regions-ROBOT.html.")] = None,
    json: Json = False,
) -> int:
    """Draw phase portraits and balance regions of a robot that stands: margins, regulators, admissible sets."""
    from surefoot.cli.study.regions import regions_command

    return regions_command(robot, moment, out, json)
