"""What an audit found, as data for the page."""

from __future__ import annotations

from typing import Any

import numpy as np

from surefoot.arrays import Array
from surefoot.motion.audit_result import AuditItem, AuditResult
from surefoot.report.packing import quantised

__all__ = ["audit_data", "least_in_buckets"]

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
