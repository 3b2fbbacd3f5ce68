"""Joints as ROS messages list them: those with one axis, by name."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from surefoot.arrays import Array
from surefoot.errors import ShapeError
from surefoot.motion import Trajectory
from surefoot.motion.exchange import to_layout
from surefoot.robot import Robot

_BILLION = 1_000_000_000


@dataclass(frozen=True, eq=False)
class JointTable:
    """Joints with one axis over time; quantities that the motion does not have are None.

    Args:
        names: Of the joints.
        position: (n, k) [rad] or [m]; joints that turn without end go on beyond π.
        velocity: (n, k) [rad/s] or [m/s].
        acceleration: (n, k) [rad/s²] or [m/s²].
        effort: (n, k) [N m] or [N]; 0 where there is no drive.
        left_out: Joints with more than one axis, the base among them.
    """

    names: tuple[str, ...]
    position: Array
    velocity: Array | None
    acceleration: Array | None
    effort: Array | None
    left_out: tuple[str, ...]


def joint_table(trajectory: Trajectory, robot: Robot) -> JointTable:
    """The joints of a motion as `sensor_msgs/JointState` and `trajectory_msgs/JointTrajectory` have them."""
    trajectory.require(robot)
    found = to_layout(robot, "ros", trajectory.q, trajectory.v)
    names = tuple(str(name) for name in found["joint_names"])
    joints = [robot.joint_index(name) for name in names]
    rows = [int(robot.tree.v_index[i]) for i in joints]
    turning = np.array([robot.tree.kinds[i] == "continuous" for i in joints], dtype=bool)
    position = np.array(found["position"])
    position[:, turning] = np.unwrap(position[:, turning], axis=0)
    return JointTable(
        names,
        position,
        None if trajectory.v is None else np.asarray(found["velocity"]),
        None if trajectory.a is None else trajectory.a[:, rows],
        None if trajectory.tau is None else _efforts(trajectory.tau, robot)[:, rows],
        tuple(name for name in robot.joint_names if name not in names),
    )


def _efforts(tau: Array, robot: Robot) -> Array:
    """Torques and forces (n, nv) of the drives at all degrees of freedom."""
    out = np.zeros((len(tau), robot.nv))
    out[:, robot.driven] = tau
    return out


def nanoseconds(time: Array) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Whole seconds and the nanoseconds after them, (n,) each.

    Args:
        time: (n,) increasing, from 0 on [s].

    Raises:
        ShapeError: A time is negative or beyond 2038, or two times are less than a nanosecond apart.
    """
    total = np.round(np.asarray(time, dtype=float) * _BILLION).astype(np.int64)
    if len(total) and (total[0] < 0 or total[-1] >= 2**31 * _BILLION):
        raise ShapeError(
            "ROS times range from 0 to 2³¹ s",
            evidence={"first [s]": float(time[0]), "last [s]": float(time[-1])},
            next_step="shift the times of the motion",
        )
    if (np.diff(total) <= 0).any():
        raise ShapeError("two times are less than a nanosecond apart", evidence={"row": int(np.diff(total).argmin())})
    return total // _BILLION, total % _BILLION
