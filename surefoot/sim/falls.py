"""Whether a robot has fallen: its base is low or tilted."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from surefoot.motion import World
from surefoot.robot import Robot

__all__ = ["FallDetector"]

Array = NDArray[np.float64]
LOW = 0.5
"""Share of the home height below which a robot has fallen."""
TILTED = np.deg2rad(60.0)


class FallDetector:
    """A floating robot has fallen when its base is below half its home height or tilted by more than 60°.

    Heights are over the ground below the base; tilts are against the home posture. Other robots never fall.

    Args:
        robot: The robot.
        world: The world; None for empty space.
    """

    def __init__(self, robot: Robot, world: World | None) -> None:
        self._world = world
        self._floats = robot.base == "floating"
        data = robot.model.createData()
        pin.forwardKinematics(robot.model, data, np.array(robot.home))
        home = data.oMi[1].homogeneous
        self._home_height = float(home[2, 3])
        self._up = home[:3, :3].T @ np.array([0.0, 0.0, 1.0])

    def height(self, T_world_base: Array) -> float:
        """Height of the base over the ground [m], over z = 0 where there is none.

        Args:
            T_world_base: (4, 4).
        """
        x, y, z = T_world_base[:3, 3]
        ground = float(self._world.height(x, y)) if self._world is not None else 0.0
        return float(z - ground) if np.isfinite(ground) else float(z)

    def tilt(self, T_world_base: Array) -> float:
        """Angle between the base's up at home and now [rad].

        Args:
            T_world_base: (4, 4).
        """
        return float(np.arccos(np.clip((T_world_base[:3, :3] @ self._up)[2], -1.0, 1.0)))

    def has_fallen(self, T_world_base: Array) -> bool:
        """Whether a pose of the base is that of a fallen robot.

        Args:
            T_world_base: (4, 4).
        """
        if not self._floats:
            return False
        return self.height(T_world_base) < LOW * self._home_height or self.tilt(T_world_base) > TILTED
