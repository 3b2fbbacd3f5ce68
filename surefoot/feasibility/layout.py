"""Are the numbers what they were read as? Quaternions, units, and columns that run ahead or behind."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from surefoot.feasibility.layout_order import judge_order, other_order
from surefoot.feasibility.layout_shift import check_shift
from surefoot.feasibility.layout_units import check_units
from surefoot.feasibility.series import Series, skipped
from surefoot.motion.checks import Array

if TYPE_CHECKING:
    from surefoot.feasibility.case import Case

__all__ = ["check_layout"]

_QUATERNIONS = {"free": slice(3, 7), "spherical": slice(0, 4)}


def check_layout(case: Case) -> list[Series]:
    """Length and order of quaternions, units, and shifts of columns of v.

    Args:
        case: The motion.
    """
    return [_norm(case), _order(case), check_units(case), check_shift(case)]


def _norm(case: Case) -> Series:
    lengths = {**_own_lengths(case), **case.quaternion_norm}
    if not lengths:
        return skipped("quaternion_norm", "the robot has no quaternions")
    slack = case.tolerances.quaternion_norm
    tree = case.robot.tree
    return Series(
        "quaternion_norm",
        "",
        case.time,
        tuple(lengths),
        np.column_stack(list(lengths.values())),
        lower=1.0,
        upper=1.0,
        slack=slack,
        scale=0.01,
        bodies=tuple(case.subtree(tree.joint_names.index(joint)) for joint in lengths),
        texts=tuple(f"the quaternion of `{joint}` has length {{value}}, not 1, at {{time}}" for joint in lengths),
        next_step="normalise quaternions when they are recorded or interpolated",
    )


def _own_lengths(case: Case) -> dict[str, Array]:
    """(n,) lengths of the quaternions of the trajectory by joint."""
    tree = case.robot.tree
    out = {}
    for i, kind in enumerate(tree.kinds):
        if kind in _QUATERNIONS:
            at, part = int(tree.q_index[i]), _QUATERNIONS[kind]
            out[tree.joint_names[i]] = np.linalg.norm(case.q[:, at + part.start : at + part.stop], axis=1)
    return out


def _order(case: Case) -> Series:
    base = case.robot.base_joint
    if base is None or case.robot.tree.kinds[base] != "free":
        return skipped("quaternion_order", "the base has no quaternion")
    name = case.robot.joint_names[base]
    told = None if name in case.filled else case.trajectory.v
    verdict = judge_order(case.robot, case.world, case.time, case.q, told)
    other = other_order(verdict.meant)
    return Series(
        "quaternion_order",
        "",
        np.array([0.5 * (case.trajectory.start + case.trajectory.end)]),
        (name,),
        np.array([[float(bool(verdict.meant))]]),
        upper=0.0,
        width=0.5 * case.trajectory.duration,
        note=verdict.doubt or verdict.reason,
        texts=(f"the quaternion of `{name}` is {verdict.meant} and was read as {other}: {verdict.reason}",),
        next_step=f"give the order that is meant: --quaternion {verdict.meant or 'xyzw'}, or --layout "
        + ("mujoco" if verdict.meant == "wxyz" else "pinocchio"),
    )
