"""`DriveGroup`: drives of one kind, all at once; what every kind shares."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from surefoot.arrays import Array
from surefoot.robot import Drive

Flags = NDArray[np.bool_]


def numbers(drives: Sequence[Drive], name: str) -> Array:
    """(n,) one field of each drive."""
    return np.array([getattr(drive, name) for drive in drives], dtype=float)


def law(rows: Array, position: Array, velocity: Array) -> Array:
    """(n,) torque + kp (position − q) + kd (velocity − v), before the limits.

    Args:
        rows: (5, n) or (7, n): torque, position, kp, velocity, kd (, lower, upper), as in `Actuation`.
        position: (n,) q.
        velocity: (n,) v.
    """
    return rows[0] + rows[2] * (rows[1] - position) + rows[4] * (rows[3] - velocity)


def short_way(angle: Array) -> Array:
    """The same turn within half a turn, [−π, π)."""
    return np.remainder(angle + np.pi, 2.0 * np.pi) - np.pi


class DriveGroup:
    """n drives of one kind. A subclass defines what they do in a step, and closes the step when its end is known.

    By itself an ideal source: it asks the supply for the work that it does at the joint. Work is counted as the
    engines count it, torque times the mean of the speeds before and after the step.

    Args:
        drives: The drives.
        turns: (n,) whether a joint turns without end, so that positions may jump by full turns.
        dt: Step [s].
    """

    def __init__(self, drives: Sequence[Drive], turns: Flags, dt: float) -> None:
        self.n = len(drives)
        self.dt = dt
        self.turns = turns if turns.any() else None
        self.limit = numbers(drives, "torque_limit")
        self.rows = np.zeros((7, self.n))
        self.reset(np.zeros(self.n), np.zeros(self.n))

    def reset(self, position: Array, velocity: Array) -> None:
        """Begin again, with empty accounts.

        Args:
            position: (n,) of the joints.
            velocity: (n,) of the joints.
        """
        self.speed = velocity
        self.power, self.supplied, self.lost = np.zeros(self.n), np.zeros(self.n), np.zeros(self.n)
        self.start(position, velocity)

    def act(self, wanted: Array, position: Array, velocity: Array) -> Array:
        """(7, n) the actuation of the next step.

        Args:
            wanted: (5, n) torque, position, kp, velocity, kd of the command; positions are the near ones.
            position: (n,) of the joints now.
            velocity: (n,) of the joints now.
        """
        self.rows, self.speed = np.empty((7, self.n)), velocity
        self.rows[:5] = wanted
        self.rows[5], self.rows[6] = -self.limit, self.limit
        self.shape(position, velocity)
        return self.rows

    def settle(self, path: Array, position: Array, velocity: Array) -> None:
        """Close the step that `act` began.

        Args:
            path: (n,) way of the joints in the step.
            position: (n,) of the joints at its end, without jumps by full turns.
            velocity: (n,) of the joints at its end.
        """
        wanted = law(self.rows, position, velocity)
        torque = np.minimum(np.maximum(wanted, self.rows[5]), self.rows[6])  # [sim.drive]
        self.notice(wanted, position, velocity)
        self.power = self.close(torque, 0.5 * (self.speed + velocity), path, velocity)
        self.supplied += self.dt * self.power

    def start(self, position: Array, velocity: Array) -> None:
        """Set the memory of the kind; an ideal source has none."""

    def shape(self, position: Array, velocity: Array) -> None:
        """Make the command in `rows` what the kind does with it; an ideal source leaves it."""

    def notice(self, wanted: Array, position: Array, velocity: Array) -> None:
        """See the torque (n,) that `rows` ask for at the end of the step, before their limits."""

    def close(self, torque: Array, mean: Array, path: Array, velocity: Array) -> Array:
        """Bring the memory to the end of the step.

        Args:
            torque: (n,) that acted at the joints.
            mean: (n,) mean speed of the joints in the step.
            path: (n,) way of the joints in the step.
            velocity: (n,) of the joints at its end.

        Returns:
            (n,) power from the supply [W], mean of the step.
        """
        return torque * mean

    @property
    def stored(self) -> float:
        """Energy in rotors, springs and windings [J]."""
        return 0.0

    def readings(self) -> dict[str, Array]:
        """(n,) what the kind can measure, by name."""
        return {"electrical_power": self.power}
