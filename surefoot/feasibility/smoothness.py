"""Smoothness: jerk, and rest at start and end. Remarks, not defects."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from surefoot.feasibility.limits_parts import bodies_at, joint_rows, names_at, unit_at
from surefoot.feasibility.series import Series, skipped

if TYPE_CHECKING:
    from surefoot.feasibility.case import Case

__all__ = ["check_smoothness"]


def check_smoothness(case: Case) -> list[Series]:
    """`jerk` of the joints, and `rest`."""
    return [_jerk(case), _rest(case)]


def _jerk(case: Case) -> Series:
    """Differences of the accelerations, between samples."""
    rows, limit = joint_rows(case), case.tolerances.jerk_limit
    if not len(rows):
        return skipped("jerk", "there are no joints")
    dt = np.diff(case.time)
    jerk = np.diff(case.efforts.demand.a[:, rows], axis=0) / dt[:, None]
    return Series(
        "jerk", unit_at(case, rows, "rad/s³", "m/s³"), 0.5 * (case.time[1:] + case.time[:-1]), names_at(case, rows),
        jerk, -limit, limit, 0.0, limit if 0.0 < limit < np.inf else 1e5, bodies_at(case, rows),
        width=0.5 * float(np.median(dt)),
        note="" if case.trajectory.a is not None else f"of means over {1e3 * case.tolerances.window:.3g} ms",
        next_step="let accelerations change more gently",
    )  # fmt: skip


def _rest(case: Case) -> Series:
    """Speeds of the first and the last sample."""
    rows, limit = np.arange(case.robot.nv), case.tolerances.rest
    return Series(
        "rest", unit_at(case, rows, "rad/s", "m/s"), case.time[[0, -1]], names_at(case, rows), np.abs(case.v[[0, -1]]),
        -np.inf, limit, 0.0, 1.0, bodies_at(case, rows), next_step="begin and end the motion at rest",
    )  # fmt: skip
