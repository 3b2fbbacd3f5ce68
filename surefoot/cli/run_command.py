"""`surefoot run`: a scenario, its summary, its folder."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

__all__ = ["run_command"]


def run_command(
    scenario: str, robot: str | None, out: Path | None, seed: int | None, overrides: list[str], as_json: bool
) -> int:
    """Run a scenario; the last line printed is the path of its folder.

    Args:
        scenario: Name or file.
        robot: Another robot, or None.
        out: Folder, or None for the default.
        seed: Seed, or None for the scenario's.
        overrides: `key=value` texts.
        as_json: Print the metrics as JSON before the path.

    Returns:
        0 if it passed, 1 if the robot fell or did not finish.
    """
    from surefoot.scenario import run_scenario

    console = Console(file=sys.stderr)
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.percentage:3.0f} %"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task("simulating", total=1.0)
        result = run_scenario(
            scenario, robot=robot, out=out, seed=seed, overrides=overrides,
            progress=lambda share: bar.update(task, completed=share),
        )  # fmt: skip
    print(json.dumps(result.metrics, indent=1) if as_json else _summary(result.metrics))
    print(result.path)
    return 0 if result.passed else 1


def _summary(metrics: dict[str, Any]) -> str:
    """The run in a few lines."""
    m = metrics
    verdict = f"FELL at {m['fall_time_s']:.2f} s" if m["fallen"] else "stood" if m["completed"] else "stopped early"
    rows = [
        f"{m['scenario']} · {m['robot']} · seed {m['seed']} · {m['duration_s']:.2f} s simulated: {verdict}",
        _row("foot slip", metrics["slip_m"], "m"),
        _row("highest torque / limit", metrics["max_torque_ratio"], ""),
        _row("joint tracking error (rms)", metrics["tracking_rms"], "rad"),
        _row("energy residual", metrics["energy_residual_j"], "J"),
        _row("momentum residual", metrics["momentum_residual"], "kg m/s"),
    ]
    return "\n".join(rows)


def _row(name: str, value: float | None, unit: str) -> str:
    return f"  {name:<28}{'–' if value is None else f'{value:.3g} {unit}'.rstrip()}"
