"""Balances: do the given forces and torques explain the motion?

Logs of engines hold the torques and wrenches of the step before a sample, or of the one after it; plans hold those at
the sample. The one that explains a motion best is taken (`hold_of`), for all of it at once. Residuals
are means over windows, because forces of hard contacts come and go between samples.

Spikes of given torques, up to three samples long, to which the motion does not respond.

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
from surefoot.feasibility.efforts import STICKING, Efforts, Windows, moving_windows, push_of, size_of
from surefoot.feasibility.forces.joints import (
    force_units,
    friction_counts,
    joint_residual,
    leftover,
    near_stops,
    unexplained_forces,
)
from surefoot.feasibility.forces.leftover import Leftover
from surefoot.feasibility.forces.windows import (
    HOLDS,
    Balanced,
    Hold,
    between,
    hold_of,
    means,
    roughness,
    unseen_impacts,
    unseen_steps,
)
from surefoot.feasibility.rates import Rates, near_switches
from surefoot.feasibility.series import LONGEST, Series, is_spike, look_at_sample, skipped
from surefoot.feasibility.touch import Touch


def check_balance(case: Case, rates: Rates, touch: Touch, efforts: Efforts) -> list[Series]:
    """`momentum_residual`, of the whole robot and of its joints, and `energy_residual`."""
    whole, friction = _momentum_residual(case, rates, touch, efforts), friction_counts(case, rates, touch, efforts)
    hold = None if whole is None else whole.hold
    joints = joint_residual(case, rates, touch, efforts, hold, friction)
    out = [found.series for found in (whole, joints) if found is not None]
    hold = hold or (joints.hold if joints is not None else None)
    spikes = torque_spikes(case, rates, touch, efforts, hold or "sample", friction)
    out += [] if spikes is None else [spikes]
    if not out:
        out = [
            skipped(
                "momentum_residual", "needs given contact wrenches, or given torques of a robot without closed chains"
            )
        ]
    return [*out, _energy_residual(case, rates, touch, efforts, hold, friction)]


def _momentum_residual(case: Case, rates: Rates, touch: Touch, efforts: Efforts) -> Balanced | None:
    """Unexplained force and moment, relative to the weight; None where no wrenches are given.

        (h(t₂) − h(t₁)) / (t₂ − t₁) = mean of Σ wrenches + m g        [audit.momentum]   h about the centre of mass

    Newton and Euler; Orin, Goswami & Lee 2013 for h. Moments count at the distance of the mass from its centre. What
    forces may do between samples (`roughness`) passes; impacts between samples are not judged, nor are moments while
    somebody pushes, whose line of action is not known.
    """
    if not efforts.wrenches_given or len(case.robot.base_rows) != 6:
        return None
    found = case.kernels.bundle(["com", "hg"])(case.q, rates.v)
    acting = net_wrench(case, touch, efforts, found["com"])
    push = push_of(case)
    acting[:, :3] += push
    windows = moving_windows(case.time, case.tolerances.window)
    rate = (found["hg"][windows.last] - found["hg"][windows.first]) / windows.length[:, None]
    unit = 1.0 / (case.weight * np.r_[np.ones(3), np.full(3, size_of(case))])
    residuals: dict[Hold, Array] = {
        hold: (rate - means(between(acting, hold), case.time, windows)) * unit for hold in HOLDS
    }
    hold = hold_of(residuals, case.tolerances.momentum)
    value = np.stack([np.linalg.norm(residuals[hold][:, k : k + 3], axis=1) for k in (0, 3)], axis=1)
    rough = roughness(acting, case.time, windows) * unit
    slack = np.stack([np.linalg.norm(rough[:, k : k + 3], axis=1) for k in (0, 3)], axis=1)
    pushed = means(between(np.any(push, axis=1)[:, None].astype(float), "sample"), case.time, windows)[:, 0] > 0.0
    value[pushed, 1] = np.nan
    value[unseen_impacts(efforts.wrenches, case.time, windows)] = np.nan
    value[unseen_steps(value > case.tolerances.momentum + slack, windows)] = np.nan
    series = Series(
        "momentum_residual", "", windows.time, ("net force", "net moment"), value, -np.inf, case.tolerances.momentum,
        slack, 1.0, width=0.5 * float(np.median(windows.length)), note=_note(case, hold),
        texts=("an unexplained force of {value} of the weight acts at {time}",
               "an unexplained moment of {value} of weight × radius of gyration acts at {time}"),
        next_step="check whether something else touches or pushes the robot, and whether the masses are right",
    )  # fmt: skip
    return Balanced(series, hold)


def net_wrench(case: Case, touch: Touch, efforts: Efforts, com: Array) -> Array:
    """(n, 6): given contact wrenches and gravity, in world axes, about the centre of mass."""
    T, w = touch.placements, efforts.wrenches
    force = np.einsum("ncij,ncj->nci", T[..., :3, :3], w[..., :3])
    moment = np.einsum("ncij,ncj->nci", T[..., :3, :3], w[..., 3:])
    moment += np.cross(T[..., :3, 3] - com[:, None], force)
    out = np.concatenate([force, moment], axis=2).sum(axis=1)
    out[:, :3] += case.robot.mass * case.world.gravity
    return out


def _note(case: Case, hold: str) -> str:
    window = 1e3 * case.tolerances.window
    held = {"sample": "those at the samples"}.get(hold, f"those of the {hold} each sample")
    return f"relative to the weight, averaged over {window:.3g} ms; wrenches are taken as {held}"


_SLOW = 0.1  # [m/s]: least power that residuals are measured by, as speed of the weight
_WINDOW = 5.0  # × `Tolerances.window`


def _energy_residual(
    case: Case, rates: Rates, touch: Touch, efforts: Efforts, hold: Hold | None, friction: bool
) -> Series:
    """Unexplained power, relative to the largest power.

        (E(t₂) − E(t₁)) / (t₂ − t₁) = mean of τ·v + Σ f·twist − friction        [audit.energy]

    E is kinetic and potential energy. Where contact wrenches did not come with the motion, the least ones that carry it
    are taken, and what they deliver or take passes. Not judged while somebody pushes, whose point of attack is unknown.
    """
    if case.trajectory.tau is None:
        return skipped("energy_residual", "no torques given; computed torques explain the motion by construction")
    windows = moving_windows(case.time, _WINDOW * case.tolerances.window)
    energy = case.kernels.energy(case.q, rates.v)
    total = np.asarray(energy.kinetic + energy.potential)
    gain = (total[windows.last] - total[windows.first]) / windows.length
    powers = {one: _power(case, rates, touch, efforts, one, friction) for one in (HOLDS if hold is None else (hold,))}
    residuals = {one: gain - means(power[:, None], case.time, windows)[:, 0] for one, power in powers.items()}
    unit = max(*(float(np.abs(power).max()) for power in powers.values()), _SLOW * case.weight)
    best = hold_of({one: value / unit for one, value in residuals.items()}, case.tolerances.energy)
    value = np.abs(residuals[best])[:, None] / unit
    pushed = between(np.any(push_of(case), axis=1)[:, None].astype(float), "sample")
    value[means(pushed, case.time, windows) > 0.0] = np.nan
    value[unseen_impacts(efforts.wrenches, case.time, windows)] = np.nan
    slack = _unsure(case, rates, touch, efforts, powers[best], windows) / unit
    return Series(
        "energy_residual", "", windows.time, ("whole robot",), value, -np.inf, case.tolerances.energy,
        slack, 1.0, width=0.5 * float(np.median(windows.length)),
        note=f"relative to {unit:.3g} W, averaged over {1e3 * _WINDOW * case.tolerances.window:.3g} ms",
        texts=("an unexplained power of {value} of the largest power is gained or lost at {time}",),
        next_step="check that the torques belong to this motion, and that the robot has the friction of the engine",
    )  # fmt: skip


def _power(case: Case, rates: Rates, touch: Touch, efforts: Efforts, hold: Hold, friction: bool) -> Array:
    """(n − 1,) between samples: of drives and contacts, less friction."""
    tau = case.trajectory.tau
    v, model = between(rates.v, "sample"), case.robot.model
    power = -friction * np.sum(model.damping * v**2 + model.upperDryFrictionLimit * np.abs(v), axis=1)
    if tau is not None:
        power = power + np.sum(between(tau, hold) * v[:, case.robot.driven], axis=1)
    return np.asarray(power + _contact_power(case, touch, efforts, hold if efforts.wrenches_given else "sample"))


def _contact_power(case: Case, touch: Touch, efforts: Efforts, hold: Hold) -> Array:
    """(n − 1,): of contact wrenches on the moving surfaces."""
    return np.sum(between(efforts.wrenches, hold) * between(touch.twists, "sample"), axis=(1, 2))


def _unsure(case: Case, rates: Rates, touch: Touch, efforts: Efforts, power: Array, windows: Windows) -> Array:
    """(m, 1): how much mean power may be off: it was only seen at samples, joints stick, wrenches may be unknown."""
    at_samples = np.append(power, power[-1:])[:, None]
    slack = roughness(at_samples, case.time, windows) + means(_sticking(case, rates)[:, None], case.time, windows)
    if not efforts.wrenches_given:
        slack = slack + means(np.abs(_contact_power(case, touch, efforts, "sample"))[:, None], case.time, windows)
    return slack


def _sticking(case: Case, rates: Rates) -> Array:
    """(n − 1,): power that dry friction may not take, of joints that barely move."""
    speed, dry = np.abs(between(rates.v, "sample")), case.robot.model.upperDryFrictionLimit
    return np.asarray(np.sum(dry * speed * (1.0 - np.minimum(speed / STICKING, 1.0)), axis=1))


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
