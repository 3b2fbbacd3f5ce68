"""Motions and forces of named joints over time: keyframes, sine waves and torques."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Unpack

import numpy as np

from surefoot.arrays import Array, finite_array, increasing_times, linear_at, number, place_of
from surefoot.control.driven_joints import drive_index
from surefoot.control.joint_follower import JointFollower, JointGains, JointMotion, Posture
from surefoot.errors import ShapeError
from surefoot.motion import Command, Quintic, State
from surefoot.robot import Robot

__all__ = ["ForceSchedule", "JointPath", "JointWaves"]

_LOOKS = 64  # per period, for positions outside the limits


class ForceSchedule:
    """Torques that run straight from point to point; the first is held before, the last after.

    Args:
        robot: The robot.
        points: Times [s], increasing, each with torques [N m] or forces [N] of drives by joint name; joints that are
            not named keep their value, at first 0. Without points all drives are off.

    Raises:
        ShapeError: Times do not increase, or a torque is not a finite number.
        UnknownNameError: A joint has no drive, or does not exist.
    """

    def __init__(self, robot: Robot, points: Sequence[tuple[float, Mapping[str, float]]]) -> None:
        self._times = increasing_times([time for time, _ in points] or [0.0], "times of the forces")
        self._torques = np.zeros((len(self._times), robot.nu))
        for k, (_, torques) in enumerate(points):
            self._torques[k] = self._torques[max(k - 1, 0)]
            for joint, value in torques.items():
                torque = float(finite_array(value, (), f"torque of joint `{joint}`"))
                self._torques[k, drive_index(robot, joint)] = torque

    def command(self, t: float, state: State) -> Command:
        """The command at a time; the state does not matter.

        Args:
            t: Time [s].
            state: The state.
        """
        inside = float(np.clip(t, self._times[0], self._times[-1]))
        return Command(torque=linear_at(self._torques, place_of(self._times, inside)))


class JointPath(JointFollower):
    """Go through keyframes, at rest in each, and hold the last one.

    Between keyframes every joint runs along a quintic (Nenchev & Konno 2019, Fig. 8.53). The way begins at time 0 in
    the start posture; a keyframe at time 0 changes this posture.

    Args:
        robot: The robot.
        keyframes: Times [s], ≥ 0 and increasing, each with positions [rad] or [m] of driven joints by name; joints
            that are not named keep their value.
        q0: Start posture: (nq,), or positions of joints by name, the others as at home; home if omitted.
        gravity: False for a robot that nothing pulls and that stands on nothing.
        **gains: As in `JointGains`.

    Raises:
        ShapeError: Times do not increase, or a keyframe is outside the limits of the joints.
        UnknownNameError: A joint has no drive, or does not exist.
    """

    def __init__(
        self,
        robot: Robot,
        keyframes: Sequence[tuple[float, Mapping[str, float]]],
        q0: Posture | None = None,
        gravity: bool = True,
        **gains: Unpack[JointGains],
    ) -> None:
        super().__init__(robot, q0, gravity, **gains)
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


class JointWaves(JointFollower):
    """Swing joints about the start posture, with a smooth beginning and end.

        x = e(t) A (sin(2π f t + φ) − sin φ)        [control.joint-waves]

    e goes from 0 to 1 and back to 0 along quintics, each as long as `ramp` periods, so positions, velocities and
    accelerations are continuous. Two joints that swing out of phase run round an area in joint space; a robot that
    floats comes back to its posture turned (Nenchev & Konno 2019, section 4.7.4: limb cycles turn the body).

    Args:
        robot: The robot.
        waves: Amplitude A [rad] or [m], frequency f [Hz] and phase φ [rad] of driven joints by name.
        start: When it begins [s].
        cycles: How long: periods of the slowest wave, the ramps included.
        ramp: Length of each ramp: periods of the slowest wave, at most half of `cycles`.
        q0: Start posture: (nq,), or positions of joints by name, the others as at home; home if omitted.
        gravity: Whether the robot stands or is fixed, and gravity pulls it.
        **gains: As in `JointGains`.

    Raises:
        ShapeError: Numbers are wrong, or the waves take a joint outside its limits.
        UnknownNameError: A joint has no drive, or does not exist.
    """

    def __init__(
        self,
        robot: Robot,
        waves: Mapping[str, Sequence[float]],
        start: float = 0.0,
        cycles: float = 4.0,
        ramp: float = 0.5,
        q0: Posture | None = None,
        gravity: bool = False,
        **gains: Unpack[JointGains],
    ) -> None:
        super().__init__(robot, q0, gravity, **gains)
        self._drives = [drive_index(robot, joint) for joint in waves]
        rows = [finite_array(row, (3,), f"wave of joint `{joint}`") for joint, row in waves.items()]
        if not rows or min(row[1] for row in rows) <= 0.0:
            raise ShapeError("waves need at least one joint, and frequencies > 0", evidence={"waves": dict(waves)})
        self._amplitude, frequency, self._phase = np.array(rows).T
        self._rate = 2.0 * np.pi * frequency
        self.start, period = number(start, "start of the waves"), 1.0 / float(frequency.min())
        self.duration = number(cycles, "cycles of the waves", positive=True) * period
        rise = number(ramp, "ramp of the waves", positive=True) * period
        if 2.0 * rise > self.duration:
            raise ShapeError("the ramps of the waves are longer than the waves", evidence={"ramp": ramp})
        self._rise, self._fall = Quintic.at_rest(0.0, 1.0, rise), Quintic.at_rest(0.0, -1.0, rise)
        looks = np.arange(0.0, self.duration, 1.0 / (_LOOKS * float(frequency.max())))
        self._require_inside_limits([self.motion(self.start + t).moved for t in looks], "a wave")

    def motion(self, t: float) -> JointMotion:
        """How the driven joints shall move.

        Args:
            t: Time [s].
        """
        since = float(np.clip(t - self.start, 0.0, self.duration))
        e, e1, e2 = self._envelope(since)
        angle = self._rate * since + self._phase
        x = self._amplitude * (np.sin(angle) - np.sin(self._phase))
        v = self._amplitude * self._rate * np.cos(angle)
        a = -self._amplitude * self._rate**2 * np.sin(angle)
        parts = (e * x, e1 * x + e * v, e2 * x + 2.0 * e1 * v + e * a)
        return JointMotion(*(self._all_drives(part) for part in parts))

    def _envelope(self, since: float) -> tuple[float, float, float]:
        """e, e', e'' at a time since the start."""
        up = self._rise.sample(since)
        down = self._fall.sample(since - self.duration + self._fall.duration)
        e, e1, e2 = (float(a + b) for a, b in zip(up, down, strict=True))
        return e, e1, e2

    def _all_drives(self, part: Array) -> Array:
        out = np.zeros(self.robot.nu)
        out[self._drives] = part
        return out
