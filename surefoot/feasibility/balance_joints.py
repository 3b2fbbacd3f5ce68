"""The joints: what the motion needs at each of them is what its drive exerts, less friction."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from surefoot.feasibility.balance_contacts import Leftover
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
from surefoot.feasibility.efforts_demand import push_of, size_of
from surefoot.feasibility.efforts_joints import carrying_rows, coupled, drive_limits, passive_rows
from surefoot.feasibility.efforts_means import Windows, moving_windows
from surefoot.feasibility.efforts_wrenches import on_bodies
from surefoot.feasibility.limits_parts import bodies_at, names_at
from surefoot.feasibility.series import Series
from surefoot.motion.checks import Array

if TYPE_CHECKING:
    from surefoot.feasibility.case import Case

__all__ = ["force_units", "joint_residual", "leftover", "near_stops", "unexplained_forces"]

Rows = NDArray[np.int64]
_STOP = 0.02  # [rad], [m]: nearer to a limit its stop may push


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
    windows, unit, limit = (
        moving_windows(case.time, case.tolerances.window),
        force_units(case),
        case.tolerances.momentum,
    )
    holds: tuple[Hold, ...] = HOLDS if hold is None else (hold,)
    left, dry = leftover(case, unit), np.broadcast_to(case.robot.model.upperDryFrictionLimit, (case.n - 1, len(unit)))
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
        note="joints relative to their torque limits",
        texts=tuple(f"{name}: a torque of {{value}} of its limit acts that nothing exerts, at {{time}}"
                    for name in names_at(case, rows)),
        next_step="see whether torques, masses and joint friction belong to this motion, and whether something pushes",
    )  # fmt: skip
    return Balanced(series, best)


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


def leftover(case: Case, unit: Array) -> Leftover:
    """What takes out of forces what contacts may have exerted, if torques came along and contact wrenches did not.

    Args:
        case: The case.
        unit: (nv,) what forces are measured by.
    """
    efforts = case.efforts
    if case.trajectory.tau is None or efforts.wrenches_given or efforts.support is None:
        return Leftover(None, unit)
    return Leftover.of_contacts(case, efforts.support, near_stops(case), unit)


def _pushed(case: Case, windows: Windows) -> NDArray[np.bool_]:
    """(m,): windows in which somebody pushes, whose line of action is not known."""
    pushes = np.any(push_of(case), axis=1)[:, None].astype(float)
    return means(between(pushes, "sample"), case.time, windows)[:, 0] > 0.0


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


def _rough_torques(case: Case) -> Array:
    """(n − 1, nv): how much torques between samples may be off, because they were only seen at samples."""
    out = np.zeros((case.n - 1, case.robot.nv))
    if case.trajectory.tau is not None:
        out[:, case.robot.driven] = 0.5 * np.abs(np.diff(case.trajectory.tau, axis=0))
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
