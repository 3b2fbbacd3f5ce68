"""Torques at the drives from generalized forces: friction, and couplings that hand forces on."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from surefoot.arrays import Array
from surefoot.feasibility.case import Case
from surefoot.feasibility.efforts.demand import mean_velocities
from surefoot.feasibility.rates import Rates
from surefoot.kinematics import contact_frame

Mask = NDArray[np.bool_]
STICKING = 0.01
"""[rad/s]: dry friction grows to its full value up to this speed."""
_BELIEVED = 0.5  # of the torque limit: so much dry friction a drive may have


def drive_torques(case: Case, rates: Rates, forces: Array) -> Array:
    """(n, nu): what the drives have to exert.

    Args:
        case: The case.
        rates: Its rates.
        forces: (n, nv) that the joints have to exert, M a + h − Jᵀ f.
    """
    return (forces + friction_forces(case, rates)) @ coupled(case).T[:, case.robot.driven]


def friction_forces(case: Case, rates: Rates) -> Array:
    """(n, nv): what overcomes the friction of the joints, d v + c sign(v); at rest dry friction may help either way.

    Where v is not given, it is the mean over `Tolerances.window`, so that the last digit of positions does not count
    as a motion that friction resists.
    """
    model, v = case.robot.model, mean_velocities(case, rates)
    return np.asarray(v * model.damping + np.clip(v / STICKING, -1.0, 1.0) * model.upperDryFrictionLimit)


def doubtful_friction(case: Case) -> Array:
    """(nu,): dry friction beyond half of what a drive can exert, where torques were not given.

    A drive that spends more on its own friction barely moves its joint: the file does not describe it, and torques may
    go beyond their limits by that.
    """
    limits = drive_limits(case)
    if case.trajectory.tau is not None:
        return np.zeros(len(limits))
    half = np.where(np.isfinite(limits), _BELIEVED * limits, np.inf)
    return np.maximum(case.robot.model.upperDryFrictionLimit[case.robot.driven] - half, 0.0)


def coupled(case: Case) -> Array:
    """(nv, nv): forces at joints → forces at the joints that exert them; followers hand theirs on to a driven leader.

    With q_f = c + n q_s the force at the follower counts n times at its source (equal power). Where only the follower
    is driven, it takes over the source's force.
    """
    robot, out = case.robot, np.eye(case.robot.nv)
    for item in robot.couplings:
        follower, source = (int(robot.tree.v_index[robot.joint_index(name)]) for name in (item.joint, item.source))
        if source not in robot.driven and follower in robot.driven and item.ratio != 0.0:
            follower, source, ratio = source, follower, 1.0 / item.ratio
        else:
            ratio = item.ratio
        out[source, follower] = ratio
        out[follower, follower] = 0.0
    return out


def carrying_rows(case: Case, carrying: Mask) -> Mask:
    """(nv,): entries of v on the way from the base to contacts that carry at some time."""
    tree, out = case.robot.tree, np.zeros(case.robot.nv, dtype=bool)
    for k in np.flatnonzero(carrying.any(axis=0)):
        body = contact_frame(case.robot, case.contact_names[k]).body
        for i in (body, *tree.ancestors(body)) if body >= 0 else ():
            out[int(tree.v_index[i]) : int(tree.v_index[i]) + tree.nv_of(i)] = True
    return out


def passive_rows(case: Case) -> Mask:
    """(nv,) bool: entries of v that nothing drives: no drive, no coupling, not the base."""
    robot = case.robot
    out = np.ones(robot.nv, dtype=bool)
    out[robot.driven] = False
    out[robot.base_rows] = False
    for item in robot.couplings:
        for name in (item.joint, item.source):
            out[int(robot.tree.v_index[robot.joint_index(name)])] = False
    return out


def drive_limits(case: Case) -> Array:
    """(nu,) torque limits: the smaller one of joint and drive; infinite where none is known, 0 is none."""
    robot = case.robot
    limits = [
        drive.torque_limit for drive in robot.drives for _ in range(robot.tree.nv_of(robot.joint_index(drive.joint)))
    ]
    pairs = np.array([np.reshape(limits, -1), robot.limits.effort[robot.driven]], dtype=float)
    return np.asarray(np.where(pairs > 0.0, pairs, np.inf).min(axis=0))
