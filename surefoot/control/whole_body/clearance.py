"""`BodyClearance`: keeps the links of a robot apart from each other, as rows on accelerations."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from surefoot.arrays import Array
from surefoot.collision import CollisionModel
from surefoot.control.whole_body.outcome import APPROACH
from surefoot.robot import Robot

__all__ = ["BodyClearance", "ClearanceSettings"]

_NONE = -1e9
_COMFORT = 0.03  # distance over its margin from which on a pair gets room; less if it is nearer at the beginning [m]
_SHORT = 0.05  # levers that move links apart only slowly [m]


@dataclass(frozen=True)
class ClearanceSettings:
    """How links keep apart.

    Args:
        margin: Least distance [m]; pairs that are nearer at the beginning keep half of that distance.
        influence: Distance over its margin from which on a pair is looked at [m].
        count: Most pairs at a time.
        period: Time between two searches for the nearest pairs [s]; between them, distances change linearly.
        stopping_time: Time over which the speed of approach is brought down [s].
        braking: Deceleration with which links stop before they touch [m/s²].
        weight: Of the squared violation, beside that of the other tasks of the level.
    """

    margin: float = 0.02
    influence: float = 0.06
    count: int = 8
    period: float = 0.01
    stopping_time: float = 0.05
    braking: float = 5.0
    weight: float = 1.0


class BodyClearance:
    """Lets links approach each other only as fast as they can still stop.

        g v̇ ≥ (−ḋ_max(d) − ḋ)/T,   ḋ_max(d) = min(√(2 a (d − d_min)), (d − d_min)/T)        [control.clearance]

    Distances are those of swept volumes around the links (`collision.CollisionModel`); J̇ v is omitted.

    Args:
        robot: The robot.
        q0: (nq,) posture whose distances decide the margins.
        settings: How links keep apart.
        model: Whose pairs are looked at; all pairs of links if omitted.
    """

    def __init__(
        self, robot: Robot, q0: Array, settings: ClearanceSettings | None = None, model: CollisionModel | None = None
    ) -> None:
        self.settings = settings or ClearanceSettings()
        self._model = model or CollisionModel(robot)
        first = self._model.distances(q0)
        self._margins = np.minimum(self.settings.margin, 0.5 * first)
        self._margins[first <= 0.0] = -np.inf
        self._first = np.minimum(first - self._margins, self.settings.influence)
        self._comforts = np.minimum(_COMFORT, 0.8 * self._first)
        self._last, self._way = -np.inf, np.zeros(robot.nv)
        self._columns = np.zeros(0, dtype=np.int64)
        self._chosen: NDArray[np.int64] | None = None  # of the next measurement
        self._gradients, self._spare = np.zeros((0, robot.nv)), np.zeros(0)
        s, count = self.settings, self.settings.count
        self._rows, self._least = np.zeros((count, robot.nv)), np.full(count, _NONE)
        self._ahead, self._rates = np.zeros(count), np.zeros(count)
        given = 0, self._ahead, self._rates, 0.0, s.braking, s.stopping_time, s.weight**0.5, self._least
        self._approach = APPROACH.bind("approach", *given)
        self._model.proximity(q0, np.argsort(first)[:1])  # loads machine code

    def rows(self, t: float, q: Array, v: Array) -> tuple[Array, Array]:
        """Rows (count, nv) and their least values (count,) now, times the root of the weight.

        Rows are another array after each measurement; least values are written anew by the next call.

        Args:
            t: Time [s].
            q: (nq,) configuration.
            v: (nv,) velocity.
        """
        s = self.settings
        age = t - self._last
        if not 0.0 <= age < 2.0 * s.period:
            self._measure(t, q, self._nearest(q))
        elif self._chosen is None:
            self._chosen = self._nearest(q) if age >= 0.5 * s.period else None
        elif age >= s.period:
            self._measure(t, q, self._chosen)
        if found := len(self._columns):
            np.matmul(self._gradients, v, out=self._rates[:found])
            self._approach.whole[0], self._approach.real[3] = found, t - self._last
            self._approach.run()
        return self._rows, self._least

    def _nearest(self, q: Array) -> NDArray[np.int64]:
        """Pairs to look at; in a tick before that in which they are measured, so that neither takes long."""
        spare = self._model.distances(q) - self._margins
        left = spare / self._first  # pairs that are near from the beginning must not hide those that approach
        nearest = np.argpartition(left, min(self.settings.count, len(spare) - 1))[: self.settings.count]
        return nearest[spare[nearest] < self.settings.influence]

    def _measure(self, t: float, q: Array, columns: NDArray[np.int64]) -> None:
        self._last, self._chosen, self._columns = t, None, columns
        if len(columns):
            found = self._model.proximity(q, columns)
            self._spare, self._gradients = found.distance - self._margins[columns], found.gradient
        else:
            self._spare, self._gradients = np.zeros(0), np.zeros((0, len(self._way)))
        self._ahead[: len(columns)] = self._spare
        self._rows = np.zeros(self._rows.shape)
        self._rows[: len(columns)], self._least[len(columns) :] = self.settings.weight**0.5 * self._gradients, _NONE

    def room(self, columns: NDArray[np.int64]) -> Array:
        """(k,) how far degrees of freedom should turn, so that pairs that have come near keep a comfortable distance.

        Args:
            columns: (k,) of v, the degrees of freedom that give way.
        """
        out = np.zeros(len(columns))
        for gradient, spare, wanted in zip(self._gradients, self._spare, self._comforts[self._columns], strict=True):
            way = gradient[columns]
            reach = float(way @ way)
            if spare < wanted and reach > 1e-6:
                out += (wanted - spare) / (reach + _SHORT**2) * way
        return out

    @property
    def nearest(self) -> float:
        """Least distance over its margin at the last search [m]; infinite if no pair is near."""
        return float(self._spare.min(initial=np.inf))
