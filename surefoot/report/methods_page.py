"""The page that lays the methods that hold constraints side by side."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from html import escape
from typing import Any

from surefoot.report.methods_data import MethodRun, MethodsComparison
from surefoot.report.methods_plots import COLOURS, bars_svg, lines_svg
from surefoot.report.page import html_page, html_table

__all__ = ["COLUMNS", "cell_text", "methods_page"]

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
_STYLE = """<style>
.key { display: flex; flex-wrap: wrap; gap: .2rem .9rem; font-size: .85rem; margin: .4rem 0 1rem; }
.key span::before { content: ""; display: inline-block; width: .8em; height: .8em; border-radius: 2px;
  margin-right: .35em; background: var(--colour); vertical-align: -1px; }
.figures { grid-template-columns: repeat(auto-fill, minmax(min(30rem, 100%), 1fr)); }
td + td, th + th { text-align: right; font-variant-numeric: tabular-nums; padding-left: .6rem; }
td { white-space: nowrap; }
th + th { overflow-wrap: normal; vertical-align: bottom; font-weight: 500; }
</style>"""


def methods_page(comparison: MethodsComparison) -> str:
    """The page as HTML.

    Args:
        comparison: What was found.
    """
    c = comparison
    title = f"Constraint methods on {c.scenario}"
    facts = (
        f"{c.robot} · {len(c.rows)} rows, {c.rank} of them independent · degrees of freedom left: {c.mobility} · "
        f"{c.integrator}, steps of {1e3 * c.dt:g} ms, {c.duration:g} s"
    )
    parts = [_STYLE, f"<h1>{escape(title)}</h1>", f"<p>{escape(facts)}</p>", *_of_methods(c), *_of_ways(c)]
    return html_page(title, "\n".join([*parts, "<script>document.body.dataset.ready = 1</script>"]))


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


def _of_methods(c: MethodsComparison) -> list[str]:
    ran = [run for run in c.methods if not run.trouble]
    gaps = {run.name: run.gap for run in ran if run.gap is not None}
    figures = [
        _figure(
            bars_svg(_each(ran, "step"), "computing time of a step in µs", "{:.0f}"),
            "Computing time of a step [µs], logarithmic",
        ),
        _figure(
            bars_svg(_each(ran, "condition"), "condition numbers"),
            "Condition of the matrix that is solved, logarithmic",
        ),
        _figure(
            bars_svg(_each(ran, "off in a"), "differences to the reference"),
            f"Off {c.reference} in acceleration [relative], logarithmic",
        ),
        _figure(lines_svg(c.time, gaps, "gaps over time"), "Largest gap [m | rad], nothing pulls back"),
    ]
    missing = [f"<li><b>{escape(run.name)}</b>: {escape(run.trouble)}</li>" for run in c.methods if run.trouble]
    return [
        "<h2>Methods, with nothing that pulls the state back</h2>",
        "<p>All of them solve the same equations, so that gap and energy say what the integrator does; they differ in "
        "cost, in conditioning, and in what they do with redundant rows. Times are measured and noisy.</p>",
        html_table(*_table(c.methods)),
        _key(list(gaps)),
        f'<div class="figures">{"".join(figures)}</div>',
        f"<h2>Not run</h2><ul>{''.join(missing)}</ul>" if missing else "",
    ]


def _of_ways(c: MethodsComparison) -> list[str]:
    ran = [run for run in c.stabilisations if not run.trouble]
    gaps = {run.name: run.gap for run in ran if run.gap is not None}
    leaks = {run.name: run.energy for run in ran if run.energy is not None}
    figures = [
        _figure(lines_svg(c.time, gaps, "gaps over time by stabilisation"), "Largest gap [m | rad]"),
        _figure(lines_svg(c.time, leaks, "energy errors over time by stabilisation"), "Energy from nowhere [J]"),
    ]
    shown = [name for name in COLUMNS if name not in ("condition", "off in a", "off in Jᵀλ")]
    return [
        "<h2>What keeps the state on its constraints</h2>",
        html_table(*_table(c.stabilisations, shown)),
        _key(list(gaps)),
        f'<div class="figures">{"".join(figures)}</div>',
    ]


def _table(runs: Sequence[MethodRun], shown: Sequence[str] = tuple(COLUMNS)) -> tuple[list[str], list[list[str]]]:
    head = ["", *(f"{name} [{COLUMNS[name][0]}]" if COLUMNS[name][0] else name for name in shown)]
    return head, [[run.name, *(cell_text(COLUMNS[name][1](run)) for name in shown)] for run in runs]


def _each(runs: Sequence[MethodRun], column: str) -> dict[str, float | None]:
    return {run.name: COLUMNS[column][1](run) for run in runs}


def _figure(svg: str, caption: str) -> str:
    return f"<figure>{svg}<figcaption>{escape(caption)}</figcaption></figure>"


def _key(names: Sequence[str]) -> str:
    items = (
        f'<span style="--colour: {COLOURS[k % len(COLOURS)]}">{escape(name)}</span>' for k, name in enumerate(names)
    )
    return f'<div class="key">{"".join(items)}</div>'
