"""HTML of pages: the self-contained frame, tables, and the summary of a run."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from importlib import resources
from typing import Any

from surefoot.report.evidence import Evidence
from surefoot.words import metric_label

__all__ = ["asset", "html_page", "html_table", "summary_html"]


def asset(name: str) -> str:
    """The text of a style or script file of this room."""
    return resources.files("surefoot.report").joinpath(name).read_text(encoding="utf-8")


_STYLE = asset("page.css")


def html_page(title: str, body: str) -> str:
    """A whole page.

    Args:
        title: Its title.
        body: HTML of its body.
    """
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f'<link rel="icon" href="data:,"><title>{escape(title)}</title><style>{_STYLE}</style></head>\n'
        f"<body>\n{body}\n</body></html>\n"
    )


def html_table(head: Sequence[str], rows: Iterable[Sequence[str | float]]) -> str:
    """A table with right-aligned numbers.

    Args:
        head: Column titles.
        rows: Texts (escaped here) and numbers.
    """
    body = list(rows)
    numeric = [all(isinstance(row[i], int | float) for row in body) and bool(body) for i in range(len(head))]
    cells = ["".join(_cell("th", text, numeric[i]) for i, text in enumerate(head))]
    cells += ["".join(_cell("td", value, numeric[i]) for i, value in enumerate(row)) for row in body]
    return '<div class="scroll"><table>' + "".join(f"<tr>{row}</tr>" for row in cells) + "</table></div>"


def _cell(tag: str, value: str | float, is_number: bool) -> str:
    text = f"{value:.4g}".replace("inf", "∞").replace("-", "−") if isinstance(value, int | float) else escape(value)
    return f'<{tag} class="number">{text}</{tag}>' if is_number else f"<{tag}>{text}</{tag}>"


_TILES = {
    "duration_s": ("duration", "s"),
    "slip_m": ("largest slip", "m"),
    "max_torque_ratio": ("highest torque / limit", ""),
    "tracking_rms": ("tracking error (rms)", "rad"),
    "energy_residual_j": ("energy residual", "J"),
    "momentum_residual": ("momentum residual", "N s"),
}
_INCIDENT_KEYS = {
    "kind": "what",
    "where": "where",
    "times": "times",
    "start_s": "first [s]",
    "end_s": "last [s]",
    "worst": "worst",
}
_ELSEWHERE = ("versions", "incidents", "notes", "seed", "schema", "study_metrics")


def summary_html(evidence: Evidence) -> str:
    """The summary as HTML.

    Args:
        evidence: What to sum up.
    """
    metrics = evidence.metrics
    rows = [(metric_label(key), _text(value)) for key, value in metrics.items() if key not in _ELSEWHERE]
    parts = [
        _tiles(metrics),
        _incidents(evidence.incidents),
        ("<h2>Metrics</h2>" + html_table(("metric", "value"), rows)) if rows else "",
        _notes(evidence.notes),
        _scenario(evidence),
        _versions(evidence),
    ]
    return "\n".join(part for part in parts if part) or '<p class="empty">No summary available.</p>'


def _tiles(metrics: Mapping[str, Any]) -> str:
    """The numbers that most readers look for first."""
    found = [(key, *_TILES[key]) for key in _TILES if isinstance(metrics.get(key), int | float)]
    tiles = "".join(
        f'<div class="tile"><b>{escape(_text(metrics[key]))} {unit}</b><span>{title}</span></div>'
        for key, title, unit in found
    )
    return f'<div class="tiles">{tiles}</div>' if tiles else ""


def _incidents(found: Sequence[Mapping[str, Any]]) -> str:
    """The incidents; a click on a time jumps there."""
    if not found:
        return ""
    shown = [key for key in _INCIDENT_KEYS if any(key in item for item in found)]
    head = "".join(f"<th>{escape(_INCIDENT_KEYS[key])}</th>" for key in shown)
    rows = "".join(f"<tr>{''.join(_incident_cell(key, item.get(key)) for key in shown)}</tr>" for item in found)
    return f'<h2>Incidents</h2><div class="scroll"><table><tr>{head}</tr>{rows}</table></div>'


def _incident_cell(key: str, value: Any) -> str:
    if key in ("start_s", "end_s") and isinstance(value, int | float):
        return f'<td><button type="button" class="link" data-jump="{value!r}">{escape(_text(value))}</button></td>'
    return f"<td>{escape(_text(value))}</td>"


def _notes(notes: Sequence[str]) -> str:
    items = "".join(f"<li>{escape(note)}</li>" for note in notes)
    return f"<h2>Notes</h2><ul>{items}</ul>" if items else ""


def _scenario(evidence: Evidence) -> str:
    if not evidence.scenario_text:
        return ""
    return f"<details><summary>Scenario</summary><pre>{escape(evidence.scenario_text)}</pre></details>"


def _versions(evidence: Evidence) -> str:
    rows = [("seed", str(evidence.seed))] if evidence.seed is not None else []
    rows += [(key, str(value)) for key, value in evidence.versions.items()]
    if not rows:
        return ""
    return f"<details><summary>Versions and seed</summary>{html_table(('what', 'version'), rows)}</details>"


def _text(value: Any) -> str:
    if value is None:
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.4g}".replace("inf", "∞").replace("-", "−")
    if isinstance(value, Mapping):
        return ", ".join(f"{key}: {_text(item)}" for key, item in value.items()) or "–"
    if isinstance(value, list | tuple):
        return ", ".join(_text(item) for item in value) or "–"
    return str(value)
