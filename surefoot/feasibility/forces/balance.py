"""Balances: do the given forces and torques explain the motion?

Logs of engines hold the torques and wrenches of the step before a sample, or of the one after it; plans hold those at
the sample. The one that explains a motion best is taken (`hold_of`), for all of it at once. Residuals
are means over windows, because forces of hard contacts come and go between samples.
"""

from __future__ import annotations

import numpy as np

from surefoot.arrays import Array
from surefoot.feasibility.case import Case
from surefoot.feasibility.efforts import STICKING, Efforts, Windows, moving_windows, push_of, size_of
from surefoot.feasibility.forces.joints import friction_counts, joint_residual
from surefoot.feasibility.forces.spikes import torque_spikes
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
from surefoot.feasibility.rates import Rates
from surefoot.feasibility.series import Series, skipped
from surefoot.feasibility.touch import Touch

__all__ = ["check_balance", "net_wrench"]


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

    E is kinetic and potential energy, that of springs included. Where contact wrenches did not come with the motion,
    the least ones that carry it are taken, and what they deliver or take passes. Not judged while somebody pushes,
    whose point of attack is unknown.
    """
    if case.trajectory.tau is None:
        return skipped("energy_residual", "no torques given; computed torques explain the motion by construction")
    windows = moving_windows(case.time, _WINDOW * case.tolerances.window)
    energy = case.kernels.energy(case.q, rates.v)
    total = np.asarray(energy.kinetic + energy.potential + case.robot.spring_forces.energy(case.q))
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
    springs = case.robot.spring_forces
    power = power - (v @ springs.shares.T) ** 2 @ springs.damping
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
