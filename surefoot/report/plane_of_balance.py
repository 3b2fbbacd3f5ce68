"""Centre of mass, ZMP and capture point seen from above, with the support polygons."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from surefoot.geometry import convex_hull
from surefoot.report.evidence import Evidence, PlanePlot, Plot, Region
from surefoot.report.evidence_layers import contact_activity

__all__ = ["plane_of_balance", "support_regions"]

_NAMES = {"com": "centre of mass", "zmp": "ZMP", "capture_point": "capture point"}
_MOST_REGIONS = 200


def plane_of_balance(evidence: Evidence) -> Evidence:
    """With the plot from above and the same points over time, where there is a centre of mass or a ZMP.

    Args:
        evidence: A motion with its layers.
    """
    points = {name: getattr(evidence, key) for key, name in _NAMES.items()}
    known = {name: values for name, values in points.items() if values is not None}
    if not known:
        return evidence
    whose = " of the first run" if evidence.ghosts else ""
    plane = PlanePlot(
        f"Seen from above: balance{whose}", ("x", "y"), "m", {name: v[:, :2] for name, v in known.items()},
        support_regions(evidence, contact_activity(evidence)),
    )  # fmt: skip
    plots = tuple(
        Plot(f"Balance along {axis}{whose}", "m", {name: v[:, k] for name, v in known.items()}, "Balance", key=k == 0)
        for k, axis in enumerate("xy")
    )
    return replace(evidence, planes=(plane, *evidence.planes), plots=(*plots, *evidence.plots))


def support_regions(evidence: Evidence, activity: Mapping[str, NDArray[np.bool_]]) -> tuple[Region, ...]:
    """Convex hulls of the corners of all contacts that carry, one for each time that the same ones do.

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
