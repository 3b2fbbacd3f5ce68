"""Obstacles as upright prisms, and how near soles and the body of a robot come to them.

Footprints are convex hulls of what a shape projects to the ground. Two convex outlines are apart by the largest gap
along a normal of one of them (separating axes); this gap is at most their distance.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from surefoot.arrays import Array
from surefoot.errors import NotSupportedError
from surefoot.gait.legs import feet_of, leg_bodies, stance_of
from surefoot.gait.steps.limits import StepLimits
from surefoot.geometry import Plane, convex_hull, surface_points
from surefoot.motion import GroundBox, MovableObject, Obstacle, World
from surefoot.robot import Robot, anatomy

_FAR = 1e3  # half width of walls without end [m]
_THIN = 1e-3  # footprints are at least that wide [m]
_FLUSH = 0.005  # obstacles that stick out of the ground by less do not stop a sole [m]
_SIMPLIFY = 0.002  # corners that stick out by less are dropped [m]
_WALL = 0.5  # planes whose normals rise by more than that are no walls


@dataclass(frozen=True)
class BodyBox:
    """The body over the legs as an upright box about the middle between the feet.

    Args:
        half_length: Along forward [m].
        half_width: Across [m].
        bottom: Above the ground [m]; what is lower only concerns the feet.
        top: Above the ground [m].
    """

    half_length: float
    half_width: float
    bottom: float
    top: float

    @classmethod
    def of(cls, robot: Robot, limits: StepLimits) -> BodyBox:
        """Around all that is not part of a leg, at home, and at least as wide as the nominal stance.

        Args:
            robot: A biped.
            limits: Its step limits.
        """
        frames = robot.placements(robot.home)
        legs = frozenset[int]().union(*(leg_bodies(robot, foot.link) for foot in feet_of(robot)))
        middle = 0.5 * np.sum([step.T[:3, 3] for step in stance_of(robot, robot.home)], axis=0)
        forward = anatomy(robot).forward
        axes = np.array([forward, np.cross([0.0, 0.0, 1.0], forward), [0.0, 0.0, 1.0]])
        clouds = [
            (surface_points(item.shape) @ T[:3, :3].T + T[:3, 3] - middle) @ axes.T
            for item in robot.collisions
            for T in (frames[item.link] @ item.placement,)
            if robot.body_of(item.link) not in legs
        ]
        points = np.vstack([[limits.sole[0], 0.5 * limits.width + limits.sole[1], limits.leg], *clouds])
        length, width, _ = np.abs(points).max(axis=0)
        return cls(float(length), float(width), 0.3 * limits.leg, float(points[:, 2].max()))


class Obstacles:
    """The obstacles, movable objects and high boxes of ground of a world.

    Args:
        world: The world.
    """

    def __init__(self, world: World) -> None:
        outlines: list[tuple[str, Array, float, float, bool]] = []
        items: list[Obstacle | MovableObject] = [*world.obstacles, *world.objects]
        for item in items:
            if isinstance(item.shape, Plane):
                outlines += _wall(item.name, item.pose)
            else:
                points = surface_points(item.shape) @ item.pose[:3, :3].T + item.pose[:3, 3]
                outlines.append((item.name, points[:, :2], points[:, 2].min(), points[:, 2].max(), True))
        for k, piece in enumerate(world.ground):
            if isinstance(piece, GroundBox):
                corners = np.array(np.meshgrid(*([-0.5, 0.5],) * 3)).reshape(3, -1).T * piece.size
                points = corners @ piece.pose[:3, :3].T + piece.pose[:3, 3]
                outlines.append((f"ground {k}", points[:, :2], points[:, 2].min(), points[:, 2].max(), False))
        self.names = tuple(outline[0] for outline in outlines)
        hulls = [_outline(outline[1]) for outline in outlines]
        self.hulls = hulls
        """(k, 2) corners of each footprint, counter-clockwise [m]."""
        self._low = np.array([outline[2] for outline in outlines])
        self._high = np.array([outline[3] for outline in outlines])
        self._stops_soles = np.array([outline[4] for outline in outlines], dtype=bool)
        self._corners = np.vstack(hulls) if hulls else np.zeros((0, 2))
        self._starts = np.cumsum([0, *(len(hull) for hull in hulls)])[:-1]
        edges = np.vstack([np.roll(hull, -1, axis=0) - hull for hull in hulls]) if hulls else np.zeros((0, 2))
        self._normals = np.column_stack([edges[:, 1], -edges[:, 0]]) / np.linalg.norm(edges, axis=1)[:, None]
        self._offsets = (self._normals * self._corners).sum(axis=1)

    def gaps(self, poses: Array, half_length: float, half_width: float) -> Array:
        """(n, obstacles) gaps between boxes and footprints [m]; negative where they overlap.

        Args:
            poses: (n, 3) middles of the boxes.
            half_length: [m].
            half_width: [m].
        """
        if not self.names:
            return np.zeros((len(poses), 0))
        c, s = np.cos(poses[:, 2]), np.sin(poses[:, 2])
        axes = np.stack([np.stack([c, s], axis=1), np.stack([-s, c], axis=1)], axis=1)  # (n, 2, 2), rows x and y
        middle = poses[:, :2] @ self._normals.T - self._offsets
        across = np.abs(axes @ self._normals.T)  # (n, 2, edges)
        by_edges = middle - half_length * across[:, 0] - half_width * across[:, 1]
        seen = axes @ self._corners.T - (axes @ poses[:, :2, None])  # (n, 2, corners)
        low, high = (f.reduceat(seen, self._starts, axis=2) for f in (np.minimum, np.maximum))
        half = np.array([half_length, half_width])[:, None]
        by_sides = np.maximum(low, -high) - half
        out: Array = np.maximum(np.maximum.reduceat(by_edges, self._starts, axis=1), by_sides.max(axis=1))
        return out

    def sole_gaps(self, poses: Array, heights: Array, limits: StepLimits) -> Array:
        """(n, obstacles) gaps of soles and lower legs [m]; infinite for what is above or below them.

        Args:
            poses: (n, 3) of feet.
            heights: (n,) of the ground there [m].
            limits: With the size of the soles.
        """
        z = heights[:, None]
        concerns = self._stops_soles & (self._low < z + 0.5 * limits.leg) & (self._high > z + _FLUSH)
        return np.where(concerns, self.gaps(poses, *limits.sole), np.inf)

    def body_gaps(self, poses: Array, heights: Array, body: BodyBox) -> Array:
        """(n, obstacles) gaps of the body [m]; infinite for what is above or below it.

        Args:
            poses: (n, 3) of the middle between the feet.
            heights: (n,) of the ground there [m].
            body: The box.
        """
        z = heights[:, None]
        concerns = (self._low < z + body.top) & (self._high > z + body.bottom)
        return np.where(concerns, self.gaps(poses, body.half_length, body.half_width), np.inf)


def _outline(points: Array) -> Array:
    """Corners of the hull, at least a thin square."""
    hull = convex_hull(points, tolerance=_SIMPLIFY)
    if len(hull) < 3:
        square = _THIN * np.array([[1.0, 1.0], [-1.0, 1.0], [-1.0, -1.0], [1.0, -1.0]])
        hull = convex_hull((hull[:, None] + square).reshape(-1, 2))
    return hull


def _wall(name: str, pose: Array) -> list[tuple[str, Array, float, float, bool]]:
    """A plane as a wall without end; none for a plane that is a floor."""
    normal, point = pose[:3, 2], pose[:3, 3]
    if normal[2] > _WALL:
        return []
    if normal[2] < -_WALL:
        raise NotSupportedError(f"obstacle `{name}` is a ceiling without end", next_step="give it as a box")
    flat = normal[:2] / np.linalg.norm(normal[:2])
    along = np.array([-flat[1], flat[0]])
    corners = [point[:2] + _FAR * (a * along - b * flat) for a in (-1.0, 1.0) for b in (0.0, 1.0)]
    return [(name, np.array(corners), -np.inf, np.inf, True)]
