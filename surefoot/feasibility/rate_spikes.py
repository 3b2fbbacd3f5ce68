"""Samples of v or a that stand out, up to three in a row, while the quantity whose rate they are does not show it.

A rate at a sample lies between its means over the steps before and after, by as much as these bend: so also at impacts,
and for explicit and semi-implicit integration. Means over windows hide a sample that does not; here every sample is
judged by itself, against how far those round it are off, so that noise of q or of v stays what it is, and against how
much the means change there: a motion that begins and fades within a step shows in them. A misfit that lasts longer is
left to the means. What several columns do at once, or one does where a contact opens or closes, may be
an impact that the samples do not resolve: then only what is too fast for that counts.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from surefoot.arrays import Array
from surefoot.feasibility.consistency import near_switches, rate_limit
from surefoot.feasibility.limits_parts import units_at
from surefoot.feasibility.series import Series
from surefoot.feasibility.spikes import LONGEST

if TYPE_CHECKING:
    from surefoot.feasibility.case import Case

__all__ = ["check_rate_spikes", "stray_rates"]

_NEAR = 5  # samples to each side, whose median a rate leaves, and
_ROUND = 12  # to each side, or as many as there are, that show how far rates are off otherwise
_LEAST = 12  # samples
_FARTHER = 7.0  # than the samples round it: a spike
_SHOWN = 20.0  # times the change of the means there: less may fade within a step, as of a servo that starts
_UNSEEN = np.sqrt(2.0) - 1.0  # of a · dt: a peak of that height and what makes up for it fit into a step with |a|
_RESOLVED = 0.005  # [s]: in longer steps impacts come and go


def check_rate_spikes(case: Case) -> list[Series]:
    """Single samples of given velocities and accelerations that are off the rates of q and of v.

    Args:
        case: The motion.
    """
    v, a, slack = case.trajectory.v, case.trajectory.a, case.tolerances
    if v is None or case.n < _LEAST:
        return []
    dt = np.maximum(np.diff(case.time, prepend=np.nan), np.diff(case.time, append=np.nan))
    unseen = np.where(dt <= _RESOLVED, _UNSEEN * slack.jump_acceleration * dt, np.inf)
    found = [_series(case, "velocity", case.steps, v, rate_limit(case, slack.velocity, v), unseen)]
    if a is not None:
        limit = rate_limit(case, slack.acceleration, a)
        found.append(_series(case, "acceleration", np.diff(v, axis=0), a, limit, np.full(case.n, np.inf)))
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


def _series(case: Case, quantity: str, steps: Array, rates: Array, limit: Array, unseen: Array) -> Series:
    """Samples that are off by more than the limit, by more than those round them, and by what may be unseen."""
    off, usual = stray_rates(case.time, steps, rates)
    upper = np.maximum(limit, _FARTHER * usual)
    off[:, case.filled_rows] = np.nan
    with np.errstate(invalid="ignore"):
        count = np.convolve((off > upper).sum(axis=1), np.ones(3), mode="same")
        lone = (np.convolve((off > upper).any(axis=1), np.ones(3), mode="same") >= count) & ~near_switches(
            case, case.time
        )
    upper = np.where(lone[:, None], upper, np.maximum(upper, unseen[:, None]))
    letter, of = ("v", "q") if quantity == "velocity" else ("a", "v")
    unit = "rad/s" if letter == "v" else "rad/s²"
    rows = np.arange(case.robot.nv)
    return Series(
        f"{quantity}_consistency", unit, case.time, case.velocity_names, off, upper=upper,
        bodies=case.velocity_bodies, units=units_at(case, rows, unit, unit.replace("rad", "m")),
        texts=tuple(
            f"{letter} of `{name}` is off the rate of {of} by {{value}} at {{time}}, and not before and after"
            for name in case.velocity_names
        ),
        next_step=f"repair or leave out this sample of {letter} (a dropout, a spike of a sensor)",
    )  # fmt: skip
