"""A planar hopper under Raibert's three-part control: height by thrust, speed by foot placement, attitude by the hip.

A body on a massless, springy leg hinged at its centre of mass (Raibert 1986, chapter 2).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from surefoot.arrays import Array
from surefoot.errors import SimulationError
from surefoot.reduced.walkers.stride import Stride, integrated

_G = 9.81


@dataclass(frozen=True, eq=False)
class RaibertHopper:
    """The hopper; its section is the apex: height, forward speed, pitch and its rate.

    Args:
        speed: Wished [m/s].
        mass: [kg].
        inertia: [kg m²].
        length: Of the relaxed leg [m].
        stiffness: Of the leg [N/m].
        damping: Of the leg [N s/m].
        thrust: By which the spring is lengthened at the bottom [m].
        placement: Seconds that the foot lands farther ahead for each m/s too much.
        attitude: Hip gains against pitch [N m/rad] and its rate [N m s/rad].
    """

    speed: float = 1.0
    mass: float = 18.0
    inertia: float = 1.5
    length: float = 0.7
    stiffness: float = 6000.0
    damping: float = 40.0
    thrust: float = 0.03
    placement: float = 0.04
    attitude: tuple[float, float] = (60.0, 30.0)
    name: ClassVar[str] = "hopper"
    idea: ClassVar[str] = "three parts: thrust for height, foot placement for speed, hip torque for attitude"
    start: ClassVar[tuple[float, ...]] = (1.055, 0.9, 0.0, 0.0)
    pace: ClassVar[int] = 1

    @property
    def weight(self) -> float:
        """[N]."""
        return self.mass * _G

    @property
    def stance_time(self) -> float:
        """Half a period of the mass on its spring [s], which the foot placement counts on."""
        return float(np.pi * np.sqrt(self.mass / self.stiffness))

    def hip_torque(self, pitch: float, rate: float) -> float:
        """On the body, in stance [N m]."""
        return -self.attitude[0] * pitch - self.attitude[1] * rate

    def stride(self, section: Array) -> Stride:
        """One hop from apex to apex."""
        height, speed, pitch, rate = section
        ahead = 0.5 * speed * self.stance_time + self.placement * (speed - self.speed)
        if abs(ahead) >= self.length:
            raise SimulationError("the foot cannot land so far ahead", evidence={"ahead": ahead})
        landing = np.sqrt(self.length**2 - ahead**2)
        if height <= landing:
            raise SimulationError("the hopper does not leave the ground", evidence={"apex": height})
        fall = np.sqrt(2.0 * (height - landing) / _G)
        first = np.array([-ahead, landing, pitch + rate * fall, speed, -_G * fall, rate])  # from the foot
        down, squeezed = integrated(self._stance(0.0), first, lambda t, x: -_stretch(x), 1.0)
        longest = self.length + self.thrust
        up, released = integrated(self._stance(self.thrust), squeezed[-1], lambda t, x: longest - np.hypot(*x[:2]), 1.0)
        off = released[-1]
        rise = off[4] / _G
        if rise <= 0.0:
            raise SimulationError("the hopper fell")
        apex = np.array([off[1] + 0.5 * _G * rise**2, off[3], off[2] + off[5] * rise, off[5]])
        travel = speed * fall + (off[0] - first[0]) + off[3] * rise
        time = np.r_[down, down[-1] + up] + fall
        states = np.vstack([squeezed, released])
        work = self.stiffness * self.thrust * (longest - np.hypot(*squeezed[-1, :2]) - 0.5 * self.thrust)
        return Stride(apex, float(time[-1] + rise), float(travel), time, states[:, [1, 4]], float(work))

    def _stance(self, thrust: float) -> Callable[[float, Array], Array]:
        def field(_: float, x: Array) -> Array:
            leg = np.hypot(x[0], x[1])
            along = x[:2] / leg
            push = self.stiffness * (self.length + thrust - leg) - self.damping * (along @ x[3:5])
            hip = self.hip_torque(x[2], x[5])
            force = push * along - hip / leg * np.array([-along[1], along[0]])
            return np.r_[x[3:], force / self.mass - np.array([0.0, _G]), hip / self.inertia]

        return field


def _stretch(x: Array) -> float:
    """Rate of the leg's length [m/s]."""
    return float(x[:2] @ x[3:5] / np.hypot(x[0], x[1]))
