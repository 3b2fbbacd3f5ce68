"""The page that compares constraint methods, with lines over time and bars on logarithmic axes as SVG."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from surefoot.arrays import Array
from surefoot.markup import Html, html, joined
from surefoot.report.methods.data import MethodRun, MethodsComparison
from surefoot.report.page import html_page, html_table

COLOURS = (
    "#4477aa", "#ee6677", "#228833", "#ccbb44", "#66ccee", "#aa3377", "#e08020", "#777777", "#44aa99", "#882255",
    "#999933", "#6699cc",
)  # fmt: skip
_WIDTH, _HEIGHT, _LEFT, _BELOW, _ABOVE, _RIGHT = 440, 250, 48, 34, 14, 14  # px
_POINTS = 300
_MOST_DECADES = 16
_ROW, _LABEL = 22, 110  # px


def lines_svg(time: Array, lines: Mapping[str, Array], label: str, floor: float = 1e-16) -> Html:
    """Magnitudes over time, one line each, on a logarithmic axis.

    Args:
        time: (n,) [s].
        lines: (n,) by name.
        label: What is drawn, with its unit, for readers of screens.
        floor: What counts as nothing and is drawn there.
    """
    rows = np.unique(np.linspace(0, len(time) - 1, _POINTS).astype(int))
    values = {name: np.maximum(np.abs(np.nan_to_num(line[rows])), floor) for name, line in lines.items()}
    low, high = _decades(np.concatenate([*values.values(), [1.0 * floor]]) if values else np.array([floor]), floor)
    across, down = _WIDTH - _LEFT - _RIGHT, _HEIGHT - _ABOVE - _BELOW
    span = max(float(time[-1] - time[0]), 1e-12)

    def at(t: float, value: float) -> tuple[float, float]:
        share = (np.log10(value) - low) / (high - low)
        return _LEFT + across * (t - float(time[0])) / span, _ABOVE + down * (1.0 - share)

    parts = [_head(_WIDTH, _HEIGHT, label)]
    for power in _ticks(low, high):
        y = at(float(time[0]), 10.0**power)[1]
        parts += [_grid(_LEFT, y, _WIDTH - _RIGHT, y), _text(_LEFT - 6, y + 4, _power(power), "end")]
    for t in _round_times(float(time[0]), float(time[-1])):
        x = at(t, 10.0**low)[0]
        parts += [_grid(x, _ABOVE, x, _HEIGHT - _BELOW), _text(x, _HEIGHT - _BELOW + 16, f"{t:g}")]
    parts.append(_text(_WIDTH - _RIGHT, _HEIGHT - 4, "time [s]", "end"))
    for k, (name, line) in enumerate(values.items()):
        points = " ".join(
            "{:.1f},{:.1f}".format(*at(float(t), float(y))) for t, y in zip(time[rows], line, strict=True)
        )
        dash = "none" if k == 0 or len(values) <= 4 else f"{6 + 2 * k} {3 + 3 * k}"
        parts.append(
            html(
                '<polyline points="{}" fill="none" stroke="{}" stroke-width="2" stroke-dasharray="{}">'
                "<title>{}</title></polyline>",
                points,
                COLOURS[k % len(COLOURS)],
                dash,
                name,
            )
        )
    return joined([*parts, Html("</svg>")])


def bars_svg(values: Mapping[str, float | None], label: str, text: str = "{:.2g}") -> Html:
    """Bars on a logarithmic axis, with their numbers.

    Args:
        values: By name, positive; None where there is none.
        label: What is drawn, with its unit, for readers of screens.
        text: How a number is written.
    """
    known = [value for value in values.values() if value is not None and value > 0.0]
    height = _ROW * len(values) + 6
    low, high = _decades(np.array(known), 1e-300) if known else (0.0, 1.0)
    low, across = low - 0.15 * (high - low), _WIDTH - _LABEL - 74
    parts = [_head(_WIDTH, height, label)]
    for k, (name, value) in enumerate(values.items()):
        y = 4 + _ROW * k
        parts.append(_text(_LABEL - 8, y + 15, name, "end"))
        if value is None or value <= 0.0:
            parts.append(_text(_LABEL, y + 15, "–" if value is None else "0", "start"))
            continue
        length = max(2.0, across * float((np.log10(value) - low) / (high - low)))
        colour = COLOURS[k % len(COLOURS)]
        parts.append(
            html(
                '<rect x="{}" y="{}" width="{:.1f}" height="{}" rx="3" fill="{}"/>',
                _LABEL,
                y + 3,
                length,
                _ROW - 8,
                colour,
            )
        )
        parts.append(_text(_LABEL + length + 6, y + 15, text.format(value), "start"))
    return joined([*parts, Html("</svg>")])


def _decades(values: Array, floor: float) -> tuple[float, float]:
    """Powers of ten around the values."""
    above = values[values > floor]
    found = above if len(above) else np.array([floor])
    low, high = float(np.floor(np.log10(found.min()))), float(np.ceil(np.log10(found.max())))
    if (values <= floor).any() and len(above) and floor > 1e-200:
        low = max(float(np.log10(floor)), high - _MOST_DECADES)
    low = max(low, high - _MOST_DECADES)
    return low, max(high, low + 1.0)


def _ticks(low: float, high: float) -> list[int]:
    step = max(1, int(np.ceil((high - low) / 6)))
    return list(range(int(np.ceil(low)), int(high) + 1, step))


def _round_times(start: float, end: float) -> list[float]:
    rough = max(end - start, 1e-9) / 5.0
    power = 10.0 ** np.floor(np.log10(rough))
    unit = float(power * min((1.0, 2.0, 5.0, 10.0), key=lambda k: abs(k * power - rough)))
    count = int(np.floor((end - start) / unit + 1e-9))
    return [start + unit * k for k in range(count + 1)]


def _head(width: float, height: float, label: str) -> Html:
    return html(
        '<svg viewBox="0 0 {} {}" role="img" font-family="system-ui, sans-serif" aria-label="{}">', width, height, label
    )


def _grid(x1: float, y1: float, x2: float, y2: float) -> Html:
    return html(
        '<line x1="{:.1f}" y1="{:.1f}" x2="{:.1f}" y2="{:.1f}" stroke="currentColor" stroke-opacity=".15"/>',
        x1, y1, x2, y2,
    )  # fmt: skip


def _text(x: float, y: float, text: str, anchor: str = "middle") -> Html:
    return html(
        '<text x="{:.1f}" y="{:.1f}" font-size="12" fill="currentColor" text-anchor="{}">{}</text>', x, y, anchor, text
    )


_RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def _power(power: int) -> str:
    return "1" if power == 0 else "10" + str(power).translate(_RAISED)


COLUMNS: Mapping[str, tuple[str, Callable[[MethodRun], Any]]] = {
    "largest gap": ("m | rad", lambda run: run.gap_max),
    "grows as t^": ("", lambda run: run.gap_growth),
    "largest rate": ("m/s | rad/s", lambda run: run.rate_max),
    "energy error": ("J", lambda run: run.energy_error_j),
    "condition": ("", lambda run: run.condition),
    "off in a": ("relative", lambda run: run.acceleration_error),
    "off in Jᵀλ": ("relative", lambda run: run.force_error),
    "step": ("µs", lambda run: None if run.step_s is None else 1e6 * run.step_s),
}
"""Columns of the tables: title → unit, and what it shows of a run."""
_STYLE = Html("""<style>
.key { display: flex; flex-wrap: wrap; gap: .2rem .9rem; font-size: .85rem; margin: .4rem 0 1rem; }
.key span::before { content: ""; display: inline-block; width: .8em; height: .8em; border-radius: 2px;
  margin-right: .35em; background: var(--colour); vertical-align: -1px; }
.figures { grid-template-columns: repeat(auto-fill, minmax(min(30rem, 100%), 1fr)); }
td + td, th + th { text-align: right; font-variant-numeric: tabular-nums; padding-left: .6rem; }
td { white-space: nowrap; }
th + th { overflow-wrap: normal; vertical-align: bottom; font-weight: 500; }
</style>""")


def methods_page(comparison: MethodsComparison) -> Html:
    """The page as HTML."""
    c = comparison
    title = f"Constraint methods on {c.scenario}"
    facts = (
        f"{c.robot} · {len(c.rows)} constraint rows, {c.rank} independent · {c.mobility} degrees of freedom left · "
        f"{c.integrator}, steps of {1e3 * c.dt:g} ms, {c.duration:g} s"
    )
    parts = [_STYLE, html("<h1>{}</h1>\n<p>{}</p>", title, facts), *_of_methods(c), *_of_ways(c)]
    return html_page(title, joined(parts, "\n"), "document.body.dataset.ready = 1")


def cell_text(value: Any) -> str:
    """A number in three digits, or a dash.

    Args:
        value: A number or None.
    """
    if value is None or value == 0.0:
        return "–" if value is None else "0"
    if 100.0 <= value < 1e6:
        return f"{value:.0f}"
    return f"{value:.3g}".replace("e-0", "e-").replace("e+0", "e")


def _of_methods(c: MethodsComparison) -> list[Html]:
    ran = [run for run in c.methods if not run.trouble]
    gaps = {run.name: run.gap for run in ran if run.gap is not None}
    figures = [
        _figure(
            bars_svg(_each(ran, "step"), "computation time per step in µs", "{:.0f}"),
            "Computation time per step [µs], logarithmic",
        ),
        _figure(
            bars_svg(_each(ran, "condition"), "condition numbers"),
            "Condition number of the solved matrix, logarithmic",
        ),
        _figure(
            bars_svg(_each(ran, "off in a"), "differences to the reference"),
            f"Relative difference in acceleration to {c.reference}, logarithmic",
        ),
        _figure(lines_svg(c.time, gaps, "gaps over time"), "Largest gap [m | rad], not stabilised"),
    ]
    missing = [html("<li><b>{}</b>: {}</li>", run.name, run.trouble) for run in c.methods if run.trouble]
    return [
        Html("<h2>Methods, without stabilisation</h2>"),
        Html(
            "<p>All methods solve the same equations, so gap and energy error show the integrator alone. The methods "
            "differ in cost, conditioning and treatment of redundant rows. Times are measured and noisy.</p>"
        ),
        html_table(*_table(c.methods)),
        _key(list(gaps)),
        html('<div class="figures">{}</div>', joined(figures)),
        html("<h2>Not run</h2><ul>{}</ul>", joined(missing)) if missing else Html(),
    ]


def _of_ways(c: MethodsComparison) -> list[Html]:
    ran = [run for run in c.stabilisations if not run.trouble]
    gaps = {run.name: run.gap for run in ran if run.gap is not None}
    leaks = {run.name: run.energy for run in ran if run.energy is not None}
    figures = [
        _figure(lines_svg(c.time, gaps, "gaps over time by stabilisation"), "Largest gap [m | rad]"),
        _figure(lines_svg(c.time, leaks, "energy errors over time by stabilisation"), "Energy error [J]"),
    ]
    shown = [name for name in COLUMNS if name not in ("condition", "off in a", "off in Jᵀλ")]
    return [
        Html("<h2>Stabilisation methods</h2>"),
        html_table(*_table(c.stabilisations, shown)),
        _key(list(gaps)),
        html('<div class="figures">{}</div>', joined(figures)),
    ]


def _table(runs: Sequence[MethodRun], shown: Sequence[str] = tuple(COLUMNS)) -> tuple[list[str], list[list[str]]]:
    head = ["", *(f"{name} [{COLUMNS[name][0]}]" if COLUMNS[name][0] else name for name in shown)]
    return head, [[run.name, *(cell_text(COLUMNS[name][1](run)) for name in shown)] for run in runs]


def _each(runs: Sequence[MethodRun], column: str) -> dict[str, float | None]:
    return {run.name: COLUMNS[column][1](run) for run in runs}


def _figure(svg: Html, caption: str) -> Html:
    return html("<figure>{}<figcaption>{}</figcaption></figure>", svg, caption)


def _key(names: Sequence[str]) -> Html:
    items = (
        html('<span style="--colour: {}">{}</span>', COLOURS[k % len(COLOURS)], name) for k, name in enumerate(names)
    )
    return html('<div class="key">{}</div>', joined(items))
