"""Ankle and hip strategies in the sagittal plane, with the transitions between them (Nenchev & Konno 2019, 7.6.3).

A leg and a torso with point masses on a fixed foot; joints follow wanted rates. Under a push the ankle yields; when the
CoP nears the toes, the hip takes over, in the reaction null space of the CoM's horizontal motion: θ̇₁ = (n₁/n₂) θ̇₂.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np

from surefoot.arrays import Array

__all__ = ["AnkleHip", "AnkleHipRun", "TwoLinkBody", "ankle_hip"]

_G, _SETTLE = 9.81, 0.02  # [m/s²]; time in which a joint takes up another rate [s]
Strategy = Literal["ankle", "to_hip", "hip", "to_ankle"]


@dataclass(frozen=True)
class TwoLinkBody:
    """Masses and lengths; the book's are lost, these have its total mass and upright CoM height.

    Args:
        leg: Mass of the legs [kg].
        torso: Mass of the torso [kg].
        length: Of the legs [m].
        leg_centre: Height of the legs' mass above the ankle [m].
        torso_centre: Height of the torso's mass above the hip [m].
    """

    leg: float = 2.5
    torso: float = 4.5
    length: float = 0.2
    leg_centre: float = 0.12
    torso_centre: float = 0.1475

    @property
    def mass(self) -> float:
        """[kg]."""
        return self.leg + self.torso

    def points(self, angles: Array) -> Array:
        """(2, 2) x and z of both masses; angles of the ankle and of the hip, forward positive [m]."""
        a, b = angles[0], angles[0] + angles[1]
        hip = self.length * np.array([np.sin(a), np.cos(a)])
        leg = self.leg_centre * np.array([np.sin(a), np.cos(a)])
        return np.array([leg, hip + self.torso_centre * np.array([np.sin(b), np.cos(b)])])

    def com(self, angles: Array) -> Array:
        """(2,) x and z [m]."""
        return np.asarray(np.array([self.leg, self.torso]) @ self.points(angles) / self.mass)

    def kernel(self, angles: Array) -> Array:
        """(2,) n, along which the CoM does not move ahead (7.35)."""
        z, lever = self.com(angles)[1], self.torso / self.mass * self.torso_centre * np.cos(angles.sum())
        return np.array([-lever, z])

    def pressure(self, angles: Array, motion: Array, force: float, height: float) -> float:
        """CoP from the ankle [m]: of both masses with accelerations (2, 2), under a push ahead [N] at a height [m]."""
        masses, places = np.array([self.leg, self.torso]), self.points(angles)
        up = masses * (_G + motion[:, 1])
        return float((up @ places[:, 0] - masses * motion[:, 0] @ places[:, 1] + force * height) / up.sum())


@dataclass(frozen=True)
class AnkleHip:
    """The two strategies.

    Args:
        limit: CoP at which the hip takes over [m]   (x_p^lim).
        window: Heights of the CoM between which the ankle takes over again, with the CoP behind the ankle [m].
        transition: Time in which the hip takes over [s].
        ankle: Virtual spring [N m/rad] and damper [N m s/rad]; not printed.
        hip: Of the hip; not printed.
        back: Rates at which the CoM returns in the transition, and the hip after it [1/s].
        smoothing: Share of a new CoP in its estimate.
    """

    limit: float = 0.045
    window: tuple[float, float] = (0.2645, 0.2665)
    transition: float = 1.0
    ankle: tuple[float, float] = (60.0, 8.0)
    hip: tuple[float, float] = (12.0, 2.5)
    back: tuple[float, float] = (20.0, 3.0)
    smoothing: float = 0.1


@dataclass(frozen=True, eq=False)
class AnkleHipRun:
    """What happened.

    Args:
        time: (n,) [s].
        angles: (n, 2) ankle and hip [rad].
        com: (n, 2) x and z [m].
        pressure: (n,) CoP [m].
        strategy: (n,) which one.
        switches: When each strategy began for the first time [s].
    """

    time: Array
    angles: Array
    com: Array
    pressure: Array
    strategy: tuple[Strategy, ...]
    switches: dict[Strategy, float]


def ankle_hip(
    force: Callable[[float], float],
    duration: float,
    body: TwoLinkBody | None = None,
    law: AnkleHip | None = None,
    height: float = 0.3,
    dt: float = 1e-3,
) -> AnkleHipRun:
    """Stand under a push.

    The virtual pendulum is driven by x_p − x_g, so that it yields to the push; the book prints x_g − x_p.

    Args:
        force: Of time [N], ahead.
        duration: [s].
        body: The body.
        law: The strategies.
        height: Where the push acts [m].
        dt: Sample period [s].
    """
    body, law = body or TwoLinkBody(), law or AnkleHip()
    angles, rates = np.zeros(2), np.zeros(2)
    seen, since, start = 0.0, 0.0, 0.0
    mode: Strategy = "ankle"
    switches: dict[Strategy, float] = {"ankle": 0.0}
    modes: list[Strategy] = []
    velocity, rows = np.zeros((2, 2)), []
    for k in range(round(duration / dt)):
        t = k * dt
        x, z = body.com(angles)
        turned = _next(mode, seen, z, t - since, law)
        if turned != mode:
            mode, since, start = turned, t, x
            switches.setdefault(mode, t)
        rates = _rates(body, law, mode, angles, rates, (x, seen, (t - since) / law.transition, start), dt)
        before = body.points(angles)
        angles = angles + dt * rates
        moved = (body.points(angles) - before) / dt
        pressure = body.pressure(angles, (moved - velocity) / dt, force(t), height)
        velocity, seen = moved, seen + law.smoothing * (pressure - seen)
        rows.append((t, *angles, x, z, seen))
        modes.append(mode)
    table = np.array(rows)
    return AnkleHipRun(table[:, 0], table[:, 1:3], table[:, 3:5], table[:, 5], tuple(modes), switches)


def _next(mode: Strategy, pressure: float, height: float, elapsed: float, law: AnkleHip) -> Strategy:
    """The state machine of table 7.3."""
    if mode == "ankle" and pressure >= law.limit:
        return "to_hip"
    if mode == "to_hip" and elapsed >= law.transition:
        return "hip"
    if mode == "hip" and pressure < 0.0 and law.window[0] < height < law.window[1]:
        return "to_ankle"
    if mode == "to_ankle" and elapsed >= law.transition:
        return "ankle"
    return mode


def _rates(
    body: TwoLinkBody, law: AnkleHip, mode: Strategy, angles: Array, rates: Array,
    now: tuple[float, float, float, float], dt: float,
) -> Array:  # fmt: skip
    """Wanted joint rates (2,); `now`: CoM, CoP, share of the transition, CoM at its beginning."""
    x, pressure, share, start = now
    z, kernel = body.com(angles)[1], body.kernel(angles)
    drive = _G * (pressure - x)
    ankle, hip = rates
    if mode in ("ankle", "to_ankle"):
        spring, damper = law.ankle
        ankle += dt * (body.mass * drive - spring * angles[0] - damper * rates[0]) / (body.mass * z * z)
        goal = -law.back[1] * angles[1] if mode == "to_ankle" else 0.0
        return np.array([ankle, hip + dt / _SETTLE * (goal - hip)])
    spring, damper = law.hip
    hip += dt * (body.torso * drive - spring * angles[1] - damper * hip) / (body.torso * body.torso_centre**2)
    ratio = kernel[0] / kernel[1]
    if mode == "hip":
        return np.array([ratio * hip, hip])
    smooth = share**3 * (10.0 - 15.0 * share + 6.0 * share * share)
    wanted = law.back[0] * ((1.0 - smooth) * start - x)
    goal = z * wanted / (z * z + kernel[0] ** 2) + smooth * ratio * hip
    return np.array([ankle + dt / _SETTLE * (goal - ankle), hip])
