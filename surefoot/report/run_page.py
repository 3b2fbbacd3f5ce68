"""The page of a run: the motion as a figure that plays and scrubs, curves over time, and the metrics."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefoot.report.page import html_page, html_table
from surefoot.report.stick_figure import figure_lines
from surefoot.robot.robot import Robot

__all__ = ["Curve", "run_page"]

Array = NDArray[np.float64]
_FRAMES_PER_SECOND = 25.0
_MAX_FRAMES = 1500
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


def run_page(robot: Robot, time: Array, q: Array, curves: Sequence[Curve], metrics: Mapping[str, Any]) -> str:
    """The page as HTML.

    Args:
        robot: The robot.
        time: (n,) [s].
        q: (n, nq) its motion.
        curves: What to plot over the same times.
        metrics: The numbers of the run.
    """
    title = f"{metrics['scenario']} · {metrics['robot']}"
    verdict = f"fell at {metrics['fall_time_s']:.2f} s" if metrics["fallen"] else "did not fall"
    plots = "".join(f"<figure>{_plot(time, c)}<figcaption>{escape(c.title)} [{escape(c.unit)}]</figcaption></figure>" for c in curves)
    rows = [(key, _text(value)) for key, value in metrics.items() if not isinstance(value, dict)]
    versions = [(key, str(value)) for key, value in metrics.get("versions", {}).items()]
    body = [
        f"<h1>{escape(title)}</h1>",
        f'<p class="verdict">{verdict} · {metrics["duration_s"]:.2f} s simulated · seed {metrics["seed"]}</p>',
        _player(robot, time, q),
        f"<h2>Over time</h2><div class='figures'>{plots}</div>",
        "<h2>Metrics</h2>" + html_table(("metric", "value"), rows),
        "<h2>Versions</h2>" + html_table(("package", "version"), versions),
    ]
    return html_page(title, "\n".join(body))


def _text(value: Any) -> str:
    return f"{value:.6g}" if isinstance(value, float) else "–" if value is None else str(value)


def _player(robot: Robot, time: Array, q: Array) -> str:
    """Two canvases with the skeleton, a button and a slider."""
    rows = _frame_rows(time)
    shown = [figure_lines(robot, q[row]) for row in rows]
    data = {
        "t": np.round(time[rows], 4).tolist(),
        "bones": [np.round(bones, 3).ravel().tolist() for bones, _ in shown],
        "soles": [np.round(edges, 3).ravel().tolist() for _, edges in shown],
    }
    return (
        '<div class="figures"><figure><canvas id="side" width="560" height="560"></canvas><figcaption>from the side (x →)</figcaption></figure>'
        '<figure><canvas id="front" width="560" height="560"></canvas><figcaption>from the front (y ←)</figcaption></figure></div>'
        '<p><button id="play" type="button">pause</button> '
        '<input id="seek" type="range" min="0" value="0" step="1" style="width:60%" aria-label="time"> <output id="clock"></output></p>'
        f"<script>const MOTION = {json.dumps(data)};\n{_SCRIPT}</script>"
    )


def _frame_rows(time: Array) -> NDArray[np.int64]:
    """Rows of the frames to show: 25 a second, at most 1500."""
    count = int(min(_MAX_FRAMES, max(2.0, (time[-1] - time[0]) * _FRAMES_PER_SECOND + 1.0)))
    return np.unique(np.searchsorted(time, np.linspace(time[0], time[-1], count)).clip(0, len(time) - 1))


_SCRIPT = """
const side = document.getElementById('side'), front = document.getElementById('front');
const seek = document.getElementById('seek'), clock = document.getElementById('clock'), play = document.getElementById('play');
seek.max = MOTION.t.length - 1;
let low = [1e9, 1e9, 1e9], high = [-1e9, -1e9, -1e9];
for (const frame of MOTION.bones) for (let i = 0; i < frame.length; i++) {
  low[i % 3] = Math.min(low[i % 3], frame[i]); high[i % 3] = Math.max(high[i % 3], frame[i]);
}
low[2] = Math.min(low[2], 0);
const span = Math.max(high[0] - low[0], high[1] - low[1], high[2] - low[2], 0.1);
function draw(canvas, axis, sign, k) {
  const c = canvas.getContext('2d'), w = canvas.width, scale = 0.85 * w / span;
  const mid = (low[axis] + high[axis]) / 2, midZ = (low[2] + high[2]) / 2;
  const x = p => w / 2 + sign * (p - mid) * scale, y = p => w / 2 - (p - midZ) * scale;
  c.clearRect(0, 0, w, w); c.lineCap = 'round';
  c.strokeStyle = '#888'; c.lineWidth = 1; c.beginPath(); c.moveTo(0, y(0)); c.lineTo(w, y(0)); c.stroke();
  for (const [set, colour, width] of [[MOTION.bones[k], '#1f77b4', 4], [MOTION.soles[k], '#d35400', 5]]) {
    c.strokeStyle = colour; c.lineWidth = width; c.beginPath();
    for (let i = 0; i < set.length; i += 6) { c.moveTo(x(set[i + axis]), y(set[i + 2])); c.lineTo(x(set[i + 3 + axis]), y(set[i + 5])); }
    c.stroke();
  }
}
function show(k) { draw(side, 0, 1, k); draw(front, 1, -1, k); clock.value = MOTION.t[k].toFixed(2) + ' s'; seek.value = k; }
let running = true, start = performance.now();
const length = MOTION.t[MOTION.t.length - 1] - MOTION.t[0];
play.onclick = () => { running = !running; play.textContent = running ? 'pause' : 'play'; start = performance.now() - 1000 * (MOTION.t[seek.value] - MOTION.t[0]); };
seek.oninput = () => { running = false; play.textContent = 'play'; show(+seek.value); };
function tick(now) {
  if (running) {
    const t = MOTION.t[0] + ((now - start) / 1000) % (length + 0.5);
    let k = MOTION.t.findIndex(s => s > t); show(k < 0 ? MOTION.t.length - 1 : Math.max(0, k - 1));
  }
  requestAnimationFrame(tick);
}
show(0); requestAnimationFrame(tick);
"""


def _plot(time: Array, curve: Curve, width: int = 480, height: int = 220) -> str:
    """Lines over time with axes, as SVG."""
    left, right, top, bottom = 62, 12, 12 + 14 * (len(curve.lines) > 1), 26
    step = max(1, len(time) // 1000)
    t = time[::step]
    values = {name: np.asarray(line, dtype=float)[::step] for name, line in curve.lines.items()}
    stacked = np.concatenate(list(values.values()))
    finite = stacked[np.isfinite(stacked)]
    low, high = (float(finite.min()), float(finite.max())) if len(finite) else (0.0, 1.0)
    pad = 0.05 * (high - low) or max(abs(high), 1.0) * 0.05
    low, high = low - pad, high + pad

    def x(s: float) -> float:
        return left + (s - t[0]) / max(t[-1] - t[0], 1e-9) * (width - left - right)

    def y(v: float) -> float:
        return top + (high - v) / (high - low) * (height - top - bottom)

    parts = [f'<svg viewBox="0 0 {width} {height}" role="img" aria-label="{escape(curve.title)}">']
    for value in _ticks(low, high):
        parts.append(f'<path d="M{left} {y(value):.1f}H{width - right}" stroke="currentColor" stroke-opacity=".15"/>')
        parts.append(f'<text x="{left - 6}" y="{y(value) + 4:.1f}" font-size="11" text-anchor="end" fill="currentColor">{value:.4g}</text>')
    for value in _ticks(float(t[0]), float(t[-1])):
        parts.append(f'<text x="{x(value):.1f}" y="{height - 8}" font-size="11" text-anchor="middle" fill="currentColor">{value:.4g} s</text>')
    for i, (name, line) in enumerate(values.items()):
        colour = _COLOURS[i % len(_COLOURS)]
        path = " ".join(f"{x(s):.1f},{y(v):.1f}" for s, v in zip(t, line, strict=True) if np.isfinite(v))
        parts.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="1.5"/>')
        if len(values) > 1:
            parts.append(f'<text x="{left + 110 * i}" y="14" font-size="11" fill="{colour}">{escape(name)}</text>')
    return "".join([*parts, "</svg>"])


def _ticks(low: float, high: float, count: int = 4) -> list[float]:
    """Round values between two bounds (steps of 1, 2 or 5 times a power of ten)."""
    raw = max((high - low) / count, 1e-12)
    power = 10.0 ** np.floor(np.log10(raw))
    step = next(power * m for m in (1.0, 2.0, 5.0, 10.0) if power * m >= raw)
    first = np.ceil(low / step) * step
    return [float(round(first + i * step, 12)) for i in range(int((high - first) / step + 1e-9) + 1)]
