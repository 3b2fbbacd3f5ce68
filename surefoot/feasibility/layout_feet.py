"""The feet in one reading of the base quaternion: how far from the ground they are, and how far they slide."""

from __future__ import annotations

import numpy as np

from surefoot.arrays import Array
from surefoot.compiler import compile_robot
from surefoot.feasibility.touch_surfaces import SurfaceMotion, surface_motion
from surefoot.motion import World
from surefoot.robot import Robot

__all__ = ["STANDS", "farness", "slide"]

STANDS = 0.01  # [m]: the lowest corners of a robot that stands are this near the ground
_NOWHERE = 1e3  # [m]: height where there is no ground
_CORNERS = 0.005  # [m]: corners this much higher than the lowest one may touch


def farness(robot: Robot, world: World, q: Array) -> Array:
    """(n,) how far a whole surface is from the ground, or three points: the lowest corners of all [m].

    Args:
        robot: With contact surfaces.
        world: Its ground counts.
        q: (n, nq).
    """
    heights = np.hstack([surface.heights for surface in _surfaces(robot, world, q, 0.0)])
    count = max(3, min(len(surface.corners) for surface in robot.contacts.values()))
    lowest = np.sort(np.where(np.isnan(heights), _NOWHERE, heights), axis=1)[:, :count]
    return np.asarray(np.abs(lowest).max(axis=1))


def slide(robot: Robot, world: World, q: Array) -> float:
    """How far the foot that slides farthest gets over the ground while it is near it [m].

    Ways are summed over all contacts of a foot and their range is taken, so that noise of single samples does not
    add up.

    Args:
        robot: With contact surfaces.
        world: Its ground counts.
        q: (n, nq), near each other in time.
    """
    ways = [_way(surface) for surface in _surfaces(robot, world, q, _CORNERS)]
    return max((float(np.linalg.norm(np.ptp(way, axis=0))) for way in ways), default=0.0)


def _way(surface: SurfaceMotion) -> Array:
    """(n, 3): way of the touching material, along the ground, in the steps in which it is near the ground [m]."""
    near = np.abs(np.where(np.isnan(surface.height), _NOWHERE, surface.height)) <= STANDS
    steps = np.diff(surface.path, axis=0)
    normals = surface.normals[1:]
    steps -= np.sum(steps * normals, axis=1, keepdims=True) * normals
    return np.vstack([np.zeros(3), np.cumsum(steps * (near[1:] & near[:-1])[:, None], axis=0)])


def _surfaces(robot: Robot, world: World, q: Array, near: float) -> list[SurfaceMotion]:
    names = list(dict.fromkeys(surface.frame for surface in robot.contacts.values()))
    links = compile_robot(robot).frames(q, names).reshape(len(q), len(names), 4, 4)
    return [
        surface_motion(world, surface, links[:, names.index(surface.frame)] @ surface.placement, near)
        for surface in robot.contacts.values()
    ]
