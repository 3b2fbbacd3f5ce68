"""`report_page`: the page of one motion, with replay, plots, audit and summary on one clock."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from html import escape
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefoot.arrays import Array
from surefoot.files import write_text
from surefoot.geometry import convex_hull
from surefoot.motion import AuditItem, AuditResult
from surefoot.report.evidence import Evidence, PlanePlot, Plot, Region, contact_activity, with_layers
from surefoot.report.packing import quantised
from surefoot.report.page.html import asset, summary_html
from surefoot.report.page.plot_data import plots_data
from surefoot.report.scene import frame_rows, scene_data
from surefoot.words import counted

__all__ = ["audit_data", "least_in_buckets", "plane_of_balance", "report_page", "support_regions", "write_report"]

_POINTS = 160


def audit_data(audit: AuditResult) -> dict[str, Any]:
    """Findings, items with their margins over time, and the replay.

    Args:
        audit: The result of an audit.
    """
    return {
        "passed": audit.passed,
        "findings": [finding.to_dict() for finding in audit.findings],
        "items": [_item(item) for item in audit.items],
        "contacts": audit.contacts,
        "remarks": list(audit.remarks),
        "replay": None if audit.replay is None else audit.replay.to_dict(),
        "seconds": float(sum(audit.seconds.values())),
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
    """Add a top view and plots over time of centre of mass, ZMP and capture point, where they are known.

    Args:
        evidence: A motion with its layers.
    """
    points = {name: getattr(evidence, key) for key, name in _NAMES.items()}
    known = {name: values for name, values in points.items() if values is not None}
    if not known:
        return evidence
    whose = " (first run)" if evidence.ghosts else ""
    plane = PlanePlot(
        f"Balance, top view{whose}", ("x", "y"), "m", {name: v[:, :2] for name, v in known.items()},
        support_regions(evidence, contact_activity(evidence)),
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
    """Write the page to a file, whole or not at all.

    Args:
        path: The file.
        evidence: What to show.
    """
    write_text(path, report_page(evidence))


def report_page(evidence: Evidence) -> str:
    """The page as one self-contained HTML file.

    Args:
        evidence: What to show; layers that are missing and can be computed are added.
    """
    shown = plane_of_balance(with_layers(evidence))
    parts = {
        "TITLE": escape(shown.title),
        "SUBTITLE": escape(shown.subtitle),
        "VERDICT": _verdict(shown),
        "AUDIT_TAB": _audit_tab(shown),
        "AUDIT_PANEL": '<div id="panel-audit" role="tabpanel" aria-labelledby="tab-audit" hidden></div>'
        if shown.audit
        else "",
        "SUMMARY": summary_html(shown),
        "STYLE": asset("web/report.css"),
        "THREE": asset("vendor/three.min.js"),
        "SCRIPT": "\n".join(asset(f"web/{name}") for name in _SCRIPTS),
        "DATA": _script_text(_data(shown)),
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


def _script_text(data: dict[str, Any]) -> str:
    """JSON that cannot close the script element around it."""
    text = json.dumps(data, allow_nan=False, ensure_ascii=False, separators=(",", ":"), default=_plain)
    return text.replace("<", "\\u003c")


def _plain(value: Any) -> Any:
    """Convert NumPy scalars to Python scalars."""
    if isinstance(value, np.generic):
        return value.item()
    raise TypeError(f"{type(value).__name__} is not JSON-serialisable")


def _verdict(evidence: Evidence) -> str:
    """The verdict; for a run also that of the audit, which may differ."""
    verdict, audit = evidence.verdict, evidence.audit
    if verdict is None:
        return ""
    if not verdict.of:
        return _pill(verdict.text, verdict.passed, 'div role="status"')
    pills = _pill(f"{verdict.of}: {verdict.text}", verdict.passed, 'div role="status"')
    if audit is not None:
        found = counted(_defects(audit), "defect") if _defects(audit) else "no defects"
        opens = 'button type="button" onclick="document.getElementById(\'tab-audit\').click()"'
        pills += _pill(f"audit: {found}", audit.passed, opens)
    return f'<div class="verdicts">{pills}</div>'


def _pill(text: str, passed: bool, element: str) -> str:
    kind = "pass" if passed else "fail"
    return f'<{element} class="verdict {kind}">{escape(text)}</{element.partition(" ")[0]}>'


def _defects(audit: AuditResult) -> int:
    return sum(finding.severity == "defect" for finding in audit.findings)


def _audit_tab(evidence: Evidence) -> str:
    if evidence.audit is None:
        return ""
    defects = _defects(evidence.audit)
    count = f'<span class="count">{defects}</span>' if defects else '<span class="count pass">✓</span>'
    attributes = (
        'role="tab" type="button" id="tab-audit" aria-controls="panel-audit" aria-selected="false" tabindex="-1"'
    )
    return f"<button {attributes}>Audit{count}</button>"
