"""Rows of a tick that keep pairs apart: dampers where the robot is, and the same pairs where it would come to rest.

The dampers (Faverjon & Tournassoud 1987) slow approach down inside the influence distance. The other rows ask that
pairs are apart still where all joints have come to rest,

    d(q_i) + g(q_i) · (u t_i − u' t'_i) ≥ d_s        [ik.damper-ahead]

linear about postures q_i = q ⊕ u' t'_i on the way that braking takes from a velocity u' that is known (the last one, or
one that was tried): what the distance does on that way, however fast it falls there, is in d(q_i) already. That a way
to brake is kept free at any time is the idea of backup barrier functions (Gurriet, Mote, Singletary, Nilsson, Feron &
Ames 2020). No row asks for more than braking gives, so that all of them can be kept together.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from surefoot.arrays import Array
from surefoot.collision import CollisionModel
from surefoot.ik.avoidance_braking import BrakingPath
from surefoot.ik.avoidance_damper import VelocityDamper

__all__ = ["AvoidanceRows"]

Indices = NDArray[np.intp]
_STILL = 1e-6  # [m/rad]: pairs whose distance changes less than that with the joints are left alone
_AWAY = 0.2  # [rad/s]: joints need not be faster than that to lead pairs away that are too near
_LOST = 1e-6  # [m]: a tick may lose that against braking, where there is more than is needed
_BUFFER = 6e-4  # [m]: more than is needed in rows about it, for what is not linear
_CLOSE = 0.3  # of both for pairs that began too near: they have no more than the give


@dataclass(eq=False)
class AvoidanceRows:
    """The rows of one tick: row @ u ≥ lower, at most `damper.nearest` of either kind.

    Args:
        model: What must not touch.
        damper: How approach slows down.
        S: (nv, k) motions of all joints for unit values of u.
        dt: Length of a tick [s].
        allowed: (pairs,) the least distances [m].
        path: The way that braking takes from now on.
        braked: The same after a tick in which joints brake.
    """

    model: CollisionModel
    damper: VelocityDamper
    S: Array
    dt: float
    allowed: Array
    path: BrakingPath
    braked: BrakingPath

    def __post_init__(self) -> None:
        self._share = np.where(self.allowed < self.damper.security, _CLOSE, 1.0)
        columns, slopes = self._most_urgent()
        self.now = slopes, self._slowed(columns, slopes)
        self.ahead = self._at_rest(self.braked, columns)

    def filled(self) -> tuple[Array, Array]:
        """Rows (2 nearest, k) and lower ends [m/s]; those that are not needed are zero and −inf."""
        count = self.damper.nearest
        A, lower = np.zeros((2 * count, self.S.shape[1])), np.full(2 * count, -np.inf)
        for start, (rows, ends) in ((0, self.now), (count, self.ahead)):
            A[start : start + len(rows)], lower[start : start + len(rows)] = rows, ends
        return A, lower

    def short(self, path: BrakingPath, spare: float) -> NDArray[np.bool_]:
        """(pairs,) which of them come too near, now or later, if a tick with another velocity goes before braking.

        Where braking at once comes nearer than is allowed, it need only be no worse. From beyond the influence
        distance, no pair gets farther than half way to its least distance in one tick.

        Args:
            path: The way from the end of that tick.
            spare: By how much more than is allowed they shall be apart [m]; may be negative.
        """
        least = self.path.least
        braking = np.maximum(least - _LOST, np.minimum(self.allowed, least - 1e-9))
        outside = self.path.distances[0] > self.damper.influence
        floor = np.where(outside, 0.5 * (self.allowed + self.damper.influence), self.allowed)
        too_near = path.least < np.minimum(self.allowed + self._share * spare, braking)
        return np.asarray(too_near | (path.distances[0] < np.minimum(floor, braking)))

    def tighten(self, path: BrakingPath, columns: Indices) -> None:
        """Add rows about a velocity that led too near; the idlest go if they become too many.

        Args:
            path: The way after a tick with it.
            columns: Pairs that are too near there.
        """
        rows, lower = (np.concatenate(both) for both in zip(self._at_rest(path, columns), self.ahead, strict=True))
        keep = np.sort(np.argsort(rows @ path.u - lower, kind="stable")[: self.damper.nearest])
        self.ahead = rows[keep], lower[keep]

    # -- rows -----------------------------------------------------------------------------------------------------

    def _most_urgent(self) -> tuple[Indices, Array]:
        """Pairs that the least motion brings together until rest, and their rows at the present posture."""
        least = self.path.least
        columns = np.flatnonzero(least < self.damper.influence)
        rows = self.model.gradients(self.path.postures[0], columns) @ self.S
        length = np.linalg.norm(rows, axis=1)
        left = (least - self.allowed)[columns] / np.maximum(length, _STILL)
        order = np.argsort(np.where(length > _STILL, left, np.inf), kind="stable")[: self.damper.nearest]
        chosen = np.sort(order[length[order] > _STILL])
        return columns[chosen], rows[chosen]

    def _slowed(self, columns: Indices, rows: Array) -> Array:
        """Lower ends of the rows of pairs where they are now: approach slows down; what is too near moves away."""
        lower = (self._next_floor() - self.path.distances[0])[columns] / self.dt
        inside = self.path.distances[0, columns] >= self.allowed[columns]
        away = np.minimum(lower, _AWAY * np.linalg.norm(rows, axis=1))
        return np.where(inside, np.minimum(lower, rows @ self.braked.u), away)

    def _next_floor(self) -> Array:
        """(pairs,) what the dampers let distances fall to in a tick [m]; from beyond the influence distance, to it."""
        damper, now = self.damper, self.path.distances[0]
        share = np.minimum((now - self.allowed) / (damper.influence - self.allowed), 1.0)
        return np.asarray(np.minimum(now, damper.influence) - self.dt * damper.speed * share)

    def _at_rest(self, path: BrakingPath, columns: Indices) -> tuple[Array, Array]:
        """Rows and lower ends of pairs at the posture of a path where they are nearest, as rates until there."""
        worst = np.argmin(path.distances[:, columns], axis=0)
        samples, at = np.unique(worst, return_inverse=True)
        gradients = self.model.gradients(path.postures[samples], columns)[at, np.arange(len(columns))]
        time = self.dt * (1.0 + path.ticks[worst])
        rows = gradients @ self.S * path.slopes[worst] / time[:, None]
        wanted = (
            self.allowed[columns] + self._share[columns] * _BUFFER - path.distances[worst, columns]
        ) / time + rows @ path.u
        return rows, np.minimum(wanted, rows @ self.braked.u)
