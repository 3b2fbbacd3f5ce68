"""Are q, v and a consistent? Given rates against differences, over short windows.

In every step the difference quotient of a quantity is a mean of its rate, so it lies between the least and the largest
rate in that step. The rate is known at both ends: what lies outside these two, by more than the rate bends, is a
misfit. This holds for any rate that is monotone in the step or smooth, also through the jumps of impacts and for
semi-implicit integration, and it does not depend on how densely a motion was recorded. Quotients and bounds are means
over windows (`Tolerances.window`), so that the last digit of recorded positions does not count as velocity. Rates that
are central differences of the samples belong to them, too, however much of a quick motion these flatten.

Means over windows hide a sample that stands out, up to three in a row, while the quantity whose rate it is does not
show it. So every sample is judged by itself as well: a rate at a sample lies between its means over the steps before
and after, by as much as these bend, also at impacts and for explicit and semi-implicit integration. How far it is off
counts against how far those round it are off, so that noise of q or of v stays what it is, and against how much the
means change there: a motion that begins and fades within a step shows in them. What several columns do at once, or one
does where a contact opens or closes, may be an impact that the samples do not resolve: then only what is too fast for
that counts.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from surefoot.arrays import Array
from surefoot.feasibility.case import Case, units_at
from surefoot.feasibility.rates.rates import Rates
from surefoot.feasibility.series import LONGEST, Series, skipped

Mask = NDArray[np.bool_]
_TURNS = 0.25  # of its second difference: so far a rate may go beyond its ends inside a step, twice that of a parabola
_LITTLE = 0.01  # [rad], [m]: motion inside one long step that v at its ends need not show


def check_consistency(case: Case, rates: Rates, switches: Array) -> list[Series]:
    """Whether v is the rate of q, and a the rate of v."""
    return [_velocity(case, rates), _acceleration(case, rates, switches)]


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
    """(n, k): central differences, as `numpy.gradient` takes them; one-sided ones at the ends."""
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


def _velocity(case: Case, rates: Rates) -> Series:
    v = case.trajectory.v
    if v is None:
        return skipped("velocity_consistency", "no velocities given")
    return _series(case, "velocity_consistency", "rad/s", *velocity_misfit(case, rates, v))


def velocity_misfit(case: Case, rates: Rates, v: Array) -> tuple[Array, Array, Array]:
    """Times (m,), misfits of v to the rate of q (m, nv), NaN where nothing is judged, and what passes (1, nv).

    Args:
        case: The motion.
        rates: Its rates.
        v: (n, nv) as it was given.
    """
    time, value = misfit(case.time, rates.steps, v, case.tolerances.window)
    limit = _rate_limit(case, case.tolerances.velocity, v)
    value[_unseen(case, rates, value, limit)] = np.nan
    value[:, list(rates.filled_rows)] = np.nan
    return time, value, limit


def _unseen(case: Case, rates: Rates, value: Array, limit: Array) -> Mask:
    """(m, k): single long steps in which a joint may have moved unseen by samples: a little, or as it does nearby."""
    dt = np.diff(case.time)
    if len(value) != len(dt):
        return np.zeros(value.shape, dtype=bool)  # windows of several steps
    none = np.zeros((1, value.shape[1]), dtype=bool)
    wrong = np.vstack([none, value > limit, none])
    alone = wrong[1:-1] & ~wrong[:-2] & ~wrong[2:]
    return np.asarray(alone & ((value * dt[:, None] < _LITTLE) | (value < _ranges_nearby(rates.v))))


def _ranges_nearby(v: Array) -> Array:
    """(n − 1, k): range of the rates (n, k) from two samples before each step to two after it."""
    padded = np.pad(v, ((2, 2), (0, 0)), mode="edge")
    return np.asarray(np.ptp(np.lib.stride_tricks.sliding_window_view(padded, 6, axis=0), axis=2))


def _acceleration(case: Case, rates: Rates, switches: Array) -> Series:
    a, v = case.trajectory.a, case.trajectory.v
    if a is None:
        return skipped("acceleration_consistency", "no accelerations given")
    if v is None:
        return skipped("acceleration_consistency", "no velocities given")
    time, value = misfit(case.time, np.diff(v, axis=0), a, case.tolerances.window)
    value[near_switches(case, switches, time)] = np.nan
    value[:, list(rates.filled_rows)] = np.nan
    limit = _rate_limit(case, case.tolerances.acceleration, a)
    return _series(case, "acceleration_consistency", "rad/s²", time, value, limit)


def _rate_limit(case: Case, absolute: float, given: Array) -> Array:
    """(1, k): what passes of a rate: absolute, and relative to the range of the joint itself."""
    return np.asarray(absolute + case.tolerances.relative * np.ptp(given, axis=0))[None]


def near_switches(case: Case, switches: Array, time: Array) -> Mask:
    """(m,) whether a contact opens or closes in the window, where velocities may jump."""
    reach = case.tolerances.window + (case.time[1] - case.time[0])
    near = np.searchsorted(switches, time - reach) < np.searchsorted(switches, time + reach, side="right")
    return np.asarray(near)


def _series(case: Case, item: str, unit: str, time: Array, value: Array, limit: Array) -> Series:
    quantity, rate = ("v", "q") if item == "velocity_consistency" else ("a", "v")
    texts = tuple(
        f"{quantity} of `{name}` differs from the rate of {rate} by {{value}} at {{time}}, limit {{limit}}"
        for name in case.velocity_names
    )
    return Series(
        item, unit, time, case.velocity_names, value, upper=limit, bodies=case.velocity_bodies,
        width=0.5 * float(case.time[-1] - case.time[0]) / max(1, case.n - 1),
        note=f"averaged over {1e3 * case.tolerances.window:.3g} ms", texts=texts,
        next_step=f"compute {quantity} from {rate}, or omit it",
        units=units_at(case, np.arange(case.robot.nv), unit, unit.replace("rad", "m")),
    )  # fmt: skip


_NEAR = 5  # samples to each side, whose median a rate leaves, and
_ROUND = 12  # to each side, or as many as there are, that show how far rates are off otherwise
_LEAST = 12  # samples
_FARTHER = 7.0  # than the samples round it: a spike
_SHOWN = 20.0  # times the change of the means there: less may fade within a step, as of a servo that starts
_UNSEEN = np.sqrt(2.0) - 1.0  # of a · dt: a peak of that height and what makes up for it fit into a step with |a|
_RESOLVED = 0.005  # [s]: in longer steps impacts come and go


def check_rate_spikes(case: Case, rates: Rates, switches: Array) -> list[Series]:
    """Single samples of given velocities and accelerations that are off the rates of q and of v."""
    v, a, slack = case.trajectory.v, case.trajectory.a, case.tolerances
    if v is None or case.n < _LEAST:
        return []
    dt = np.maximum(np.diff(case.time, prepend=np.nan), np.diff(case.time, append=np.nan))
    unseen = np.where(dt <= _RESOLVED, _UNSEEN * slack.jump_acceleration * dt, np.inf)
    near = near_switches(case, switches, case.time)
    found = [_spike_series(case, rates, "velocity", rates.steps, v, _rate_limit(case, slack.velocity, v), unseen, near)]
    if a is not None:
        limit = _rate_limit(case, slack.acceleration, a)
        found.append(
            _spike_series(case, rates, "acceleration", np.diff(v, axis=0), a, limit, np.full(case.n, np.inf), near)
        )
    return found


def stray_rates(time: Array, steps: Array, rates: Array) -> tuple[Array, Array]:
    """How far each rate lies outside the mean rates before and after it (n, k), and how far those round it do.

    Args:
        time: (n,) [s], of 12 samples or more.
        steps: (n − 1, k) changes of a quantity between samples.
        rates: (n, k) its given rates.
    """
    mean = steps / np.diff(time)[:, None]
    before, after, inner = mean[:-1], mean[1:], rates[1:-1]
    change = np.abs(after - before)
    held = np.pad(change, ((1, 1), (0, 0)))
    bend = np.maximum(held[:-2], held[2:])  # how the means change up to the steps before and after
    outside = np.maximum(np.minimum(before, after) - inner, inner - np.maximum(before, after))
    alone = np.abs(
        inner - np.median(_windows(inner, _NEAR), axis=2)
    )  # where only the other quantity jumps, rates do not
    off = np.clip(outside - bend, 0.0, alone)
    reach = min(_ROUND, len(off) - 1)
    place = 2 * reach - LONGEST
    usual = np.partition(_windows(off + change, reach), place, axis=2)[:, :, place]
    usual = np.maximum(usual, _SHOWN / _FARTHER * np.maximum(change, bend))
    return tuple(np.pad(values, ((1, 1), (0, 0))) for values in (off, usual))  # type: ignore[return-value]


def _windows(values: Array, reach: int) -> Array:
    """(m, k, 2 reach + 1): the samples round each of (m, k)."""
    padded = np.pad(values, ((reach, reach), (0, 0)), mode="reflect")
    return np.lib.stride_tricks.sliding_window_view(padded, 2 * reach + 1, axis=0)


def _spike_series(
    case: Case, rates: Rates, quantity: str, steps: Array, given: Array, limit: Array, unseen: Array, near: Mask
) -> Series:
    """Samples that are off by more than the limit, by more than those round them, and by what may be unseen."""
    off, usual = stray_rates(case.time, steps, given)
    upper = np.maximum(limit, _FARTHER * usual)
    off[:, list(rates.filled_rows)] = np.nan
    with np.errstate(invalid="ignore"):
        count = np.convolve((off > upper).sum(axis=1), np.ones(3), mode="same")
        lone = (np.convolve((off > upper).any(axis=1), np.ones(3), mode="same") >= count) & ~near
    upper = np.where(lone[:, None], upper, np.maximum(upper, unseen[:, None]))
    letter, of = ("v", "q") if quantity == "velocity" else ("a", "v")
    unit = "rad/s" if letter == "v" else "rad/s²"
    rows = np.arange(case.robot.nv)
    return Series(
        f"{quantity}_consistency", unit, case.time, case.velocity_names, off, upper=upper,
        bodies=case.velocity_bodies, units=units_at(case, rows, unit, unit.replace("rad", "m")),
        texts=tuple(
            f"{letter} of `{name}` differs from the rate of {of} by {{value}} at {{time}}, but not before and after"
            for name in case.velocity_names
        ),
        next_step=f"repair or omit this sample of {letter} (such as a dropout or a sensor spike)",
    )  # fmt: skip
