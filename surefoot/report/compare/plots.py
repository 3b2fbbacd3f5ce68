"""Overlaid plots of several runs, resampled on a common clock, for quantities that at least two of them have."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from surefoot.arrays import Array
from surefoot.motion import Trajectory
from surefoot.report.evidence import Plot
from surefoot.report.page import JointSeries, joint_positions, joint_velocities, torque_series
from surefoot.report.run_folder import RunFolder


def common_clock(times: Sequence[Array], most: int = 20_000, rate: float | None = None) -> Array:
    """Times (m,) from the first start to the last end [s], as fine as the finest run.

    Args:
        times: (n,) of each run [s].
        most: Most samples.
        rate: Samples per second, if not those of the finest run.
    """
    start, end = min(float(time[0]) for time in times), max(float(time[-1]) for time in times)
    step = min((float(np.median(np.diff(time))) for time in times if len(time) > 1), default=end - start)
    step = 1.0 / rate if rate is not None else step
    count = int(np.clip(round((end - start) / step) + 1 if step > 0.0 else 1, 1, most))
    return np.linspace(start, end, count) if end > start else np.array([start])


def on_clock(time: Array, values: Array, clock: Array) -> Array:
    """A series at the times of the clock (m,); NaN where the run has none.

    Args:
        time: (n,) of the run [s].
        values: (n,).
        clock: (m,) [s].
    """
    near = 1e-9 * max(1.0, abs(float(time[-1])))
    at = np.where((clock >= time[0] - near) & (clock <= time[-1] + near), np.clip(clock, time[0], time[-1]), np.nan)
    out = np.interp(at, time, values)
    return np.where(np.isnan(at), np.nan, out)


def held(trajectory: Trajectory, clock: Array) -> Trajectory:
    """A motion at the times of the clock, held still before its start and after its end.

    Args:
        trajectory: The motion.
        clock: (m,) increasing [s].
    """
    inside, back = np.unique(np.clip(clock, trajectory.start, trajectory.end), return_inverse=True)
    sampled = trajectory.resample(inside)
    there = ((clock >= trajectory.start) & (clock <= trajectory.end))[:, None]
    return Trajectory(
        sampled.robot,
        sampled.joints,
        sampled.kinds,
        clock,
        sampled.q[back],
        None if sampled.v is None else np.where(there, sampled.v[back], 0.0),
        wrenches={name: np.where(there, wrench[back], 0.0) for name, wrench in sampled.wrenches.items()},
    )


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
    """A quantity of one run over time.

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
    """The quantities of a log other than those of the joints."""
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
    """Positions, velocities and torques of the joints by name."""
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
    """Whether any run has values other than zero and NaN."""
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
