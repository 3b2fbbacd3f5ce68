"""The joints: what the motion needs at each of them is what its drive exerts, less friction."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

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
from surefoot.feasibility.efforts_demand import size_of
from surefoot.feasibility.efforts_joints import carrying_rows, coupled, drive_limits, passive_rows
from surefoot.feasibility.efforts_means import Windows, moving_windows
from surefoot.feasibility.efforts_wrenches import on_bodies
from surefoot.feasibility.limits_parts import bodies_at, names_at
from surefoot.feasibility.series import Series
from surefoot.motion.checks import Array

if TYPE_CHECKING:
    from surefoot.feasibility.case import Case

__all__ = ["force_units", "joint_residual", "near_stops", "unexplained_forces"]

Rows = NDArray[np.int64]
_STOP = 0.02  # [rad], [m]: nearer to a limit its stop may push


def joint_residual(case: Case, hold: Hold | None) -> Balanced | None:
    """Joint forces that nothing exerts, relative to the torque limits; None where there is nothing to compare.

        mean of M a + h − Σ Jᵀ f + friction − τ = 0        [audit.joints]

    Joints with torques that came with the motion, and joints that nothing drives. Dry friction takes what it can. Not
    judged: joints near their stops; joints that carry contacts whose wrenches did not come with the motion; joints of
    robots with closed chains.

    Args:
        case: The case.
        hold: What rows of torques stand for; None if not known yet.
    """
    rows = _judged(case)
    if not len(rows):
        return None
    windows = moving_windows(case.time, case.tolerances.window)
    holds: tuple[Hold, ...] = HOLDS if hold is None else (hold,)
    found = {one: means(unexplained_forces(case, one)[:, rows], case.time, windows) for one in holds}
    dry, unit = case.robot.model.upperDryFrictionLimit[rows], force_units(case)[rows]
    best = hold_of({one: value / unit for one, value in found.items()}, case.tolerances.momentum)
    value = np.maximum(np.abs(found[best]) - dry, 0.0) / unit
    value[_at_stops(case, rows, windows)] = np.nan
    value[unseen_impacts(case.efforts.wrenches, case.time, windows)] = np.nan
    slack = _rough_torques(case, windows)[:, rows] / unit
    value[unseen_steps(value > case.tolerances.momentum + slack, windows)] = np.nan
    series = Series(
        "momentum_residual", "", windows.time, names_at(case, rows), value, -np.inf, case.tolerances.momentum,
        slack, 1.0, bodies_at(case, rows),
        width=0.5 * float(np.median(windows.length)),
        note="joints relative to their torque limits",
        texts=tuple(f"{name}: a torque of {{value}} of its limit acts that nothing exerts, at {{time}}"
                    for name in names_at(case, rows)),
        next_step="see whether torques, masses and joint friction belong to this motion and robot",
    )  # fmt: skip
    return Balanced(series, best)


def _judged(case: Case) -> Rows:
    """Entries of v whose forces can be compared."""
    robot = case.robot
    if robot.loops:
        return np.zeros(0, dtype=np.int64)
    rows = passive_rows(case)
    if case.trajectory.tau is not None:
        rows[robot.driven] = True
    if not case.efforts.wrenches_given and case.efforts.support is not None:
        rows &= ~carrying_rows(case, case.efforts.support.carrying)
    return np.flatnonzero(rows)


def unexplained_forces(case: Case, hold: Hold) -> Array:
    """(n − 1, nv) between samples: M a + h − Σ Jᵀ f + viscous friction − τ, handed on by couplings.

    Args:
        case: The case.
        hold: What rows of torques and wrenches stand for.
    """
    a = np.diff(case.v, axis=0) / np.diff(case.time)[:, None]
    if case.trajectory.a is not None:
        a = between(case.trajectory.a, "sample")
    q, v = case.q[:-1], case.v[:-1]
    if case.efforts.wrenches_given:
        pushing = on_bodies(case, between(case.efforts.wrenches, hold))
        forces = case.kernels.rnea(q, v, a, external=pushing)
    else:
        forces = case.kernels.rnea(q, v, a)
    out = (forces + between(case.v, "sample") * case.robot.model.damping) @ coupled(case).T
    if case.trajectory.tau is not None:
        out[:, case.robot.driven] -= between(case.trajectory.tau, hold)
    return np.asarray(out)


def _rough_torques(case: Case, windows: Windows) -> Array:
    """(m, nv): how much mean torques may be off, because they were only seen at samples."""
    out = np.zeros((len(windows.time), case.robot.nv))
    if case.trajectory.tau is not None:
        out[:, case.robot.driven] = roughness(case.trajectory.tau, case.time, windows)
    return out


def force_units(case: Case) -> Array:
    """(nv,): torque limits; weight × size of the robot where there is none."""
    out = np.full(case.robot.nv, case.weight * size_of(case))
    limits = drive_limits(case)
    out[case.robot.driven] = np.where(np.isfinite(limits) & (limits > 0.0), limits, out[case.robot.driven])
    return out


def _at_stops(case: Case, rows: Rows, windows: Windows) -> NDArray[np.bool_]:
    """(m, rows): joints that are near a limit of their position in a window."""
    near = near_stops(case)[:, rows].astype(float)
    return means(between(near, "sample"), case.time, windows) > 0.0


def near_stops(case: Case) -> NDArray[np.bool_]:
    """(n, nv): joints that are near a limit of their position, where a stop may push."""
    tree, limits = case.robot.tree, case.robot.limits
    near = np.zeros((case.n, case.robot.nv), dtype=bool)
    for i in range(tree.n):
        if tree.nq_of(i) == tree.nv_of(i) == 1:
            q, v = int(tree.q_index[i]), int(tree.v_index[i])
            near[:, v] = (case.q[:, q] < limits.lower[q] + _STOP) | (case.q[:, q] > limits.upper[q] - _STOP)
    return near
