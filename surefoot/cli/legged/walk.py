"""`surefoot walk`: to a place."""

from __future__ import annotations

from math import isfinite, radians
from pathlib import Path

from surefoot.cli.run import run_command
from surefoot.errors import ShapeError


def walk_command(
    robot: str | None, to: str, world: str | None, out: Path | None, seed: int | None, overrides: list[str]
) -> int:
    """Run the scenario `walk` with another goal; the last line printed is the path of its folder.

    Returns:
        0 if it got there, 1 if not.
    """
    x, y, yaw = goal_in(to)
    return run_command("walk", robot, out, seed, [f"walk.goal=[{x!r}, {y!r}, {yaw!r}]", *overrides], world)


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
