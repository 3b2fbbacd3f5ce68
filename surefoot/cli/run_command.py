"""`surefoot run`: a scenario, its summary, its folder."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from surefoot.cli.run_progress import RunProgress

if TYPE_CHECKING:
    from surefoot.scenario import RunResult

__all__ = ["run_command"]

_REMARKS = {
    "lifted": "inertia lifted to what physics accepts",
    "locked": "joints locked, as they move no mass",
    "notes": "note",
}
_USUAL = [  # key, name and unit
    ("slip_m", "foot slip", "m"),
    ("max_torque_ratio", "highest torque / limit", ""),
    ("tracking_rms", "joint tracking error (rms)", "rad or m"),
    ("energy_residual_j", "energy residual", "J"),
    ("momentum_residual", "momentum residual", "N s"),
]


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
    with RunProgress() as bar:
        from surefoot.scenario import RunInterrupted, run_scenario

        try:
            result = run_scenario(scenario, robot=robot, out=out, seed=seed, overrides=overrides, stage=bar.tell)
        except RunInterrupted as stop:
            bar.stop()
            _print(stop.result)
            raise
    _print(result)
    return 0 if result.passed else 1


def _print(result: RunResult) -> None:
    """The summary, and the folder alone on the last line."""
    print(_summary(result.metrics))
    print(result.path, flush=True)


def _summary(metrics: dict[str, Any]) -> str:
    """The run in a few lines."""
    m = metrics
    head = f"{m['scenario']} · {m['robot']} · seed {m['seed']} · {m['duration_s']:.2f} s simulated: {m['verdict']}"
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
    """Lines of names, numbers and units, the numbers under each other."""
    width = max(len(name) for _, name, _ in rows)
    texts = {key: "–" if metrics[key] is None else f"{metrics[key]:.3g} {unit}".rstrip() for key, _, unit in rows}
    return [f"  {name:<{width}}  {texts[key]}" for key, name, _ in rows]


def _audit(found: dict[str, Any]) -> str:
    if found["passed"]:
        return "  audit of the motion: no defect"
    from surefoot.words import counted

    return f"  audit of the motion: {counted(found['defects'], 'defect')}, first: {found['first']}"


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _incident(item: dict[str, Any]) -> str:
    place = f" of {item['where']}" if item["where"] else ""
    return f"{item['kind'].replace('_', ' ')}{place} at {item['start_s']:.2f} s"


def _list(what: str, items: list[str]) -> str:
    more = f" and {len(items) - 4} more" if len(items) > 4 else ""
    return f"  {what}: {'; '.join(items[:4])}{more}"
