"""Columns of v that lead or lag q, found by shifting them until they fit.

For every column the mean velocity between samples from q alone is compared with the given one, shifted by m samples:
the squared misfit over m is the energy of both less twice their cross-correlation, by fast Fourier transforms. The
least misfit, refined by a parabola, is the shift (Knapp & Carter 1976 for delays by cross-correlation); it counts only
where it explains the misfit, and where the shifted column fits well: one with noise, another unit or a wrong sign fits
no better elsewhere, and that of another joint a little better somewhere. Columns that fit in another reading are
omitted.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from surefoot.arrays import Array
from surefoot.feasibility.case import Case
from surefoot.feasibility.layout.readings import OtherReading
from surefoot.feasibility.rates import Rates, unseen_bends
from surefoot.feasibility.series import Series, skipped
from surefoot.feasibility.touch import runs_of
from surefoot.words import counted

_LONGEST = 1.5  # [s], or
_MOST_SAMPLES = 60
_EXPLAINS = 0.25  # of the squared misfit may be left, and
_FITS = 0.35**2  # of the squared rate
_SEEN = 2e-5  # [rad/s], [m/s]: smaller misfits are not looked at
_SHOWS = 0.1  # of the largest misfit: where it shows
_GAP = 0.25  # of the recording, or more: stretches of misfit that far apart are not one
_LEAST = 20  # steps in which a misfit shows, and
_LASTS = 0.15  # [s] for which it does: a shorter one is an impact that the samples do not resolve
_SLACK = 0.25  # [samples]: accuracy of a shift


@dataclass(frozen=True)
class Shift:
    """How far a column of v is off.

    Args:
        samples: It lags by so many; ahead if negative.
        first: First step in which that shows.
        last: One after the last one.
    """

    samples: float
    first: int
    last: int


def check_shift(case: Case, rates: Rates, readings: Sequence[OtherReading]) -> Series:
    """Shift of every column of v against the rate of q."""
    v, n = case.trajectory.v, case.n
    if v is None:
        return skipped("column_shift", "no velocities given")
    if n < 8:
        return skipped("column_shift", "too few samples")
    dt = case.trajectory.duration / (n - 1)
    rate, mean = _on_even_times(case, rates.mean), _on_even_times(case, 0.5 * (v[1:] + v[:-1]))
    longest = max(2, min(n // 3, max(round(_LONGEST / dt), _MOST_SAMPLES)))
    unsure = _on_even_times(case, unseen_bends(v))
    least = max(_LEAST, round(_LASTS / dt))
    known = {*rates.filled_rows, *(row for reading in readings for row in reading.rows)}
    shifts = [
        None if j in known else find_shift(rate[:, j], mean[:, j], longest, unsure[:, j], least)
        for j in range(rate.shape[1])
    ]
    limit = case.tolerances.column_shift
    value = np.zeros((n, len(shifts)))
    for j, shift in enumerate(shifts):
        if shift is not None:
            value[shift.first : shift.last + 1, j] = shift.samples
    wrong = [j for j, shift in enumerate(shifts) if shift is not None and abs(shift.samples) > limit + _SLACK]
    texts = tuple(
        _text(f"velocity of `{name}`", shift, dt) for name, shift in zip(case.velocity_names, shifts, strict=True)
    )
    series = Series(
        "column_shift", "samples", case.time, case.velocity_names, value, -limit, limit, _SLACK, 10.0,
        case.velocity_bodies, texts=texts, next_step=_next_step([shifts[j] for j in wrong]),
    )  # fmt: skip
    given = [j for j in range(len(shifts)) if j not in rates.filled_rows]
    moving = [j for j in given if np.ptp(rate[:, j]) > 10.0 * _SEEN]
    return _all_at_once(series, shifts, moving, dt) if len(wrong) > 2 else series


def find_shift(
    rate: Array, velocity: Array, longest: int, unsure: Array | float = 0.0, least: int = _LEAST
) -> Shift | None:
    """By how many samples a velocity lags a rate; None if no shift explains the misfit.

    Args:
        rate: (m,) mean rate in each step.
        velocity: (m,) mean of the given velocity in each step.
        longest: Largest shift to look for [samples].
        unsure: (m,) misfits that are none: what the mean of a velocity that bends may be off.
        least: Steps in which a misfit has to show.
    """
    misfit = np.maximum(np.abs(rate - velocity) - unsure, 0.0)
    if np.sqrt(np.mean(misfit**2)) < _SEEN:
        return None
    first, last = _where_it_shows(misfit, longest)
    lags, squares, sizes = _squared_misfits(rate, velocity, (first, last), longest)
    best = int(np.argmin(squares))
    now = squares[len(lags) // 2]
    flipped = float(np.mean((rate[first:last] + velocity[first:last]) ** 2))
    if best in (0, len(lags) - 1) or squares[best] > min(_EXPLAINS * now, _FITS * sizes[best], flipped):
        return None
    if last - first < max(least, 2 * abs(int(lags[best]))):
        return None  # a jump, not a column
    before, here, after = squares[best - 1 : best + 2]
    bend = before - 2.0 * here + after
    fine = 0.5 * (before - after) / bend if bend > 0.0 else 0.0
    return Shift(float(lags[best] + fine), first, last)


def _where_it_shows(misfit: Array, longest: int) -> tuple[int, int]:
    """First and last + 1 step of the stretch with the largest misfit; stretches near each other are one."""
    shows = misfit > _SHOWS * misfit.max()
    gap = max(2 * longest, int(_GAP * len(misfit)))
    first, last = 0, 0
    peak = int(np.argmax(misfit))
    stretches: list[list[int]] = []
    for a, b in runs_of(shows):
        if stretches and a - stretches[-1][1] <= gap:
            stretches[-1][1] = b
        else:
            stretches.append([a, b])
    for a, b in stretches:
        if a <= peak < b:
            first, last = a, b
    return first, last


def _squared_misfits(
    rate: Array, velocity: Array, stretch: tuple[int, int], longest: int
) -> tuple[np.ndarray, Array, Array]:
    """Means of (rate_k − velocity_{k+m})² and of rate_k² over the steps of a stretch, for m = −longest … longest.

    Of steps for which there is a velocity_{k+m}.
    """
    first, last = stretch
    n, length = len(rate), last - first
    farthest = min(longest, length // 2)  # so that half of the stretch is compared at least
    lags = np.arange(-farthest, farthest + 1)
    part = rate[first:last]
    size = 1 << int(np.ceil(np.log2(n + length)))
    product = np.fft.irfft(np.conj(np.fft.rfft(part, size)) * np.fft.rfft(velocity, size), size)[first + lags]
    energy = [np.concatenate([[0.0], np.cumsum(x**2)]) for x in (rate, velocity)]
    start, stop = np.maximum(first, -lags), np.minimum(last, n - lags)
    own = energy[0][stop] - energy[0][start]
    other = energy[1][stop + lags] - energy[1][start + lags]
    return lags, np.maximum(own + other - 2.0 * product, 0.0) / (stop - start), own / (stop - start)


def _on_even_times(case: Case, between: Array) -> Array:
    """(n − 1, k) values between samples, at evenly spaced times."""
    steps = np.diff(case.time)
    if np.ptp(steps) <= 0.01 * steps.mean():
        return between
    middle = 0.5 * (case.time[1:] + case.time[:-1])
    even = np.linspace(middle[0], middle[-1], len(middle))
    return np.column_stack([np.interp(even, middle, column) for column in between.T])


def _text(what: str, shift: Shift | None, dt: float) -> str:
    if shift is None:
        return ""
    side = "lags" if shift.samples > 0.0 else "leads"
    m = abs(shift.samples)
    return f"{what} {side} q by {1e3 * m * dt:.1f} ms ({counted(round(m), 'sample')})"


def _next_step(shifts: list[Shift | None]) -> str:
    amounts = sorted({round(shift.samples) for shift in shifts if shift is not None})
    if not amounts:
        return ""
    noun = "sample" if {abs(m) for m in amounts[:3]} == {1} else "samples"
    return "shift the column by " + " or ".join(f"{-m:+d}" for m in amounts[:3]).replace("-", "−") + f" {noun}"


def _all_at_once(series: Series, shifts: list[Shift | None], moving: list[int], dt: float) -> Series:
    """One part for the whole of v, where all columns that move are off by the same."""
    found = [shifts[j] for j in moving]
    amounts = np.array([shift.samples for shift in found if shift is not None])
    middle = float(np.median(amounts)) if len(amounts) else 0.0
    same = len(amounts) >= 0.8 * len(moving) and np.mean(np.abs(amounts - middle) <= 1.0) >= 0.8
    if not same or abs(middle) <= 1.0 + _SLACK:
        return series
    first, last = min(s.first for s in found if s is not None), max(s.last for s in found if s is not None)
    value = np.zeros((len(series.time), 1))
    value[first : last + 1] = middle
    limits = np.asarray(series.lower)[:, :1], np.asarray(series.upper)[:, :1]
    text = _text("the velocity of all joints", Shift(middle, first, last), dt)
    return Series(
        "column_shift", "samples", series.time, ("v",), value, *limits, _SLACK, 10.0, (None,), texts=(text,),
        next_step=_next_step([Shift(middle, first, last)]).replace("the column", "v"),
    )  # fmt: skip
