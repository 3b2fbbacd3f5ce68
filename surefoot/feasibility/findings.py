"""From series to items, with their margins over time, and to findings: intervals in which a part fails.

A finding of an earlier item covers later ones of the same interval and of a common part of the robot. Of a longer one
it covers the samples of its interval; the rest remains a finding. Findings of several contacts at the same time are
joined into one that names them all and covers theirs.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from surefoot.arrays import Array
from surefoot.feasibility.items import ITEMS, STAGES, order_of
from surefoot.feasibility.series import Series, is_spike
from surefoot.motion import AuditItem, Finding

_MERGED = 0.1  # [s]: failures of one part that are nearer than that are one finding
_SAME = 0.05  # [s]: findings that are nearer than that are of the same interval
_OF_CONTACTS = frozenset(
    ("foot_slip", "penetration", "contact_gap", "unilateral_force", "friction", "torsional_friction", "cop", "impact")
)


@dataclass(frozen=True, eq=False)
class _Found:
    """A finding with the samples that fail, the bodies that it concerns (None: all), and how bad it is.

    Args:
        finding: The finding.
        series: What it was found in.
        part: Which part.
        rows: (k,) samples that fail.
        is_rest: Whether an earlier finding explains other samples of it.
    """

    finding: Finding
    series: Series
    part: int
    rows: NDArray[np.int64]
    is_rest: bool = False

    @property
    def bodies(self) -> frozenset[int] | None:
        """Bodies that it concerns; None for all."""
        return None if self.series.bodies is None else self.series.bodies[self.part]

    @property
    def weight(self) -> float:
        """How bad it is, relative to what is typical; rounded, so that what is alike ranks by time."""
        return float(f"{self.finding.violation / self.series.scale:.3g}")

    @property
    def rank(self) -> tuple[int, int, bool, float, float]:
        """Defects before remarks, by stage, what is left of others last, worst first."""
        finding = self.finding
        remark = finding.severity == "remark"
        return (remark, STAGES.index(finding.stage), self.is_rest, -self.weight, finding.start)

    @property
    def cause(self) -> tuple[int, int, float, float]:
        """In the order of the chain, item by item."""
        finding = self.finding
        return (finding.severity == "remark", order_of(finding.item), -self.weight, finding.start)

    def explained(self, other: _Found) -> NDArray[np.bool_]:
        """(k,) which samples of another finding are of the same interval, if it concerns a common part of the robot."""
        mine, its = self.bodies, other.bodies
        follows = ITEMS[self.finding.item].explains
        if follows is not None and other.finding.item not in follows:
            return np.zeros(len(other.rows), dtype=bool)
        if mine is not None and its is not None and not mine & its:
            return np.zeros(len(other.rows), dtype=bool)
        time, width = np.asarray(other.series.time)[other.rows], other.series.width
        start, end = self.finding.start - _SAME, self.finding.end + _SAME
        return np.asarray((time + width >= start) & (time - width <= end))

    def only(self, chosen: NDArray[np.bool_]) -> _Found:
        """The same with some of the samples."""
        if chosen.all():
            return self
        return replace(_failure(self.series, self.part, self.rows[chosen]), is_rest=True)


def rank_findings(series: Sequence[Series]) -> tuple[Finding, ...]:
    """Findings worst first, each with those that follow from it."""
    tops: list[_Found] = []
    covered: dict[int, list[Finding]] = {}
    for one in sorted((one for item in series for one in _failures(item)), key=lambda one: one.cause):
        rest = _unexplained(one, tops, covered)
        if rest is not None:
            tops.append(rest)
    whole = [replace(one, finding=replace(one.finding, covers=tuple(covered.get(i, ())))) for i, one in enumerate(tops)]
    return _joined([one.finding for one in sorted(whole, key=lambda one: one.rank)])


def _unexplained(one: _Found, tops: Sequence[_Found], covered: dict[int, list[Finding]]) -> _Found | None:
    """The part of a finding that earlier ones do not explain, or None; the explained part is listed under them."""
    for i, top in enumerate(tops):
        if top.finding.severity == "remark" and one.finding.severity == "defect":
            continue
        taken = top.explained(one)
        if taken.any():
            covered.setdefault(i, []).append(one.only(taken).finding)
        if taken.all():
            return None
        one = one.only(~taken)
    return one


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
        for rows in _runs(failed[:, part], np.asarray(series.time)):
            yield _failure(series, int(part), rows)


def _runs(failed: NDArray[np.bool_], time: Array) -> list[NDArray[np.int64]]:
    """The samples of each run of failures, near ones merged."""
    rows = np.flatnonzero(failed)
    breaks = np.flatnonzero((np.diff(time[rows]) > _MERGED) & (np.diff(rows) > 1))
    return np.split(rows, breaks + 1)


def _failure(series: Series, part: int, rows: NDArray[np.int64]) -> _Found:
    inside = series.margin[rows, part] + np.asarray(series.slack)[rows, part]
    least = rows[inside <= np.nanmin(inside) + 1e-12]
    when = np.asarray(series.time)[least]
    worst = int(least[np.argmin(np.abs(when - 0.5 * (when[0] + when[-1])))])  # the middle of what is equally bad
    kind, violation = ITEMS[series.item], -float(series.margin[worst, part])
    start, end = _span(series, rows)
    finding = Finding(
        item=series.item, stage=kind.stage, severity="remark" if kind.severity == "remark" else "defect",
        where=series.parts[part], start=start, end=end, time=float(series.time[worst]),
        value=float(series.value[worst, part]), limit=series.nearer_limit(worst, part),
        unit=series.units[part] if series.units else series.unit, violation=violation, message="",
        next_step=_advice(series, part, rows, worst),
    )  # fmt: skip
    text = series.texts[part] if series.texts else ""
    return _Found(replace(finding, message=_message(finding, text)), series, part, rows)


def _span(series: Series, rows: NDArray[np.int64]) -> tuple[float, float]:
    """From when to when samples speak: up to halfway to the next ones that do not fail, and not beyond the motion.

    A single sample speaks for all of the motion.
    """
    time, first, last = np.asarray(series.time), int(rows[0]), int(rows[-1])
    far = np.inf if len(time) == 1 else 0.0
    before, after = time[max(first - 1, 0)] - far, time[min(last + 1, len(time) - 1)] + far
    start = max(time[first] - series.width, 0.5 * (before + time[first]))
    end = min(time[last] + series.width, 0.5 * (time[last] + after))
    return round(float(start), 9) + 0.0, float(end)  # never −0


def _advice(series: Series, part: int, rows: NDArray[np.int64], worst: int) -> str:
    """Advice: to look at the samples where a few stand out, else a remedy for the whole motion."""
    if series.spike_step and is_spike(series.value[:, part], rows):
        return series.spike_step.format(where=series.parts[part], time=f"{float(series.time[worst]):.3f} s")
    return series.next_step


def _message(finding: Finding, text: str) -> str:
    """One sentence with value, limit and time."""
    unit = f" {finding.unit}" if finding.unit else ""
    numbers = {
        "value": f"{finding.value:.4g}{unit}",
        "limit": f"{finding.limit:.4g}{unit}",
        "excess": f"{finding.violation:.4g}{unit}",
        "time": f"{finding.time:.3f} s",
    }
    place = f" of {finding.where}" if finding.where else ""
    general = f"{ITEMS[finding.item].title}{place}: {{value}}, limit {{limit}}, at {{time}}"
    return (text or general).format(**numbers)


_ALIKE = 1e-4  # relative difference of margins that are as good as the same
_UNKNOWN = ("", np.nan, np.nan, np.inf)


def judge_items(series: Sequence[Series]) -> tuple[AuditItem, ...]:
    """All items in the order of the chain; what no check spoke of was skipped."""
    return tuple(_item(name, [one for one in series if one.item == name]) for name in ITEMS)


def _item(name: str, series: list[Series]) -> AuditItem:
    kind = ITEMS[name]
    spoken = [one for one in series if one.parts and len(one.time)]
    note = "; ".join(dict.fromkeys(one.note for one in series if one.note))
    if not spoken:
        return AuditItem(name, kind.stage, kind.title, "", "skipped", note or "nothing to judge")
    failed = any(one.failed.any() for one in spoken)
    time, margin = _over_time(spoken)
    parts = tuple(dict.fromkeys(part for one in spoken for part in one.parts))
    nearest = min(spoken, key=lambda one: _worst(one)[0])
    worst = _worst(nearest)
    bound = not failed and worst[3] >= nearest.bound_from  # where and when it is least, nobody knows
    return AuditItem(
        name, kind.stage, kind.title, _unit(nearest, worst[1]),
        "passed" if not failed else "remark" if kind.severity == "remark" else "failed",
        note, time, margin, parts, *(_UNKNOWN if bound else worst[1:5]), bound, worst[5],
    )  # fmt: skip


def _unit(series: Series, part: str) -> str:
    """The unit of a part."""
    return dict(zip(series.parts, series.units, strict=True)).get(part, series.unit) if series.units else series.unit


def _over_time(series: Sequence[Series]) -> tuple[Array, Array]:
    """Times and the least margin of all parts at each."""
    time = np.concatenate([one.time for one in series])
    margin = np.concatenate([_least(one.margin) for one in series])
    order = np.lexsort((margin, time))
    time, margin = time[order], margin[order]
    first = np.concatenate([[True], np.diff(time) > 0.0])
    return time[first], margin[first]


def _least(margin: Array) -> Array:
    """The least margin over the parts (m,), NaN where none is judged."""
    least = np.where(np.isnan(margin), np.inf, margin).min(axis=1)
    return np.where(np.isnan(margin).all(axis=1), np.nan, least)


def _worst(series: Series) -> tuple[float, str, float, float, float, float]:
    """Least margin, whatever passes beyond the limit there, with part, time, value, limit and tolerance."""
    margin = np.where(np.isnan(series.margin), np.inf, series.margin)
    least = float(margin.min())
    alike = margin <= least + (_ALIKE * abs(least) if np.isfinite(least) else 0.0)
    k, part = np.argwhere(alike)[0]  # the first of them
    if np.isinf(margin[k, part]):
        return _largest(series)
    return (
        float(margin[k, part]), series.parts[part], float(series.time[k]),
        float(series.value[k, part]), series.nearer_limit(int(k), int(part)), float(np.asarray(series.slack)[k, part]),
    )  # fmt: skip


def _largest(series: Series) -> tuple[float, str, float, float, float, float]:
    """Where nothing limits the values: the largest of them."""
    size = np.abs(series.value)
    if np.isnan(size).all():
        return np.inf, "", np.nan, np.nan, np.inf, 0.0
    k, part = np.unravel_index(int(np.nanargmax(size)), size.shape)
    return np.inf, series.parts[part], float(series.time[k]), float(series.value[k, part]), np.inf, 0.0
