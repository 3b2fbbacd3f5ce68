"""`report_page`: the page of one motion, with replay, plots, audit and summary on one clock."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefoot.arrays import Array
from surefoot.files import write_text
from surefoot.geometry import convex_hull
from surefoot.markup import Html, html, joined
from surefoot.motion import AuditItem, AuditResult
from surefoot.report.evidence import Evidence, PlanePlot, Plot, Region, contact_activity, with_layers
from surefoot.report.packing import packed, quantised, rounded
from surefoot.report.page.html import asset, policy_html, summary_html
from surefoot.report.scene import frame_rows, scene_data
from surefoot.words import counted

_POINTS = 160


def audit_data(audit: AuditResult) -> dict[str, Any]:
    """Findings, items with their margins over time, and the replay."""
    return {
        "passed": audit.passed,
        "findings": [finding.to_dict() for finding in audit.findings],
        "groups": [
            group.to_dict() | {"findings": [audit.findings.index(finding) for finding in group.findings]}
            for group in audit.groups
        ],
        "items": [_item(item) for item in audit.items],
        "contacts": audit.contacts,
        "remarks": list(audit.remarks),
        "replay": None if audit.replay is None else audit.replay.to_dict(),
    }


def _item(item: AuditItem) -> dict[str, Any]:
    plain = item.to_dict()
    if len(item.time) and np.isfinite(item.margin).any():
        plain["start"], plain["end"] = float(item.time[0]), float(item.time[-1])
        plain["series"] = quantised(least_in_buckets(item.time, item.margin))
    return plain


def least_in_buckets(time: Array, margin: Array, points: int = _POINTS) -> Array:
    """The least margin in each of equal times, (points,); NaN where there is none.

    Args:
        time: (m,) [s].
        margin: (m,).
        points: How many.
    """
    span = max(float(time[-1] - time[0]), 1e-12)
    bucket = np.clip(((time - time[0]) / span * points).astype(int), 0, points - 1)
    out = np.full(points, np.inf)
    known = np.isfinite(margin)
    np.minimum.at(out, bucket[known], margin[known])
    return np.where(np.isfinite(out), out, np.nan)


_NAMES = {"com": "centre of mass", "zmp": "ZMP", "capture_point": "capture point"}
_MOST_REGIONS = 200


def plane_of_balance(evidence: Evidence) -> Evidence:
    """Add a top view and plots over time of centre of mass, ZMP and capture point, where they are known."""
    points = {name: getattr(evidence, key) for key, name in _NAMES.items()}
    known = {name: values for name, values in points.items() if values is not None}
    if not known:
        return evidence
    whose = " (first run)" if evidence.ghosts else ""
    plane = PlanePlot(
        f"Balance, top view{whose}", ("x", "y"), "m", {name: v[:, :2] for name, v in known.items()},
        support_regions(evidence, contact_activity(evidence)), outlines=evidence.outlines,
    )  # fmt: skip
    plots = tuple(
        Plot(f"Balance along {axis}{whose}", "m", {name: v[:, k] for name, v in known.items()}, "Balance", key=k == 0)
        for k, axis in enumerate("xy")
    )
    return replace(evidence, planes=(plane, *evidence.planes), plots=(*plots, *evidence.plots))


def support_regions(evidence: Evidence, activity: Mapping[str, NDArray[np.bool_]]) -> tuple[Region, ...]:
    """Convex hulls of the corners of all loaded contacts, one per stance.

    Args:
        evidence: The motion.
        activity: When each contact carries, (n,).
    """
    if not activity:
        return ()
    flags = np.column_stack(list(activity.values()))
    starts = [0, *(np.flatnonzero((flags[1:] != flags[:-1]).any(axis=1)) + 1), len(flags)]
    regions = []
    for a, b in pairwise(starts):
        loaded = [name for name, on in zip(activity, flags[a], strict=True) if on]
        if not loaded:
            continue
        corners = evidence.robot.contact_corners(evidence.q[(a + b - 1) // 2])
        hull = convex_hull(np.vstack([corners[name] for name in loaded])[:, :2])
        if len(hull) > 2:
            regions.append(Region(float(evidence.time[a]), float(evidence.time[min(b, len(flags) - 1)]), hull))
    return tuple(regions[:_MOST_REGIONS])


_SCRIPTS = (
    "decode.js", "numbers.js", "clock.js", "theme.js", "geometry.js", "motion.js", "stage.js", "ground.js", "robot.js",
    "layers.js", "layers_update.js", "axes.js", "plot.js", "plane.js", "panel.js", "findings.js", "lanes.js",
    "transport.js", "main.js",
)  # fmt: skip
_GROUPS_OF_ITEMS = {
    "joint_jump": "Joint position",
    "joint_position": "Joint position",
    "joint_velocity": "Joint velocity",
    "joint_torque": "Joint torque",
    "motor_torque_speed": "Joint torque",
    "motor_power": "Joint torque",
    "unilateral_force": "Contacts",
    "friction": "Contacts",
    "torsional_friction": "Contacts",
    "cop": "Contacts",
    "foot_slip": "Contacts",
    "zmp": "Balance",
    "momentum_residual": "Momentum",
    "energy_residual": "Energy",
    "velocity_consistency": "Joint velocity",
    "column_shift": "Joint velocity",
}


def write_report(path: str | Path, evidence: Evidence) -> None:
    """Write the page to a file, whole or not at all."""
    write_text(path, report_page(evidence))


def report_page(evidence: Evidence, more_scripts: Sequence[str] = ()) -> str:
    """The page as one self-contained HTML file.

    Args:
        evidence: What to show; layers that are missing and can be computed are added.
        more_scripts: Files of scripts that run after those of the page, where they see what these made.
    """
    shown = plane_of_balance(with_layers(evidence))
    own = "\n".join(asset(f"web/{name}") for name in (*_SCRIPTS, *more_scripts))
    script, three = f"(function () {{\n'use strict';\n{own}\n}})();", asset("vendor/three.min.js")
    # JSON that cannot close the script element around it
    text = json.dumps(_data(shown), allow_nan=False, ensure_ascii=False, separators=(",", ":"), default=_plain)
    parts = {
        "POLICY": policy_html(three, script),
        "TITLE": html("{}", shown.title),
        "SUBTITLE": html("{}", shown.subtitle),
        "VERDICT": _verdict(shown),
        "AUDIT_TAB": _audit_tab(shown),
        "AUDIT_PANEL": Html('<div id="panel-audit" role="tabpanel" aria-labelledby="tab-audit" hidden></div>')
        if shown.audit
        else Html(),
        "SUMMARY": summary_html(shown),
        "STYLE": Html(asset("web/report.css")),
        "THREE": Html(three),
        "SCRIPT": Html(script),
        "DATA": Html(text.replace("<", "\\u003c")),
    }
    pieces = asset("web/report.html").split("@")
    return "".join(parts.get(piece, piece) for piece in pieces)


def _data(evidence: Evidence) -> dict[str, Any]:
    """Everything that the scripts of the page need."""
    rows = frame_rows(evidence.time)
    activity = contact_activity(evidence)
    return {
        "scene": scene_data(evidence, rows, activity),
        "plots": plots_data(evidence, rows),
        "audit": None if evidence.audit is None else audit_data(evidence.audit),
        "groups_of_items": _GROUPS_OF_ITEMS,
    }


def _plain(value: Any) -> Any:
    """Convert NumPy scalars to Python scalars."""
    if isinstance(value, np.generic):
        return value.item()
    raise TypeError(f"{type(value).__name__} is not JSON-serialisable")


def _verdict(evidence: Evidence) -> Html:
    """The verdict; for a run also that of the audit, which may differ."""
    verdict, audit = evidence.verdict, evidence.audit
    if verdict is None:
        return Html()
    if not verdict.of:
        return _pill(verdict.text, verdict.passed)
    pills = [_pill(f"{verdict.of}: {verdict.text}", verdict.passed)]
    if audit is not None:
        found = counted(_defects(audit), "defect") if _defects(audit) else "no defects"
        pills.append(_pill(f"audit: {found}", audit.passed, "tab-audit"))
    return html('<div class="verdicts">{}</div>', joined(pills))


def _pill(text: str, passed: bool, opens: str = "") -> Html:
    kind = "pass" if passed else "fail"
    if opens:
        return html('<button type="button" data-open="{}" class="verdict {}">{}</button>', opens, kind, text)
    return html('<div role="status" class="verdict {}">{}</div>', kind, text)


def _defects(audit: AuditResult) -> int:
    return sum(finding.severity == "defect" for finding in audit.findings)


def _audit_tab(evidence: Evidence) -> Html:
    if evidence.audit is None:
        return Html()
    defects = _defects(evidence.audit)
    count = html('<span class="count">{}</span>', defects) if defects else Html('<span class="count pass">✓</span>')
    return html(
        '<button role="tab" type="button" id="tab-audit" aria-controls="panel-audit" aria-selected="false" '
        'tabindex="-1">Audit{}</button>',
        count,
    )


MOST_POINTS = 2000


def plots_data(evidence: Evidence, frame_rows: NDArray[np.int64]) -> dict[str, Any]:
    """All plots: times that lines share, and the plots.

    Args:
        evidence: The motion.
        frame_rows: Rows of the evidence that the replay shows.
    """
    grids: dict[int, int] = {}
    times: list[Array] = []
    out = []
    for plot in evidence.plots:
        time = evidence.time if plot.time is None else np.asarray(plot.time, dtype=float)
        if id(time) not in grids:
            grids[id(time)] = len(times)
            times.append(time)
        out.append({"grid": grids[id(time)], **_plot(plot, len(time))})
    planes = [plane_data(plane, frame_rows) for plane in evidence.planes]
    return {"times": [packed(thinned_times(time), "f8") for time in times], "plots": out, "planes": planes}


def _plot(plot: Plot, count: int) -> dict[str, Any]:
    return {
        "title": plot.title,
        "unit": plot.unit,
        "group": plot.group,
        "key": plot.key,
        "small": plot.small,
        "lines": [{"name": name, **quantised(thinned(values))} for name, values in plot.lines.items()],
        "lower": _bounds(plot.lower, count),
        "upper": _bounds(plot.upper, count),
    }


def _bounds(bounds: Mapping[str, float | Array], count: int) -> dict[str, Any]:
    """Numbers, or series like lines; infinite bounds are omitted."""
    out: dict[str, Any] = {}
    for name, bound in bounds.items():
        values = np.asarray(bound, dtype=float)
        if not np.isfinite(values).any():
            continue
        constant = values.ndim == 0 or bool(np.ptp(values) == 0.0)
        out[name] = float(values.flat[0]) if constant else quantised(thinned(np.broadcast_to(values, (count,))))
    return out


def thinned_times(time: Array, most: int = MOST_POINTS) -> Array:
    """The times of the points of `thinned`: two in each bucket [s].

    Args:
        time: (n,) [s].
        most: Most points.
    """
    if len(time) <= most:
        return time
    edges = _edges(len(time), most)
    starts, ends = time[edges[:-1]], time[edges[1:] - 1]
    out = np.column_stack([starts + 0.25 * (ends - starts), starts + 0.75 * (ends - starts)]).ravel()
    out[0], out[-1] = time[0], time[-1]
    return out


def thinned(values: Array, most: int = MOST_POINTS) -> Array:
    """The smallest and largest value of each of `most` / 2 buckets, in their order.

    Args:
        values: (n,); non-finite values count only if a bucket has no others.
        most: Most points; as they are if there are no more.
    """
    series = np.asarray(values, dtype=float)
    if len(series) <= most:
        return series
    edges = _edges(len(series), most)
    width = int(np.diff(edges).max())
    rows = np.minimum(edges[:-1, None] + np.arange(width), edges[1:, None] - 1)  # short buckets repeat their last
    bucket = series[rows]
    known = np.isfinite(bucket)
    least = np.argmin(np.where(known, bucket, np.inf), axis=1)
    largest = np.argmax(np.where(known, bucket, -np.inf), axis=1)
    pair = np.sort(np.column_stack([least, largest]), axis=1)
    return np.take_along_axis(bucket, pair, axis=1).ravel()


def _edges(count: int, most: int) -> NDArray[np.int64]:
    """Where buckets begin and end."""
    return np.linspace(0, count, most // 2 + 1).astype(np.int64)


def plane_data(plane: PlanePlot, frame_rows: NDArray[np.int64]) -> dict[str, Any]:
    """A plot in a plane; its tracks at the times of the replay.

    Args:
        plane: The plot.
        frame_rows: Rows that the replay shows.
    """
    return {
        "title": plane.title,
        "axes": list(plane.axes),
        "unit": plane.unit,
        "group": plane.group,
        "tracks": [{"name": name, **quantised(np.asarray(track)[frame_rows])} for name, track in plane.tracks.items()],
        "regions": _regions(plane.regions),
        "outlines": [rounded(outline.corners[:, :2]) for outline in plane.outlines],
    }


def _regions(regions: Sequence[Any]) -> list[dict[str, Any]]:
    return [{"start": r.start, "end": r.end, "corners": rounded(r.corners)} for r in regions]
