"""The commands of legged robots."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from surefoot.cli.frame import Changes, Json, RobotName

legged = typer.Typer()


@legged.command()
def walk(
    to: Annotated[
        str, typer.Option(metavar="X,Y,YAW", help="Goal in the world in metres; the yaw in radians, or as 90deg.")
    ],
    robot: Annotated[str | None, typer.Option(help="A biped: a name or a file; default: g1.")] = None,
    world: Annotated[
        str | None,
        typer.Option(metavar="W", help="Scenario, or TOML file with a world table; default: level ground."),
    ] = None,
    out: Annotated[Path | None, typer.Option(help="Output folder; default: runs/walk-TIME/.")] = None,
    seed: Annotated[int | None, typer.Option(help="Random seed.")] = None,
    set_: Changes = None,
) -> int:
    """Walk to a place and write a report folder; the last line printed is its path. Exit status 1 if it did not."""
    from surefoot.cli.legged.walk import walk_command

    return walk_command(robot, to, world, out, seed, set_ or [])


@legged.command()
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
    json: Json = False,
) -> int:
    """Run scenarios × robots × seeds on all cores; resumable. Exit status 1 if a run did not pass."""
    from surefoot.cli.legged.matrix import matrix_command

    drawn, chosen = perturbed is not None, range(first_seed, first_seed + (perturbed or seeds))
    return matrix_command(family, robots, scenarios, chosen, out, set_ or [], json, drawn, workers)


@legged.command()
def speed(
    robot: RobotName,
    out: Annotated[Path | None, typer.Option(help="Output folder; default: runs/speed-ROBOT-TIME/.")] = None,
    seed: Annotated[int, typer.Option(help="Random seed.", min=0)] = 0,
    set_: Changes = None,
    json: Json = False,
) -> int:
    """Search for the fastest clean walk over step length and pace, and name what limits it."""
    from surefoot.cli.legged.speed import speed_command

    return speed_command(robot, out, seed, set_ or [], json)


@legged.command(name="push-map")
def push_map(
    robot: RobotName,
    out: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Output folder, or that of an interrupted map to go on with.")
    ] = None,
    stepping: Annotated[
        bool, typer.Option(help="Also push a controller that steps, if the robot has two feet.")
    ] = True,
    ideal: Annotated[bool, typer.Option("--ideal", help="Show the controllers the true state.")] = False,
    json: Json = False,
) -> int:
    """Find the largest push that a standing robot survives in 8 directions; resumable, with a polar picture."""
    from surefoot.cli.legged.push_map import push_map_command

    return push_map_command(robot, out, stepping, ideal, json)


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
