"""`surefoot run`: a scenario, its summary, its folder."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from rich.console import Console
from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from surefoot.cli.console import FirstTimeColumn, reduction

if TYPE_CHECKING:
    from surefoot.scenario import RunResult

IDEAL = ("estimator.kind=none", "sensors.kind=none", "sensors.dropout=0.0", "sensors.burst=0.0")
"""Overrides that show the controller the true state."""

_LOADING = "loading"
# Position of the bar at the start of each stage; the last one ends at 1.
_BEGINS = {_LOADING: 0.0, "compiling": 0.05, "simulating": 0.1, "auditing": 0.4, "writing the report": 0.9}
_REMARKS = {
    "lifted": "inertia raised to the engine's minimum",
    "locked": "joints locked because they move no mass",
    "notes": "note",
}
_USUAL = [  # key, name and unit
    ("slip_m", "foot slip", "m"),
    ("max_torque_ratio", "highest torque / limit", ""),
    ("tracking_rms", "joint tracking error (rms)", "rad or m"),
    ("energy_residual_j", "energy residual", "J"),
    ("momentum_residual", "momentum residual", "N s"),
]


def run_command(
    scenario: str,
    robot: str | None,
    out: Path | None,
    seed: int | None,
    overrides: list[str],
    world: str | None = None,
) -> int:
    """Run a scenario; the last line printed is the path of its folder.

    Returns:
        0 if it passed, 1 if the robot fell or did not finish.
    """
    with RunProgress() as bar:
        from surefoot.scenario import RunInterrupted, run_scenario

        try:
            result = run_scenario(scenario, robot, out, seed, overrides, stage=bar.tell, world=world)
        except RunInterrupted as stop:
            bar.stop()
            _print(stop.result)
            raise
    _print(result)
    return 0 if result.passed else 1


def reduction_keys(lock: Sequence[str], only: str | None, home: str = "usual") -> list[str]:
    """`key=value` texts for joints that are held, and for the home posture.

    Args:
        lock: `joint=position` texts.
        only: Comma-separated names, or None.
        home: "usual", "own" or "auto".
    """
    found = reduction(lock, only)
    held = ", ".join(f"{json.dumps(name)} = {value!r}" for name, value in found["lock"].items())
    keys = {
        f"robot.lock={{{held}}}": bool(lock),
        f"robot.only={json.dumps(found['only'])}": only is not None,
        f"robot.home={json.dumps(home)}": home != "usual",
    }
    return [key for key, is_given in keys.items() if is_given]


def _print(result: RunResult) -> None:
    """The summary, and the folder alone on the last line."""
    print(_summary(result.metrics))
    print(result.path, flush=True)


def _summary(metrics: dict[str, Any]) -> str:
    """A short summary of the run."""
    from surefoot.words import verdict_text

    m = metrics
    head = f"{m['scenario']} · {m['robot']} · seed {m['seed']} · {m['duration_s']:.2f} s simulated: {verdict_text(m)}"
    rows = [head, *_table([*_USUAL, *(_study_row(key) for key in m.get("study_metrics", ()) if _is_number(m[key]))], m)]
    if m.get("audit"):
        rows.append(_audit(m["audit"]))
    if m.get("incidents"):
        rows.append(_list("incidents", [_incident(item) for item in m["incidents"]]))
    rows += [_list(what, m.get(key, [])) for key, what in _REMARKS.items() if m.get(key)]
    return "\n".join(rows)


def _study_row(key: str) -> tuple[str, str, str]:
    from surefoot.words import name_and_unit

    return key, *name_and_unit(key)


def _table(rows: list[tuple[str, str, str]], metrics: dict[str, Any]) -> list[str]:
    """Lines of names, numbers and units with aligned numbers."""
    width = max(len(name) for _, name, _ in rows)
    texts = {key: "–" if metrics[key] is None else f"{metrics[key]:.3g} {unit}".rstrip() for key, _, unit in rows}
    return [f"  {name:<{width}}  {texts[key]}" for key, name, _ in rows]


def _audit(found: dict[str, Any]) -> str:
    if found["passed"]:
        return "  motion audit: no defects"
    from surefoot.words import counted

    return f"  motion audit: {counted(found['defects'], 'defect')}, first: {found['first']}"


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _incident(item: dict[str, Any]) -> str:
    place = f" of {item['where']}" if item["where"] else ""
    return f"{item['kind'].replace('_', ' ')}{place} at {item['start_s']:.2f} s"


def _list(what: str, items: list[str]) -> str:
    more = f" and {len(items) - 4} more" if len(items) > 4 else ""
    return f"  {what}: {'; '.join(items[:4])}{more}"


def share_of_run(stage: str, share: float) -> float:
    """Share of the whole run, 0…1.

    Args:
        stage: What is done now.
        share: How much of it is done, 0…1.
    """
    begins = _BEGINS[stage]
    ends = min((later for later in _BEGINS.values() if later > begins), default=1.0)
    return begins + share * (ends - begins)


class RunProgress:
    """A progress bar on stderr, if that is a terminal, until the run ends."""

    def __init__(self) -> None:
        console = Console(file=sys.stderr)
        self._bar = Progress(
            SpinnerColumn(),
            TextColumn("{task.description}"),
            BarColumn(bar_width=24),
            TextColumn("{task.percentage:3.0f} %"),
            TimeElapsedColumn(),
            *([FirstTimeColumn()] if console.is_terminal else []),
            console=console,
            transient=True,
            disable=not console.is_terminal,
        )
        self._task = self._bar.add_task(_LOADING, total=1.0)

    def tell(self, stage: str, share: float) -> None:
        """Show a stage of a run.

        Args:
            stage: What is done now.
            share: How much of it is done, 0…1.
        """
        self._bar.update(self._task, description=stage, completed=share_of_run(stage, share))

    def stop(self) -> None:
        """Remove the bar."""
        self._bar.stop()

    def __enter__(self) -> Self:
        self._bar.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()
