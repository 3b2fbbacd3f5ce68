"""Knees, hands and backs that touch the ground: points of collision shapes, as contacts like any other.

A robot that gets up is carried by whatever touches. Links whose collision shapes come within `Tolerances.touch_height`
of the ground get point contacts there, at the corners of their hulls that come that near; feet only beside their soles.
"""

from __future__ import annotations

import numpy as np

from surefoot.arrays import Array
from surefoot.feasibility.case import Case
from surefoot.geometry import Plane
from surefoot.motion.reading import heights_above, link_corners, link_placements
from surefoot.robot import ContactSurface, Robot, placement

_MOST = 6  # points of a link
_STEEP = 0.5  # cosine: steeper soles do not stand; the points of the foot do
_BALL = 0.08  # [m]: points that are nearer to a point contact belong to it
_SOLE = 0.02  # [m]: points of a foot that are nearer to the plane of its sole belong to the sole
_ROUGH = 100.0  # friction of links, which that of the ground limits


def body_contacts(case: Case) -> dict[str, ContactSurface]:
    """Point contacts of links that touch the ground beside contact surfaces, by name; none where contacts are given."""
    robot, given = case.given_robot, case.trajectory
    told = given.schedule is not None or any(np.any(wrench) for wrench in given.wrenches.values())
    base = robot.base_joint
    if told or base is None or robot.tree.kinds[base] != "free" or not robot.contacts or not case.world.ground:
        return {}
    links = list(dict.fromkeys(item.link for item in robot.collisions if not isinstance(item.shape, Plane)))
    placed = link_placements(robot, given.q, links)
    found: dict[str, ContactSurface] = {}
    for k, link in enumerate(links):
        corners = _corners(robot, link, placed[:, k])
        # (k,) which corners come as near to the ground as something that touches it
        near = (heights_above(case.world, placed[:, k], corners) <= case.tolerances.touch_height).any(axis=0)
        for number, point in enumerate(_spread(corners[near]), 1):
            name = f"{link} point {number}"
            found[name] = ContactSurface(name, link, "point", placement(point), friction=_ROUGH)
    return found


def _corners(robot: Robot, link: str, placed: Array) -> Array:
    """(k, 3): outer points of the shapes of a link, in its frame, beside the contact surfaces of its body.

    Args:
        robot: The robot.
        link: The link.
        placed: (n, 4, 4) T_world_link: a sole that is steep at some time leaves its points.
    """
    corners = link_corners(robot, link)
    for surface in robot.contacts.values():
        if robot.body_of(surface.frame) != robot.body_of(link):
            continue
        frames = link_placements(robot, robot.home[None], [link, surface.frame])[0]
        T = np.linalg.inv(frames[0]) @ frames[1] @ surface.placement
        if len(surface.corners) == 1:
            corners = corners[np.linalg.norm(corners - T[:3, 3], axis=1) > surface.radius + _BALL]
        elif (placed @ T)[:, 2, 2].min() > _STEEP:
            corners = corners[np.abs((corners - T[:3, 3]) @ T[:3, 2]) > _SOLE]
    return corners


def _spread(points: Array) -> Array:
    """At most a few of the points, far from each other."""
    chosen = list(range(min(1, len(points))))
    while len(chosen) < min(_MOST, len(points)):
        gaps = np.linalg.norm(points[:, None] - points[chosen][None], axis=2).min(axis=1)
        chosen.append(int(np.argmax(gaps)))
    return points[chosen]
