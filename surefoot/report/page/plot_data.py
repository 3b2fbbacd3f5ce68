"""Plots as data for the page, thinned to few points without losing spikes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefoot.arrays import Array
from surefoot.report.evidence import Evidence, PlanePlot, Plot
from surefoot.report.packing import packed, quantised, rounded

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
