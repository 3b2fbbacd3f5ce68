"""One clock for runs of different lengths and rates."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from surefoot.arrays import Array
from surefoot.motion import Trajectory

__all__ = ["common_clock", "held", "on_clock"]


def common_clock(times: Sequence[Array], most: int = 20_000, rate: float | None = None) -> Array:
    """Times (m,) from the first start to the last end [s], as fine as the finest run.

    Args:
        times: (n,) of each run [s].
        most: Most samples.
        rate: Samples per second, if not those of the finest run.
    """
    start, end = min(float(time[0]) for time in times), max(float(time[-1]) for time in times)
    step = min((float(np.median(np.diff(time))) for time in times if len(time) > 1), default=end - start)
    step = 1.0 / rate if rate is not None else step
    count = int(np.clip(round((end - start) / step) + 1 if step > 0.0 else 1, 1, most))
    return np.linspace(start, end, count) if end > start else np.array([start])


def on_clock(time: Array, values: Array, clock: Array) -> Array:
    """A series at the times of the clock (m,); NaN where the run has none.

    Args:
        time: (n,) of the run [s].
        values: (n,).
        clock: (m,) [s].
    """
    near = 1e-9 * max(1.0, abs(float(time[-1])))
    at = np.where((clock >= time[0] - near) & (clock <= time[-1] + near), np.clip(clock, time[0], time[-1]), np.nan)
    out = np.interp(at, time, values)
    return np.where(np.isnan(at), np.nan, out)


def held(trajectory: Trajectory, clock: Array) -> Trajectory:
    """A motion at the times of the clock; before its start and after its end it stands still.

    Args:
        trajectory: The motion.
        clock: (m,) increasing [s].
    """
    inside, back = np.unique(np.clip(clock, trajectory.start, trajectory.end), return_inverse=True)
    sampled = trajectory.resample(inside)
    there = ((clock >= trajectory.start) & (clock <= trajectory.end))[:, None]
    return Trajectory(
        sampled.robot,
        sampled.joints,
        sampled.kinds,
        clock,
        sampled.q[back],
        None if sampled.v is None else np.where(there, sampled.v[back], 0.0),
        wrenches={name: np.where(there, wrench[back], 0.0) for name, wrench in sampled.wrenches.items()},
    )
