"""`surefoot speed`: the fastest clean walk of a robot."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from surefoot.cli.console import progress
from surefoot.cli.frame import Changes, Json, RobotName

_USUAL = 14  # trials, for the progress bar


def speed(
    robot: RobotName,
    out: Annotated[Path | None, typer.Option(help="Output folder; default: runs/speed-ROBOT-TIME/.")] = None,
    seed: Annotated[int, typer.Option(help="Random seed.", min=0)] = 0,
    set_: Changes = None,
    as_json: Json = False,
) -> int:
    """Search for the fastest clean walk over step length and pace, and name what limits it."""
    from surefoot.scenario import run_folder
    from surefoot.scenario.sweeps import Trial, fastest_walk

    with run_folder(f"speed-{Path(robot).stem}", out) as folder, progress("walking") as tell:
        trials: list[Trial] = []

        def told(trial: Trial) -> None:
            trials.append(trial)
            fastest = max(one.speed for one in trials)
            tell(min(len(trials) / _USUAL, 0.99), f"{len(trials)} walks, fastest {fastest:.2f} m/s")

        found = fastest_walk(robot, folder, told, set_ or (), seed)
    if as_json:
        print(json.dumps({"speed_m_s": found.speed, "limit": found.limit}, indent=1, ensure_ascii=False))
    else:
        for trial in found.trials:
            text = f"{trial.speed:.3f} m/s" if trial.reason is None else trial.reason
            print(f"  steps of {trial.step:.2f} leg lengths at {trial.pace:.2f} times the pace: {text}")
        print(f"{robot}: fastest clean walk {found.speed:.3f} m/s\nlimit: {found.limit}\n{folder}")
    return int(found.best is None)
