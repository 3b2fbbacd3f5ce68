"""A posture that can stand: soles level, legs not straight, centre of mass over the soles, torso as at home."""

from __future__ import annotations

import numpy as np
import pinocchio as pin

from surefoot.arrays import Array
from surefoot.errors import NotSupportedError
from surefoot.ik.position import solve
from surefoot.robot import Robot, anatomy, bend_straight_legs, support_doubts
from surefoot.spatial import so3
from surefoot.tasks import CenterOfMass, Contact, FrameOrientation, Posture, Task

_LOWER = 0.95  # height of the centre of mass of a robot whose legs are straight at home, share of that at home


def standing_posture(robot: Robot) -> Array:
    """(nq,) a posture near home in which the robot stands on its feet, with legs that are not straight.

    Args:
        robot: A floating robot with contacts.

    Raises:
        NotSupportedError: It has no base to move or nothing to stand on, or no such posture was found.
    """
    feet = [name for foot in anatomy(robot).feet for name in foot.contacts]
    if robot.base != "floating" or not feet:
        raise NotSupportedError(f"`{robot.name}` has no floating base and feet to stand on")
    home = np.array(robot.home)
    start = bend_straight_legs(robot, home)
    must, upright = _tasks(robot, home, feet, None if np.array_equal(start, home) else _LOWER)
    for tasks in ([*must, upright], must):
        found = solve(robot, [*tasks, Posture(robot, start)], start)
        q = np.array(found.q)
        if found.success and not support_doubts(robot, q, feet):
            return q
    raise NotSupportedError(
        f"no posture near home was found in which `{robot.name}` stands",
        evidence={"feet": feet},
        next_step="give `[home.joints]` and `[contacts.NAME]` in the side file",
    )


def _tasks(robot: Robot, home: Array, feet: list[str], lower: float | None) -> tuple[list[Task], Task]:
    """Soles level on one floor, where they are at home, the centre of mass over their middle; the torso as at home."""
    frames, corners = robot.placements(home), robot.contact_corners(home)
    tasks: list[Task] = []
    for name in feet:
        T = frames[robot.contacts[name].frame] @ robot.contacts[name].placement
        T[:3, :3] = so3.turn_to(T[:3, 2]).T @ T[:3, :3]
        T[2, 3] = 0.0
        tasks.append(Contact(robot, name, T))
    middle = np.mean([corners[name].mean(axis=0) for name in feet], axis=0)
    com = pin.centerOfMass(robot.model, robot.model.createData(), home)
    height = 0.0 if lower is None else lower * (float(com[2]) - middle[2])
    tasks.append(CenterOfMass([middle[0], middle[1], height], mask="xy" if lower is None else "xyz"))
    torso = anatomy(robot).torso
    return tasks, FrameOrientation(torso, frames[torso][:3, :3], name="torso")
