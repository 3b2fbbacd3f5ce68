"""The same plots of several runs over each other, for what at least two of them have."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from surefoot.arrays import Array
from surefoot.report.compare_clock import on_clock
from surefoot.report.evidence import Plot
from surefoot.report.motion_plots import JointSeries, joint_positions, joint_velocities, torque_series
from surefoot.report.run_folder import RunFolder

__all__ = ["Quantity", "compare_plots", "joint_quantities", "log_quantities"]

_BY_JOINT = ("time", "q", "v", "tau", "tracking.error")
_WRENCH = (("force x", "N"), ("force y", "N"), ("force z", "N"), ("moment x", "N m"), ("moment y", "N m"),
           ("moment z", "N m"))  # fmt: skip
_GROUPS = {
    "base": "Base", "com": "Base", "contact": "Contacts", "torque": "Joint torque", "energy": "Energy",
    "momentum": "Momentum", "estimate": "Estimate", "sensor": "Sensors", "push": "Events",
}  # fmt: skip
_KEY = ("base height", "base tilt", "torque ratio")
_ORDER = ("Base", "Contacts", "Joint position", "Joint velocity", "Joint torque", "Momentum", "Energy")


@dataclass(frozen=True, eq=False)
class Quantity:
    """Something of one run over time.

    Args:
        group: The heading of its plot.
        title: Of its plot.
        unit: Of its values.
        time: (n,) [s].
        values: (n,).
        lower: Limit from below; −∞ for none.
        upper: Limit from above; ∞ for none.
        small: Whether its plot is one of many small ones.
    """

    group: str
    title: str
    unit: str
    time: Array
    values: Array
    lower: float = -np.inf
    upper: float = np.inf
    small: bool = False


def compare_plots(runs: Mapping[str, RunFolder], clock: Array) -> tuple[Plot, ...]:
    """A plot for each quantity that at least two runs have in the same unit.

    Args:
        runs: By name.
        clock: (m,) the common times [s].
    """
    found: dict[tuple[str, str, str], dict[str, Quantity]] = {}
    for name, run in runs.items():
        for item in [*log_quantities(run), *joint_quantities(run)]:
            found.setdefault((item.group, item.title, item.unit), {})[name] = item
    shared = [items for items in found.values() if len(items) > 1 and _says_something(items)]
    plots = [_plot(items, clock) for items in shared]
    return tuple(sorted(plots, key=lambda plot: _ORDER.index(plot.group) if plot.group in _ORDER else len(_ORDER)))


def log_quantities(run: RunFolder) -> list[Quantity]:
    """What the log has beside the joints.

    Args:
        run: The run.
    """
    out = []
    for column in run.log:
        if column.name in _BY_JOINT or not len(run.log):
            continue
        title, group = _readable(column.name), _GROUPS.get(column.name.partition(".")[0], "Other")
        if column.name.endswith(".wrench") and column.size == 6:
            parts = [(f"{title.removesuffix(' wrench')}: {part}", unit) for part, unit in _WRENCH]
        else:
            parts = [(_readable(name), column.unit) for name in column.entries]
        series = column.entries.values()
        out += [Quantity(group, t, u, run.log.time, x) for (t, u), x in zip(parts, series, strict=True)]
    return out


def joint_quantities(run: RunFolder) -> list[Quantity]:
    """Positions, velocities and torques of the joints by name.

    Args:
        run: The run.
    """
    motion, robot = run.trajectory, run.robot
    groups: list[tuple[str, Array | None, Callable[..., list[JointSeries]]]] = [
        ("Joint position", motion.q, joint_positions),
        ("Joint velocity", motion.v, joint_velocities),
        ("Joint torque", motion.tau, torque_series),
    ]
    return [
        Quantity(group, item.name, item.unit, motion.time, item.values, item.lower, item.upper, small=True)
        for group, values, series in groups
        if values is not None
        for item in series(robot, values)
    ]


def _says_something(items: Mapping[str, Quantity]) -> bool:
    """Whether any run has more than zeros and gaps there."""
    return any(bool(np.any(np.nan_to_num(item.values) != 0.0)) for item in items.values())


def _plot(items: Mapping[str, Quantity], clock: Array) -> Plot:
    """One plot with a line for each run; limits where all runs have the same."""
    first = next(iter(items.values()))
    limits = {(item.lower, item.upper) for item in items.values()}
    bounded = len(limits) == 1
    return Plot(
        first.title,
        first.unit,
        {name: on_clock(item.time, item.values, clock) for name, item in items.items()},
        first.group,
        {"": first.lower} if bounded and np.isfinite(first.lower) else {},
        {"": first.upper} if bounded and np.isfinite(first.upper) else {},
        clock,
        key=first.title in _KEY or first.title.endswith(": force z"),
        small=first.small,
    )


def _readable(name: str) -> str:
    return name.removeprefix("contact.").replace(".", " ").replace("_", " ")
