"""`report_page`: the page of one motion: replay, plots, audit and summary on one clock."""

from __future__ import annotations

import json
from html import escape
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np

from surefoot.files import atomic_write
from surefoot.motion.audit_result import AuditResult
from surefoot.report.audit_data import audit_data
from surefoot.report.evidence import Evidence
from surefoot.report.evidence_layers import contact_activity, with_layers
from surefoot.report.plane_of_balance import plane_of_balance
from surefoot.report.plot_data import plots_data
from surefoot.report.scene_data import frame_rows, scene_data
from surefoot.report.summary_html import summary_html

__all__ = ["report_page", "write_report"]

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
    with atomic_write(path) as temporary:
        temporary.write_text(report_page(evidence), encoding="utf-8")


def report_page(evidence: Evidence) -> str:
    """The page as HTML: one file that asks for nothing from outside.

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
        "STYLE": _asset("web", "report.css"),
        "THREE": _asset("vendor", "three.min.js"),
        "SCRIPT": "\n".join(_asset("web", name) for name in _SCRIPTS),
        "DATA": _script_text(_data(shown)),
    }
    pieces = _asset("web", "report.html").split("@")
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
    """JSON that cannot end the script element it stands in."""
    text = json.dumps(data, allow_nan=False, ensure_ascii=False, separators=(",", ":"), default=_plain)
    return text.replace("<", "\\u003c")


def _plain(value: Any) -> Any:
    """Numbers of NumPy as those of Python."""
    if isinstance(value, np.generic):
        return value.item()
    raise TypeError(f"{type(value).__name__} is no JSON")


def _verdict(evidence: Evidence) -> str:
    """How it ended; of a run also what the audit says of its motion, which may be otherwise."""
    verdict, audit = evidence.verdict, evidence.audit
    if verdict is None:
        return ""
    if not verdict.of:
        return _pill(verdict.text, verdict.passed, 'div role="status"')
    pills = _pill(f"{verdict.of}: {verdict.text}", verdict.passed, 'div role="status"')
    if audit is not None:
        found = _counted(audit) if _defects(audit) else "no defect"
        opens = 'button type="button" onclick="document.getElementById(\'tab-audit\').click()"'
        pills += _pill(f"audit: {found}", audit.passed, opens)
    return f'<div class="verdicts">{pills}</div>'


def _pill(text: str, passed: bool, element: str) -> str:
    kind = "pass" if passed else "fail"
    return f'<{element} class="verdict {kind}">{escape(text)}</{element.partition(" ")[0]}>'


def _defects(audit: AuditResult) -> int:
    return sum(finding.severity == "defect" for finding in audit.findings)


def _counted(audit: AuditResult) -> str:
    count = _defects(audit)
    return f"{count} defect{'s' if count > 1 else ''}"


def _audit_tab(evidence: Evidence) -> str:
    if evidence.audit is None:
        return ""
    defects = _defects(evidence.audit)
    count = f'<span class="count">{defects}</span>' if defects else '<span class="count pass">✓</span>'
    attributes = (
        'role="tab" type="button" id="tab-audit" aria-controls="panel-audit" aria-selected="false" tabindex="-1"'
    )
    return f"<button {attributes}>Audit{count}</button>"


def _asset(folder: str, name: str) -> str:
    return resources.files("surefoot.report").joinpath(folder).joinpath(name).read_text(encoding="utf-8")
