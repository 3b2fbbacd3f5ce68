"""`Actuation`: what drives do at the joints during one step of the physics; `DrivenJoints`: where they do it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from surefoot.arrays import Array
from surefoot.errors import ShapeError
from surefoot.motion import Command, State
from surefoot.robot import Robot


@dataclass(slots=True, eq=False)
class Actuation:
    """Torque, springs and limits of every driven degree of freedom; all (nu,), all given, none checked.

    Over a step the joint gets

        tau = clip(torque + kp (position − q⁺) + kd (velocity − v⁺), lower, upper)        [sim.drive]

    with q⁺, v⁺ at the end of the step, so stiff springs stay stable.

    Args:
        torque: [N m] or [N].
        position: Where the spring is at rest [rad] or [m].
        kp: [N m/rad] or [N/m].
        velocity: Where the damper is at rest [rad/s] or [m/s].
        kd: [N m s/rad] or [N s/m].
        lower: Least torque [N m] or [N].
        upper: Largest torque [N m] or [N].
    """

    torque: Array
    position: Array
    kp: Array
    velocity: Array
    kd: Array
    lower: Array
    upper: Array

    @classmethod
    def of(cls, command: Command, limits: Array) -> Actuation:
        """The command itself, within ± limits (nu,) [N m] or [N]: ideal drives."""
        nothing = np.zeros(command.size)
        parts = (command.torque, command.position, command.kp, command.velocity, command.kd)
        torque, position, kp, velocity, kd = (nothing if part is None else part for part in parts)
        return cls(torque, position, kp, velocity, kd, -limits, limits)


def ideal_drives(robots: Sequence[Robot], commands: Sequence[Command], limits: Sequence[Array]) -> list[Actuation]:
    """The actuation of ideal drives for one command per robot.

    Args:
        robots: The robots.
        commands: One for each.
        limits: Torque limits (nu,) of each [N m] or [N].

    Raises:
        ShapeError: The numbers of robots and commands, or of drives and entries, differ.
    """
    if len(commands) != len(robots):
        raise ShapeError(f"{len(commands)} commands for {len(robots)} robots")
    for robot, command in zip(robots, commands, strict=True):
        if command.size != robot.nu:
            raise ShapeError(f"the command has {command.size} entries, `{robot.name}` needs {robot.nu}")
    return [Actuation.of(command, bound) for command, bound in zip(commands, limits, strict=True)]


class DrivenJoints:
    """Where the entries of a command are in q and v."""

    def __init__(self, robot: Robot) -> None:
        tree = robot.tree
        joints = [robot.joint_index(drive.joint) for drive in robot.drives]
        each = np.repeat(joints, [tree.nv_of(i) for i in joints]).astype(np.int64)
        kinds = np.array([tree.kinds[i] for i in each], dtype=object)
        self._rows = robot.driven
        self._q = tree.q_index[each]
        self._turns = kinds == "continuous"
        self._has_turns = bool(self._turns.any())
        self._several = np.flatnonzero(np.isin(kinds, ("spherical", "planar", "free", "translation")))
        sizes = [tree.nv_of(i) for i in joints]
        self.torque_limits = np.repeat([drive.torque_limit for drive in robot.drives], sizes).astype(float)

    def positions(self, state: State) -> Array:
        """(nu,) [rad] or [m]; angles of endless joints are in (−π, π], joints with several axes have 0."""
        out = np.array(state.q[self._q])
        if self._has_turns:
            first = self._q[self._turns]
            out[self._turns] = np.arctan2(state.q[first + 1], state.q[first])
        if len(self._several):
            out[self._several] = 0.0
        return out

    def velocities(self, state: State) -> Array:
        """(nu,) [rad/s] or [m/s]."""
        return np.array(state.v[self._rows])

    def error(self, command: Command, state: State) -> Array:
        """(nu,) wanted minus actual positions, the short way round; NaN where none is wanted."""
        if command.position is None:
            return np.full(len(self._q), np.nan)
        out = command.position - self.positions(state)
        return np.where(self._turns, np.remainder(out + np.pi, 2.0 * np.pi) - np.pi, out) if self._has_turns else out
