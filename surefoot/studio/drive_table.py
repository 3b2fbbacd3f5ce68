"""The drives of a robot as a table for people."""

from __future__ import annotations

import numpy as np

from surefoot.robot import Drive, Robot
from surefoot.words import counted

__all__ = ["drive_table", "robot_facts"]


def drive_table(robot: Robot) -> str:
    """Drives as a table in Markdown.

    Args:
        robot: The robot.
    """
    if not robot.drives:
        return "*This robot has no drives.*"
    head = ["| joint | torque | speed | gear | rotor |", "|:--|--:|--:|--:|--:|"]
    return "\n".join([*head, *(_row(drive) for drive in robot.drives)])


def robot_facts(robot: Robot) -> str:
    """A robot in one line of Markdown.

    Args:
        robot: The robot.
    """
    ties = [
        counted(len(robot.contacts), "contact"),
        *([counted(len(robot.loops), "loop")] if robot.loops else []),
        *([counted(len(robot.couplings), "coupling")] if robot.couplings else []),
    ]
    doubts = sum(note.level == "warning" for note in robot.notes)
    warn = f" · {counted(doubts, 'warning')} (`surefoot check`)" if doubts else ""
    return f"**{robot.name}** · {robot.base} base · {robot.nv} dof · {robot.mass:.1f} kg · {' · '.join(ties)}{warn}"


def _row(drive: Drive) -> str:
    gear = f"{drive.gear_ratio:g}" + (" elastic" if drive.gear == "elastic" else "")
    rotor = f"{drive.rotor_inertia:.2g}" if drive.rotor_inertia else "–"
    return f"| {drive.joint} | {_number(drive.torque_limit)} | {_number(drive.speed_limit)} | {gear} | {rotor} |"


def _number(value: float) -> str:
    return f"{value:.3g}" if np.isfinite(value) else "∞"
