"""Torso twist: the base turns about the vertical on fixed feet, and a method says what the rest of the body does.

Kinematic: wanted rates are integrated. Nenchev & Konno 2019, section 5.8.3 (videos 5.8-1 to 5.8-3): with conserved
system angular momentum the arms swing in antiphase, in the reaction null space in phase; resolved momentum does not
achieve the twist.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pinocchio as pin
from numpy.typing import ArrayLike

from surefoot.arrays import Array
from surefoot.control.classic.body import standing_body
from surefoot.control.classic.rates import RATES
from surefoot.errors import one_of
from surefoot.robot import Robot
from surefoot.spatial import so3

__all__ = ["TorsoTwist", "torso_twist"]

_DT = 0.02  # [s]


@dataclass(frozen=True, eq=False)
class TorsoTwist:
    """What happened.

    Args:
        time: (n,) [s].
        wanted: (n,) yaw [rad].
        yaw: (n,) of the base [rad].
        upper: (n,) angular velocity about the vertical that the joints off the legs add, by momentum [rad/s].
        moment: Largest rate of the angular momentum about the vertical [N m]: what the soles must bear.
    """

    time: Array
    wanted: Array
    yaw: Array
    upper: Array
    moment: float

    @property
    def achieved(self) -> float:
        """Share of the amplitude in the last period."""
        half = len(self.time) // 2
        return float(np.ptp(self.yaw[half:]) / np.ptp(self.wanted[half:]))

    @property
    def phase(self) -> float:
        """Correlation of base and upper body: 1 in phase, −1 in antiphase, 0 if the upper body rests."""
        rate = np.gradient(self.yaw, self.time)
        size = float(np.linalg.norm(rate) * np.linalg.norm(self.upper))
        return float(rate @ self.upper / size) if size > 1e-9 else 0.0


def torso_twist(
    method: str, robot: Robot, angle: float = np.deg2rad(10.0), period: float = 4.0,
    q0: ArrayLike | None = None,
) -> TorsoTwist:  # fmt: skip
    """Two periods of a sinusoidal twist.

    Args:
        method: One of `RATES`.
        robot: The robot.
        angle: Amplitude [rad].
        period: [s].
        q0: (nq,) first posture; home if omitted.

    Raises:
        UnknownNameError: The method is not one on rates.
    """
    if method not in RATES:
        raise one_of("controller on rates", method, RATES)
    control = RATES[method](robot, q0, _DT)
    start, data = control.start, robot.model.createData()
    legs = np.abs(start.contacts[:, 6:]).max(axis=0) > 1e-9
    q, v, rows = np.array(start.q), np.zeros(robot.nv), []
    for k in range(round(2.0 * period / _DT)):
        t = k * _DT
        wish = angle * np.sin(2.0 * np.pi * t / period)
        control.start = replace(start, rotation=so3.exp(np.array([0.0, 0.0, wish])) @ start.rotation)
        body = standing_body(robot, data, control.contacts, q, v)
        v = control.rates(body)
        parts = np.linalg.solve(body.inertia, body.momentum[3:, 6:] * v[6:])[2]
        yaw = pin.log3(body.rotation @ start.rotation.T)[2]
        rows.append((t, wish, yaw, parts[~legs].sum(), float(body.momentum[5] @ v)))
        q = pin.integrate(robot.model, q, _DT * v)
    time, wanted, yaws, upper, momentum = np.array(rows).T
    return TorsoTwist(time, wanted, yaws, upper, float(np.abs(np.gradient(momentum, time)).max()))
