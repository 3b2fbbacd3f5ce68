"""Limits of the joints: position, velocity, acceleration, torque."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from surefoot.feasibility.efforts_joints import doubtful_friction, drive_limits
from surefoot.feasibility.limits_motors import motor_series
from surefoot.feasibility.limits_parts import bodies_at, joint_rows, names_at, unit_at, units_at
from surefoot.feasibility.series import Series, skipped
from surefoot.feasibility.spikes import look_at_sample

if TYPE_CHECKING:
    from surefoot.feasibility.case import Case

__all__ = ["check_limits"]

_POSITIONS = {"revolute": 1, "prismatic": 1, "helical": 1, "translation": 3, "planar": 2, "free": 3}
"""Kinds of joints → leading entries of q that are positions, not parts of unit vectors."""


def check_limits(case: Case) -> list[Series]:
    """`joint_position`, `joint_velocity`, `joint_acceleration`, `joint_torque` and what motors can do."""
    return [_position(case), _velocity(case), _acceleration(case), _torque(case), *motor_series(case)]


def _position(case: Case) -> Series:
    """Positions between their limits; entries of quaternions and of (cos, sin) have none."""
    limits = case.robot.limits
    pairs = [
        pair for pair in _positions(case) if np.isfinite(limits.lower[pair[0]]) or np.isfinite(limits.upper[pair[0]])
    ]
    if not pairs:
        return skipped("joint_position", "no joint has limits of its position")
    q, v = (np.array(column) for column in zip(*pairs, strict=True))
    return Series(
        "joint_position", unit_at(case, v, "rad", "m"), case.time, names_at(case, v), case.q[:, q],
        limits.lower[q], limits.upper[q], case.tolerances.joint_position, 0.1, bodies_at(case, v),
        units=units_at(case, v, "rad", "m"),
        next_step="keep the joint within its range, or check zero and sign of its column",
    )  # fmt: skip


def _velocity(case: Case) -> Series:
    limits = case.robot.limits.velocity
    rows = np.flatnonzero(np.isfinite(limits) & (limits > 0.0))  # 0 is none
    if not len(rows):
        return skipped("joint_velocity", "no joint has a limit of its velocity")
    limit = limits[rows]
    return Series(
        "joint_velocity", unit_at(case, rows, "rad/s", "m/s"), case.time, names_at(case, rows), case.v[:, rows],
        -limit, limit, case.tolerances.joint_velocity * limit, float(np.median(limit)) or 1.0, bodies_at(case, rows),
        units=units_at(case, rows, "rad/s", "m/s"),
        note="as given" if case.trajectory.v is not None else "differences of q",
        next_step="slow the motion down: `Trajectory.time_scaled`",
        spike_step="" if case.trajectory.v is None else look_at_sample("velocity"),
    )  # fmt: skip


def _acceleration(case: Case) -> Series:
    """Robot files know no limits of accelerations; one may be set in the tolerances, else they are only reported."""
    rows = joint_rows(case)
    if not len(rows):
        return skipped("joint_acceleration", "there are no joints")
    limit = case.tolerances.acceleration_limit
    source = "as given" if case.trajectory.a is not None else f"means over {1e3 * case.tolerances.window:.3g} ms"
    return Series(
        "joint_acceleration", unit_at(case, rows, "rad/s²", "m/s²"), case.time, names_at(case, rows),
        case.efforts.demand.a[:, rows], -limit, limit, 0.01 * limit if np.isfinite(limit) else 0.0,
        limit if np.isfinite(limit) and limit > 0.0 else 100.0, bodies_at(case, rows),
        units=units_at(case, rows, "rad/s²", "m/s²"),
        note=source if np.isfinite(limit) else f"{source}; no limit is set",
        next_step="slow the motion down: `Trajectory.time_scaled`",
        spike_step="" if case.trajectory.a is None else look_at_sample("acceleration"),
    )  # fmt: skip


def _torque(case: Case) -> Series:
    efforts, limits = case.efforts, drive_limits(case)
    rows = np.flatnonzero(np.isfinite(limits))
    if not len(rows):
        return skipped("joint_torque", "no drive has a torque limit")
    if np.isnan(efforts.tau).all():
        return skipped("joint_torque", efforts.note)
    limit, joints = limits[rows], case.robot.driven[rows]
    return Series(
        "joint_torque", unit_at(case, joints, "N m", "N"), case.time, names_at(case, joints), efforts.tau[:, rows],
        -limit, limit, case.tolerances.joint_torque * limit + doubtful_friction(case)[rows],
        float(np.median(limit)) or 1.0, bodies_at(case, joints), note=efforts.note,
        units=units_at(case, joints, "N m", "N"),
        next_step="slow the motion down, carry less, or change the posture in which the joint is loaded",
        spike_step=look_at_sample("torque") if efforts.tau_given else "",
    )  # fmt: skip


def _positions(case: Case) -> list[tuple[int, int]]:
    """Entries of q that are positions, each with its entry of v."""
    tree, out = case.robot.tree, []
    for i, kind in enumerate(tree.kinds):
        count = min(_POSITIONS.get(kind, 0), tree.nq_of(i))
        out += [(int(tree.q_index[i]) + k, int(tree.v_index[i]) + k) for k in range(count)]
    return out
