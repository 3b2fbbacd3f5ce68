"""`surefoot speed`: the fastest clean walk of a robot."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from surefoot.cli.console import progress

_USUAL = 14  # trials, for the progress bar


def speed_command(robot: str, out: Path | None, seed: int, overrides: Sequence[str], as_json: bool) -> int:
    """Search for the fastest clean walk; the last line printed is the path of the folder with all runs.

    Returns:
        0 if there is a clean walk, 1 if not.
    """
    from surefoot.scenario import run_folder
    from surefoot.scenario.sweeps import Trial, fastest_walk

    with run_folder(f"speed-{Path(robot).stem}", out) as folder, progress("walking") as tell:
        trials: list[Trial] = []

        def told(trial: Trial) -> None:
            trials.append(trial)
            fastest = max(one.speed for one in trials)
            tell(min(len(trials) / _USUAL, 0.99), f"{len(trials)} walks, fastest {fastest:.2f} m/s")

        found = fastest_walk(robot, folder, told, overrides, seed)
    if as_json:
        print(json.dumps({"speed_m_s": found.speed, "limit": found.limit}, indent=1, ensure_ascii=False))
    else:
        for trial in found.trials:
            text = f"{trial.speed:.3f} m/s" if trial.reason is None else trial.reason
            print(f"  steps of {trial.step:.2f} leg lengths at {trial.pace:.2f} times the pace: {text}")
        print(f"{robot}: fastest clean walk {found.speed:.3f} m/s\nlimit: {found.limit}\n{folder}")
    return int(found.best is None)
