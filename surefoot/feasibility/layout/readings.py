"""Do columns of v that do not match the rate of q match it in another reading?

A base may be given in world axes, or with its angular velocity first; the columns of joints may be swapped. Another
reading counts only where it fits well by itself, not merely better than the one that was read: noise, another unit or
a shift in time fits in none.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from surefoot.arrays import Array
from surefoot.feasibility.case import Case, units_at
from surefoot.feasibility.rates import Rates, velocity_misfit
from surefoot.feasibility.series import Series
from surefoot.motion.exchange import rotate_back

_FITS = 0.15  # of the motion: below this a velocity fits
_BETTER = 0.3  # of the misfit as it was read: at most this is left
_MOVES = 0.002  # [m/s], [rad/s]: slower motion tells nothing
_LEAST = 8  # samples


@dataclass(frozen=True)
class OtherReading:
    """Some columns of v in a reading that fits.

    Args:
        rows: Entries of v.
        where: Names of their joints.
        text: What they are.
        next_step: What to do.
    """

    rows: tuple[int, ...]
    where: str
    text: str
    next_step: str


def check_readings(case: Case, rates: Rates, readings: Sequence[OtherReading]) -> list[Series]:
    """Where v is not the rate of q, and is in another reading: one finding for all columns and times."""
    v = case.trajectory.v
    if v is None or not readings:
        return []
    _, value, limit = velocity_misfit(case, rates, v)
    beyond = np.nanmax(np.nan_to_num(value, nan=0.0) - limit, axis=0)
    found = []
    for reading in readings:
        worst = max(reading.rows, key=lambda row: float(beyond[row]))
        bodies = frozenset().union(*(case.velocity_bodies[row] for row in reading.rows))
        series = Series(
            "velocity_consistency", "rad/s", np.array([0.5 * (case.trajectory.start + case.trajectory.end)]),
            (reading.where,), np.array([[np.nanmax(value[:, worst])]]), upper=limit[0, worst], bodies=(bodies,),
            width=0.5 * case.trajectory.duration, texts=(reading.text,), next_step=reading.next_step,
            units=units_at(case, np.array([worst]), "rad/s", "m/s"),
        )  # fmt: skip
        found.append(series)
    return found


def other_readings(case: Case, rates: Rates) -> tuple[OtherReading, ...]:
    """Columns of the given v that fit the rate of q only if they are read otherwise."""
    v = case.trajectory.v
    if v is None or case.n < _LEAST:
        return ()
    return (*_of_base(case, rates, v), *_of_joints(case, rates, v))


def _of_base(case: Case, rates: Rates, v: Array) -> list[OtherReading]:
    """Other readings of a free base: world axes, or the angular velocity first."""
    base, tree = case.robot.base_joint, case.robot.tree
    if base is None or tree.kinds[base] != "free" or int(tree.v_index[base]) in rates.filled_rows:
        return []
    start, at = int(tree.v_index[base]), int(tree.q_index[base])
    turn = case.q[:, at + 3 : at + 7]
    halves = [np.arange(start, start + 3), np.arange(start + 3, start + 6)]
    told = [rates.mean[:, half] for half in halves]
    read = [v[:, half] for half in halves]
    turned = [rotate_back(turn, one) for one in read]
    name = case.robot.joint_names[base]
    found = []
    for half, what in enumerate(("linear", "angular")):
        if share := _explains(told[half], read[half], turned[half]):
            text = f"the {what} velocity of `{name}` is in world axes ({share})"
            found.append(OtherReading(tuple(halves[half]), name, text, "rotate it into the axes of the base: Rᵀ v"))
    if found:
        return found
    for given, axes in ((read, ""), (turned, ", in world axes")):
        shares = [_explains(told[half], read[half], given[1 - half]) for half in (0, 1)]
        quiet = [_size(told[half]) < _MOVES and _size(given[1 - half]) < _MOVES for half in (0, 1)]
        if any(shares) and all(share or still for share, still in zip(shares, quiet, strict=True)):
            text = f"the velocity of `{name}` has its angular part first{axes} ({shares[0] or shares[1]})"
            step = "write the linear velocity of the base before the angular one" + (axes and ", in its own axes")
            return [OtherReading(tuple(np.concatenate(halves)), name, text, step)]
    return []


def _explains(rate: Array, read: Array, other: Array) -> str:
    """By how much another reading (n, k) fits the rate (n − 1, k), for people; "" where it does not fit well."""
    motion = _size(rate)
    as_read, so = (_size(rate - 0.5 * (given[1:] + given[:-1])) for given in (read, other))
    if motion < _MOVES or so > min(_FITS * motion, _BETTER * as_read):
        return ""
    return _share(so / motion, as_read / motion)


def _size(values: Array) -> float:
    return float(np.sqrt(np.mean(values**2)))


def _share(so: float, as_read: float) -> str:
    return f"its misfit to the rate of q is then {100.0 * so:.1f} % instead of {100.0 * as_read:.0f} %"


def _of_joints(case: Case, rates: Rates, v: Array) -> list[OtherReading]:
    """Joints whose columns of v are those of each other."""
    tree = case.robot.tree
    single = [int(tree.v_index[i]) for i in range(tree.n) if tree.nv_of(i) == 1]
    rows = np.array([row for row in single if row not in rates.filled_rows], dtype=int)
    if len(rows) < 2:
        return []
    rate, mean = rates.mean[:, rows], 0.5 * (v[1:, rows] + v[:-1, rows])
    motion = np.maximum(np.sqrt(np.mean(rate**2, axis=0)), 1e-12)
    squares = np.sum(rate**2, axis=0)[:, None] + np.sum(mean**2, axis=0)[None] - 2.0 * rate.T @ mean
    misfit = np.sqrt(np.maximum(squares, 0.0) / len(rate)) / motion[:, None]  # of the rate i to the column j
    own = np.diag(misfit).copy()
    np.fill_diagonal(misfit, np.inf)
    fits = (misfit <= _FITS) & (misfit <= _BETTER * np.minimum(own[:, None], own[None])) & (motion[:, None] > _MOVES)
    partner = np.where(fits.any(axis=0), np.argmin(np.where(fits, misfit, np.inf), axis=0), -1)
    found = []
    for j, i in enumerate(partner):
        swapped = i >= 0 and partner[i] == j
        if i < 0 or partner[i] < 0 or (swapped and i < j):
            continue
        mine, its = case.velocity_names[rows[j]], case.velocity_names[rows[i]]
        share = _share(misfit[i, j], own[i])
        if swapped:
            text, step = f"the columns of `{mine}` and `{its}` are swapped", "swap the two columns of q or of v"
        else:
            text, step = f"the velocity of `{mine}` is that of `{its}`", "sort the columns of q or of v"
        both = (int(rows[j]), int(rows[i])) if swapped else (int(rows[j]),)
        where = f"{mine}, {its}" if swapped else mine
        found.append(OtherReading(both, where, f"{text} ({share})", step))
    return found
