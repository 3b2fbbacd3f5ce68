"""Actuators of a compiled MuJoCo model → drives.

MuJoCo's gear multiplies the force of the actuator on its way to the joint, and its square the actuator's own armature
and damping. Several actuators on one joint (a position and a velocity servo, say) are one drive.
"""

from __future__ import annotations

import mujoco
import numpy as np

from surefoot.robot.drives import Drive
from surefoot.robot.findings import Finding
from surefoot.robot.mjcf_names import Names
from surefoot.robot.mjcf_tree import is_one_axis

__all__ = ["drives_of"]

_ON_JOINT = (mujoco.mjtTrn.mjTRN_JOINT, mujoco.mjtTrn.mjTRN_JOINTINPARENT)


def drives_of(model: mujoco.MjModel, names: Names) -> tuple[tuple[Drive, ...] | None, list[Finding]]:
    """The drives in the order of the actuators, None for a model without actuators, and notes on what is dropped.

    Args:
        model: The compiled model.
        names: Its names.
    """
    if model.nactuator == 0:
        return None, []
    notes: list[Finding] = []
    by_joint: dict[int, list[int]] = {}
    for i in range(model.nactuator):
        reason = _why_dropped(model, i)
        if reason:
            notes.append(Finding("warning", names.actuators[i], f"actuator dropped: {reason}"))
            continue
        by_joint.setdefault(int(model.actuator_trnid[i, 0]), []).append(i)
        notes += [Finding("note", names.actuators[i], text) for text in _what_is_lost(model, i)]
    return tuple(_drive(model, names, joint, group) for joint, group in by_joint.items()), notes


def _why_dropped(model: mujoco.MjModel, i: int) -> str:
    """Why an actuator drives no joint; empty if it does."""
    transmission = mujoco.mjtTrn(int(model.actuator_trntype[i]))
    if transmission not in _ON_JOINT:
        return f"its transmission ({transmission.name.removeprefix('mjTRN_').lower()}) is not to a joint"
    if not is_one_axis(model, int(model.actuator_trnid[i, 0])):
        return "its joint has more than one axis"
    return "its gear is 0" if _gear(model, i) == 0.0 else ""


def _what_is_lost(model: mujoco.MjModel, i: int) -> list[str]:
    """What a drive does not take over from an actuator."""
    lost = []
    if model.actuator_dyntype[i] != mujoco.mjtDyn.mjDYN_NONE or model.actuator_delay[i]:
        lost.append("actuator dynamics dropped")
    if model.actuator_biastype[i] != mujoco.mjtBias.mjBIAS_NONE:
        lost.append("servo law dropped: the drive gives torque")
    if model.actuator_dampingpoly[i].any():
        lost.append("damping that is not linear dropped")
    return lost


def _drive(model: mujoco.MjModel, names: Names, joint: int, group: list[int]) -> Drive:
    dof = int(model.jnt_dofadr[joint])
    gears = [_gear(model, i) for i in group]
    armature = float(model.dof_armature[dof]) + _reflected(model.actuator_armature, group, gears)
    return Drive(
        names.joints[joint],
        gear_ratio=gears[0],
        rotor_inertia=armature / gears[0] ** 2,
        dry_friction=float(model.dof_frictionloss[dof]),
        viscous_friction=float(model.dof_damping[dof]) + _reflected(model.actuator_damping, group, gears),
        torque_limit=min(sum(gear * _force_limit(model, i) for i, gear in zip(group, gears, strict=True)),
                         _joint_limit(model, joint)),
    )  # fmt: skip


def _gear(model: mujoco.MjModel, i: int) -> float:
    """|gear| of an actuator on a one-axis joint; 0 where its square vanishes."""
    gear = abs(float(model.actuator_gear[model.actuator_outadr[i], 0]))
    return gear if gear > 1e-12 else 0.0


def _reflected(values: np.ndarray, group: list[int], gears: list[float]) -> float:
    """Sum of gear² · value over the actuators of a joint."""
    return float(sum(gear**2 * values[i] for i, gear in zip(group, gears, strict=True)))


def _force_limit(model: mujoco.MjModel, i: int) -> float:
    """The largest force of an actuator before its gear; infinite where nothing bounds it."""
    limits = [np.inf]
    if model.actuator_forcelimited[i]:
        limits.append(float(np.abs(model.actuator_forcerange[i]).max()))
    control = int(model.actuator_ctrladr[i])
    is_plain = (
        model.actuator_gaintype[i] == mujoco.mjtGain.mjGAIN_FIXED
        and model.actuator_biastype[i] == mujoco.mjtBias.mjBIAS_NONE
        and model.actuator_dyntype[i] == mujoco.mjtDyn.mjDYN_NONE
    )
    if is_plain and model.actuator_ctrllimited[control]:
        limits.append(abs(float(model.actuator_gainprm[i, 0])) * float(np.abs(model.actuator_ctrlrange[control]).max()))
    return min(limits)


def _joint_limit(model: mujoco.MjModel, joint: int) -> float:
    return float(np.abs(model.jnt_actfrcrange[joint]).max()) if model.jnt_actfrclimited[joint] else np.inf
