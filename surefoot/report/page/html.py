"""HTML of pages: the self-contained frame, tables, and the summary of a run."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterable, Mapping, Sequence
from hashlib import sha256
from importlib import resources
from typing import Any

from surefoot.markup import Html, html, joined
from surefoot.report.evidence import DataTable, Evidence
from surefoot.words import metric_label


def asset(name: str) -> str:
    """The text of a style or script file of this room."""
    return resources.files("surefoot.report").joinpath(name).read_text(encoding="utf-8")


_STYLE = asset("page.css")


def html_page(title: str, body: Html, script: str = "") -> Html:
    """A whole page.

    Args:
        title: Its title.
        body: HTML of its body.
        script: JavaScript that runs after it.
    """
    return html(
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">{}'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        '<link rel="icon" href="data:,"><title>{}</title><style>{}</style></head>\n'
        "<body>\n{}\n{}</body></html>\n",
        policy_html(script), title, Html(_STYLE), body, html("<script>{}</script>", Html(script)) if script else "",
    )  # fmt: skip


def policy_html(*scripts: str) -> Html:
    """The policy of a page: it loads nothing, and of scripts only its own run, by their digests.

    Args:
        *scripts: The texts of its script elements, to the letter.
    """
    digests = [b64encode(sha256(text.encode()).digest()).decode() for text in scripts if text]
    allowed = " ".join(f"'sha256-{digest}'" for digest in digests) or "'none'"
    rules = (
        f"default-src 'none'; script-src {allowed}; style-src 'unsafe-inline'; img-src data: blob:; "
        "base-uri 'none'; form-action 'none'"
    )
    return html('<meta http-equiv="Content-Security-Policy" content="{}">', rules)


def html_table(head: Sequence[str], rows: Iterable[Sequence[str | float]]) -> Html:
    """A table with right-aligned numbers.

    Args:
        head: Column titles.
        rows: Texts (escaped here) and numbers.
    """
    body = list(rows)
    numeric = [all(isinstance(row[i], int | float) for row in body) and bool(body) for i in range(len(head))]
    cells = [joined(_cell("th", text, numeric[i]) for i, text in enumerate(head))]
    cells += [joined(_cell("td", value, numeric[i]) for i, value in enumerate(row)) for row in body]
    return html('<div class="scroll"><table>{}</table></div>', joined(html("<tr>{}</tr>", row) for row in cells))


def _cell(tag: str, value: str | float, is_number: bool) -> Html:
    text = f"{value:.4g}".replace("inf", "∞").replace("-", "−") if isinstance(value, int | float) else value
    return html('<{0} class="number">{1}</{0}>' if is_number else "<{0}>{1}</{0}>", tag, text)


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


def summary_html(evidence: Evidence) -> Html:
    """The summary as HTML."""
    metrics = evidence.metrics
    rows = [(metric_label(key), _text(value)) for key, value in metrics.items() if key not in _ELSEWHERE]
    items = joined(html("<li>{}</li>", note) for note in evidence.notes)
    parts = [
        _tiles(metrics),
        _incidents(evidence.incidents),
        *map(_data_table, evidence.tables),
        html("<h2>Metrics</h2>{}", html_table(("metric", "value"), rows)) if rows else "",
        html("<h2>Notes</h2><ul>{}</ul>", items) if items else Html(),
        evidence.details,
        _scenario(evidence),
        _versions(evidence),
    ]
    return joined([part for part in parts if part], "\n") or Html('<p class="empty">No summary available.</p>')


def _tiles(metrics: Mapping[str, Any]) -> Html:
    """The numbers that most readers look for first."""
    found = [(key, *_TILES[key]) for key in _TILES if isinstance(metrics.get(key), int | float)]
    tiles = joined(
        html('<div class="tile"><b>{} {}</b><span>{}</span></div>', _text(metrics[key]), unit, title)
        for key, title, unit in found
    )
    return html('<div class="tiles">{}</div>', tiles) if tiles else Html()


def _incidents(found: Sequence[Mapping[str, Any]]) -> Html:
    if not found:
        return Html()
    shown = [key for key in _INCIDENT_KEYS if any(key in item for item in found)]
    rows = [[item.get(key) for key in shown] for item in found]
    jumps = [k for k, key in enumerate(shown) if key in ("start_s", "end_s")]
    return _data_table(DataTable("Incidents", [_INCIDENT_KEYS[key] for key in shown], rows, jumps))


def _data_table(table: DataTable) -> Html:
    """A table; a click on a time jumps there."""
    head = joined(html("<th>{}</th>", text) for text in table.head)
    cells = (joined(_data_cell(value, k in table.jumps) for k, value in enumerate(row)) for row in table.rows)
    rows = joined(html("<tr>{}</tr>", row) for row in cells)
    return html(
        '<h2>{}</h2><div class="scroll"><table class="data"><tr>{}</tr>{}</table></div>', table.title, head, rows
    )


def _data_cell(value: Any, jumps: bool) -> Html:
    if jumps and isinstance(value, int | float):
        return html('<td><button type="button" class="link" data-jump="{!r}">{}</button></td>', value, _text(value))
    return html("<td>{}</td>", _text(value))


def _scenario(evidence: Evidence) -> Html:
    if not evidence.scenario_text:
        return Html()
    return html("<details><summary>Scenario</summary><pre>{}</pre></details>", evidence.scenario_text)


def _versions(evidence: Evidence) -> Html:
    rows = [("seed", str(evidence.seed))] if evidence.seed is not None else []
    rows += [(key, str(value)) for key, value in evidence.versions.items()]
    if not rows:
        return Html()
    return html("<details><summary>Versions and seed</summary>{}</details>", html_table(("what", "version"), rows))


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
