"""Spikes of given torques, up to three samples long, to which the motion does not respond.

A torque that acts changes the momentum of the robot, or what its contacts exert. For a few samples whose torques leave
the line through their neighbours by D, the forces u = M a + h − Σ Jᵀ f + friction − τ that nothing explains are looked
at: if the torque acted, u stays what it is around; if it is an error of a sensor or of the file,

    P Σ (u − its median around) = −P Σ D        [audit.torque_spike]

P leaves out what contacts may exert, where that did not come with the motion (`Leftover`). Sums over the steps around
the samples do not ask whether a row of torques stands for the step before or after it. Means over windows hide such
samples: they are as rough as their torques.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from surefoot.arrays import Array
from surefoot.feasibility.case import Case
from surefoot.feasibility.efforts import Efforts
from surefoot.feasibility.forces.joints import force_units, leftover, near_stops, unexplained_forces
from surefoot.feasibility.forces.leftover import Leftover
from surefoot.feasibility.forces.windows import Hold
from surefoot.feasibility.rates import Rates, near_switches
from surefoot.feasibility.series import LONGEST, Series, is_spike, look_at_sample
from surefoot.feasibility.touch import Touch

_ROUND = 12  # samples to each side that show what u is otherwise
_ACROSS = 2  # steps to each side that may belong to a sample
_ANSWERED = 0.3  # share of a spike that may show in the motion
_FARTHER = 5.0  # than u around it: a spike
_HIDDEN = 0.2  # share of a spike that contacts leave over at least, or nothing can be said
_RESOLVED = 0.0051  # [s]: in longer steps torques come and go
_EVEN = 0.1  # share by which steps may differ


class _Event(NamedTuple):
    """Samples whose torques stand out together: the first and last, and by how much they do (samples, nv)."""

    first: int
    last: int
    stray: Array


def torque_spikes(
    case: Case, rates: Rates, touch: Touch, efforts: Efforts, hold: Hold, friction: bool
) -> Series | None:
    """Torques that stand out and that nothing answers to, relative to the torque limits; None if there are none.

    Not judged: joints near their stops; robots with closed chains.
    """
    if case.trajectory.tau is None or case.robot.loops:
        return None
    unit, driven = force_units(case), case.robot.driven
    events = list(_events(case, touch, unit))
    if not events:
        return None
    unexplained, left = unexplained_forces(case, rates, efforts, hold, friction), leftover(case, touch, efforts, unit)
    value = np.zeros((case.n, case.robot.nu))
    for event in events:
        if _is_unanswered(event, left, unexplained, unit):
            value[event.first : event.last + 1] = np.abs(event.stray[:, driven]) / unit[driven]
    if not value.any():
        return None
    names = tuple(case.velocity_names[row] for row in driven)
    return Series(
        "momentum_residual", "", case.time, names, value, upper=case.tolerances.momentum,
        bodies=tuple(case.velocity_bodies[row] for row in driven),
        texts=tuple(
            f"the torque of `{name}` has a spike of {{value}} of its limit at {{time}}, but the motion does not respond"
            for name in names
        ),
        next_step="repair or omit these torque samples (such as a dropout or a sensor spike)",
        spike_step=look_at_sample("torque"),
    )  # fmt: skip


def _events(case: Case, touch: Touch, unit: Array) -> Iterator[_Event]:
    """Samples whose torques stand out, where the samples resolve it and no contact opens or closes."""
    stray = np.where(near_stops(case), 0.0, _stray_torques(case, unit))
    rows = np.flatnonzero(stray.any(axis=1))
    for run in np.split(rows, np.flatnonzero(np.diff(rows) > 1) + 1):
        if not len(run) or len(run) > LONGEST or run[0] < _ROUND or run[-1] >= case.n - _ROUND:
            continue
        step = np.diff(case.time[run[0] - _ROUND : run[-1] + _ROUND + 1])
        if step.max() > _RESOLVED or np.ptp(step) > _EVEN * step.max():
            continue
        if not near_switches(case, touch.switches(case.time), case.time[run]).any():
            yield _Event(int(run[0]), int(run[-1]), stray[run])


def _stray_torques(case: Case, unit: Array) -> Array:
    """(n, nv): how far torques are from the line through their neighbours, where they stand out; 0 elsewhere."""
    driven, tau = case.robot.driven, np.asarray(case.trajectory.tau)
    out, reach = np.zeros((case.n, case.robot.nv)), LONGEST
    if case.n <= 2 * reach:
        return out
    before, after = (tau[reach:-reach] - tau[: -2 * reach], tau[reach:-reach] - tau[2 * reach :])
    alike = np.where(before * after > 0.0, np.minimum(np.abs(before), np.abs(after)), 0.0)
    far = alike > case.tolerances.momentum * unit[driven]
    for j in np.flatnonzero(far.any(axis=0)):
        rows = np.flatnonzero(far[:, j]) + reach
        for run in np.split(rows, np.flatnonzero(np.diff(rows) > 1) + 1):
            if is_spike(tau[:, j], run):
                begin, end = tau[run[0] - 1, j], tau[run[-1] + 1, j]
                out[run, driven[j]] = tau[run, j] - np.linspace(begin, end, len(run) + 2)[1:-1]
    return out


def _is_unanswered(event: _Event, left: Leftover, unexplained: Array, unit: Array) -> bool:
    """Whether forces that nothing explains are those of the spike, and none are left without it."""
    steps = np.arange(event.first - _ROUND, event.last + _ROUND)
    found = left.of(unexplained[steps], steps) / unit
    found -= np.median(found, axis=0)
    across = slice(_ROUND - _ACROSS, len(found) - _ROUND + _ACROSS)
    spike = event.stray.sum(axis=0)
    seen = left.of(spike[None], np.array([event.first]))[0] / unit
    usual = np.linalg.norm(np.delete(found, across, axis=0), axis=1)
    size = float(np.linalg.norm(seen))
    return bool(
        size > _HIDDEN * np.linalg.norm(spike / unit)
        and np.linalg.norm(found[across].sum(axis=0) + seen) <= _ANSWERED * size
        and size > _FARTHER * np.median(usual)
    )
