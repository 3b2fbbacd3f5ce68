"""Where a search begins anew when it has got stuck."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from surefoot.arrays import Array
from surefoot.compiler import Kernel, compile_robot
from surefoot.ik.free_motion import FreeMotion

__all__ = ["Starts"]

_NEAR = 0.4  # share of its range by which a joint of a robot that stands is moved
_UNBOUNDED = np.pi  # [rad] or [m]: by how much a joint without limits is moved
_BASE = 0.05  # [m] and [rad]: by how much a base that floats is moved


@dataclass(eq=False)
class Starts:
    """Random configurations: all over the limits for a robot with a fixed base, around q0 for one that stands.

    Args:
        motion: What may move, and its limits.
    """

    motion: FreeMotion
    _middle: Array = field(init=False, repr=False)
    _half: Array = field(init=False, repr=False)
    _steps: Array = field(init=False, repr=False)
    _kernel: Kernel = field(init=False, repr=False)

    def __post_init__(self) -> None:
        motion, robot = self.motion, self.motion.robot
        low, high = motion.lower, motion.upper
        bounded = (motion.entry >= 0) & np.isfinite(low) & np.isfinite(high)
        range_of = np.where(bounded, high, 0.0) - np.where(bounded, low, 0.0)
        anywhere = bounded & (robot.base == "fixed")
        self._middle = np.where(anywhere, 0.5 * (np.where(bounded, high, 0.0) + np.where(bounded, low, 0.0)), 0.0)
        self._half = np.where(anywhere, 0.5 * range_of, 0.0)
        base = np.isin(np.argmax(np.abs(motion.S), axis=0), robot.base_rows)
        near = np.where(bounded, _NEAR * range_of, _UNBOUNDED)
        self._steps = np.where(anywhere, 0.0, np.where(base, _BASE, near))
        shapes = {"u": (motion.S.shape[1],)}
        self._kernel = compile_robot(robot, functions={"moved": (motion.moved, shapes)}).moved

    def draw(self, q0: Array, count: int, rng: np.random.Generator) -> Array:
        """Configurations (count, nq).

        Args:
            q0: (nq,) or (count, nq) where the search began.
            count: How many.
            rng: Source of randomness.
        """
        draw = rng.uniform(-1.0, 1.0, (count, len(self._steps)))
        starts = np.empty((count, self.motion.robot.nq))
        starts[:] = q0
        anywhere = self._half > 0.0
        if anywhere.any():
            starts[:, self.motion.entry[anywhere]] = (self._middle + self._half * draw)[:, anywhere]
        found: Array = self._kernel(starts, self._steps * draw)
        return found
