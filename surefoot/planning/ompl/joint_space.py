"""The joint space of a robot with a fixed base, free of collisions."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from surefoot.arrays import Array
from surefoot.collision import CollisionModel, motions_are_free
from surefoot.errors import NotSupportedError
from surefoot.motion import World
from surefoot.robot import Robot


class _JointSpace:
    def __init__(self, model: CollisionModel) -> None:
        self.model = model

    def valid(self, states: Array) -> NDArray[np.bool_]:
        return ~np.atleast_1d(self.model.in_collision(states))

    def edges(self, starts: Array, ends: Array) -> NDArray[np.bool_]:
        found = motions_are_free(self.model, starts, ends, clearance=self.model.margin)
        return np.array([check.free for check in found], dtype=bool)


def joint_space(robot: Robot, world: World | None = None, margin: float = 0.01) -> _JointSpace:
    """Checks of postures and of straight motions between them, proven between samples as well.

    Bounds of the query are those of the joints: `robot.limits`.

    Args:
        robot: A robot whose configurations are a vector space.
        world: Its obstacles; None for the robot alone.
        margin: Least distance [m].

    Raises:
        NotSupportedError: The robot has a floating base, or joints that turn without end.
    """
    if robot.nq != robot.nv:
        raise NotSupportedError(f"the configurations of `{robot.name}` are not a vector space")
    return _JointSpace(CollisionModel(robot, world, margin=margin))
