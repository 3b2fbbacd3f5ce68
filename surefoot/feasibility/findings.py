"""From series to findings: intervals in which a part fails, ranked by the chain.

A finding of an earlier item takes later ones of the same interval and of a common part of the robot under itself. What
several contacts do at the same time is one finding that names them all, with theirs under it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from surefoot.feasibility.audit_items import ITEMS, STAGES, order_of
from surefoot.feasibility.series import Series
from surefoot.motion.audit_result import Finding

__all__ = ["ranked_findings"]

_MERGED = 0.1  # [s]: failures of one part that are nearer than that are one finding
_SAME = 0.05  # [s]: findings that are nearer than that are of the same interval
_OF_CONTACTS = frozenset(
    ("foot_slip", "penetration", "contact_gap", "unilateral_force", "friction", "torsional_friction", "cop", "impact")
)


@dataclass(frozen=True, eq=False)
class _Found:
    """A finding, the bodies that it concerns (None: all), and how bad it is, relative to what is typical."""

    finding: Finding
    bodies: frozenset[int] | None
    weight: float

    @property
    def rank(self) -> tuple[int, int, float]:
        """Defects before remarks, by stage, worst first."""
        finding = self.finding
        return (finding.severity == "remark", STAGES.index(finding.stage), -self.weight)

    @property
    def cause(self) -> tuple[int, int, float]:
        """In the order of the chain, item by item."""
        return (self.finding.severity == "remark", order_of(self.finding.item), -self.weight)

    def explains(self, other: _Found) -> bool:
        """Whether the other finding is of the same interval and a common part of the robot."""
        together = _together(self.finding, other.finding)
        return together and (self.bodies is None or other.bodies is None or bool(self.bodies & other.bodies))


def ranked_findings(series: Sequence[Series]) -> tuple[Finding, ...]:
    """Findings worst first, each with those that follow from it.

    Args:
        series: What the checks found.
    """
    found = sorted((one for item in series for one in _failures(item)), key=lambda one: one.cause)
    tops: list[_Found] = []
    covered: dict[int, list[Finding]] = {}
    for one in found:
        top = next((i for i, other in enumerate(tops) if other.explains(one)), None)
        if top is None or tops[top].finding.severity != one.finding.severity == "defect":
            tops.append(one)
        else:
            covered.setdefault(top, []).append(one.finding)
    whole = [replace(one, finding=replace(one.finding, covers=tuple(covered.get(i, ())))) for i, one in enumerate(tops)]
    return _joined([one.finding for one in sorted(whole, key=lambda one: one.rank)])


def _together(mine: Finding, its: Finding) -> bool:
    """Whether two findings are of the same interval."""
    return its.start <= mine.end + _SAME and mine.start <= its.end + _SAME


def _joined(findings: Sequence[Finding]) -> tuple[Finding, ...]:
    """The findings, worst first, with those of several contacts at the same time as one."""
    groups: list[list[Finding]] = []
    for one in findings:
        group = next((some for some in groups if any(_alike(one, other) for other in some)), None)
        if group is None:
            groups.append([one])
        else:
            group.append(one)
    return tuple(group[0] if len(group) == 1 else _join(group) for group in groups)


def _alike(one: Finding, other: Finding) -> bool:
    return one.item == other.item and one.item in _OF_CONTACTS and _together(one, other)


def _join(group: Sequence[Finding]) -> Finding:
    """The worst of a group, for all of it; each of them stays whole below it."""
    worst, parts = group[0], {one.where: one for one in reversed(group)}
    unit = f" {worst.unit}" if worst.unit else ""
    names = list(dict.fromkeys(one.where for one in group))
    also = ", ".join(f"`{name}` ({parts[name].value:.4g}{unit})" for name in names[1:])
    return replace(
        worst,
        where=", ".join(names),
        start=min(one.start for one in group),
        end=max(one.end for one in group),
        message=f"{worst.message}; also {also}" if also else worst.message,
        covers=tuple(group),
    )


def _failures(series: Series) -> Iterator[_Found]:
    """Every interval in which a part fails."""
    failed = series.failed
    for part in np.flatnonzero(failed.any(axis=0)):
        for first, last in _runs(failed[:, part], np.asarray(series.time)):
            yield _failure(series, int(part), first, last)


def _runs(failed: NDArray[np.bool_], time: NDArray[np.float64]) -> list[tuple[int, int]]:
    """First and last sample of each run of failures, near ones merged."""
    rows = np.flatnonzero(failed)
    breaks = np.flatnonzero((np.diff(time[rows]) > _MERGED) & (np.diff(rows) > 1))
    return list(zip(rows[np.r_[0, breaks + 1]], rows[np.r_[breaks, len(rows) - 1]], strict=True))


def _failure(series: Series, part: int, first: int, last: int) -> _Found:
    inside = series.margin[first : last + 1, part] + np.asarray(series.slack)[first : last + 1, part]
    least = np.flatnonzero(inside <= np.nanmin(inside) + 1e-12)
    worst = first + int(least[len(least) // 2])  # the middle of what is equally bad
    kind, violation = ITEMS[series.item], -float(series.margin[worst, part])
    finding = Finding(
        item=series.item,
        stage=kind.stage,
        severity="remark" if kind.severity == "remark" else "defect",
        where=series.parts[part],
        start=float(series.time[first]) - series.width,
        end=float(series.time[last]) + series.width,
        time=float(series.time[worst]),
        value=float(series.value[worst, part]),
        limit=series.nearer_limit(worst, part),
        unit=series.unit,
        violation=violation,
        message="",
        next_step=series.next_step,
    )
    text = series.texts[part] if series.texts else ""
    bodies = None if series.bodies is None else series.bodies[part]
    return _Found(replace(finding, message=_message(finding, text)), bodies, violation / series.scale)


def _message(finding: Finding, text: str) -> str:
    """One sentence with value, limit and time."""
    unit = f" {finding.unit}" if finding.unit else ""
    numbers = {
        "value": f"{finding.value:.4g}{unit}",
        "limit": f"{finding.limit:.4g}{unit}",
        "time": f"{finding.time:.3f} s",
    }
    place = f" of {finding.where}" if finding.where else ""
    general = f"{ITEMS[finding.item].title}{place}: {{value}}, limit {{limit}}, at {{time}}"
    return (text or general).format(**numbers)
