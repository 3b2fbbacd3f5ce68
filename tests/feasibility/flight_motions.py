"""Robots in flight: limbs swing as is said, and the base moves so that momentum changes by gravity alone."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import pinocchio as pin

from surefoot.motion import Trajectory
from surefoot.robot import Robot
from tests.feasibility.good_motions import loaded

FINE = 2000  # [Hz]
FORWARD, UPWARD, TURNS = 1.0, 2.0, (2.0, 3.0, 1.0)  # [m/s], [m/s], [rad/s] of the base at the start
SWING, SWINGS = 0.25, 3.0  # [rad], [Hz]


def thrown(name: str, rate: int, fall: float = 1.0, velocities: bool = True) -> Trajectory:
    """A robot thrown up, turning, with swinging joints; at some share of gravity."""
    robot, every = loaded(name), FINE // rate
    time, q, v = (x[::every] for x in _flight(name, fall))
    return Trajectory.of(robot, time, q, v if velocities else None)


@lru_cache(maxsize=4)
def _flight(name: str, fall: float, duration: float = 0.4) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Times, q and v, by steps through the middle."""
    robot = loaded(name)
    q = np.array(robot.home)
    q[2] += 3.0
    start = np.r_[FORWARD, 0.0, UPWARD, TURNS, _swing(robot, 0.0)[1]]
    momentum = np.array(pin.computeCentroidalMomentum(robot.model, robot.model.createData(), q, start).vector)
    force = np.r_[0.0, 0.0, -9.81 * fall * robot.mass, np.zeros(3)]
    time, dt, rows = np.arange(round(duration * FINE) + 1) / FINE, 1.0 / FINE, []
    for t in time:
        v = _velocity(robot, q, t, momentum + t * force)
        rows.append((q, v))
        half = _velocity(
            robot, _moved(robot, q, 0.5 * dt * v, t + 0.5 * dt), t + 0.5 * dt, momentum + (t + 0.5 * dt) * force
        )
        q = _moved(robot, q, dt * half, t + dt)
    return time, np.array([q for q, _ in rows]), np.array([v for _, v in rows])


def _swing(robot: Robot, t: float) -> tuple[np.ndarray, np.ndarray]:
    """Positions of the joints beside home, and their velocities."""
    phase, w = np.arange(robot.nv - 6) * 0.7, 2.0 * np.pi * SWINGS
    return SWING * (np.sin(w * t + phase) - np.sin(phase)), SWING * w * np.cos(w * t + phase)


def _velocity(robot: Robot, q: np.ndarray, t: float, momentum: np.ndarray) -> np.ndarray:
    A, joints = pin.computeCentroidalMap(robot.model, robot.model.createData(), q), _swing(robot, t)[1]
    return np.r_[np.linalg.solve(A[:, :6], momentum - A[:, 6:] @ joints), joints]


def _moved(robot: Robot, q: np.ndarray, step: np.ndarray, t: float) -> np.ndarray:
    out = pin.integrate(robot.model, q, step)
    out[7:] = robot.home[7:] + _swing(robot, t)[0]
    return out
