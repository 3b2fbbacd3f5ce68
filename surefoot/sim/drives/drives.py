"""`DriveBank`: what motors, gears and servos make of a command, step by step.

Which kind of drive each driven joint has in a simulation, and the numbers that a kind needs.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from surefoot.arrays import Array
from surefoot.errors import ModelError, NotSupportedError, ShapeError, one_of
from surefoot.motion import Command
from surefoot.robot import Drive, Robot
from surefoot.sim.drives.actuation import Actuation
from surefoot.sim.drives.group import DriveGroup, short_way
from surefoot.sim.drives.motors import DcMotors, ElasticGears, HobbyServos
from surefoot.sim.drives.speed_line import TorqueSpeed

DriveKind = Literal["torque", "torque_speed", "dc_motor", "elastic", "servo"]
KINDS: tuple[DriveKind, ...] = ("torque", "torque_speed", "dc_motor", "elastic", "servo")
_ANY_JOINT = ("torque", "torque_speed")
_NEEDS: Mapping[DriveKind, tuple[str, ...]] = {
    "torque": (),
    "torque_speed": ("torque_limit", "speed_limit"),
    "dc_motor": ("resistance", "torque_constant", "voltage"),
    "elastic": ("stiffness", "rotor_inertia"),
    "servo": ("servo_stiffness",),
}


def kinds_of(robot: Robot, kinds: str | Mapping[str, str] | None = None) -> dict[str, DriveKind]:
    """The kind of drive of each driven joint, in the order of `robot.drives`.

    What a drive is by its own description: "elastic" with an elastic gear; else "dc_motor" if winding and supply are
    known; else "torque_speed" if the torque falls before the top speed; else "torque".

    Args:
        robot: The robot.
        kinds: One kind for all; or kinds by joint; None, and joints that are not listed, as each drive is described.

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


_GROUPS: Mapping[DriveKind, type[DriveGroup]] = MappingProxyType(
    {"torque": DriveGroup, "torque_speed": TorqueSpeed, "dc_motor": DcMotors, "elastic": ElasticGears,
     "servo": HobbyServos}
)  # fmt: skip
READINGS = ("current", "voltage", "electrical_power", "motor_angle", "servo_reference")
_PARTS = ("torque", "position", "kp", "velocity", "kd")


class _Group(NamedTuple):
    """Drives of one kind, and their entries of a command."""

    drives: DriveGroup
    entries: slice | NDArray[np.int64]


class DriveBank:
    """The drives of a robot: `act` turns a command into what acts at the joints in the next step of dt.

    Kinds, as far as the numbers of the `Drive` allow:

    - "torque": ideal, within ± `torque_limit`;
    - "torque_speed": ideal, within `Drive.torque_at_speed` both ways, braking with full torque;
    - "dc_motor": winding, back-EMF and supply (`DcMotors`);
    - "elastic": the rotor turns on its own behind spring and damper (`ElasticGears`);
    - "servo": hobby servo, positions only (`HobbyServos`).

    Who applies what: the engine has the rotor inertia of rigid gears (armature), and dry and viscous friction of every
    drive, as parts of the robot's model, and counts their work. The bank applies none of these; its `loss` is heat of
    windings and work of gear dampers. An elastic gear under another kind than "elastic" is simulated without rotor.

    The account, up to the last `act`, `settle` or `reset`: electrical_work = work at the joints + loss + change of
    `energy` since the reset, with the work of a step as engines count it: the torque that acted times the mean of the
    speeds before and after, times dt. An ideal source takes from the supply what it gives to the joint, or puts it
    back.

    Args:
        robot: The robot.
        kinds: One kind for all; or kinds by joint; None, and joints that are not listed, as each drive is described.
        dt: Step of the physics [s].
    """

    def __init__(self, robot: Robot, kinds: str | Mapping[str, str] | None = None, dt: float = 0.002) -> None:
        if not 0.0 < dt < np.inf:
            raise ShapeError(f"the step of the drives is {dt} s", next_step="give a finite step > 0")
        self.robot, self.dt = robot, float(dt)
        self.kinds: Mapping[str, DriveKind] = MappingProxyType(kinds_of(robot, kinds))
        each = [(drive, robot.joint_index(drive.joint)) for drive in robot.drives]
        rows = [(drive, joint) for drive, joint in each for _ in range(robot.tree.nv_of(joint))]
        self._turning = np.array([robot.tree.kinds[joint] == "continuous" for _, joint in rows], dtype=bool)
        self._turns = bool(self._turning.any())
        self._groups = self._grouped([drive for drive, _ in rows])
        self._servos = [joint for joint, kind in self.kinds.items() if kind == "servo"]
        self.reset(np.zeros(robot.nu), np.zeros(robot.nu))

    def _grouped(self, drives: list[Drive]) -> tuple[_Group, ...]:
        out = []
        for kind in KINDS:
            entries = np.array([k for k, drive in enumerate(drives) if self.kinds[drive.joint] == kind], dtype=np.int64)
            if len(entries):
                group = _GROUPS[kind]([drives[k] for k in entries], self._turning[entries], self.dt)
                out.append(_Group(group, slice(None) if len(entries) == len(drives) else entries))
        return tuple(out)

    def reset(self, position: ArrayLike, velocity: ArrayLike) -> None:
        """Begin again: no current, gears slack, rotors with the joints, references at the joints, accounts empty.

        Args:
            position: (nu,) of the driven degrees of freedom [rad] or [m].
            velocity: (nu,) [rad/s] or [m/s].
        """
        q, v = self._checked(position, velocity)
        self._position, self._pending = q, False
        for group, entries in self._groups:
            group.reset(q[entries], v[entries])

    def act(self, command: Command, position: ArrayLike, velocity: ArrayLike) -> Actuation:
        """What the drives do in the next step; ends the step before. Call it once for each step of the physics.

        Args:
            command: What they shall do; one entry for each driven degree of freedom.
            position: (nu,) of the driven degrees of freedom now [rad] or [m].
            velocity: (nu,) now [rad/s] or [m/s].

        Raises:
            ShapeError: Wrong sizes, or numbers that are not finite.
            NotSupportedError: A servo without position command.
        """
        self.settle(position, velocity)
        q, v = self._position, self._velocity
        wanted = self._wanted(command, q)
        out = np.empty((7, len(q)))
        for group, entries in self._groups:
            out[:, entries] = group.act(wanted[:, entries], q[entries], v[entries])
        self._pending = True
        return Actuation(*out)

    def settle(self, position: ArrayLike, velocity: ArrayLike) -> None:
        """End the step that the last `act` began, for the account after the last step; `act` does so by itself.

        Args:
            position: (nu,) at the end of the step [rad] or [m].
            velocity: (nu,) at the end of the step [rad/s] or [m/s].
        """
        q, v = self._checked(position, velocity)
        if self._pending:
            path, end = q - self._position, q
            if self._turns:
                path = np.where(self._turning, short_way(path), path)
                end = self._position + path
            for group, entries in self._groups:
                group.settle(path[entries], end[entries], v[entries])
            self._pending = False
        self._position, self._velocity = q, v

    @property
    def energy(self) -> float:
        """Energy in rotors and springs of elastic gears, and in windings [J]."""
        return sum(group.stored for group, _ in self._groups)

    @property
    def loss(self) -> float:
        """Heat of windings and work of gear dampers since the reset [J]."""
        return float(sum(group.lost.sum() for group, _ in self._groups))

    @property
    def electrical_work(self) -> float:
        """Energy from the supply since the reset [J]; less what braking put back."""
        return float(sum(group.supplied.sum() for group, _ in self._groups))

    def readings(self) -> dict[str, Array]:
        """(nu,) by name; NaN where a drive has no such thing.

        "current" [A] now; "voltage" [V] and "electrical_power" [W] of the last step that ended; "motor_angle" [rad] of
        the rotor, before the gear; "servo_reference" [rad] or [m].
        """
        return {name: self.reading(name) for name in READINGS}

    def reading(self, name: str) -> Array:
        """(nu,) one of the `readings`."""
        out = np.full(self.robot.nu, np.nan)
        for group, entries in self._groups:
            values = group.readings().get(name)
            if values is not None:
                out[entries] = values
        return out

    def _wanted(self, command: Command, position: Array) -> Array:
        """(5, nu) the command, omitted parts as 0; joints that turn without end go the short way round."""
        if self._servos and command.position is None:
            raise NotSupportedError(
                f"the servo of `{self._servos[0]}` takes positions, and the command has none",
                next_step="command positions, or choose another kind of drive",
            )
        wanted = np.zeros((5, len(position)))
        for row, part in zip(wanted, _PARTS, strict=True):
            values = getattr(command, part)
            if values is None:
                continue
            if len(values) != len(position):
                name = self.robot.name
                raise ShapeError(f"the command has {len(values)} entries, `{name}` needs {len(position)}")
            row[:] = values
        if self._turns:
            near = position + short_way(wanted[1] - position)
            wanted[1] = np.where(self._turning, near, wanted[1])
        return wanted

    def _checked(self, position: ArrayLike, velocity: ArrayLike) -> tuple[Array, Array]:
        """Copies of finite arrays of the right size."""
        shape = (self.robot.nu,)
        if np.shape(position) != shape or np.shape(velocity) != shape:
            found = f"position {np.shape(position)} and velocity {np.shape(velocity)}"
            raise ShapeError(f"{found} of the drives, expected {shape}")
        state = np.array((position, velocity), dtype=float)
        if not np.isfinite(state).all():
            raise ShapeError(
                "position or velocity of the drives is not finite", evidence={"q": state[0], "v": state[1]}
            )
        return state[0], state[1]
