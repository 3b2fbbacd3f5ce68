"""Whether a robot has fallen: its centre of mass is low, or its base is tilted."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
from numpy.typing import ArrayLike

from surefoot.arrays import Array
from surefoot.motion import GroundPlane, World
from surefoot.robot import Robot

__all__ = ["FallDetector"]

LOW = 0.5
"""Share of the home height of the centre of mass below which a robot has fallen."""
TILTED = np.deg2rad(60.0)


class FallDetector:
    """A robot that stands has fallen when its centre of mass is below half its home height, or its base tilted by 60°.

    At home, the height is that over the lowest corner of the contact surfaces; later, that over the ground below the
    centre of mass. Tilts are against the home posture. Robots that are fixed to the world or have no contact surface
    do not stand, so they never fall; nor does a robot where there is no ground or no gravity.

    Args:
        robot: The robot.
        world: The world; None for empty space.
    """

    def __init__(self, robot: Robot, world: World | None) -> None:
        self._world, self._level = world, _level_of(world)
        self._stands = robot.base_joint is not None and bool(robot.contacts) and _can_be_stood_on(world)
        data = robot.model.createData()
        com = pin.centerOfMass(robot.model, data, np.array(robot.home))
        corners = robot.contact_corners(robot.home).values()
        self._least_height = LOW * float(com[2] - min((c[:, 2].min() for c in corners), default=0.0))
        self._up = data.oMi[(robot.base_joint or 0) + 1].rotation.T @ np.array([0.0, 0.0, 1.0])

    def height(self, point: ArrayLike) -> float:
        """Height of a point over the ground below it [m], over z = 0 where there is none.

        Args:
            point: (3,) in world [m].
        """
        x, y, z = np.asarray(point, dtype=float)
        if self._level is not None:
            return float(z) - self._level
        pieces = () if self._world is None else self._world.ground
        heights = [height for piece in pieces if np.isfinite(height := float(piece.height(x, y)))]
        below = [height for height in heights if height <= z]
        return float(z) - (max(below) if below else min(heights, default=0.0))

    def tilt(self, T_world_base: Array) -> float:
        """Angle between the base's up at home and now [rad].

        Args:
            T_world_base: (4, 4).
        """
        return float(np.arccos(np.clip((T_world_base[:3, :3] @ self._up)[2], -1.0, 1.0)))

    def has_fallen(self, com: ArrayLike, T_world_base: Array) -> bool:
        """Whether a robot has fallen.

        Args:
            com: (3,) its centre of mass in world [m].
            T_world_base: (4, 4) of the body that the base joint moves.
        """
        if not self._stands:
            return False
        return self.height(com) < self._least_height or self.tilt(T_world_base) > TILTED


def _can_be_stood_on(world: World | None) -> bool:
    return world is not None and bool(world.ground) and bool(world.gravity.any())


def _level_of(world: World | None) -> float | None:
    """Height of the ground where it is the same everywhere [m]."""
    if world is None or not world.ground:
        return 0.0
    piece = world.ground[0]
    if len(world.ground) > 1 or not isinstance(piece, GroundPlane) or piece.normal[2] != 1.0:
        return None
    return float(piece.point[2])
