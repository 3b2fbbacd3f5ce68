"""Passive walkers on a slope: the simplest one (Garcia et al. 1998) and the compass (Goswami et al. 1998)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from surefoot.arrays import Array
from surefoot.errors import SimulationError
from surefoot.reduced.walkers.stride import Stride, integrated

_G, _SHORTEST = 9.81, 0.05  # [m/s²], [rad]


@dataclass(frozen=True, eq=False)
class SimplestWalker:
    """A hip mass on two massless legs with light feet, in units of leg length and √(l/g).

        θ̈ = sin(θ − γ),  φ̈ = θ̈ + sin φ (θ̇² − cos(θ − γ))        Garcia et al. 1998, (1)

    Its section: stance angle and rate just after heel strike; the swing leg follows from both.

    Args:
        slope: γ [rad].
    """

    slope: float = 0.009
    name: ClassVar[str] = "passive"
    idea: ClassVar[str] = "falls down a slope; no actuator, no control"
    start: ClassVar[tuple[float, ...]] = (0.2, -0.2)
    weight: ClassVar[float] = 1.0
    pace: ClassVar[int] = 1

    def stride(self, section: Array) -> Stride:
        """One step from heel strike to heel strike."""
        angle, rate = section
        lost = 1.0 - np.cos(2.0 * angle)
        first = np.array([angle, 2.0 * angle, rate, lost * rate])

        def field(_: float, x: Array) -> Array:
            fall = np.sin(x[0] - self.slope)
            swing = fall + np.sin(x[1]) * (x[2] ** 2 - np.cos(x[0] - self.slope))
            return np.array([x[2], x[3], fall, swing])

        # straight legs scuff at mid-stance, which Garcia et al. ignore as well
        time, states = integrated(field, first, lambda t, x: 2.0 * x[0] - x[1] if x[0] < 0.0 else 1.0, 10.0)
        end = states[-1]
        after = np.array([-end[0], np.cos(2.0 * end[0]) * end[2]])
        return Stride(after, float(time[-1]), 2.0 * float(np.sin(-end[0])), time, states[:, [0, 2]])


@dataclass(frozen=True)
class Compass:
    """Two legs with point masses and a hip mass; angles θ = (stance, swing) from the vertical, forward positive.

    Args:
        hip: Mass [kg].
        leg: Mass of a leg [kg].
        above: Distance of its mass from the hip [m].
        below: Distance of its mass from the foot [m].
        slope: Downwards [rad].
    """

    hip: float = 10.0
    leg: float = 5.0
    above: float = 0.5
    below: float = 0.5
    slope: float = 0.0

    @property
    def length(self) -> float:
        """Of a leg [m]."""
        return self.above + self.below

    @property
    def weight(self) -> float:
        """[N]."""
        return (self.hip + 2.0 * self.leg) * _G

    def mass_matrix(self, angles: Array) -> Array:
        """M (2, 2) about the stance foot."""
        J = self._jacobians(angles)
        return sum((m * j[:, 2:].T @ j[:, 2:] for m, j in zip(self._masses, J[:3], strict=True)), np.zeros((2, 2)))

    def forces(self, angles: Array, rates: Array) -> Array:
        """C θ̇ + G (2,): what actuators must balance."""
        (s, n), (ds, dn) = angles, rates
        k = self.leg * self.length * self.above * np.sin(s - n)
        lever = self.leg * self.below + (self.hip + self.leg) * self.length
        return np.array([-k * dn * dn - lever * _G * np.sin(s), k * ds * ds + self.leg * self.above * _G * np.sin(n)])

    def energy(self, angles: Array, rates: Array) -> float:
        """Kinetic and potential, above the stance foot [J]."""
        (s, n), a, b = angles, self.above, self.below
        lever = self.leg * b + (self.hip + self.leg) * self.length
        height = lever * np.cos(s) - self.leg * a * np.cos(n)
        return float(0.5 * rates @ self.mass_matrix(angles) @ rates + _G * height)

    def strike(self, angles: Array, rates: Array) -> tuple[Array, Array]:
        """Angles and rates after the swing foot lands without rebound or slip; legs exchanged."""
        J = self._jacobians(angles)
        M = sum((m * j.T @ j for m, j in zip(self._masses, J[:3], strict=True)), np.zeros((4, 4)))
        E = J[3]
        K = np.block([[M, -E.T], [E, np.zeros((2, 2))]])
        after = np.linalg.solve(K, np.r_[M @ np.r_[0.0, 0.0, rates], 0.0, 0.0])
        return angles[::-1].copy(), after[2:4][::-1].copy()

    @property
    def _masses(self) -> tuple[float, float, float]:
        return self.leg, self.hip, self.leg

    def _jacobians(self, angles: Array) -> list[Array]:
        """(2, 4) of stance leg, hip, swing leg and swing foot: by stance foot and angles."""
        (s, n), leg = angles, self.length
        stance, swing = np.array([np.cos(s), -np.sin(s)]), np.array([-np.cos(n), np.sin(n)])
        rods = ((self.below, 0.0), (leg, 0.0), (leg, self.above), (leg, leg))
        return [np.column_stack([np.eye(2), r * stance, w * swing]) for r, w in rods]

    def step_length(self, angles: Array) -> float:
        """Between the feet [m]."""
        return float(2.0 * self.length * np.sin(0.5 * abs(angles[0] - angles[1])))


@dataclass(frozen=True, eq=False)
class PassiveCompass:
    """The compass without an actuator; its section is the stance angle and both rates just after heel strike.

    Args:
        model: On a slope.
    """

    model: Compass = field(default_factory=lambda: Compass(slope=np.deg2rad(3.0)))
    name: ClassVar[str] = "compass"
    idea: ClassVar[str] = "a compass with masses in its legs, on a slope of 3°"
    start: ClassVar[tuple[float, ...]] = (-0.219, 1.1, 0.38)
    pace: ClassVar[int] = 1

    @property
    def weight(self) -> float:
        """[N]."""
        return self.model.weight

    def stride(self, section: Array) -> Stride:
        """One step from heel strike to heel strike."""
        return compass_stride(self.model, section, lambda t, x: 0.0)


def compass_stride(model: Compass, section: Array, torque: Callable[[float, Array], float]) -> Stride:
    """A step of a compass under a torque between its legs.

    Args:
        model: The compass.
        section: (3,) stance angle, stance rate, swing rate, after heel strike.
        torque: Function of time and state (4,) [N m], on the swing leg against the stance leg.
    """
    stance, *rates = section
    first = np.array([stance, 2.0 * model.slope - stance, *rates])

    def field(t: float, x: Array) -> Array:
        u = torque(t, x)
        return np.r_[x[2:], np.linalg.solve(model.mass_matrix(x[:2]), np.array([-u, u]) - model.forces(x[:2], x[2:]))]

    def clearance(t: float, x: Array) -> float:  # straight legs scuff before the swing foot has passed the stance foot
        return 2.0 * model.slope - x[0] - x[1] if x[0] > x[1] else 1.0

    time, states = integrated(field, first, clearance, 3.0)
    end = states[-1]
    if end[2] <= 0.0 or end[0] - end[1] < _SHORTEST:
        raise SimulationError("the walker stumbled", evidence={"angle between the legs": float(end[0] - end[1])})
    angles, after = model.strike(end[:2], end[2:])
    power = np.array([torque(t, x) * (x[3] - x[2]) for t, x in zip(time, states, strict=True)])
    work = float(np.trapezoid(np.maximum(power, 0.0), time))
    return Stride(np.r_[angles[0], after], float(time[-1]), model.step_length(end[:2]), time, states[:, [0, 2]], work)
