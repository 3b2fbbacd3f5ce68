"""`JointPath`: from keyframe to keyframe."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from surefoot.control.drive_index import drive_index
from surefoot.control.joint_follower import JointFollower, JointMotion, Posture
from surefoot.control.joint_pd import BANDWIDTH, DAMPING_RATIO
from surefoot.errors import ShapeError
from surefoot.motion import Quintic
from surefoot.motion.checks import finite_array, increasing_times
from surefoot.robot import Robot

__all__ = ["JointPath"]

Array = NDArray[np.float64]


class JointPath(JointFollower):
    """Go through keyframes, at rest in each, and hold the last one.

    Between keyframes every joint runs along a quintic (Nenchev & Konno 2019, Fig. 8.53). The way begins at time 0 in
    the start posture; a keyframe at time 0 changes this posture.

    Args:
        robot: The robot.
        keyframes: Times [s], ≥ 0 and increasing, each with positions [rad] or [m] of driven joints by name; joints
            that are not named keep their value.
        q_start: Start posture: (nq,), or positions of joints by name, the others as at home; home if left out.
        bandwidth: ω of the joints [rad/s].
        damping_ratio: ζ of the joints.
        gravity: False for a robot that nothing pulls and that stands on nothing.

    Raises:
        ShapeError: Times do not increase, or a keyframe is outside the limits of the joints.
        UnknownNameError: A joint has no drive, or does not exist.
    """

    def __init__(
        self,
        robot: Robot,
        keyframes: Sequence[tuple[float, Mapping[str, float]]],
        q_start: Posture | None = None,
        bandwidth: float = BANDWIDTH,
        damping_ratio: float = DAMPING_RATIO,
        gravity: bool = True,
    ) -> None:
        super().__init__(robot, q_start, bandwidth, damping_ratio, gravity)
        times, ways = _keyframe_times(keyframes), self._ways(keyframes)
        if times[0] > 0.0:
            times, ways = np.array([0.0, *times]), [np.zeros(robot.nu), *ways]
        self._require_inside_limits(ways, "a keyframe")
        self._times, self._last = times, ways[-1]
        self._legs = [
            Quintic.at_rest(a, b, T) for (a, b), T in zip(pairwise(ways), np.diff(times).tolist(), strict=True)
        ]

    def _ways(self, keyframes: Sequence[tuple[float, Mapping[str, float]]]) -> list[Array]:
        """(nu,) of each keyframe: how far the joints are from the start posture."""
        now, out = np.zeros(self.robot.nu), []
        for _, positions in keyframes:
            now = now.copy()
            for joint, value in positions.items():
                k = drive_index(self.robot, joint)
                now[k] = float(finite_array(value, (), f"position of joint `{joint}`")) - self._at_start[k]
            out.append(now)
        return out

    def motion(self, t: float) -> JointMotion:
        """How the driven joints shall move.

        Args:
            t: Time [s].
        """
        k = int(np.searchsorted(self._times, t, side="right")) - 1
        if k >= len(self._legs):
            return JointMotion(self._last, np.zeros(self.robot.nu), np.zeros(self.robot.nu))
        return JointMotion(*self._legs[max(k, 0)].sample(t - self._times[max(k, 0)]))


def _keyframe_times(keyframes: Sequence[tuple[float, Mapping[str, float]]]) -> Array:
    times = increasing_times([time for time, _ in keyframes], "times of the keyframes")
    if times[0] < 0.0:
        raise ShapeError("a keyframe is before time 0", evidence={"time": float(times[0])})
    return times
