"""`surefoot walk`: to a place."""

from __future__ import annotations

from math import isfinite, radians
from pathlib import Path
from typing import Annotated

import typer

from surefoot.cli.frame import Changes
from surefoot.cli.run import run_command
from surefoot.errors import ShapeError


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
    x, y, yaw = goal_in(to)
    return run_command("walk", robot, out, seed, [f"walk.goal=[{x!r}, {y!r}, {yaw!r}]", *(set_ or [])], world)


def goal_in(text: str) -> tuple[float, float, float]:
    """Read a goal: x [m], y [m] and yaw [rad].

    Args:
        text: `X,Y` or `X,Y,YAW`; the yaw in radians, or in degrees as in `90deg`.

    Raises:
        ShapeError: The text is something else.
    """
    x, y, yaw, *more = [*text.split(","), *(["0"] if text.count(",") == 1 else []), "", ""]
    try:
        turn = radians(float(yaw.strip()[:-3])) if yaw.strip().endswith("deg") else float(yaw)
        goal = float(x), float(y), turn
    except ValueError:
        goal = (float("nan"),) * 3
    if any(more) or not all(map(isfinite, goal)):
        raise ShapeError(f"`{text}` is not a place to walk to", next_step="write X,Y,YAW, e.g. --to 3,1,90deg")
    return goal
