"""The page that compares runs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from surefoot.arrays import Array
from surefoot.compiler import compile_robot
from surefoot.errors import NotSupportedError
from surefoot.markup import Html, html, joined
from surefoot.motion import Trajectory, World
from surefoot.report.compare.tables import Comparison, DifferenceRow, compare_runs, run_names
from surefoot.report.evidence import Evidence, Ghost, PlanePlot, Plot
from surefoot.report.page import JointSeries, joint_positions, joint_velocities, report_page, torque_series
from surefoot.report.run_folder import RunFolder
from surefoot.words import metric_label, share_text

_REPLAY_RATE = 50.0
_MOST_FRAMES = 3000
_SUMMARY = '<div id="panel-summary" role="tabpanel" aria-labelledby="tab-summary" hidden>'
_STYLE = Html("""<style>
#panel-summary .comparison td + td { overflow-wrap: normal; }
#panel-summary .comparison td + td, #panel-summary .comparison th + th { min-width: 7em; }
#panel-summary .comparison td:first-child { min-width: 9em; overflow-wrap: anywhere; }
#panel-summary .comparison .delta { display: block; color: var(--muted); font-size: 12px; white-space: nowrap; }
</style>""")


def compare_page(runs: Sequence[RunFolder], world: World | None = None) -> str:
    """The page as HTML: overlaid plots, ghosts in the replay, tables of differences.

    Args:
        runs: Two or more; the first is drawn in full.
        world: The world of the first run.
    """
    names = run_names(runs)
    page = report_page(compare_evidence(dict(zip(names, runs, strict=True)), world))
    before, found, after = page.partition(_SUMMARY)
    if not found:
        raise NotSupportedError("the page has no summary panel for the comparison")
    return before + found + comparison_html(compare_runs(runs, names)) + after


def compare_evidence(runs: Mapping[str, RunFolder], world: World | None = None) -> Evidence:
    """The content of the page: the first run, the others as ghosts, and all of them in the plots.

    Args:
        runs: Two or more, by name.
        world: The world of the first run.
    """
    (main_name, main), *others = runs.items()
    times = [run.trajectory.time for run in runs.values()]
    clock = common_clock(times, _MOST_FRAMES, _REPLAY_RATE)
    motion = held(main.trajectory, clock)
    drawn = [(name, run) for name, run in others if run.robot.tree.body_names == main.robot.tree.body_names]
    return Evidence(
        " · ".join(runs),
        main.robot,
        clock,
        motion.q,
        subtitle=f"{len(runs)} runs compared; {_who_is_drawn(main_name, len(others), len(drawn))}",
        world=world,
        v=motion.v,
        wrenches=motion.wrenches,
        ghosts=tuple(Ghost(name, run.robot, run.trajectory.time, run.trajectory.q) for name, run in drawn),
        plots=compare_plots(runs, common_clock(times)),
        planes=_planes(runs, clock),
        notes=(*_ends(runs), *_not_drawn(others, drawn)),
    )


def _who_is_drawn(first: str, others: int, drawn: int) -> str:
    if not drawn:
        return f"the replay shows only {first}, because the robots differ"
    return f"{first} in colour, {'the others' if drawn == others else f'{drawn} of the others'} pale"


def comparison_html(comparison: Comparison) -> Html:
    """The tables of differences as HTML."""
    metrics = comparison.metrics_in_short()
    same = [row for row in metrics if not row.differs]
    labels = {row.key: metric_label(row.key) for row in metrics}
    parts = [
        _STYLE,
        Html("<h2>Metrics side by side</h2>"),
        _table(comparison, [row for row in metrics if row.differs], labels),
        html(
            "<details><summary>{}</summary>{}</details>",
            _how_many_are_the_same(len(same)),
            _table(comparison, same, labels),
        )
        if same
        else Html(),
    ]
    for title, rows in (("Scenario", comparison.scenario), ("Versions", comparison.versions)):
        parts += [html("<h2>{}: differences</h2>", title), _table(comparison, rows)]
    return html('<div class="comparison">{}</div>', joined(parts, "\n"))


def _how_many_are_the_same(count: int) -> str:
    return "1 metric is the same" if count == 1 else f"{count} metrics are the same"


def number_text(value: Any) -> str:
    """Format a value with few digits.

    Args:
        value: A number, flag, text, list or None.
    """
    if value is None:
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.4g}"
    if isinstance(value, list | tuple):
        return ", ".join(number_text(item) for item in value) or "–"
    return str(value)


def _table(comparison: Comparison, rows: Sequence[DifferenceRow], labels: Mapping[str, str] | None = None) -> Html:
    """A column for each run, with differences to the first one below the values."""
    if not rows:
        return Html("<p>Nothing.</p>")
    head = joined(html("<th>{}</th>", name) for name in ("", *comparison.names))
    body = joined(html("<tr><td>{}</td>{}</tr>", (labels or {}).get(row.key, row.key), _cells(row)) for row in rows)
    return html('<div class="scroll"><table><tr>{}</tr>{}</table></div>', head, body)


def _cells(row: DifferenceRow) -> Html:
    first, *others = (number_text(value) for value in row.values)
    differences = [_difference(a, r) for a, r in zip(row.absolute, row.relative, strict=True)]
    small = [html('<span class="delta">{}</span>', text) if text else "" for text in differences]
    return joined(html("<td>{}{}</td>", a, b) for a, b in zip([first, *others], ["", *small], strict=True))


def _difference(absolute: float | None, relative: float | None) -> str:
    """`+0.01 (+50 %)`; "" where there is none."""
    if not absolute:
        return ""
    share = share_text(relative, "\u00a0%")
    return f"{absolute:+.4g}" + (f" ({share})" if share else "")


def _planes(runs: Mapping[str, RunFolder], clock: Array) -> tuple[PlanePlot, ...]:
    """Paths of the centres of mass of floating-base robots."""
    tracks = {name: _way(run, clock) for name, run in runs.items() if run.robot.base == "floating"}
    if len(tracks) < 2:
        return ()
    return (PlanePlot("Centres of mass, top view", ("x", "y"), "m", tracks, group="Base"),)


def _way(run: RunFolder, clock: Array) -> Array:
    com = np.asarray(compile_robot(run.robot).com(held(run.trajectory, clock).q))[:, :2]
    there = (clock >= run.trajectory.start) & (clock <= run.trajectory.end)
    return np.where(there[:, None], com, np.nan)


def _ends(runs: Mapping[str, RunFolder]) -> list[str]:
    """Start and end of each run, if they differ."""
    spans = {name: (run.trajectory.start, run.trajectory.end) for name, run in runs.items()}
    if len(set(spans.values())) == 1:
        start, end = next(iter(spans.values()))
        return [f"All runs last from {start:.4g} to {end:.4g} s."]
    return [
        f"{name} lasts from {a:.4g} to {b:.4g} s and is held still outside this span." for name, (a, b) in spans.items()
    ]


def _not_drawn(others: Sequence[tuple[str, RunFolder]], drawn: Sequence[tuple[str, RunFolder]]) -> list[str]:
    left_out = {name: run.robot.name for name, run in others if name not in dict(drawn)}
    return [f"{name} uses another robot ({robot}) and appears only in the plots." for name, robot in left_out.items()]


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
