"""Were the numbers read correctly? Quaternions, units, and columns that lead or lag."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from surefoot.arrays import Array
from surefoot.feasibility.case import Case
from surefoot.feasibility.layout.readings import OtherReading
from surefoot.feasibility.layout.shift import check_shift
from surefoot.feasibility.layout.units import check_units
from surefoot.feasibility.rates import Rates
from surefoot.feasibility.series import Series, skipped
from surefoot.motion.reading import OrderVerdict, judge_order_over_time, other_order

__all__ = ["check_layout"]

_QUATERNIONS = {"free": slice(3, 7), "spherical": slice(0, 4)}


def check_layout(case: Case, rates: Rates, readings: Sequence[OtherReading]) -> list[Series]:
    """Length and order of quaternions, units, and shifts of columns of v."""
    return [_norm(case), _order(case), check_units(case, rates), check_shift(case, rates, readings)]


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
        next_step="normalise quaternions when recording or interpolating them",
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
    found = judge_order_over_time(case.robot, case.world, case.time, case.q, told)
    verdict, part = found.verdict, found.wrong
    middle = np.array([0.5 * (case.trajectory.start + case.trajectory.end)])
    text, next_step = _order_text(name, verdict, part is not None, case.quaternion_order)
    return Series(
        "quaternion_order",
        "",
        middle if part is None else case.time,
        (name,),
        np.array([[float(bool(verdict.meant))]]) if part is None else part[:, None].astype(float),
        upper=0.0,
        width=0.5 * case.trajectory.duration if part is None else 0.0,
        note=verdict.doubt or verdict.reason,
        texts=(text,),
        next_step=next_step,
    )


def _order_text(name: str, verdict: OrderVerdict, partly: bool, read: str) -> tuple[str, str]:
    """What is wrong with the order of a quaternion, and what to do about it."""
    meant, other = verdict.meant, other_order(verdict.meant)
    if meant and meant == read:
        text = (
            f"the quaternion of `{name}` was read as {read}, but its numbers are shifted by one place: {verdict.reason}"
        )
        return text, f"write the numbers of the quaternion in the order {read}, as declared by the file"
    if partly:
        text = f"the quaternion of `{name}` is {meant} in part of the motion and was read as {other}: {verdict.reason}"
        return text, f"write the quaternion in one order throughout: {other}"
    text = f"the quaternion of `{name}` is {meant} and was read as {other}: {verdict.reason}"
    layout = "mujoco" if meant == "wxyz" else "pinocchio"
    return text, f"give the right order: --quaternion {meant or 'xyzw'}, or --layout {layout}"
