"""`FootLift`: the phases of lifting a foot and putting it down again."""

from __future__ import annotations

import numpy as np

from surefoot.arrays import Array
from surefoot.control.balance.footing import Footing
from surefoot.control.balance.moves import Lift, rise
from surefoot.control.legged import closest_inside

__all__ = ["DONE", "DOWN", "LOAD", "SHIFT", "UNLOAD", "UNLOAD_TIME", "UP", "FootLift"]

SHIFT, UNLOAD, UP, DOWN, LOAD, DONE = range(6)
UNLOAD_TIME = 0.3
"""In which a foot is unloaded before it leaves [s]."""
_LOAD_TIME = 0.3  # [s]
_PATIENCE = 1.0  # how long to wait for the centre of mass [s]
_LANDING_SPEED = 0.05  # of a foot that expects the ground [m/s]
_STILL_LOADED = 0.02  # share of the weight that a foot may carry when it leaves
_WELL_INSIDE = 0.5  # share of the support polygon, about its middle, over which the centre of mass is brought
_NEAR = 0.2  # errors of the DCM with which a foot may be unloaded, share of the way of the shift


class FootLift:
    """One lift: shift the weight, unload the foot, lead it up and down, load it when it touches, shift back.

    Args:
        move: What to do.
        foot: Number of the foot.
        footing: Where the feet are.
        home: (2,) where the centre of mass is otherwise, in the frame of the footing.
    """

    def __init__(self, move: Lift, foot: int, footing: Footing, home: Array) -> None:
        self.move, self.foot, self.phase, self.clock = move, foot, SHIFT, 0.0
        others = [k for k in range(len(footing.places)) if k != foot]
        polygon = footing.polygon(others)
        middle = polygon.mean(axis=0)
        self.way = closest_inside(home, middle + _WELL_INSIDE * (polygon - middle)) - home
        self._ground = footing.places[foot]
        self.pose, self.rate, self.change = self._ground.copy(), np.zeros(4), np.zeros(4)
        self.carried = 1.0
        """Share of the weight on the foot before it is unloaded."""

    def advance(self, dt: float, error: float, touches: bool | None) -> bool:
        """Go on; returns whether the phase changed.

        Args:
            dt: [s].
            error: Distance of the DCM from its reference [m].
            touches: Whether the foot touches the ground; None if unknown.
        """
        self.clock += dt
        if not self._is_over(error, touches):
            self._lead(dt)
            return False
        self.phase, self.clock = self.phase + 1, 0.0
        return True

    def _is_over(self, error: float, touches: bool | None) -> bool:
        move, clock = self.move, self.clock
        match self.phase:
            case 0:  # SHIFT
                near = error < _NEAR * float(np.hypot(*self.way)) or clock > move.shift + _PATIENCE
                return clock >= move.shift and near
            case 1:  # UNLOAD
                return clock >= UNLOAD_TIME
            case 2:  # UP
                return clock >= move.swing + move.hold
            case 3:  # DOWN
                return clock >= move.swing if touches is None else touches and clock > 0.5 * move.swing
            case _:  # LOAD
                return clock >= max(_LOAD_TIME, move.shift)

    def _lead(self, dt: float) -> None:
        """Where the foot in the air should be: after the time for the way down, it goes on down slowly."""
        if self.phase not in (UP, DOWN):
            return
        up = rise(self.clock, self.move.swing)
        if self.phase == DOWN:
            up = np.array([1.0, 0.0, 0.0]) - up
            late = max(0.0, self.clock - self.move.swing)
            up = up - np.array([late, 1.0 if late > 0.0 else 0.0, 0.0]) * _LANDING_SPEED / self.move.height
        z, self.rate[2], self.change[2] = self.move.height * up
        self.pose = self._ground + np.array([0.0, 0.0, z, 0.0])

    @property
    def com(self) -> Array:
        """(3, 2) displacement of the centre of mass, its velocity and acceleration."""
        if self.phase == SHIFT:
            share = rise(self.clock, self.move.shift)
        elif self.phase < LOAD:
            share = np.array([1.0, 0.0, 0.0])
        else:
            share = np.array([1.0, 0.0, 0.0]) - rise(self.clock, self.move.shift)
        return np.outer(share, self.way)

    @property
    def in_air(self) -> bool:
        """Whether the foot is led."""
        return self.phase in (UP, DOWN)

    @property
    def carries(self) -> bool:
        """Whether the foot belongs to the support polygon."""
        return self.phase in (SHIFT, LOAD, DONE)

    @property
    def load(self) -> float:
        """Largest share of the weight on the foot."""
        match self.phase:
            case 1:  # UNLOAD
                return max(_STILL_LOADED, self.carried * (1.0 - self.clock / UNLOAD_TIME))
            case 4:  # LOAD
                return _STILL_LOADED + self.clock / _LOAD_TIME
            case _:
                return np.inf
