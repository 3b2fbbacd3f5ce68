"""A planar walker under virtual model control: imagined springs and dampers at the trunk (Pratt et al. 2001).

The trunk is a rigid body on massless legs with knees, without ankle torque. Virtual components demand a force and a
moment; joint torques follow by the transposed Jacobian. On one foot two of three components can be met, on two feet all
three: so height and pitch are held throughout, and speed in double support.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from surefoot.arrays import Array
from surefoot.errors import SimulationError
from surefoot.reduced.walkers.stride import Stride, integrated

_G = 9.81


@dataclass(frozen=True, eq=False)
class VirtualModelWalker:
    """The walker; its section begins single support: place from the stance foot, height, pitch, and their rates.

    Args:
        speed: Wished [m/s].
        mass: [kg].
        inertia: [kg m²].
        height: Wished [m].
        step: Distance of the feet when the next one lands, at the wished speed [m].
        double: Duration of double support [s].
        lift: Vertical stiffness [N/m] and damping [N s/m].
        level: Pitch stiffness [N m/rad] and damping [N m s/rad].
        drag: Horizontal damping towards the wished speed [N s/m].
        adapt: Seconds by which a step is longer for each m/s too fast.
    """

    speed: float = 0.6
    mass: float = 20.0
    inertia: float = 1.0
    height: float = 0.85
    step: float = 0.35
    double: float = 0.12
    lift: tuple[float, float] = (4000.0, 500.0)
    level: tuple[float, float] = (200.0, 25.0)
    drag: float = 250.0
    adapt: float = 0.15
    name: ClassVar[str] = "virtual model"
    idea: ClassVar[str] = "virtual springs and dampers hold height, pitch and, on two feet, speed"
    start: ClassVar[tuple[float, ...]] = (-0.1, 0.85, 0.0, 0.7, 0.0, 0.0)
    pace: ClassVar[int] = 3

    @property
    def weight(self) -> float:
        """[N]."""
        return self.mass * _G

    def components(self, x: Array) -> Array:
        """(3,) demanded horizontal force, vertical force, moment of the virtual components."""
        up = self.mass * _G + self.lift[0] * (self.height - x[1]) - self.lift[1] * x[4]
        return np.array([self.drag * (self.speed - x[3]), up, -self.level[0] * x[2] - self.level[1] * x[5]])

    def forces(self, x: Array, feet: tuple[float, ...]) -> Array:
        """(feet, 2) of the ground; on one foot the horizontal component is what is left.

        Args:
            x: (6,) state.
            feet: Their places [m].
        """
        wished = self.components(x)
        if len(feet) == 1:
            along = (wished[2] - (feet[0] - x[0]) * wished[1]) / x[1]
            return np.array([[along, wished[1]]])
        arms = np.array([[1.0, 0.0] * len(feet), [0.0, 1.0] * len(feet), [v for f in feet for v in (x[1], f - x[0])]])
        return np.asarray(np.linalg.pinv(arms) @ wished).reshape(-1, 2)

    def rates(self, x: Array, feet: tuple[float, ...]) -> Array:
        """(6,) of the trunk."""
        f = self.forces(x, feet)
        moment = sum(x[1] * fx + (foot - x[0]) * fz for (fx, fz), foot in zip(f, feet, strict=True))
        return np.r_[x[3:], f.sum(axis=0) / self.mass - np.array([0.0, _G]), moment / self.inertia]

    def stride(self, section: Array) -> Stride:
        """One step: single support until the trunk is half a step ahead of the foot, then double support."""
        single, one = integrated(
            lambda t, x: self.rates(x, (0.0,)), section, lambda t, x: 0.5 * self.step - x[0] if x[1] > 0.4 else 1.0, 3.0
        )
        end = one[-1]
        foot = end[0] + 0.5 * self.step + self.adapt * (end[3] - self.speed)
        both, two = integrated(lambda t, x: self.rates(x, (0.0, foot)), end, lambda t, x: self.double - t, 1.0)
        after = two[-1] - np.r_[foot, np.zeros(5)]
        if two[-1, 1] < 0.4 or foot < 0.05:
            raise SimulationError("the walker fell")
        time, states = np.r_[single, single[-1] + both], np.vstack([one, two])
        work = self._work(single, one, (0.0,)) + self._work(both, two, (0.0, foot))
        return Stride(after, float(time[-1]), float(foot), time, states[:, [0, 3]], work)

    def _work(self, time: Array, states: Array, feet: tuple[float, ...]) -> float:
        """Positive work of the legs on the trunk [J]."""
        rates = [self.rates(x, feet)[3:] for x in states]
        power = [self.mass * (a[0] * x[3] + (a[1] + _G) * x[4]) + self.inertia * a[2] * x[5]
                 for a, x in zip(rates, states, strict=True)]  # fmt: skip
        return float(np.trapezoid(np.maximum(power, 0.0), time))


def leg_jacobian(hip: float, knee: float, thigh: float = 0.5, shank: float = 0.5) -> Array:
    """(2, 2) of the foot against the hip, x forward and z up, by hip and knee angle; 0 straight down, forward positive.

    Args:
        hip: [rad].
        knee: Relative to the thigh [rad].
        thigh: [m].
        shank: [m].
    """
    a, b = hip, hip + knee
    upper, lower = thigh * np.array([np.cos(a), np.sin(a)]), shank * np.array([np.cos(b), np.sin(b)])
    return np.column_stack([upper + lower, lower])


def leg_torques(hip: float, knee: float, force: Array) -> Array:
    """(2,) hip and knee torques that make the ground push the leg with a force: −Jᵀ f [N m].

    Args:
        hip: [rad].
        knee: [rad].
        force: (2,) of the ground on the foot [N].
    """
    return -leg_jacobian(hip, knee).T @ np.asarray(force, dtype=float)
