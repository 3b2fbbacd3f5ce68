"""Which kind of drive each driven joint has in a simulation, and the numbers that a kind needs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

import numpy as np

from surefoot.errors import ModelError, NotSupportedError, one_of
from surefoot.robot import Drive, Robot

__all__ = ["KINDS", "DriveKind", "kinds_of"]

DriveKind = Literal["torque", "torque_speed", "dc_motor", "elastic", "servo"]
KINDS: tuple[DriveKind, ...] = ("torque", "torque_speed", "dc_motor", "elastic", "servo")
_ANY_JOINT = ("torque", "torque_speed")
_NEEDS: Mapping[DriveKind, tuple[str, ...]] = {
    "torque": (),
    "torque_speed": ("torque_limit", "speed_limit"),
    "dc_motor": ("resistance", "torque_constant", "voltage"),
    "elastic": ("stiffness", "rotor_inertia"),
    "servo": ("torque_limit", "speed_limit", "servo_stiffness"),
}


def kinds_of(robot: Robot, kinds: str | Mapping[str, str] | None = None) -> dict[str, DriveKind]:
    """The kind of drive of each driven joint, in the order of `robot.drives`.

    What a drive is by its own description: "elastic" with an elastic gear; else "dc_motor" if winding and supply are
    known; else "torque_speed" if the torque falls before the top speed; else "torque".

    Args:
        robot: The robot.
        kinds: None for what each drive says of itself; one kind for all; or kinds by joint, the others as for None.

    Raises:
        UnknownNameError: There is no such kind or driven joint.
        ModelError: A drive lacks numbers that its kind needs.
        NotSupportedError: A motor, gear or servo on a joint with several axes.
    """
    if isinstance(kinds, str):
        given: Mapping[str, str] = {drive.joint: kinds for drive in robot.drives}
    else:
        given = kinds or {}
    joints = [drive.joint for drive in robot.drives]
    for joint, kind in given.items():
        if joint not in joints:
            raise one_of("driven joint", joint, joints)
        if kind not in KINDS:
            raise one_of("kind of drive", kind, KINDS)
    out: dict[str, DriveKind] = {d.joint: given.get(d.joint, _described(d)) for d in robot.drives}  # type: ignore[misc]
    for drive in robot.drives:
        _require_one_axis(robot, drive, out[drive.joint])
        _require_numbers(drive, out[drive.joint])
    return out


def _described(drive: Drive) -> DriveKind:
    if drive.gear == "elastic":
        return "elastic"
    if drive.resistance > 0.0 and drive.torque_constant > 0.0 and drive.voltage > 0.0:
        return "dc_motor"
    return "torque_speed" if drive.corner_speed < drive.speed_limit < np.inf else "torque"


def _require_one_axis(robot: Robot, drive: Drive, kind: DriveKind) -> None:
    joint = robot.joint_index(drive.joint)
    if kind not in _ANY_JOINT and robot.tree.nv_of(joint) != 1:
        raise NotSupportedError(
            f"joint `{drive.joint}` is {robot.tree.kinds[joint]}; a drive of kind `{kind}` turns one axis",
            subject=kind,
            kind="kind of drive",
            next_step=f"choose {' or '.join(f'`{name}`' for name in _ANY_JOINT)} for it",
        )


def _require_numbers(drive: Drive, kind: DriveKind) -> None:
    missing = [name for name in _NEEDS[kind] if not 0.0 < getattr(drive, name) < np.inf]
    if missing:
        raise ModelError(
            f"the drive of `{drive.joint}` cannot be a `{kind}`: {' and '.join(missing)} not known",
            subject=kind,
            kind="kind of drive",
            evidence={name: getattr(drive, name) for name in missing},
            next_step=f"give {', '.join(f'`{name}`' for name in missing)} under [drives.{drive.joint}] in the side "
            "file, or choose another kind",
        )
    if kind == "elastic" and drive.gear != "elastic":
        raise ModelError(
            f"the gear of `{drive.joint}` is rigid: its rotor is already part of the joint's inertia",
            next_step=f'set gear = "elastic" with `stiffness` under [drives.{drive.joint}] in the side file',
        )
