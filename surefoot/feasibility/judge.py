"""From series to items: the margin over time of each item, and whether it passed."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from surefoot.arrays import Array
from surefoot.feasibility.items import ITEMS
from surefoot.feasibility.series import Series
from surefoot.motion import AuditItem, Status

__all__ = ["judge_items"]

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
    status: Status = "passed" if not failed else "remark" if kind.severity == "remark" else "failed"
    time, margin = _over_time(spoken)
    parts = tuple(dict.fromkeys(part for one in spoken for part in one.parts))
    nearest = min(spoken, key=lambda one: _worst(one)[0])
    worst = _worst(nearest)
    bound = status == "passed" and worst[3] >= nearest.bound_from  # where and when it is least, nobody knows
    return AuditItem(
        name, kind.stage, kind.title, spoken[0].unit, status, note, time, margin, parts,
        *(_UNKNOWN if bound else worst[1:]), bound,
    )  # fmt: skip


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


def _worst(series: Series) -> tuple[float, str, float, float, float]:
    """Least margin, whatever passes beyond the limit there, with part, time, value and limit."""
    margin = np.where(np.isnan(series.margin), np.inf, series.margin)
    least = float(margin.min())
    alike = margin <= least + (_ALIKE * abs(least) if np.isfinite(least) else 0.0)
    k, part = np.argwhere(alike)[0]  # the first of them
    if np.isinf(margin[k, part]):
        return _largest(series)
    return (
        float(margin[k, part]), series.parts[part], float(series.time[k]),
        float(series.value[k, part]), series.nearer_limit(int(k), int(part)),
    )  # fmt: skip


def _largest(series: Series) -> tuple[float, str, float, float, float]:
    """Where nothing limits the values: the largest of them."""
    size = np.abs(series.value)
    if np.isnan(size).all():
        return np.inf, "", np.nan, np.nan, np.inf
    k, part = np.unravel_index(int(np.nanargmax(size)), size.shape)
    return np.inf, series.parts[part], float(series.time[k]), float(series.value[k, part]), np.inf
