"""A pattern generator with phase reset moves the legs of the compass (Matsuoka 1985; reset: Aoi and Tsuchiya 2005).

Two neurons that tire and inhibit each other:

    τ ẋ_i = c − x_i − b v_i − a y_j,  T v̇_i = y_i − v_i,  y_i = max(x_i, 0)        [walk.matsuoka]   Matsuoka 1985, (1)

They oscillate without end if 1 + τ/T < a < 1 + b. Their difference is the wished angle between the legs; at heel strike
they restart at a fixed phase, so that the gait sets the rhythm.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import ClassVar

import numpy as np
from scipy.integrate import solve_ivp
from scipy.interpolate import CubicSpline

from surefoot.arrays import Array
from surefoot.errors import SimulationError
from surefoot.reduced.walkers.compass import Compass, compass_stride
from surefoot.reduced.walkers.stride import Stride


@dataclass(frozen=True)
class Matsuoka:
    """The oscillator.

    Args:
        rise: τ [s].
        tire: T [s].
        fatigue: b.
        inhibition: a.
        drive: c.
    """

    rise: float = 0.19
    tire: float = 0.38
    fatigue: float = 2.5
    inhibition: float = 2.0
    drive: float = 1.0

    @property
    def oscillates(self) -> bool:
        """Matsuoka's condition."""
        return 1.0 + self.rise / self.tire < self.inhibition < 1.0 + self.fatigue

    def rates(self, _: float, x: Array) -> Array:
        """Of the state (4,): x₁, x₂, v₁, v₂."""
        y = np.maximum(x[:2], 0.0)
        fast = (self.drive - x[:2] - self.fatigue * x[2:] - self.inhibition * y[::-1]) / self.rise
        return np.r_[fast, (y - x[2:]) / self.tire]

    def run(self, duration: float, start: Array | None = None) -> tuple[Array, Array]:
        """Times (k,) and states (k, 4); from a small asymmetry if no start is given."""
        first = np.array([0.1, 0.0, 0.0, 0.0]) if start is None else start
        time = np.arange(0.0, duration, 2e-3)
        found = solve_ivp(self.rates, (0.0, duration), first, t_eval=time, rtol=1e-9, atol=1e-9)
        return found.t, found.y.T

    @cached_property
    def cycle(self) -> tuple[float, CubicSpline]:
        """Period [s], and output y₁ − y₂ over a period, scaled to ±1, from where it rises through 0."""
        time, states = self.run(60.0 * max(self.rise, self.tire))
        out = np.maximum(states[:, 0], 0.0) - np.maximum(states[:, 1], 0.0)
        rises = np.flatnonzero((out[:-1] < 0.0) & (out[1:] >= 0.0))
        if len(rises) < 3 or np.ptp(out[len(out) // 2 :]) < 1e-3:
            raise SimulationError("the oscillator comes to rest", evidence={"oscillates": self.oscillates})
        first, last = rises[-2], rises[-1]
        one = out[first : last + 1] / np.abs(out[first : last + 1]).max()
        return float(time[last] - time[first]), CubicSpline(time[first : last + 1] - time[first], one)


@dataclass(frozen=True, eq=False)
class PatternWalker:
    """The compass on level ground with an oscillator at its hip.

    Args:
        model: The compass.
        oscillator: Its rhythm.
        swing: Largest wished angle between the legs [rad].
        phase: Of the oscillator at heel strike, as a share of its period.
        stiffness: Of the hip [N m/rad].
        damping: Of the hip [N m s/rad].
    """

    model: Compass = field(default_factory=Compass)
    oscillator: Matsuoka = field(default_factory=Matsuoka)
    swing: float = 0.33
    phase: float = 0.0
    stiffness: float = 34.0
    damping: float = 3.0
    name: ClassVar[str] = "pattern generator"
    idea: ClassVar[str] = "two neurons set the angle between the legs, restarted at heel strike"
    start: ClassVar[tuple[float, ...]] = (-0.13, 0.65, 0.4)
    pace: ClassVar[int] = 1

    @property
    def weight(self) -> float:
        """[N]."""
        return self.model.weight

    def torque(self, t: float, x: Array) -> float:
        """Spring and damper towards the oscillator's angle between the legs [N m]."""
        period, wave = self.oscillator.cycle
        wished = -self.swing * float(wave((t + self.phase * period) % period))
        return self.stiffness * (wished - (x[1] - x[0])) - self.damping * (x[3] - x[2])

    def stride(self, section: Array) -> Stride:
        """One step from heel strike to heel strike."""
        return compass_stride(self.model, section, self.torque)
