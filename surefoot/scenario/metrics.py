"""Metrics of a run, computed from its log alone."""

from __future__ import annotations

import importlib.metadata
import platform
from typing import Any

import numpy as np

from surefoot.arrays import Array
from surefoot.motion import Log, LogWriter

SCHEMA = "surefoot.metrics/1"
_COLUMNS = (
    "torque.ratio",
    "energy.residual",
    "momentum.residual",
    "tracking.error",
    "push.force",
    "base.tilt",
    "base.height",
    "v",
)
_PACKAGES = ("surefoot", "pin", "mujoco", "numpy", "scipy", "pyarrow")


def metrics_of(log: Log, scenario: str, robot: str) -> dict[str, Any]:
    """The metrics of a run; None where a number does not exist.

    Args:
        log: The log of the run.
        scenario: Name of the scenario.
        robot: Name of the robot.

    Returns:
        Ready for strict JSON. `completed`: the planned duration was reached. `slip_m`: of the contact surface that slid
        most. `energy_residual_j`, `momentum_residual` [N s]: the largest on the way. `tracking_rms` [rad] or [m]: over
        all joints that have a reference, and ticks.
    """
    slips = {name: _last(values) for name, values in _of_contacts(log, "slip").items()}
    forces = {name: _peak(values[:, 2]) for name, values in _of_contacts(log, "wrench").items()}
    fall_time = log.metadata["fall_time_s"]
    return {
        "schema": SCHEMA,
        "scenario": scenario,
        "robot": robot,
        "seed": log.metadata["seed"],
        "duration_s": _finite(log.time[-1] - log.time[0]) if len(log) else 0.0,
        "completed": not log.partial,
        "fallen": fall_time is not None,
        "fall_time_s": fall_time,
        "slip_m": max((slip for slip in slips.values() if slip is not None), default=0.0),
        "max_torque_ratio": _peak(log["torque.ratio"]),
        "energy_residual_j": _peak(log["energy.residual"]),
        "momentum_residual": _peak(np.linalg.norm(log["momentum.residual"], axis=1)),
        "tracking_rms": _rms(log["tracking.error"]),
        "versions": versions(),
        "planned_duration_s": log.metadata["planned_duration_s"],
        "slip_by_contact_m": slips,
        "peak_normal_force_n": forces,
        "peak_push_n": _peak(np.linalg.norm(log["push.force"], axis=1)),
        "max_tilt_rad": _peak(log["base.tilt"]),
        "min_base_height_m": _finite(log["base.height"].min()) if len(log) else None,
        "final_speed": _peak(log["v"][-1:]),
        **_of_constraints(log),
        "engine": log.metadata["engine"],
        "incidents": _grouped(log.metadata["incidents"]),
        "lifted": log.metadata["lifted"],
        "locked": log.metadata["locked"],
        "notes": log.metadata["notes"],
    }


def metrics_of_nothing(scenario: str, robot: str, seed: int) -> dict[str, Any]:
    """The same keys for a run that never started.

    Args:
        scenario: Name of the scenario.
        robot: Name of the robot.
        seed: Of all randomness.
    """
    facts = {"seed": seed, "fall_time_s": None, "planned_duration_s": None, "engine": None}
    lists: dict[str, list[Any]] = {"incidents": [], "lifted": [], "locked": [], "notes": []}
    empty = LogWriter(dict.fromkeys(_COLUMNS, "1"), {"momentum.residual": 3, "push.force": 3, "v": 1})
    return metrics_of(empty.log(partial=True, metadata={**facts, **lists}), scenario, robot)


def _grouped(incidents: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Incidents of one kind at one place as one: how often, when first and last, and the worst."""
    groups: dict[tuple[str, str, str], list[dict[str, Any]]] = {}
    for item in incidents:
        groups.setdefault((item["robot"], item["kind"], item["where"]), []).append(item)
    return [
        {
            "robot": robot,
            "kind": kind,
            "where": where,
            "times": len(items),
            "start_s": items[0]["start"],
            "end_s": max(item["end"] for item in items),
            "worst": max(item["worst"] for item in items),
        }
        for (robot, kind, where), items in groups.items()
    ]


def _of_constraints(log: Log) -> dict[str, float | None]:
    """The largest gap of closed chains, couplings and held contacts [m] or [rad], and the largest rate of one."""
    names = {"max_constraint_gap": "constraint.gap", "max_constraint_rate": "constraint.rate"}
    return {key: _peak(log[name]) for key, name in names.items() if name in log}


def _of_contacts(log: Log, what: str) -> dict[str, Array]:
    """The columns `contact.<name>.<what>`, by name of the contact."""
    names = [name for name in log.columns if name.startswith("contact.") and name.endswith(f".{what}")]
    return {name.removeprefix("contact.").removesuffix(f".{what}"): log[name] for name in names}


def versions() -> dict[str, str]:
    """Versions of Python and of the packages that decide the numbers."""
    found = {name: importlib.metadata.version(name) for name in _PACKAGES}
    return {"python": platform.python_version(), **found}


def _finite(value: Any) -> float | None:
    return float(value) if np.isfinite(value) else None


def _last(values: Array) -> float | None:
    return _finite(values[-1]) if len(values) else None


def _peak(values: Array) -> float | None:
    """Largest measured magnitude."""
    measured = np.abs(values[~np.isnan(values)])
    return _finite(measured.max()) if measured.size else None


def _rms(values: Array) -> float | None:
    measured = values[~np.isnan(values)]
    return _finite(np.sqrt(np.mean(measured**2))) if measured.size else None
