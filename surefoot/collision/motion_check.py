"""Is a whole motion free of collisions? Intervals are halved until the bounds between their ends are proof enough.

Conservative advancement in its adaptive form: Schwarzer, Saha & Latombe 2005.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pinocchio as pin
from numpy.typing import ArrayLike

from surefoot.arrays import Array
from surefoot.collision.model import CollisionModel
from surefoot.collision.volumes import steps_between
from surefoot.errors import ShapeError


@dataclass(frozen=True)
class MotionCheck:
    """The answer for one motion; true if it is free.

    Args:
        free: Whether every pair is proven to keep the clearance all along.
        time: In 0 … 1: where the clearance was first missed, to the resolution, or not proven; NaN if it is free.
        links: The pair that missed it; None if it is free.
        distance: Of that pair there [m]; at least the clearance if it was too near to tell. NaN if it is free.
    """

    free: bool
    time: float = np.nan
    links: tuple[str, str] | None = None
    distance: float = np.nan

    def __bool__(self) -> bool:
        return self.free


def motion_is_free(
    model: CollisionModel, start: ArrayLike, end: ArrayLike, clearance: float = 0.0, resolution: float = 1e-4
) -> MotionCheck:
    """Check the straight motion between two postures, and find where it fails first.

    Args:
        model: Robot and obstacles.
        start: (nq,).
        end: (nq,).
        clearance: What every distance must keep [m].
        resolution: Where less than that [m] is between proof and disproof, it counts as missed.
    """
    ends = model.robot.checked_q(start)[None], model.robot.checked_q(end)[None]
    return motions_are_free(model, *ends, clearance, resolution)[0]


def motions_are_free(
    model: CollisionModel, starts: ArrayLike, ends: ArrayLike, clearance: float = 0.0, resolution: float = 1e-4
) -> list[MotionCheck]:
    """Check many straight motions together.

    Args:
        model: Robot and obstacles.
        starts: (n, nq).
        ends: (n, nq).
        clearance: What every distance must keep [m].
        resolution: Where less than that [m] is between proof and disproof, it counts as missed.
    """
    if not resolution > 0.0 or not np.isfinite(clearance):
        evidence = {"resolution": resolution, "clearance": clearance}
        raise ShapeError(
            "the settings of a motion check are out of range",
            evidence=evidence,
            next_step="give metres, resolution > 0",
        )
    first, last = np.asarray(starts, dtype=float), np.asarray(ends, dtype=float)
    if first.ndim != 2:
        raise ShapeError(f"starts have shape {first.shape}, expected (n, {model.robot.nq})")
    search = _Search(model, first, last, clearance, resolution)
    while len(search.motion):
        search.halve()
    return [search.answer(k) for k in range(len(search.starts))]


class _Search:
    """Intervals that are still open, and the first failure of each motion so far."""

    def __init__(self, model: CollisionModel, starts: Array, ends: Array, clearance: float, resolution: float) -> None:
        self.model, self.starts, self.clearance, self.resolution = model, starts, clearance, resolution
        self.travel = model.travel(starts, ends)
        self.steps = steps_between(model.robot, starts, ends)
        self.within = clearance + float(self.travel.max(initial=0.0))
        n = len(starts)
        self.failed_at, self.column = np.full(n, np.inf), np.full(n, -1, dtype=np.int64)
        self.distance = np.full(n, np.nan)
        self.motion, self.start, self.end = np.arange(n), np.zeros(n), np.ones(n)
        self.at_start = model.distances(starts, self.within)
        self.at_end = model.distances(ends, self.within)
        self._note(self.start, self.at_start)
        self._note(self.end, self.at_end)
        self._keep_open()

    def halve(self) -> None:
        """Look at the middle of every open interval."""
        middle = 0.5 * (self.start + self.end)
        postures = [
            pin.integrate(self.model.robot.model, self.starts[k], t * self.steps[k])
            for k, t in zip(self.motion, middle, strict=True)
        ]
        found = self.model.distances(np.array(postures), self.within)
        self._note(middle, found)
        self.motion = np.concatenate([self.motion, self.motion])
        self.start, self.end = np.concatenate([self.start, middle]), np.concatenate([middle, self.end])
        self.at_start, self.at_end = np.concatenate([self.at_start, found]), np.concatenate([found, self.at_end])
        self._keep_open()

    def _keep_open(self) -> None:
        """Drop intervals that are proven free, lie behind a failure, or are too short to tell."""
        travel = self.travel[self.motion] * (self.end - self.start)[:, None]
        lacking = 0.5 * (self.at_start + self.at_end - travel) < self.clearance
        keep = lacking.any(axis=1) & (self.start < self.failed_at[self.motion])
        too_short = keep & (np.where(lacking, travel, 0.0).max(axis=1, initial=0.0) < self.resolution)
        untold = too_short & (self.at_end >= self.clearance).all(axis=1)  # else its end has failed already
        for k in np.flatnonzero(untold):
            self._fail(int(self.motion[k]), float(self.start[k]), np.where(lacking[k], self.at_start[k], np.inf))
        keep &= ~too_short
        self.motion, self.start, self.end = self.motion[keep], self.start[keep], self.end[keep]
        self.at_start, self.at_end = self.at_start[keep], self.at_end[keep]

    def _note(self, time: Array, distances: Array) -> None:
        """Remember samples, one of each open interval, that miss the clearance."""
        for k in np.flatnonzero((distances < self.clearance).any(axis=1)):
            self._fail(int(self.motion[k]), float(time[k]), distances[k])

    def _fail(self, motion: int, time: float, distances: Array) -> None:
        if time < self.failed_at[motion]:
            column = int(np.argmin(distances))
            self.failed_at[motion], self.column[motion], self.distance[motion] = time, column, distances[column]

    def answer(self, k: int) -> MotionCheck:
        """The answer about motion k."""
        if np.isinf(self.failed_at[k]):
            return MotionCheck(True)
        links = self.model.names[int(self.column[k])]
        return MotionCheck(False, float(self.failed_at[k]), links, float(self.distance[k]))
