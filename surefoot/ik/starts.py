"""Where a search begins anew when it has got stuck."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from surefoot.ik.free_motion import FreeMotion

__all__ = ["random_starts"]

Array = NDArray[np.float64]
_NEAR = 0.4  # share of its range by which a joint of a robot that stands is moved
_UNBOUNDED = np.pi  # [rad] or [m]: by how much a joint without limits is moved
_BASE = 0.05  # [m] and [rad]: by how much a base that floats is moved


def random_starts(motion: FreeMotion, q0: Array, count: int, rng: np.random.Generator) -> Array:
    """Configurations (count, nq): all over the limits for a robot with a fixed base, around q0 for one that stands.

    Args:
        motion: What may move, and its limits.
        q0: (nq,) or (count, nq) where the search began.
        count: How many.
        rng: Source of randomness.
    """
    robot = motion.robot
    starts = np.broadcast_to(q0, (count, robot.nq)).copy()
    draw = rng.uniform(-1.0, 1.0, (count, motion.S.shape[1]))
    low, high = motion.lower, motion.upper
    bounded = (motion.entry >= 0) & np.isfinite(low) & np.isfinite(high)
    if robot.base == "fixed":
        entries = motion.entry[bounded]
        starts[:, entries] = low[bounded] + 0.5 * (draw[:, bounded] + 1.0) * (high - low)[bounded]
        steps = np.where(bounded, 0.0, _UNBOUNDED) * draw
    else:
        width = np.where(bounded, _NEAR * (np.where(bounded, high, 0.0) - np.where(bounded, low, 0.0)), _NEAR)
        base = np.isin(np.argmax(np.abs(motion.S), axis=0), robot.base_rows)
        steps = np.where(base, _BASE, width) * draw
    if steps.any():
        starts = np.array([pin.integrate(robot.model, q, motion.S @ u) for q, u in zip(starts, steps, strict=True)])
    return motion.inside(starts)
