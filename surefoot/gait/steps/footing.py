"""Where soles find ground: heights and normals under a foot in a `World`."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from surefoot.arrays import Array
from surefoot.gait.steps.planar import Pose
from surefoot.motion import Footstep, GroundPlane, World

STEEPEST = np.deg2rad(6.0)
"""Slope up to which soles stand [rad]."""
_EDGE, _ROUGH = (
    0.005,
    0.03,
)  # ground that differs from a plane by more under a sole is an edge [m], [share of its length]
_PROBES = 0.03  # distance of the points of a sole where the ground is looked at [m]


class Footing:
    """The ground as feet meet it.

    Args:
        world: The world; None for level ground.
        sole: Half length and half width of the soles [m].
    """

    def __init__(self, world: World | None, sole: tuple[float, float]) -> None:
        self.world = None if world is None or _is_level(world) else world
        self._edge = min(_EDGE, _ROUGH * 2.0 * sole[0])
        x, y = (np.linspace(-half, half, 2 + int(2.0 * half / _PROBES)) for half in np.maximum(sole, 1e-3))
        self._probes = np.array(np.meshgrid(x, y)).reshape(2, -1).T
        self._fit = np.linalg.pinv(np.column_stack([self._probes, np.ones(len(self._probes))]))

    def planes(self, poses: Array) -> tuple[Array, Array]:
        """Planes under soles: (n, 3) slopes along x and y of the foot and height at its middle, and (n,) misfits [m].

        Args:
            poses: (n, 3) of feet on the ground. Without ground under a part of the sole, the misfit is infinite.
        """
        c, s = np.cos(poses[:, 2, None]), np.sin(poses[:, 2, None])
        x, y = self._probes.T
        if self.world is None:
            return np.zeros((len(poses), 3)), np.zeros(len(poses))
        heights = self.world.height(poses[:, :1] + c * x - s * y, poses[:, 1:2] + s * x + c * y)
        missing = (heights == -np.inf).any(axis=1)
        known = np.where(missing[:, None], 0.0, heights)
        planes = known @ self._fit.T
        misfit = np.abs(planes[:, :2] @ self._probes.T + planes[:, 2:] - known).max(axis=1)
        return planes, np.where(missing, np.inf, misfit)

    def stands(self, planes: Array, misfits: Array) -> NDArray[np.bool_]:
        """(n,) whether soles stand firmly: no edge under them, and not too steep.

        Args:
            planes: From `planes`.
            misfits: From `planes`.
        """
        steepness = np.sqrt(1.0 + planes[:, 0] ** 2 + planes[:, 1] ** 2)
        return np.asarray((misfits <= self._edge) & (np.cos(STEEPEST) * steepness <= 1.0 + 1e-9))

    def footstep(self, foot: str, pose: Pose, support: Footstep, support_pose: Pose) -> Footstep:
        """A foot on the ground; its height counts from that of the foot that stands, which may have drifted.

        Args:
            foot: Its name.
            pose: On the ground.
            support: The foot that stands.
            support_pose: Its pose on the ground.
        """
        T = np.eye(4)
        c, s = np.cos(pose[2]), np.sin(pose[2])
        T[0, 0], T[0, 1], T[1, 0], T[1, 1] = c, -s, s, c
        T[0, 3], T[1, 3], T[2, 3] = pose[0], pose[1], support.T[2, 3]
        if self.world is not None:
            (plane, below), (misfit, _) = self.planes(np.array([pose, support_pose]))
            plane[:2] *= misfit <= self._edge  # on an edge, a level sole
            z = T[:3, :3] @ np.array([-plane[0], -plane[1], 1.0])
            x = T[:3, :3] @ np.array([1.0, 0.0, plane[0]])
            z, x = z / np.linalg.norm(z), x / np.linalg.norm(x)
            T[:3, 0], T[:3, 1], T[:3, 2] = x, np.cross(z, x), z
            T[2, 3] += plane[2] - below[2]
        return Footstep(foot, T)


def _is_level(world: World) -> bool:
    """Whether the ground is one level plane."""
    return len(world.ground) == 1 and isinstance(world.ground[0], GroundPlane) and world.ground[0].normal[2] == 1.0
