"""`JointWaves`: sine waves of the joints, that begin and end at rest in the start posture."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from surefoot.control.drive_index import drive_index
from surefoot.control.joint_follower import JointFollower, JointMotion, Posture
from surefoot.control.joint_pd import BANDWIDTH, DAMPING_RATIO
from surefoot.errors import ShapeError
from surefoot.motion import Quintic
from surefoot.motion.checks import finite_array, number
from surefoot.robot import Robot

__all__ = ["JointWaves"]

Array = NDArray[np.float64]
_LOOKS = 64  # per period, for positions outside the limits


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
        q_start: Start posture: (nq,), or positions of joints by name, the others as at home; home if left out.
        bandwidth: ω of the joints [rad/s].
        damping_ratio: ζ of the joints.
        gravity: Whether the robot stands or is fixed, and gravity pulls it.

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
        q_start: Posture | None = None,
        bandwidth: float = BANDWIDTH,
        damping_ratio: float = DAMPING_RATIO,
        gravity: bool = False,
    ) -> None:
        super().__init__(robot, q_start, bandwidth, damping_ratio, gravity)
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
