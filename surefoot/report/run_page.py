"""The page of a run: the motion as a figure that plays and scrubs, curves over time, and the metrics."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefoot.motion import Obstacle
from surefoot.report.outlines import outlines
from surefoot.report.page import asset, html_page, html_table
from surefoot.report.stick_figure import figure_lines
from surefoot.robot.robot import Robot

__all__ = ["Curve", "run_page"]

Array = NDArray[np.float64]
_FRAMES_PER_SECOND = 25.0
_MAX_FRAMES = 1500
_LEGEND_COLUMNS = 3
_COLOURS = ("#1f77b4", "#d35400", "#27ae60", "#8e44ad", "#c0392b", "#16a085")


@dataclass(frozen=True)
class Curve:
    """A plot over time.

    Args:
        title: What it shows.
        unit: Of its values.
        lines: Values (n,) by name.
    """

    title: str
    unit: str
    lines: Mapping[str, Array]


def run_page(
    robot: Robot,
    time: Array,
    q: Array,
    curves: Sequence[Curve],
    metrics: Mapping[str, Any],
    obstacles: Sequence[Obstacle] = (),
) -> str:
    """The page as HTML.

    Args:
        robot: The robot.
        time: (n,) [s].
        q: (n, nq) its motion.
        curves: What to plot over the same times.
        metrics: The numbers of the run.
        obstacles: What stands in the world.
    """
    title = f"{metrics['scenario']} · {metrics['robot']}"
    verdict = escape(str(metrics["verdict"]))
    plots = "".join(
        f"<figure>{_plot(time, c)}<figcaption>{escape(c.title)} [{escape(c.unit)}]</figcaption></figure>"
        for c in curves
    )
    rows = [(key, _text(value)) for key, value in metrics.items() if not _has_tables(value)]
    versions = [(key, str(value)) for key, value in metrics.get("versions", {}).items()]
    body = [
        f"<h1>{escape(title)}</h1>",
        f'<p class="verdict">{verdict} · {metrics["duration_s"]:.2f} s simulated · seed {metrics["seed"]}</p>',
        _player(robot, time, q, obstacles),
        f"<h2>Over time</h2><div class='figures'>{plots}</div>",
        _incidents(metrics.get("incidents", [])),
        "<h2>Metrics</h2>" + html_table(("metric", "value"), rows),
        "<h2>Versions</h2>" + html_table(("package", "version"), versions),
    ]
    return html_page(title, "\n".join(body))


def _has_tables(value: Any) -> bool:
    """Whether a metric is a table, or a list of tables, for which a cell is too small."""
    return isinstance(value, dict) or (isinstance(value, list) and any(isinstance(item, dict) for item in value))


def _incidents(found: Sequence[Mapping[str, Any]]) -> str:
    """What went wrong, and when."""
    if not found:
        return "<h2>Incidents</h2><p>None.</p>"
    head = ("what", "where", "times", "first [s]", "last [s]", "worst")
    keys = ("kind", "where", "times", "start_s", "end_s", "worst")
    return "<h2>Incidents</h2>" + html_table(head, [tuple(_text(item[key]) for key in keys) for item in found])


def _text(value: Any) -> str:
    return f"{value:.6g}" if isinstance(value, float) else "–" if value is None else str(value)


def _player(robot: Robot, time: Array, q: Array, obstacles: Sequence[Obstacle]) -> str:
    """Two canvases with the skeleton and the obstacles, a button and a slider."""
    rows = _frame_rows(time)
    shown = [figure_lines(robot, q[row]) for row in rows]
    data = {
        "t": np.round(time[rows], 4).tolist(),
        "bones": [np.round(bones, 3).ravel().tolist() for bones, _ in shown],
        "soles": [np.round(edges, 3).ravel().tolist() for _, edges in shown],
        "outlines": outlines(obstacles),
    }
    return asset("player.html") + f"<script>const MOTION = {json.dumps(data)};\n{asset('player.js')}</script>"


def _frame_rows(time: Array) -> NDArray[np.int64]:
    """Rows of the frames to show: 25 a second, at most 1500."""
    count = int(min(_MAX_FRAMES, max(2.0, (time[-1] - time[0]) * _FRAMES_PER_SECOND + 1.0)))
    return np.unique(np.searchsorted(time, np.linspace(time[0], time[-1], count)).clip(0, len(time) - 1))


def _plot(time: Array, curve: Curve, width: int = 480, height: int = 220) -> str:
    """Lines over time with axes, as SVG."""
    step = max(1, len(time) // 1000)
    t = time[::step]
    values = {name: np.asarray(line, dtype=float)[::step] for name, line in curve.lines.items()}
    named = list(values) if len(values) > 1 else []
    top = 12 + 14 * -(-len(named) // _LEGEND_COLUMNS)
    axes = _Axes(t, *_range(values), left=62, right=width - 22, top=top, bottom=height - 26)
    parts = [f'<svg viewBox="0 0 {width} {height}" role="img" aria-label="{escape(curve.title)}">', axes.grid()]
    for i, line in enumerate(values.values()):
        colour = _COLOURS[i % len(_COLOURS)]
        parts.append(f'<polyline points="{axes.path(line)}" fill="none" stroke="{colour}" stroke-width="1.5"/>')
    parts += [_legend(i, name, axes.left) for i, name in enumerate(named)]
    return "".join([*parts, "</svg>"])


def _legend(i: int, name: str, left: float) -> str:
    """The name of line i, three in a row."""
    x, y = left + 138 * (i % _LEGEND_COLUMNS), 14 + 14 * (i // _LEGEND_COLUMNS)
    short = name if len(name) <= 21 else name[:20] + "…"
    colour = _COLOURS[i % len(_COLOURS)]
    return f'<text x="{x}" y="{y}" font-size="11" fill="{colour}">{escape(short)}</text>'


def _range(values: Mapping[str, Array]) -> tuple[float, float]:
    """Bounds of all finite values, a little wider."""
    stacked = np.concatenate(list(values.values()))
    finite = stacked[np.isfinite(stacked)]
    low, high = (float(finite.min()), float(finite.max())) if len(finite) else (0.0, 1.0)
    pad = 0.05 * (high - low) or max(abs(high), 1.0) * 0.05
    return low - pad, high + pad


@dataclass(frozen=True)
class _Axes:
    """Where times and values lie in the picture [px]."""

    time: Array
    low: float
    high: float
    left: float
    right: float
    top: float
    bottom: float

    def x(self, s: float) -> float:
        return self.left + (s - self.time[0]) / max(self.time[-1] - self.time[0], 1e-9) * (self.right - self.left)

    def y(self, value: float) -> float:
        return self.top + (self.high - value) / (self.high - self.low) * (self.bottom - self.top)

    def path(self, line: Array) -> str:
        rows = zip(self.time, line, strict=True)
        return " ".join(f"{self.x(s):.1f},{self.y(v):.1f}" for s, v in rows if np.isfinite(v))

    def grid(self) -> str:
        text = '<text font-size="11" fill="currentColor"'
        parts = []
        heights = _ticks(self.low, self.high)
        for value, label in zip(heights, _labels(heights), strict=True):
            y = self.y(value)
            parts.append(f'<path d="M{self.left} {y:.1f}H{self.right}" stroke="currentColor" stroke-opacity=".15"/>')
            parts.append(f'{text} x="{self.left - 6}" y="{y + 4:.1f}" text-anchor="end">{label}</text>')
        for value in _ticks(float(self.time[0]), float(self.time[-1])):
            parts.append(
                f'{text} x="{self.x(value):.1f}" y="{self.bottom + 18}" text-anchor="middle">{value:.4g} s</text>'
            )
        return "".join(parts)


def _labels(ticks: Sequence[float]) -> list[str]:
    """Texts of ticks, with as many digits as tell them apart."""
    for digits in range(4, 17):
        texts = [f"{value:.{digits}g}" for value in ticks]
        if len(set(texts)) == len(texts):
            break
    return texts


def _ticks(low: float, high: float, count: int = 6) -> list[float]:
    """Round values between two bounds (steps of 1, 2 or 5 times a power of ten)."""
    raw = max((high - low) / count, 1e-12)
    power = 10.0 ** np.floor(np.log10(raw))
    step = next(power * m for m in (1.0, 2.0, 5.0, 10.0) if power * m >= raw)
    first = np.ceil(low / step) * step
    return [float(round(first + i * step, 12)) for i in range(int((high - first) / step + 1e-9) + 1)]
