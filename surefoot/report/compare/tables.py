"""Differences between runs: metrics, scenario, versions."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from surefoot.report.run_folder import RunFolder

_TINY = 1e-12

_NOT_COMPARED = ("schema", "versions", "study_metrics")
_FIRST = (
    "verdict", "completed", "fallen", "fall_time_s", "audit.passed", "audit.defects", "audit.first", "audit.at_s",
    "incidents", "duration_s", "slip_m", "max_torque_ratio", "tracking_rms", "energy_residual_j", "momentum_residual",
)  # fmt: skip
_INCIDENT = re.compile(r"incidents(?: \(count\)|\[\d+\]\.(\w+))?")


@dataclass(frozen=True)
class DifferenceRow:
    """One quantity of all runs.

    Args:
        key: Its name, dotted where it stood in a table.
        values: Of each run; None where it has none.
        absolute: Difference to the first run, of each run after it; None where there is no number.
        relative: The same as a share of the first run's value; None also where that is 0 to 1e-12.
    """

    key: str
    values: tuple[Any, ...]
    absolute: tuple[float | None, ...]
    relative: tuple[float | None, ...]

    @property
    def differs(self) -> bool:
        """Whether not all runs have the same value."""
        return any(value != self.values[0] or _is_flag(value) != _is_flag(self.values[0]) for value in self.values)


@dataclass(frozen=True)
class Comparison:
    """Differences between runs.

    Args:
        names: Of the runs; differences are to the first one.
        metrics: All metrics.
        scenario: Keys of the scenario that differ.
        versions: Packages whose versions differ.
    """

    names: tuple[str, ...]
    metrics: tuple[DifferenceRow, ...]
    scenario: tuple[DifferenceRow, ...]
    versions: tuple[DifferenceRow, ...]

    def metrics_in_short(self) -> tuple[DifferenceRow, ...]:
        """The metrics for display: verdict, audit and general metrics first; incidents as one row.

        Returns:
            Rows; the values of `incidents` are texts such as "3, first at 0.50 s".
        """
        of_incidents = [row for row in self.metrics if _INCIDENT.fullmatch(row.key)]
        others = [row for row in self.metrics if not _INCIDENT.fullmatch(row.key)]
        texts = [_incidents_text(of_incidents, k) for k in range(len(self.names))]
        rows = [*others, _row("incidents", tuple(texts))] if of_incidents else others
        return tuple(sorted(rows, key=lambda row: _FIRST.index(row.key) if row.key in _FIRST else len(_FIRST)))

    def to_dict(self) -> dict[str, Any]:
        """As numbers, texts and lists, for JSON."""
        return {"runs": list(self.names)} | {
            part: {
                row.key: {"values": list(row.values), "absolute": list(row.absolute), "relative": list(row.relative)}
                for row in getattr(self, part)
            }
            for part in ("metrics", "scenario", "versions")
        }


def compare_runs(runs: Sequence[RunFolder], names: Sequence[str] | None = None) -> Comparison:
    """The differences between runs.

    Args:
        runs: Two or more.
        names: What to call them; their folders if omitted.
    """
    metrics = [{k: v for k, v in run.metrics.items() if k not in _NOT_COMPARED} for run in runs]
    versions = [dict(run.metrics.get("versions", {})) for run in runs]
    return Comparison(
        tuple(names or run_names(runs)),
        difference_rows([flattened(table) for table in metrics]),
        tuple(row for row in difference_rows([flattened(run.scenario) for run in runs]) if row.differs),
        tuple(row for row in difference_rows(versions) if row.differs),
    )


def run_names(runs: Sequence[RunFolder]) -> list[str]:
    """Short unique names of runs: the folder name, with parent folders if needed."""
    paths = [run.path.resolve().parts for run in runs]
    for depth in range(1, max(len(parts) for parts in paths) + 1):
        names = ["/".join(parts[-depth:]) for parts in paths]
        if len(set(names)) == len(names):
            return names
    return [f"{'/'.join(parts[-1:])} ({k})" for k, parts in enumerate(paths, 1)]


def flattened(table: Mapping[str, Any], before: str = "") -> dict[str, Any]:
    """Tables in tables as dotted keys; lists of tables by their places, long lists as texts.

    Args:
        table: Nested tables.
        before: Put before all keys.
    """
    out: dict[str, Any] = {}
    for key, value in table.items():
        name = f"{before}{key}"
        if isinstance(value, Mapping):
            out |= flattened(value, f"{name}.")
        elif isinstance(value, list) and any(isinstance(item, Mapping) for item in value):
            out[f"{name} (count)"] = len(value)
            for k, item in enumerate(value):
                out |= flattened(item, f"{name}[{k}].") if isinstance(item, Mapping) else {f"{name}[{k}]": item}
        else:
            out[name] = value
    return out


def difference_rows(tables: Sequence[Mapping[str, Any]]) -> tuple[DifferenceRow, ...]:
    """A row for each key of any table, in the order of the first one that has it.

    Args:
        tables: Flat; one for each run.
    """
    keys = dict.fromkeys(key for table in tables for key in table)
    return tuple(_row(key, tuple(table.get(key) for table in tables)) for key in keys)


def _row(key: str, values: tuple[Any, ...]) -> DifferenceRow:
    first = values[0]
    absolute = tuple(float(v - first) if _is_number(v) and _is_number(first) else None for v in values[1:])
    relative = tuple(None if d is None or abs(first) < _TINY else d / abs(first) for d in absolute)
    return DifferenceRow(key, values, absolute, relative)


def _incidents_text(rows: Sequence[DifferenceRow], run: int) -> str | None:
    """Number of incidents of a run and the start of the first; None if unknown."""
    found: dict[str, list[Any]] = {}
    for row in rows:
        what = _INCIDENT.fullmatch(row.key)
        if what is not None and row.values[run] is not None:
            found.setdefault(what[1] or "", []).append(row.values[run])
    if "start_s" not in found:
        return "none" if found else None
    count = sum(found["times"]) if "times" in found else len(found["start_s"])
    return f"{count}, first at {min(found['start_s']):.2f} s"


def _is_flag(value: Any) -> bool:
    return isinstance(value, bool)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not _is_flag(value)
