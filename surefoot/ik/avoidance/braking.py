"""Where a robot comes to rest if it brakes from now on, each joint as hard as it may.

    |u_j|, |u_j| − a_j dt, |u_j| − 2 a_j dt, … 0        [ik.braking]

One tick of braking leaves the rest of the same way, and joints that keep to the bounds of [ik.step-bounds] keep to them
all along it. Motions without a limit of acceleration stop at once where no motion has one; beside others that have
(the base, which the others carry) they slow down together, in proportion and not as hard.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from surefoot.arrays import Array
from surefoot.collision import CollisionModel
from surefoot.ik.stepper import StepperRows

_APART, _MOST = 0.04, 12  # [rad] or [m]: way of the fastest joint between samples, as long as there are no more of them
_CARRIED = 0.5  # [m/rad]: what motions without a limit brake with, as a share of the least limit of the others


@dataclass(frozen=True, eq=False)
class BrakingPath:
    """Postures on the way until all joints are at rest.

    Args:
        u: (k,) velocity of the tick from which on the joints brake.
        ticks: (m,) how many ticks after its end each posture is reached, first 0.
        slopes: (m, k) how much farther each joint gets until there for a unit more of u [s].
        postures: (m, nq).
        distances: (m, pairs) [m] there.
    """

    u: Array
    ticks: Array
    slopes: Array
    postures: Array
    distances: Array

    @property
    def least(self) -> Array:
        """(pairs,) the smallest distance on the way [m]."""
        return self.distances.min(axis=0)


class Braking:
    """How a stepper's joints brake.

    Args:
        rows: Those of the stepper: they know its limits, and how to integrate.

    Attributes:
        dt: Length of a tick [s].
        slow: Motions that have a limit of acceleration; all where none has.
    """

    def __init__(self, rows: StepperRows) -> None:
        self._rows, self.dt = rows, rows.limits.dt
        limits = rows.limits.acceleration
        self._carried = np.isinf(limits)
        self.slow = np.flatnonzero(~self._carried if np.isfinite(limits).any() else self._carried)
        self._steps = self.dt * np.where(self._carried, _CARRIED * limits.min(initial=np.inf), limits)

    def steps(self, u: Array) -> Array:
        """(k,) by how much each |u| falls in a tick.

        Args:
            u: (k,) velocity of the free motion.
        """
        fastest = float(np.abs(u[self._carried]).max(initial=0.0))
        if not fastest or np.isinf(self._steps).any():
            return self._steps
        return np.where(self._carried, np.maximum(np.abs(u) / fastest, 1e-9), 1.0) * self._steps

    def slower(self, u: Array) -> Array:
        """(k,) the velocity after one tick of braking.

        Args:
            u: (k,) velocity before.
        """
        return np.sign(u) * np.maximum(np.abs(u) - self.steps(u), 0.0)

    def ticks(self, u: Array) -> Array:
        """(m,) samples of the ticks until rest, from 0 on.

        Args:
            u: (k,) velocity of the free motion.
        """
        last = int(np.ceil((np.abs(u) / self.steps(u)).max(initial=0.0) - 1e-9)) - 1
        if last < 1:
            return np.zeros(1)
        parts = 0.5 * float(np.abs(u).max()) * last * self.dt / _APART
        return np.unique(np.round(np.linspace(0, last, 1 + min(max(int(np.ceil(parts)), 1), _MOST, last))))

    def ways(self, u: Array, ticks: Array) -> Array:
        """(m, k): how far each joint gets in a tick with u and so many ticks of braking after it.

        Args:
            u: (k,) velocity of the free motion.
            ticks: (m,).
        """
        steps, speed = self.steps(u), np.abs(u)
        moving = np.minimum(ticks[:, None], np.floor(speed / steps))
        lost = np.where(moving > 0.0, steps, 0.0) * moving * (moving + 1.0) / 2.0
        return np.sign(u) * self.dt * ((moving + 1.0) * speed - lost)

    def path(self, model: CollisionModel, q: Array, u: Array, within: float) -> BrakingPath:
        """The way from q, with a tick of u before joints brake.

        Args:
            model: Tells the distances.
            q: (nq,) configuration.
            u: (k,) velocity of the free motion.
            within: Distances that are not below that need not be exact [m].
        """
        ticks = self.ticks(u)
        postures = self._moved(q, self.ways(u, ticks))
        return BrakingPath(u, ticks, self._slopes(u, ticks), postures, model.distances(postures, within))

    def from_now(self, model: CollisionModel, q: Array, u: Array, within: float) -> BrakingPath:
        """The way from q, which was reached with u, if joints brake at once.

        Args:
            model: Tells the distances.
            q: (nq,) configuration.
            u: (k,) velocity of the free motion.
            within: Distances that are not below that need not be exact [m].
        """
        ticks = self.ticks(u)
        postures = self._moved(q, self.ways(u, ticks) - self.dt * u)
        postures[0] = q
        return BrakingPath(u, ticks, self._slopes(u, ticks), postures, model.distances(postures, within))

    def after_braking(self, path: BrakingPath) -> BrakingPath:
        """A way from now on, seen as one after a tick in which the joints brake already.

        Args:
            path: Its first posture is the present one.
        """
        u, ahead = self.slower(path.u), slice(1 if len(path.ticks) > 1 else 0, None)
        ticks = np.maximum(path.ticks[ahead] - 1.0, 0.0)
        return BrakingPath(u, ticks, self._slopes(u, ticks), path.postures[ahead], path.distances[ahead])

    def _slopes(self, u: Array, ticks: Array) -> Array:
        return np.asarray(self.dt * (1.0 + np.minimum(ticks[:, None], np.abs(u) / self.steps(u))))

    def _moved(self, q: Array, ways: Array) -> Array:
        moved: Array = self._rows.integrator(np.tile(q, (len(ways), 1)), ways / self.dt)[0]
        return moved
