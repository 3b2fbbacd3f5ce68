"""The momentum of the whole robot: its rate is what contacts, gravity and known pushes exert."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from surefoot.arrays import Array
from surefoot.contact import sum_wrenches
from surefoot.feasibility.balance_windows import (
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
from surefoot.feasibility.efforts_demand import push_of, size_of
from surefoot.feasibility.efforts_means import moving_windows
from surefoot.feasibility.series import Series

if TYPE_CHECKING:
    from surefoot.feasibility.case import Case

__all__ = ["momentum_residual", "net_wrench"]


def momentum_residual(case: Case) -> Balanced | None:
    """Force and moment that nothing exerts, relative to the weight; None where no wrenches came with the motion.

        (h(t₂) − h(t₁)) / (t₂ − t₁) = mean of Σ wrenches + m g        [audit.momentum]   h about the centre of mass

    Newton and Euler; Orin, Goswami & Lee 2013 for h. Moments count at the distance of the mass from its centre. What
    forces may do between samples (`roughness`) passes; impacts between samples are not judged, nor are moments while
    somebody pushes, whose line of action is not known.
    """
    if not case.efforts.wrenches_given or len(case.robot.base_rows) != 6:
        return None
    found = case.kernels.bundle(["com", "hg"])(case.q, case.v)
    acting = net_wrench(case, found["com"])
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
    value[unseen_impacts(case.efforts.wrenches, case.time, windows)] = np.nan
    value[unseen_steps(value > case.tolerances.momentum + slack, windows)] = np.nan
    series = Series(
        "momentum_residual", "", windows.time, ("net force", "net moment"), value, -np.inf, case.tolerances.momentum,
        slack, 1.0, width=0.5 * float(np.median(windows.length)), note=_note(case, hold),
        texts=("a force of {value} of the weight acts that nothing exerts, at {time}",
               "a moment acts that nothing exerts: {value} of weight × radius of gyration, at {time}"),
        next_step="see whether something else touches or pushes the robot, and whether masses are right",
    )  # fmt: skip
    return Balanced(series, hold)


def net_wrench(case: Case, com: Array) -> Array:
    """(n, 6): given contact wrenches and gravity, in world axes, about the centre of mass.

    Args:
        case: The case.
        com: (n, 3) in world [m].
    """
    out = sum_wrenches(case.efforts.wrenches, case.touch.placements, com)
    out[:, :3] += case.robot.mass * case.world.gravity
    return out


def _note(case: Case, hold: str) -> str:
    window = 1e3 * case.tolerances.window
    held = {"sample": "those at the samples"}.get(hold, f"those of the {hold} each sample")
    return f"relative to the weight, means over {window:.3g} ms; wrenches are taken as {held}"
