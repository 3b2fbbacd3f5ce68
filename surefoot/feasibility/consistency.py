"""Do q, v and a belong together? Given rates against differences, over short windows.

In every step the difference quotient of a quantity is a mean of its rate, so it lies between the least and the largest
rate in that step. The rate is known at both ends: what lies outside these two, by more than the rate bends, is a
misfit. This holds for any rate that is monotone in the step or smooth, also through the jumps of impacts and for
semi-implicit integration, and it does not depend on how densely a motion was recorded. Quotients and bounds are means
over windows (`Tolerances.window`), so that the last digit of recorded positions does not count as velocity. Rates that
are central differences of the samples belong to them, too, however much of a quick motion these flatten.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from surefoot.arrays import Array
from surefoot.feasibility.limits_parts import units_at
from surefoot.feasibility.series import Series, skipped
from surefoot.feasibility.touch_runs import Mask

if TYPE_CHECKING:
    from surefoot.feasibility.case import Case

__all__ = ["check_consistency", "misfit", "near_switches", "rate_limit", "unseen_bends", "velocity_misfit"]

_TURNS = 0.25  # of its second difference: so far a rate may go beyond its ends inside a step, twice that of a parabola
_LITTLE = 0.01  # [rad], [m]: motion inside one long step that v at its ends need not show


def check_consistency(case: Case) -> list[Series]:
    """Whether v is the rate of q, and a the rate of v.

    Args:
        case: The motion.
    """
    return [_velocity(case), _acceleration(case)]


def misfit(time: Array, steps: Array, rates: Array, window: float) -> tuple[Array, Array]:
    """Times (m,) in the middle of windows, and (m, k) how far the mean rates lie outside what the given rates allow.

    Args:
        time: (n,) [s].
        steps: (n − 1, k) changes of a quantity between samples.
        rates: (n, k) its given rates.
        window: Length of the windows [s]; one step where steps are longer.
    """
    dt = np.diff(time)[:, None]
    count = min(max(1, round(window / float(dt.mean()))), len(dt))
    length = _sums(dt, count)
    mean = _sums(steps, count) / length
    beyond, off = unseen_bends(rates), np.abs(rates - _central_rates(time, steps))
    low = _sums(dt * (np.minimum(rates[1:], rates[:-1]) - beyond), count) / length
    high = _sums(dt * (np.maximum(rates[1:], rates[:-1]) + beyond), count) / length
    outside = np.maximum(np.maximum(low - mean, mean - high), 0.0)
    from_central = _sums(dt * np.maximum(off[1:], off[:-1]), count) / length
    return 0.5 * (time[count:] + time[:-count]), np.minimum(outside, from_central)


def _central_rates(time: Array, steps: Array) -> Array:
    """(n, k): central differences, as `numpy.gradient` takes them; one-sided ones at the ends.

    Args:
        time: (n,) [s].
        steps: (n − 1, k) changes of a quantity between samples.
    """
    dt = np.diff(time)[:, None]
    mean = steps / dt
    inner = (mean[:-1] * dt[1:] + mean[1:] * dt[:-1]) / (dt[1:] + dt[:-1])
    return np.vstack([mean[:1], inner, mean[-1:]])


def unseen_bends(rates: Array) -> Array:
    """(n − 1, k): how far rates (n, k) may go beyond their ends inside each step: a share of their second differences.

    Args:
        rates: (n, k) at the samples.
    """
    bend = _TURNS * np.abs(np.diff(rates, 2, axis=0))
    if not len(bend):
        return np.zeros((len(rates) - 1, rates.shape[1]))
    return np.maximum(np.vstack([bend[:1], bend]), np.vstack([bend, bend[-1:]]))


def _sums(values: Array, count: int) -> Array:
    """Sums of `count` values that follow each other."""
    total = np.vstack([np.zeros(values.shape[1]), np.cumsum(values, axis=0)])
    return np.asarray(total[count:] - total[:-count])


def _velocity(case: Case) -> Series:
    v = case.trajectory.v
    if v is None:
        return skipped("velocity_consistency", "no velocities are given")
    return _series(case, "velocity_consistency", "rad/s", *velocity_misfit(case, v))


def velocity_misfit(case: Case, v: Array) -> tuple[Array, Array, Array]:
    """Times (m,), misfits of v to the rate of q (m, nv), NaN where nothing is judged, and what passes (1, nv).

    Args:
        case: The motion.
        v: (n, nv) as it was given.
    """
    time, value = misfit(case.time, case.steps, v, case.tolerances.window)
    limit = rate_limit(case, case.tolerances.velocity, v)
    value[_unseen(case, value, limit)] = np.nan
    value[:, case.filled_rows] = np.nan
    return time, value, limit


def _unseen(case: Case, value: Array, limit: Array) -> Mask:
    """(m, k): single long steps in which a joint may have moved unseen by samples: a little, or as it does nearby."""
    dt = np.diff(case.time)
    if len(value) != len(dt):
        return np.zeros(value.shape, dtype=bool)  # windows of several steps
    none = np.zeros((1, value.shape[1]), dtype=bool)
    wrong = np.vstack([none, value > limit, none])
    alone = wrong[1:-1] & ~wrong[:-2] & ~wrong[2:]
    return np.asarray(alone & ((value * dt[:, None] < _LITTLE) | (value < _ranges_nearby(case.v))))


def _ranges_nearby(v: Array) -> Array:
    """(n − 1, k): range of the rates (n, k) from two samples before each step to two after it."""
    padded = np.pad(v, ((2, 2), (0, 0)), mode="edge")
    return np.asarray(np.ptp(np.lib.stride_tricks.sliding_window_view(padded, 6, axis=0), axis=2))


def _acceleration(case: Case) -> Series:
    a, v = case.trajectory.a, case.trajectory.v
    if a is None:
        return skipped("acceleration_consistency", "no accelerations are given")
    if v is None:
        return skipped("acceleration_consistency", "no velocities are given")
    time, value = misfit(case.time, np.diff(v, axis=0), a, case.tolerances.window)
    value[near_switches(case, time)] = np.nan
    value[:, case.filled_rows] = np.nan
    series = _series(
        case, "acceleration_consistency", "rad/s²", time, value, rate_limit(case, case.tolerances.acceleration, a)
    )
    return series


def rate_limit(case: Case, absolute: float, given: Array) -> Array:
    """(1, k): what passes of a rate: absolute, and relative to the range of the joint itself.

    Args:
        case: The motion.
        absolute: Part that does not depend on the range.
        given: (n, k) the rate.
    """
    return np.asarray(absolute + case.tolerances.relative * np.ptp(given, axis=0))[None]


def near_switches(case: Case, time: Array) -> Mask:
    """(m,) whether a contact opens or closes in the window, where velocities may jump.

    Args:
        case: The motion.
        time: (m,) [s].
    """
    active = case.touch.active
    switches = case.time[1:][(active[1:] != active[:-1]).any(axis=1)]
    reach = case.tolerances.window + (case.time[1] - case.time[0])
    near = np.searchsorted(switches, time - reach) < np.searchsorted(switches, time + reach, side="right")
    return np.asarray(near)


def _series(case: Case, item: str, unit: str, time: Array, value: Array, limit: Array) -> Series:
    quantity, rate = ("v", "q") if item == "velocity_consistency" else ("a", "v")
    texts = tuple(
        f"{quantity} of `{name}` differs from the rate of {rate} by {{value}} at {{time}}, {{limit}} would pass"
        for name in case.velocity_names
    )
    return Series(
        item,
        unit,
        time,
        case.velocity_names,
        value,
        upper=limit,
        bodies=case.velocity_bodies,
        width=0.5 * float(case.time[-1] - case.time[0]) / max(1, case.n - 1),
        note=f"means over {1e3 * case.tolerances.window:.3g} ms",
        texts=texts,
        next_step=f"compute {quantity} from {rate}, or leave it out",
        units=units_at(case, np.arange(case.robot.nv), unit, unit.replace("rad", "m")),
    )
