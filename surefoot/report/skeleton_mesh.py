"""A robot without shapes: capsules between its joints."""

from __future__ import annotations

import numpy as np

from surefoot.arrays import Array
from surefoot.geometry import SweptVolume
from surefoot.report.shape_mesh import Triangles, volume_triangles
from surefoot.robot.robot import Robot

__all__ = ["skeleton_triangles"]


def skeleton_triangles(robot: Robot) -> list[tuple[int, Triangles]]:
    """Bodies (−1: the world) and the bones that they carry, in their frames.

    Bones go from the origin of a body to the joints that it carries, to its contact surfaces and, at the end of a
    chain, to the farthest link that is fixed to it or to its centre of mass.

    Args:
        robot: The robot.
    """
    ends = {i: _ends(robot, i) for i in range(-1 if robot.base_joint is None else 0, robot.tree.n)}
    lengths = [float(np.linalg.norm(end)) for found in ends.values() for end in found]
    reach = sum(lengths) / max(1, len(lengths))
    radius = 0.08 * reach if reach > 0.0 else 0.02
    out = []
    for body, found in ends.items():
        for end in found:
            if np.linalg.norm(end) > 0.25 * radius:
                out.append((body, volume_triangles(SweptVolume(np.array([np.zeros(3), end]), radius))))
        if body >= 0:
            out.append((body, volume_triangles(SweptVolume(np.zeros((1, 3)), 1.35 * radius), 16)))
    return out


def _ends(robot: Robot, body: int) -> list[Array]:
    """Where the bones of a body end, (3,) in its frame."""
    tree = robot.tree
    ends = [tree.placements[child][:3, 3] for child in tree.children(body)]
    for contact in robot.contacts.values():
        if robot.body_of(contact.frame) == body:
            T = robot.model.frames[robot.frame_id(contact.frame)].placement.homogeneous @ contact.placement
            ends.append(T[:3, :3] @ contact.corners.mean(axis=0) + T[:3, 3])
    return ends or ([_tip(robot, body)] if body >= 0 else [])


def _tip(robot: Robot, body: int) -> Array:
    """The farthest link that is fixed to a body, or its centre of mass if that is farther."""
    fixed = [
        robot.model.frames[robot.frame_id(name)].placement.translation
        for name in robot.link_names
        if robot.body_of(name) == body
    ]
    return np.array(max([robot.tree.coms[body], *fixed], key=lambda point: float(np.linalg.norm(point))))
