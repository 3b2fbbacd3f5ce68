"""Drives of a model: one on every joint by default; drives are written back into the model."""

from __future__ import annotations

from collections.abc import Container

import numpy as np
import pinocchio as pin

from surefoot.errors import one_of
from surefoot.robot.model import Drive

UNBOUNDED = float(np.finfo(float).max)  # what Pinocchio writes where there is no bound
_CARRIERS = ("JointModelFreeFlyer", "JointModelPlanar")


def default_drives(model: pin.Model, followers: Container[str]) -> tuple[Drive, ...]:
    """A drive on every joint but free and planar ones, which carry robots and objects, and followers.

    Args:
        model: The model, with the limits, friction and armature of its file.
        followers: Names of joints that follow others.
    """
    return tuple(
        _default_drive(model, i)
        for i in range(1, model.njoints)
        if model.joints[i].shortname() not in _CARRIERS and str(model.names[i]) not in followers
    )


def _default_drive(model: pin.Model, i: int) -> Drive:
    row = model.joints[i].idx_v
    effort, speed = float(model.effortLimit[row]), float(model.velocityLimit[row])
    return Drive(
        str(model.names[i]),
        rotor_inertia=float(model.armature[row]),
        dry_friction=float(model.upperDryFrictionLimit[row]),
        viscous_friction=float(model.damping[row]),
        torque_limit=effort if 0.0 < effort < UNBOUNDED else np.inf,
        speed_limit=speed if 0.0 < speed < UNBOUNDED else np.inf,
    )


def require_joints(model: pin.Model, drives: tuple[Drive, ...]) -> None:
    """Refuse drives on joints that the model does not have."""
    for drive in drives:
        if not model.existJointName(drive.joint):
            raise one_of("joint", drive.joint, list(model.names)[1:])


def write_drive(model: pin.Model, drive: Drive) -> None:
    """Write armature, friction and finite limits of a drive into the model."""
    joint = model.joints[model.getJointId(drive.joint)]
    rows = slice(joint.idx_v, joint.idx_v + joint.nv)
    model.armature[rows] = drive.armature
    model.rotorInertia[rows] = drive.rotor_inertia
    model.rotorGearRatio[rows] = drive.gear_ratio
    model.damping[rows] = drive.viscous_friction
    model.upperDryFrictionLimit[rows] = drive.dry_friction
    model.lowerDryFrictionLimit[rows] = -drive.dry_friction
    write_effort(model, drive)
    if np.isfinite(drive.speed_limit):
        model.velocityLimit[rows] = drive.speed_limit
        model.lowerVelocityLimit[rows] = -drive.speed_limit


def write_effort(model: pin.Model, drive: Drive) -> None:
    """A finite torque limit of a drive into the model."""
    joint = model.joints[model.getJointId(drive.joint)]
    rows = slice(joint.idx_v, joint.idx_v + joint.nv)
    if np.isfinite(drive.torque_limit):
        model.effortLimit[rows] = drive.torque_limit
        model.lowerEffortLimit[rows] = -drive.torque_limit
