"""Ground that moves: by a law over time, or freely about a pivot."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike

from surefoot.arrays import Array, finite_array, number
from surefoot.errors import ShapeError
from surefoot.motion.quintic import Quintic
from surefoot.spatial import so3


def _zeros() -> Array:
    return np.zeros(3)


@dataclass(frozen=True, eq=False)
class GroundLaw:
    """A box moves about its pose whatever stands on it: by a sine, by keyframes, or by the sum of both.

    The sine begins at rest and grows to its amplitude within its first period; between keyframes the box moves from
    rest to rest along a quintic, before the first and after the last it rests.

    Args:
        translation: (3,) amplitude of the sine in world [m].
        rotation: (3,) amplitude of the sine as a rotation vector in world, about the box's centre [rad].
        frequency: Of the sine [Hz].
        start: Beginning of the sine [s].
        times: (n,) of keyframes [s], rising.
        translations: (n, 3) at the keyframes [m].
        rotations: (n, 3) rotation vectors at the keyframes [rad]; zero if omitted.
    """

    translation: Array = field(default_factory=_zeros)
    rotation: Array = field(default_factory=_zeros)
    frequency: float = 0.5
    start: float = 0.0
    times: Array = field(default_factory=lambda: np.zeros(0))
    translations: Array = field(default_factory=lambda: np.zeros((0, 3)))
    rotations: Array = field(default_factory=lambda: np.zeros((0, 3)))

    def __post_init__(self) -> None:
        for name in ("translation", "rotation"):
            object.__setattr__(self, name, finite_array(getattr(self, name), (3,), f"{name} of moving ground"))
        number(self.frequency, "frequency of moving ground", positive=True)
        finite_array(self.start, (), "start of moving ground")
        times = finite_array(self.times, (None,), "times of moving ground")
        if (np.diff(times) <= 0.0).any():
            raise ShapeError("times of moving ground do not rise", evidence={"times": times})
        object.__setattr__(self, "times", times)
        for name in ("translations", "rotations"):
            given = getattr(self, name)
            is_omitted = isinstance(given, list | tuple | np.ndarray) and len(given) == 0
            ways = np.zeros((len(times), 3)) if is_omitted else given
            object.__setattr__(self, name, finite_array(ways, (len(times), 3), f"{name} of moving ground"))

    def displacement(self, t: float) -> tuple[Array, Array]:
        """(6,) translation [m] and rotation vector [rad] at a time, and their rates (6,).

        Args:
            t: [s].
        """
        size, phase = np.concatenate([self.translation, self.rotation]), 2.0 * np.pi * self.frequency
        since = t - self.start
        grown, growth, _ = Quintic.at_rest(0.0, 1.0, 1.0 / self.frequency).sample(since)
        sine, cosine = np.sin(phase * since), np.cos(phase * since)
        way, rate = size * grown * sine, size * (growth * sine + grown * phase * cosine)
        if len(self.times):
            ways = np.hstack([self.translations, self.rotations])
            k = min(max(int(np.searchsorted(self.times, t)) - 1, 0), len(ways) - 2)
            if len(ways) == 1:
                return way + ways[0], rate
            begin, end = self.times[k], self.times[k + 1]
            at, speed, _ = Quintic.at_rest(ways[k], ways[k + 1], float(end - begin)).sample(t - begin)
            way, rate = way + at, rate + speed
        return way, rate

    def placed(self, pose: Array, t: float) -> tuple[Array, Array]:
        """T_world_box (4, 4) at a time, and the twist (6,) at the box's centre in world axes, linear first.

        Args:
            pose: (4, 4) of the box at rest.
            t: [s].
        """
        way, rate = self.displacement(t)
        out = np.array(pose)
        out[:3, 3] += way[:3]
        out[:3, :3] = so3.exp(way[3:]) @ pose[:3, :3]
        return out, np.concatenate([rate[:3], so3.left_jacobian(way[3:]) @ rate[3:]])


@dataclass(frozen=True, eq=False)
class Pivot:
    """A box that tilts about an axis under a spring, a damper, its weight and what stands on it.

    Args:
        mass: Of the box, homogeneous [kg].
        axis: (3,) in the axes of the box; made a unit vector.
        point: (3,) on the axis, from the box's centre, in its axes [m].
        stiffness: [N m/rad].
        damping: [N m s/rad].
        angle: At the start [rad].
    """

    mass: float
    axis: Array = field(default_factory=lambda: np.array([0.0, 1.0, 0.0]))
    point: Array = field(default_factory=_zeros)
    stiffness: float = 0.0
    damping: float = 0.0
    angle: float = 0.0

    def __post_init__(self) -> None:
        axis = finite_array(self.axis, (3,), "axis of a pivot")
        if not np.linalg.norm(axis) > 0.0:
            raise ShapeError("the axis of a pivot is zero")
        object.__setattr__(self, "axis", finite_array(axis / np.linalg.norm(axis), (3,), "axis of a pivot"))
        object.__setattr__(self, "point", finite_array(self.point, (3,), "point of a pivot"))
        number(self.mass, "mass of a board", positive=True)
        for name in ("stiffness", "damping"):
            number(getattr(self, name), f"{name} of a pivot")
        finite_array(self.angle, (), "angle of a pivot")

    def inertia(self, size: ArrayLike) -> float:
        """Moment of inertia about the axis [kg m²].

        Args:
            size: (3,) edges of the box [m].
        """
        squares = np.square(np.asarray(size, dtype=float))
        own = self.mass / 12.0 * float((squares.sum() - squares) @ self.axis**2)
        away = np.cross(self.axis, self.point)
        return own + self.mass * float(away @ away)

    def placed(self, pose: Array, angle: float, rate: float) -> tuple[Array, Array]:
        """T_world_box (4, 4) at an angle, and the twist (6,) at the box's centre in world axes, linear first.

        Args:
            pose: (4, 4) of the box at angle 0.
            angle: [rad].
            rate: [rad/s].
        """
        out, turn = np.array(pose), so3.exp(angle * self.axis)
        out[:3, :3] = pose[:3, :3] @ turn
        out[:3, 3] = pose[:3, 3] + pose[:3, :3] @ (self.point - turn @ self.point)
        omega = rate * (pose[:3, :3] @ self.axis)
        return out, np.concatenate([np.cross(omega, -(out[:3, :3] @ self.point)), omega])
