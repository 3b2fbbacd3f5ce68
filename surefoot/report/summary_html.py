"""The summary of a page: headline numbers, metrics, incidents, scenario, versions, notes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

from surefoot.report.evidence import Evidence
from surefoot.report.page import html_table
from surefoot.words import metric_label

__all__ = ["summary_html"]

_TILES = {
    "duration_s": ("length of the motion", "s"),
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
    return "\n".join(part for part in parts if part) or '<p class="empty">There is nothing to sum up.</p>'


def _tiles(metrics: Mapping[str, Any]) -> str:
    """The numbers that most readers look for first."""
    found = [(key, *_TILES[key]) for key in _TILES if isinstance(metrics.get(key), int | float)]
    tiles = "".join(
        f'<div class="tile"><b>{escape(_text(metrics[key]))} {unit}</b><span>{title}</span></div>'
        for key, title, unit in found
    )
    return f'<div class="tiles">{tiles}</div>' if tiles else ""


def _incidents(found: Sequence[Mapping[str, Any]]) -> str:
    """What happened; a click on a time goes there."""
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
