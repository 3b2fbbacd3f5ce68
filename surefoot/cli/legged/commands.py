"""The commands of legged robots."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from surefoot.cli.frame import Json
from surefoot.cli.legged.matrix import matrix
from surefoot.cli.legged.push_map import push_map
from surefoot.cli.legged.speed import speed
from surefoot.cli.legged.walk import walk

legged = typer.Typer()
for command in (walk, matrix, speed, push_map):
    legged.command()(command)


@legged.command()
def hexapod(
    link: Annotated[
        str, typer.Option(metavar="URL", help="Address of the robot; with port 0, an emulator is started beside.")
    ] = "udp://127.0.0.1:0",
    serve: Annotated[bool, typer.Option(help="Be the emulated robot at this address.")] = False,
    motion: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Trajectory to send (.npz, .parquet); default: the body sways.")
    ] = None,
    duration: Annotated[float, typer.Option(help="How long, in seconds.", min=0.1, max=3600.0)] = 10.0,
    calibration: Annotated[
        Path | None, typer.Option(metavar="FILE", help="TOML file with the servos; default: nominal ones.")
    ] = None,
    loss: Annotated[float, typer.Option(help="Share of packets that are lost on purpose.", min=0.0, max=1.0)] = 0.0,
    blackout: Annotated[
        str | None, typer.Option(metavar="FROM,TO", help="Seconds between which all packets are lost on purpose.")
    ] = None,
    json: Json = False,
) -> int:
    """Send joint targets to a hexapod on servos, or be one in simulation. Exit status 1 if the robot did not answer."""
    from surefoot.cli.legged.hexapod import hexapod_command, serve_command

    if serve:
        return serve_command(link, duration, calibration)
    return hexapod_command(link, motion, duration, calibration, (loss, blackout), json)
