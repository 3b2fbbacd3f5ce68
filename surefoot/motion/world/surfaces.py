"""How contact surfaces move over the ground: heights and ways of their corners."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from surefoot.arrays import Array
from surefoot.motion.world.terrain import NOWHERE, contact_planes
from surefoot.motion.world.world import World
from surefoot.robot import ContactSurface

_FOOT = 0.05  # [m]: a frame whose origin is this near to a point of contact is that of a foot


@dataclass(frozen=True, eq=False)
class SurfaceMotion:
    """One contact surface over the ground, k corners.

    Args:
        points: (n, k, 3) corners in world [m]; of a ball its centre.
        heights: (n, k) of the corners, of a ball of its lowest point, above the ground [m]; NaN where there is none.
        normals: (n, 3) of the ground under the lowest corner.
        friction: (n,) of the ground there.
        path: (n, 3) way of the material that touches, in world [m], up to a constant: of the corner near the ground
            that moves least, so that a foot that rolls over its edge, or a ball that rolls, goes nowhere.
        readings: (n, r, 3) the same where one reading holds throughout: of a point one way for each of them, as a ball
            that is held does not begin to roll in between; else `path`.
    """

    points: Array
    heights: Array
    normals: Array
    friction: Array
    path: Array
    readings: Array

    @property
    def height(self) -> Array:
        """(n,) of the lowest corner [m]; NaN where there is no ground."""
        return np.min(self.heights, axis=1)

    def speed(self, time: Array, window: float) -> Array:
        """(n,) of the material that touches [m/s]: the smaller one of the means before and after each sample.

        Args:
            time: (n,) [s].
            window: Length of the means [s]; one step where steps are longer.
        """
        n = len(time)
        if n < 2:
            return np.zeros(n)
        step = (time[-1] - time[0]) / (n - 1)
        m = min(max(1, round(window / step)), n - 1)
        mean = np.linalg.norm(self.path[m:] - self.path[:-m], axis=1) / (time[m:] - time[:-m])
        endless = np.full(m, np.inf)
        return np.minimum(np.append(mean, endless), np.append(endless, mean))


def surface_motion(world: World, surface: ContactSurface, placements: Array, near: float) -> SurfaceMotion:
    """How a contact surface moves over the ground.

    Args:
        world: Its ground counts.
        surface: The surface.
        placements: (n, 4, 4) T_world_contact.
        near: A corner may touch while it is at most this much higher than the lowest one [m].
    """
    n, k = len(placements), len(surface.corners)
    R, p = placements[:, :3, :3], placements[:, :3, 3]
    local = surface.corners + np.array([0.0, 0.0, surface.radius])
    points = np.einsum("nij,kj->nki", R, local) + p[:, None]
    planes = contact_planes(world, points.reshape(-1, 3)).reshape(n, k, 5)
    heights = np.einsum("nki,nki->nk", planes[..., :3], points) - planes[..., 3] - surface.radius
    heights[planes[..., 3] == NOWHERE] = np.nan
    lowest = np.argmin(np.where(np.isnan(heights), np.inf, heights), axis=1)
    under = planes[np.arange(n), lowest]
    steps = _material_steps(surface, placements, points, under[:, :3])
    copies = steps.shape[1] // k
    path = _way(_least_step(steps, np.tile(heights, copies), near))
    readings = _way(steps) if k == 1 else path[:, None]
    return SurfaceMotion(points, heights, under[:, :3], under[:, 4], path, readings)


def _way(steps: Array) -> Array:
    """(n, …) where steps (n − 1, …) lead, from 0 on."""
    return np.concatenate([np.zeros((1, *steps.shape[1:])), np.cumsum(steps, axis=0)])


def _material_steps(surface: ContactSurface, placements: Array, points: Array, normals: Array) -> Array:
    """(n − 1, k, 3) way between samples of the material at the corners; of points in several readings, k each.

    A ball that rolls moves its centre. Planners that take a foot for a point hold the centre of the ball, or the origin
    of the foot's frame, and the ball turns on the spot. None of these slides.
    """
    steps = np.diff(points, axis=0)
    readings = [steps]
    if surface.radius > 0.0:
        turns = _turns(placements[:, :3, :3])
        readings.append(steps - surface.radius * np.cross(turns, 0.5 * (normals[1:] + normals[:-1]))[:, None])
    origin = np.linalg.inv(surface.placement)[:, 3]
    if surface.kind == "point" and np.linalg.norm(origin[:3]) <= _FOOT:
        readings.append(np.diff(placements @ origin, axis=0)[:, None, :3])
    return np.concatenate(readings, axis=1)


def _turns(R: Array) -> Array:
    """(n − 1, 3) rotation vectors in world from each rotation (n, 3, 3) to the next."""
    E = R[1:] @ np.swapaxes(R[:-1], 1, 2)
    sine = 0.5 * np.stack([E[:, 2, 1] - E[:, 1, 2], E[:, 0, 2] - E[:, 2, 0], E[:, 1, 0] - E[:, 0, 1]], axis=1)
    size = np.linalg.norm(sine, axis=1)
    angle = np.arctan2(size, 0.5 * (np.trace(E, axis1=1, axis2=2) - 1.0))
    return sine * np.where(size > 1e-9, angle / np.maximum(size, 1e-300), 1.0)[:, None]


def _least_step(steps: Array, heights: Array, near: float) -> Array:
    """(n − 1, 3): the step of the corner that moves least, among those near the ground before and after it."""
    if steps.shape[1] == 1:
        return steps[:, 0]
    above = np.nan_to_num(heights - np.min(heights, axis=1, keepdims=True), nan=0.0)
    may: NDArray[np.bool_] = np.maximum(above[:-1], above[1:]) <= near
    may |= ~may.any(axis=1, keepdims=True)
    least = np.argmin(np.where(may, np.sum(steps**2, axis=2), np.inf), axis=1)
    return steps[np.arange(len(steps)), least]
