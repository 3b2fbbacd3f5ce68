"""Energy: what drives and contacts deliver is what the robot gains, and joint friction takes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from surefoot.arrays import Array
from surefoot.feasibility.balance_windows import HOLDS, Hold, between, hold_of, means, roughness, unseen_impacts
from surefoot.feasibility.efforts_demand import push_of
from surefoot.feasibility.efforts_joints import STICKING
from surefoot.feasibility.efforts_means import Windows, moving_windows
from surefoot.feasibility.series import Series, skipped

if TYPE_CHECKING:
    from surefoot.feasibility.case import Case

__all__ = ["energy_residual"]

_SLOW = 0.1  # [m/s]: least power that residuals are measured by, as speed of the weight
_WINDOW = 5.0  # × `Tolerances.window`


def energy_residual(case: Case, hold: Hold | None) -> Series:
    """Power that nothing delivers, relative to the largest power.

        (E(t₂) − E(t₁)) / (t₂ − t₁) = mean of τ·v + Σ f·twist − friction        [audit.energy]

    E is kinetic and potential energy. Where contact wrenches did not come with the motion, the least ones that carry it
    are taken, and what they deliver or take passes. Not judged while somebody pushes, whose point of attack is unknown.

    Args:
        case: The case.
        hold: What rows of torques stand for; None if not known.
    """
    if case.trajectory.tau is None:
        return skipped("energy_residual", "no torques came with the motion; those needed explain it by construction")
    windows = moving_windows(case.time, _WINDOW * case.tolerances.window)
    energy = case.kernels.energy(case.q, case.v)
    total = np.asarray(energy.kinetic + energy.potential)
    gain = (total[windows.last] - total[windows.first]) / windows.length
    powers = {one: _power(case, one) for one in (HOLDS if hold is None else (hold,))}
    residuals = {one: gain - means(power[:, None], case.time, windows)[:, 0] for one, power in powers.items()}
    unit = max(*(float(np.abs(power).max()) for power in powers.values()), _SLOW * case.weight)
    best = hold_of({one: value / unit for one, value in residuals.items()}, case.tolerances.energy)
    value = np.abs(residuals[best])[:, None] / unit
    pushed = between(np.any(push_of(case), axis=1)[:, None].astype(float), "sample")
    value[means(pushed, case.time, windows) > 0.0] = np.nan
    value[unseen_impacts(case.efforts.wrenches, case.time, windows)] = np.nan
    slack = _unsure(case, powers[best], windows) / unit
    return Series(
        "energy_residual", "", windows.time, ("whole robot",), value, -np.inf, case.tolerances.energy,
        slack, 1.0, width=0.5 * float(np.median(windows.length)),
        note=f"relative to {unit:.3g} W, means over {1e3 * _WINDOW * case.tolerances.window:.3g} ms",
        texts=("power of {value} of the largest one is gained or lost that nothing delivers or takes, at {time}",),
        next_step="see whether torques belong to this motion, and whether the engine has friction that the robot lacks",
    )  # fmt: skip


def _power(case: Case, hold: Hold) -> Array:
    """(n − 1,) between samples: of drives and contacts, less friction."""
    tau = case.trajectory.tau
    v, model = between(case.v, "sample"), case.robot.model
    power = -case.friction_counts * np.sum(model.damping * v**2 + model.upperDryFrictionLimit * np.abs(v), axis=1)
    if tau is not None:
        power = power + np.sum(between(tau, hold) * v[:, case.robot.driven], axis=1)
    return np.asarray(power + _contact_power(case, hold if case.efforts.wrenches_given else "sample"))


def _contact_power(case: Case, hold: Hold) -> Array:
    """(n − 1,): of contact wrenches on the moving surfaces."""
    return np.sum(between(case.efforts.wrenches, hold) * between(case.touch.twists, "sample"), axis=(1, 2))


def _unsure(case: Case, power: Array, windows: Windows) -> Array:
    """(m, 1): how much mean power may be off: it was only seen at samples, joints stick, wrenches may be unknown."""
    at_samples = np.append(power, power[-1:])[:, None]
    slack = roughness(at_samples, case.time, windows) + means(_sticking(case)[:, None], case.time, windows)
    if not case.efforts.wrenches_given:
        slack = slack + means(np.abs(_contact_power(case, "sample"))[:, None], case.time, windows)
    return slack


def _sticking(case: Case) -> Array:
    """(n − 1,): power that dry friction may not take, of joints that hardly move."""
    speed, dry = np.abs(between(case.v, "sample")), case.robot.model.upperDryFrictionLimit
    return np.asarray(np.sum(dry * speed * (1.0 - np.minimum(speed / STICKING, 1.0)), axis=1))
