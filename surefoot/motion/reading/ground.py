"""Motions whose ground is not at the height of the world's: moved up or down as a whole."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from surefoot.arrays import number
from surefoot.errors import NotSupportedError, ShapeError
from surefoot.motion.reading.order import link_placements
from surefoot.motion.reading.read import GivenMotion
from surefoot.motion.world import World, surface_motion
from surefoot.robot import Robot

_SLOW = 0.2  # [m/s]: feet that are slower may stand
_WINDOW = 0.03  # [s] over which speeds are taken


def on_ground(given: GivenMotion, robot: Robot, world: World, ground: float | str) -> GivenMotion:
    """A motion moved vertically, so that its ground is that of the world.

    Args:
        given: The motion.
        robot: The robot.
        world: Its ground counts.
        ground: Height of the ground under the motion [m], or "fit": the median height of the lowest sole while it is
            slower than 0.2 m/s.

    Raises:
        NotSupportedError: The base does not fly, or there is no contact surface over ground to fit.
        ShapeError: Neither a number nor "fit".
    """
    base = robot.base_joint
    if base is None or robot.tree.kinds[base] != "free":
        raise NotSupportedError(f"`{robot.name}` has no floating base that could be moved", next_step="omit --ground")
    height = _fitted(given, robot, world) if ground == "fit" else _number(ground)
    q = np.array(given.trajectory.q)
    q[:, int(robot.tree.q_index[base]) + 2] -= height
    how = "fitted to the lowest sole" if ground == "fit" else "given"
    remark = f"the motion is moved by {-height:+.4f} m: its ground is at {height:.4f} m ({how})"
    return replace(given, trajectory=replace(given.trajectory, q=q), remarks=(*given.remarks, remark))


def _number(text: float | str) -> float:
    try:
        return number(float(text), "ground")
    except ValueError:
        raise ShapeError(f"ground `{text}` is neither a height nor `fit`", next_step="give metres, or fit") from None


def _fitted(given: GivenMotion, robot: Robot, world: World) -> float:
    surfaces, time = list(robot.contacts.values()), given.trajectory.time
    if not surfaces or not world.ground:
        raise NotSupportedError("there are no contact surfaces over ground to fit", next_step="give the height itself")
    links = link_placements(robot, given.trajectory.q, [surface.frame for surface in surfaces])
    motions = [surface_motion(world, s, links[:, k] @ s.placement, 0.0) for k, s in enumerate(surfaces)]
    heights = np.stack([motion.height for motion in motions], axis=1)
    speeds = np.stack([motion.speed(time, _WINDOW) for motion in motions], axis=1)
    if np.isnan(heights).all():
        raise NotSupportedError("there is no ground under the motion", next_step="give the height itself")
    lowest = np.nanargmin(np.where(np.isnan(heights), np.inf, heights), axis=1)
    rows = np.arange(len(time))
    level, slow = heights[rows, lowest], speeds[rows, lowest] < _SLOW
    return float(np.nanmedian(level[slow] if slow.any() else level))
