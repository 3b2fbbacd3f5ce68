"""The joints: what the motion needs at each of them is what its drive exerts, less friction."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from surefoot.arrays import Array
from surefoot.feasibility.case import Case, bodies_at, names_at
from surefoot.feasibility.efforts import (
    Efforts,
    Windows,
    carrying_rows,
    coupled,
    drive_limits,
    friction_forces,
    moving_windows,
    on_bodies,
    passive_rows,
    push_of,
    size_of,
)
from surefoot.feasibility.forces.leftover import Leftover
from surefoot.feasibility.forces.windows import (
    HOLDS,
    Balanced,
    Hold,
    between,
    hold_of,
    means,
    unseen_impacts,
    unseen_steps,
)
from surefoot.feasibility.rates import Rates
from surefoot.feasibility.series import Series
from surefoot.feasibility.touch import Touch

Rows = NDArray[np.int64]


def joint_residual(
    case: Case, rates: Rates, touch: Touch, efforts: Efforts, hold: Hold | None, friction: bool
) -> Balanced | None:
    """Joint forces that nothing exerts, relative to the torque limits; None where there is nothing to compare.

        mean of M a + h − Σ Jᵀ f + friction − τ = 0        [audit.joints]

    Joints with torques that came with the motion, and joints that nothing drives. Dry friction takes what it can. Where
    contact wrenches did not come along, contacts take what they can, too (`Leftover`), and what is left of joints that
    carry them is a lower bound; while somebody pushes the robot, that is not judged. Nor are joints near their stops
    and joints of robots with closed chains.

    Args:
        case: The case.
        rates: Its rates.
        touch: Its contacts.
        efforts: Its torques and contact wrenches.
        hold: What rows of torques stand for; None if not known yet.
        friction: Whether torques overcome the friction of the joints (`friction_counts`).
    """
    rows = _judged(case, efforts)
    if not len(rows):
        return None
    windows, limit = moving_windows(case.time, case.tolerances.window), case.tolerances.momentum
    holds: tuple[Hold, ...] = HOLDS if hold is None else (hold,)
    unit = force_units(case)
    left = leftover(case, touch, efforts, unit)
    dry = np.broadcast_to(case.robot.model.upperDryFrictionLimit * friction, (case.n - 1, len(unit)))
    parts = left.of_all(
        [unexplained_forces(case, rates, efforts, one, friction) for one in holds], [dry, _rough_torques(case)]
    )
    *forces, dry, rough = (means(part, case.time, windows) / unit for part in parts)
    found = dict(zip(holds, forces, strict=True))
    best = hold_of({one: value[:, rows] for one, value in found.items()}, limit)
    at_joints = left.at_one_joint(found[best], (windows.first + windows.last) // 2, rows, limit)
    value, slack = np.maximum(np.abs(at_joints) - dry, 0.0)[:, rows], rough[:, rows]
    value[_at_stops(case, rows, windows)] = np.nan
    value[unseen_impacts(efforts.wrenches, case.time, windows)] = np.nan
    value[np.ix_(_pushed(case, windows), _carrying(case, efforts)[rows])] = np.nan
    value[unseen_steps(value > limit + slack, windows)] = np.nan
    series = Series(
        "momentum_residual", "", windows.time, names_at(case, rows), value, -np.inf, limit,
        slack, 1.0, bodies_at(case, rows),
        width=0.5 * float(np.median(windows.length)),
        note="joints relative to their torque limits"
        + ("" if friction else ", torques without joint friction"),
        texts=_texts(case, rows),
        next_step="check that torques, masses and joint friction belong to this motion, and that nothing pushes",
    )  # fmt: skip
    return Balanced(series, best)


def _texts(case: Case, rows: Rows) -> tuple[str, ...]:
    """A sentence for each joint: about its torque, or, if nothing drives it, about what moves it."""
    driven = np.isin(rows, case.robot.driven)
    return tuple(
        f"the torque of `{name}` differs from what the motion needs by {{value}} of its limit at {{time}}"
        if given
        else f"`{name}` has no drive, but its motion needs a torque of {{value}} of weight × size at {{time}}"
        for name, given in zip(names_at(case, rows), driven, strict=True)
    )


def _judged(case: Case, efforts: Efforts) -> Rows:
    """Entries of v whose forces can be compared."""
    robot = case.robot
    if robot.loops:
        return np.zeros(0, dtype=np.int64)
    rows = passive_rows(case)
    if case.trajectory.tau is None:
        return np.flatnonzero(rows & ~_carrying(case, efforts))
    rows[robot.driven] = True
    return np.flatnonzero(rows)


def _carrying(case: Case, efforts: Efforts) -> NDArray[np.bool_]:
    """(nv,): entries of v that carry contacts whose wrenches did not come with the motion."""
    support = efforts.support
    if efforts.wrenches_given or support is None:
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


_SLIDES = 0.05  # [rad/s], [m/s]: friction of a joint that is slower may stick
_STOP = 0.02  # [rad], [m]: nearer to a limit its stop may push
_CLEARLY = 0.5  # of what friction leaves unexplained: so much may be left without it


def unexplained_forces(case: Case, rates: Rates, efforts: Efforts, hold: Hold, friction: bool) -> Array:
    """(n − 1, nv) between samples: M a + h − Σ Jᵀ f + viscous friction − τ, handed on by couplings."""
    viscous = between(rates.v, "sample") * case.robot.model.damping * friction
    return np.asarray(_rigid_forces(case, rates, efforts, hold) + viscous @ coupled(case).T)


def _rigid_forces(case: Case, rates: Rates, efforts: Efforts, hold: Hold) -> Array:
    """(n − 1, nv): M a + h − Σ Jᵀ f − springs − τ."""
    a = np.diff(rates.v, axis=0) / np.diff(case.time)[:, None]
    if case.trajectory.a is not None:
        a = between(case.trajectory.a, "sample")
    q, v = case.q[:-1], rates.v[:-1]
    if efforts.wrenches_given:
        pushing = on_bodies(case, between(efforts.wrenches, hold))
        forces = case.kernels.rnea(q, v, a, external=pushing)
    else:
        forces = case.kernels.rnea(q, v, a)
    if case.robot.springs:
        forces = forces - between(case.robot.spring_forces.torque(case.q, rates.v), "sample")
    out = forces @ coupled(case).T
    if case.trajectory.tau is not None:
        out[:, case.robot.driven] -= between(case.trajectory.tau, hold)
    return np.asarray(out)


def friction_counts(case: Case, rates: Rates, touch: Touch, efforts: Efforts) -> bool:
    """Whether given torques overcome the friction of the joints, told by what explains the motion better.

    Inverse dynamics of rigid bodies knows no friction, whatever the robot's file says: its torques explain the motion
    clearly better without it. Joints that barely move tell nothing: friction that sticks takes any value.
    """
    if case.trajectory.tau is None or case.robot.loops:
        return True
    unit, driven = force_units(case), case.robot.driven
    friction = np.zeros((case.n - 1, case.robot.nv))
    friction[:, driven] = between(friction_forces(case, rates), "sample")[:, driven]
    friction[np.abs(between(rates.v, "sample")) < _SLIDES] = 0.0
    if not friction.any():
        return True
    rigid, windows = _rigid_forces(case, rates, efforts, "sample"), moving_windows(case.time, case.tolerances.window)
    parts = [*leftover(case, touch, efforts, unit).of_all([rigid, rigid + friction @ coupled(case).T], []), friction]
    without, overcome, size = (np.abs(means(part, case.time, windows)) / unit for part in parts)
    return bool(np.minimum(without, size).sum() >= _CLEARLY * np.minimum(overcome, size).sum())


def leftover(case: Case, touch: Touch, efforts: Efforts, unit: Array) -> Leftover:
    """What takes out of forces what contacts may have exerted, if torques came along and contact wrenches did not."""
    if case.trajectory.tau is None or efforts.wrenches_given or efforts.support is None:
        return Leftover(None, unit)
    return Leftover.of_contacts(case, touch, efforts.support, near_stops(case), unit)


def force_units(case: Case) -> Array:
    """(nv,): torque limits; weight × size of the robot where there is none."""
    out = np.full(case.robot.nv, case.weight * size_of(case))
    limits = drive_limits(case)
    out[case.robot.driven] = np.where(np.isfinite(limits) & (limits > 0.0), limits, out[case.robot.driven])
    return out


def near_stops(case: Case) -> NDArray[np.bool_]:
    """(n, nv): joints that are near a limit of their position, where a stop may push."""
    tree, limits = case.robot.tree, case.robot.limits
    near = np.zeros((case.n, case.robot.nv), dtype=bool)
    for i in range(tree.n):
        if tree.nq_of(i) == tree.nv_of(i) == 1:
            q, v = int(tree.q_index[i]), int(tree.v_index[i])
            near[:, v] = (case.q[:, q] < limits.lower[q] + _STOP) | (case.q[:, q] > limits.upper[q] - _STOP)
    return near
