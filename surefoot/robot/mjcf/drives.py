"""Actuators of a compiled MuJoCo model → drives.

MuJoCo's gear multiplies the force of the actuator on its way to the joint, and its square the actuator's own armature
and damping. Several actuators on one joint (a position and a velocity servo, say) are one drive. The gains of
servos are those of the drive, seen at the joint.
"""

from __future__ import annotations

import mujoco
import numpy as np

from surefoot.robot.mjcf.names import Names
from surefoot.robot.mjcf.notes import Remark
from surefoot.robot.mjcf.tree import (
    Range,
    actuator_force_range,
    is_lopsided,
    is_one_axis,
    joint_force_range,
    safe_limit,
)
from surefoot.robot.model import Drive

_ON_JOINT = (mujoco.mjtTrn.mjTRN_JOINT, mujoco.mjtTrn.mjTRN_JOINTINPARENT)


def drives_of(model: mujoco.MjModel, names: Names) -> tuple[tuple[Drive, ...] | None, list[Remark]]:
    """The drives in the order of the actuators, None for a model without actuators, and notes on dropped properties."""
    if model.nactuator == 0:
        text = "the file has no actuators: every joint is driven, without limits"
        return None, [Remark("note", "", "", text)] if model.njnt else []
    notes: list[Remark] = []
    by_joint: dict[int, list[int]] = {}
    for i in range(model.nactuator):
        reason = _why_dropped(model, i)
        if reason:
            notes.append(Remark("warning", "actuator", names.actuators[i], f"actuator dropped: {reason}"))
            continue
        by_joint.setdefault(int(model.actuator_trnid[i, 0]), []).append(i)
        notes += [Remark("note", "actuator", names.actuators[i], text) for text in _lost_properties(model, i)]
    drives = []
    for joint, group in by_joint.items():
        # Lowest and highest force of all actuators of a joint together, clamped to the range of the joint
        ranges = np.array([actuator_force_range(model, i, _gear(model, i)) for i in group])
        low, high = np.clip(ranges.sum(axis=0), *joint_force_range(model, joint))
        bounds = float(low), float(high)
        drives.append(_drive(model, names, joint, group, safe_limit(bounds)))
        if is_lopsided(bounds):
            notes.append(_lopsided_note(names.joints[joint], bounds))
    return tuple(drives), notes


def _why_dropped(model: mujoco.MjModel, i: int) -> str:
    """Why an actuator drives no joint; empty if it does."""
    transmission = mujoco.mjtTrn(int(model.actuator_trntype[i]))
    if transmission not in _ON_JOINT:
        return f"its transmission ({transmission.name.removeprefix('mjTRN_').lower()}) is not to a joint"
    if not is_one_axis(model, int(model.actuator_trnid[i, 0])):
        return "its joint has more than one axis"
    return "its gear is 0" if _gear(model, i) == 0.0 else ""


def _lost_properties(model: mujoco.MjModel, i: int) -> list[str]:
    """Properties of an actuator that a drive does not have."""
    lost = []
    if model.actuator_dyntype[i] != mujoco.mjtDyn.mjDYN_NONE or model.actuator_delay[i]:
        lost.append("actuator dynamics dropped")
    if not _is_servo(model, i) and model.actuator_biastype[i] != mujoco.mjtBias.mjBIAS_NONE:
        lost.append("force law dropped: the drive gives torque")
    if model.actuator_dampingpoly[i].any():
        lost.append("damping that is not linear dropped")
    if _gear(model, i) < 0.0:
        lost.append(f"gear {_gear(model, i):g}: the command sign is reversed; the drive's command is along the joint")
    return lost


def _is_servo(model: mujoco.MjModel, i: int) -> bool:
    """Whether the force is gain · control − kp · position − kd · velocity, with kp and kd ≥ 0."""
    constant, position, velocity = model.actuator_biasprm[i, :3]
    return bool(
        model.actuator_biastype[i] == mujoco.mjtBias.mjBIAS_AFFINE
        and model.actuator_gaintype[i] == mujoco.mjtGain.mjGAIN_FIXED
        and constant == 0.0
        and position <= 0.0
        and velocity <= 0.0
    )


def _drive(model: mujoco.MjModel, names: Names, joint: int, group: list[int], torque_limit: float) -> Drive:
    dof = int(model.jnt_dofadr[joint])
    gears = [abs(_gear(model, i)) for i in group]
    servos = [i for i in group if _is_servo(model, i)]
    servo_gears = [abs(_gear(model, i)) for i in servos]
    armature = float(model.dof_armature[dof]) + _reflected(model.actuator_armature, group, gears)
    return Drive(
        names.joints[joint],
        gear_ratio=gears[0],
        rotor_inertia=armature / (gears[0] * gears[0]),
        dry_friction=float(model.dof_frictionloss[dof]),
        viscous_friction=float(model.dof_damping[dof]) + _reflected(model.actuator_damping, group, gears),
        torque_limit=torque_limit,
        servo_stiffness=_reflected(-model.actuator_biasprm[:, 1], servos, servo_gears),
        servo_damping=_reflected(-model.actuator_biasprm[:, 2], servos, servo_gears),
    )


def _lopsided_note(joint: str, bounds: Range) -> Remark:
    message = (
        f"torque from {bounds[0]:g} to {bounds[1]:g}: the drive has the smaller one both ways, ±{safe_limit(bounds):g}"
    )
    return Remark("note", "joint", joint, message)


def _gear(model: mujoco.MjModel, i: int) -> float:
    """Gear of an actuator on a one-axis joint, with its sign; 0 where its square vanishes."""
    gear = float(model.actuator_gear[model.actuator_outadr[i], 0])
    return gear if abs(gear) > 1e-12 else 0.0


def _reflected(values: np.ndarray, group: list[int], gears: list[float]) -> float:
    """Sum of gear² · value over the actuators of a joint."""
    return sum(gear * gear * float(values[i]) for i, gear in zip(group, gears, strict=True))
