"""A path of postures made into a motion that is smooth and nowhere too fast."""

from __future__ import annotations

import itertools

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from surefoot.motion import Trajectory
from surefoot.robot import Robot

__all__ = ["calm"]

Array = NDArray[np.float64]
_BLUR = 0.05  # [s]: standard deviation of the window that takes corners off the path
_FORESIGHT = 0.3  # [s]: the same of the window over which the motion slows down


def calm(robot: Robot, dt: float, q: Array, fastest: float) -> Trajectory:
    """The same path, its corners rounded, slower where it would be faster than `fastest`; at rest at both ends.

    Velocities are blurred and integrated again, so that the motion ends a little off where the path does, by what
    blurred rotations do not commute.

    Args:
        robot: The robot.
        dt: Time between postures [s].
        q: (n, nq) postures; the first and the last ones are at rest.
        fastest: Largest entry of v.
    """
    still = np.zeros((1, robot.nv))
    steps = np.array([pin.difference(robot.model, a, b) for a, b in itertools.pairwise(q)])
    v = _blurred(np.vstack([still, steps / dt, still]), _BLUR / dt)
    stretch = np.maximum(np.abs(v).max(axis=1) / fastest, 1.0)
    stretch = np.maximum(_blurred(_widest(stretch, _FORESIGHT / dt)[:, None], _FORESIGHT / dt)[:, 0], 1.0)
    rows = [np.array(q[0])]
    for k in range(1, len(v)):
        rows.append(np.array(pin.integrate(robot.model, rows[-1], 0.5 * dt * (v[k - 1] + v[k]))))
    time = np.concatenate([[0.0], np.cumsum(0.5 * dt * (stretch[1:] + stretch[:-1]))])
    slow = Trajectory.of(robot, time, np.array(rows), v / stretch[:, None])
    return slow.resample(dt=dt)


def _widest(values: Array, width: float) -> Array:
    """Largest value within a window of two widths to either side."""
    reach = round(2.0 * width)
    padded = np.pad(values, reach, mode="edge")
    return np.lib.stride_tricks.sliding_window_view(padded, 2 * reach + 1).max(axis=1)


def _blurred(values: Array, width: float) -> Array:
    """Columns convolved with a bell of this standard deviation [samples]; zero beyond the ends stays zero."""
    reach = max(1, round(4.0 * width))
    bell = np.exp(-0.5 * (np.arange(-reach, reach + 1) / width) ** 2)
    padded = np.pad(values, ((reach, reach), (0, 0)), mode="edge")
    windows = np.lib.stride_tricks.sliding_window_view(padded, 2 * reach + 1, axis=0)
    return np.asarray(windows @ (bell / bell.sum()))
