"""`Actuation`: what the drives do at the joints during one step of the physics."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from surefoot.arrays import Array
from surefoot.errors import ShapeError
from surefoot.motion import Command
from surefoot.robot import Robot

__all__ = ["Actuation", "ideal_drives"]


@dataclass(slots=True, eq=False)
class Actuation:
    """Torque, springs and limits of every driven degree of freedom; all (nu,), nothing is left out or checked.

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
    """What ideal drives make of one command for each robot.

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
