"""Forces at the joints that nothing explains: what a motion needs less what acts, as far as that is known."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from surefoot.arrays import Array
from surefoot.feasibility.balance_contacts import Leftover
from surefoot.feasibility.balance_windows import Hold, between, means
from surefoot.feasibility.efforts_demand import size_of
from surefoot.feasibility.efforts_joints import coupled, drive_limits, friction_forces
from surefoot.feasibility.efforts_means import moving_windows
from surefoot.feasibility.efforts_wrenches import on_bodies

if TYPE_CHECKING:
    from surefoot.feasibility.case import Case

__all__ = ["force_units", "friction_counts", "leftover", "near_stops", "unexplained_forces"]

_STOP = 0.02  # [rad], [m]: nearer to a limit its stop may push
_CLEARLY = 0.5  # of what friction leaves unexplained: so much may be left without it


def unexplained_forces(case: Case, hold: Hold) -> Array:
    """(n − 1, nv) between samples: M a + h − Σ Jᵀ f + viscous friction − τ, handed on by couplings.

    Friction is left out where torques were computed without it (`friction_counts`).

    Args:
        case: The case.
        hold: What rows of torques and wrenches stand for.
    """
    viscous = between(case.v, "sample") * case.robot.model.damping * case.friction_counts
    return np.asarray(_rigid_forces(case, hold) + viscous @ coupled(case).T)


def _rigid_forces(case: Case, hold: Hold) -> Array:
    """(n − 1, nv): M a + h − Σ Jᵀ f − τ."""
    a = np.diff(case.v, axis=0) / np.diff(case.time)[:, None]
    if case.trajectory.a is not None:
        a = between(case.trajectory.a, "sample")
    q, v = case.q[:-1], case.v[:-1]
    if case.efforts.wrenches_given:
        pushing = on_bodies(case, between(case.efforts.wrenches, hold))
        forces = case.kernels.rnea(q, v, a, external=pushing)
    else:
        forces = case.kernels.rnea(q, v, a)
    out = forces @ coupled(case).T
    if case.trajectory.tau is not None:
        out[:, case.robot.driven] -= between(case.trajectory.tau, hold)
    return np.asarray(out)


def friction_counts(case: Case) -> bool:
    """Whether given torques overcome the friction of the joints, told by what explains the motion better.

    Inverse dynamics of rigid bodies knows no friction, whatever the robot's file says: its torques explain the motion
    clearly better without it.

    Args:
        case: The case.
    """
    unit, driven = force_units(case), case.robot.driven
    friction = np.zeros((case.n - 1, case.robot.nv))
    friction[:, driven] = between(friction_forces(case), "sample")[:, driven]
    if case.trajectory.tau is None or case.robot.loops or not friction.any():
        return True
    rigid, windows = _rigid_forces(case, "sample"), moving_windows(case.time, case.tolerances.window)
    parts = [*leftover(case, unit).of_all([rigid, rigid + friction @ coupled(case).T], []), friction]
    without, overcome, size = (np.abs(means(part, case.time, windows)) / unit for part in parts)
    return bool(np.minimum(without, size).sum() >= _CLEARLY * np.minimum(overcome, size).sum())


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
