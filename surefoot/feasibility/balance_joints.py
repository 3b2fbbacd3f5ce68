"""The joints: what the motion needs at each of them is what its drive exerts, less friction."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from surefoot.arrays import Array
from surefoot.feasibility.balance_forces import force_units, leftover, near_stops, unexplained_forces
from surefoot.feasibility.balance_windows import (
    HOLDS,
    Balanced,
    Hold,
    between,
    hold_of,
    means,
    unseen_impacts,
    unseen_steps,
)
from surefoot.feasibility.efforts_demand import push_of
from surefoot.feasibility.efforts_joints import carrying_rows, passive_rows
from surefoot.feasibility.efforts_means import Windows, moving_windows
from surefoot.feasibility.limits_parts import bodies_at, names_at
from surefoot.feasibility.series import Series

if TYPE_CHECKING:
    from surefoot.feasibility.case import Case

__all__ = ["joint_residual"]

Rows = NDArray[np.int64]


def joint_residual(case: Case, hold: Hold | None) -> Balanced | None:
    """Joint forces that nothing exerts, relative to the torque limits; None where there is nothing to compare.

        mean of M a + h − Σ Jᵀ f + friction − τ = 0        [audit.joints]

    Joints with torques that came with the motion, and joints that nothing drives. Dry friction takes what it can. Where
    contact wrenches did not come along, contacts take what they can, too (`Leftover`), and what is left of joints that
    carry them is a lower bound; while somebody pushes the robot, that is not judged. Nor are joints near their stops
    and joints of robots with closed chains.

    Args:
        case: The case.
        hold: What rows of torques stand for; None if not known yet.
    """
    rows = _judged(case)
    if not len(rows):
        return None
    windows, limit = moving_windows(case.time, case.tolerances.window), case.tolerances.momentum
    holds: tuple[Hold, ...] = HOLDS if hold is None else (hold,)
    unit, counts = force_units(case), case.friction_counts
    left = leftover(case, unit)
    dry = np.broadcast_to(case.robot.model.upperDryFrictionLimit * counts, (case.n - 1, len(unit)))
    parts = left.of_all([unexplained_forces(case, one) for one in holds], [dry, _rough_torques(case)])
    *forces, dry, rough = (means(part, case.time, windows) / unit for part in parts)
    found = dict(zip(holds, forces, strict=True))
    best = hold_of({one: value[:, rows] for one, value in found.items()}, limit)
    at_joints = left.at_one_joint(found[best], (windows.first + windows.last) // 2, rows, limit)
    value, slack = np.maximum(np.abs(at_joints) - dry, 0.0)[:, rows], rough[:, rows]
    value[_at_stops(case, rows, windows)] = np.nan
    value[unseen_impacts(case.efforts.wrenches, case.time, windows)] = np.nan
    value[np.ix_(_pushed(case, windows), _carrying(case)[rows])] = np.nan
    value[unseen_steps(value > limit + slack, windows)] = np.nan
    series = Series(
        "momentum_residual", "", windows.time, names_at(case, rows), value, -np.inf, limit,
        slack, 1.0, bodies_at(case, rows),
        width=0.5 * float(np.median(windows.length)),
        note="joints relative to their torque limits" + ("" if counts else ", torques without the friction of joints"),
        texts=_texts(case, rows),
        next_step="see whether torques, masses and joint friction belong to this motion, and whether something pushes",
    )  # fmt: skip
    return Balanced(series, best)


def _texts(case: Case, rows: Rows) -> tuple[str, ...]:
    """A sentence for each joint: about its torque, or, if nothing drives it, about what moves it."""
    driven = np.isin(rows, case.robot.driven)
    return tuple(
        f"the torque of `{name}` is off what the motion needs by {{value}} of its limit at {{time}}"
        if given
        else f"`{name}` has no drive, and its motion needs a torque of {{value}} of weight × size at {{time}}"
        for name, given in zip(names_at(case, rows), driven, strict=True)
    )


def _judged(case: Case) -> Rows:
    """Entries of v whose forces can be compared."""
    robot = case.robot
    if robot.loops:
        return np.zeros(0, dtype=np.int64)
    rows = passive_rows(case)
    if case.trajectory.tau is None:
        return np.flatnonzero(rows & ~_carrying(case))
    rows[robot.driven] = True
    return np.flatnonzero(rows)


def _carrying(case: Case) -> NDArray[np.bool_]:
    """(nv,): entries of v that carry contacts whose wrenches did not come with the motion."""
    support = case.efforts.support
    if case.efforts.wrenches_given or support is None:
        return np.zeros(case.robot.nv, dtype=bool)
    return carrying_rows(case, support.carrying)


def _pushed(case: Case, windows: Windows) -> NDArray[np.bool_]:
    """(m,): windows in which somebody pushes, whose line of action is not known."""
    pushes = np.any(push_of(case), axis=1)[:, None].astype(float)
    return means(between(pushes, "sample"), case.time, windows)[:, 0] > 0.0


def _rough_torques(case: Case) -> Array:
    """(n − 1, nv): how much torques between samples may be off, because they were only seen at samples."""
    out = np.zeros((case.n - 1, case.robot.nv))
    if case.trajectory.tau is not None:
        out[:, case.robot.driven] = 0.5 * np.abs(np.diff(case.trajectory.tau, axis=0))
    return out


def _at_stops(case: Case, rows: Rows, windows: Windows) -> NDArray[np.bool_]:
    """(m, rows): joints that are near a limit of their position in a window."""
    near = near_stops(case)[:, rows].astype(float)
    return means(between(near, "sample"), case.time, windows) > 0.0
