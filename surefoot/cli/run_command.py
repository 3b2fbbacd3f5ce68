"""`surefoot run`: a scenario, its summary, its folder."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

if TYPE_CHECKING:
    from surefoot.scenario import RunResult

__all__ = ["run_command"]

_REMARKS = {
    "lifted": "inertia lifted to what physics accepts",
    "locked": "joints locked, as they move no mass",
    "notes": "note",
}


def run_command(scenario: str, robot: str | None, out: Path | None, seed: int | None, overrides: list[str]) -> int:
    """Run a scenario; the last line printed is the path of its folder.

    Args:
        scenario: Name or file.
        robot: Another robot, or None.
        out: Folder, or None for the default.
        seed: Seed, or None for the scenario's.
        overrides: `key=value` texts.

    Returns:
        0 if it passed, 1 if the robot fell or did not finish.
    """
    from surefoot.scenario import RunInterrupted, run_scenario

    try:
        with _progress() as bar:
            task = bar.add_task("simulating", total=1.0)
            result = run_scenario(
                scenario, robot=robot, out=out, seed=seed, overrides=overrides,
                progress=lambda share: bar.update(task, completed=share),
            )  # fmt: skip
    except RunInterrupted as stop:
        _print(stop.result)
        raise
    _print(result)
    return 0 if result.passed else 1


def _progress() -> Progress:
    console = Console(file=sys.stderr)
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.percentage:3.0f} %"),
        TimeRemainingColumn(),
    )
    return Progress(*columns, console=console, transient=True, disable=not console.is_terminal)


def _print(result: RunResult) -> None:
    """The summary, and the folder alone on the last line."""
    print(_summary(result.metrics))
    print(result.path, flush=True)


def _summary(metrics: dict[str, Any]) -> str:
    """The run in a few lines."""
    m = metrics
    rows = [
        f"{m['scenario']} · {m['robot']} · seed {m['seed']} · {m['duration_s']:.2f} s simulated: {m['verdict']}",
        _row("foot slip", metrics["slip_m"], "m"),
        _row("highest torque / limit", metrics["max_torque_ratio"], ""),
        _row("joint tracking error (rms)", metrics["tracking_rms"], "rad"),
        _row("energy residual", metrics["energy_residual_j"], "J"),
        _row("momentum residual", metrics["momentum_residual"], "kg m/s"),
    ]
    rows += [_row(key.replace("_", " "), m[key], "") for key in m.get("study_metrics", ()) if _is_number(m[key])]
    if m.get("audit"):
        rows.append(_audit(m["audit"]))
    if m.get("incidents"):
        rows.append(_list("incidents", [_incident(item) for item in m["incidents"]]))
    rows += [_list(what, m.get(key, [])) for key, what in _REMARKS.items() if m.get(key)]
    return "\n".join(rows)


def _audit(found: dict[str, Any]) -> str:
    if found["passed"]:
        return "  audit of the motion: no defect"
    count = found["defects"]
    return f"  audit of the motion: {count} defect{'s' if count > 1 else ''}, first: {found['first']}"


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _incident(item: dict[str, Any]) -> str:
    place = f" of {item['where']}" if item["where"] else ""
    return f"{item['kind'].replace('_', ' ')}{place} at {item['start_s']:.2f} s"


def _list(what: str, items: list[str]) -> str:
    more = f" and {len(items) - 4} more" if len(items) > 4 else ""
    return f"  {what}: {'; '.join(items[:4])}{more}"


def _row(name: str, value: float | None, unit: str) -> str:
    return f"  {name:<28}{'–' if value is None else f'{value:.3g} {unit}'.rstrip()}"
