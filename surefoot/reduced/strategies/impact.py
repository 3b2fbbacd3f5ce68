"""Accommodation of an impact, expected or not (Nenchev & Konno 2019, section 7.7.4, tables 7.4 and 7.5).

A leg and a torso on a fixed foot, under torques that keep the CoM near the toes and the torso upright. An impulse from
behind hits the neck. If it is expected, the torso is let go just before, and yields; if not, it is let go 30 ms later.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from surefoot.arrays import Array
from surefoot.reduced.strategies.ankle_hip import TwoLinkBody

_G, _NECK, _COM = 9.81, 0.145, (300.0, 50.0)  # [m/s²], above the hip [m], gains of the CoM
Schedule = tuple[tuple[float, float, float], ...]
ANTICIPATED: Schedule = (
    (0.0, 300.0, 50.0), (0.9, 300.0, 50.0), (1.0, 0.01, 0.001), (1.05, 0.01, 0.001), (1.25, 30.0, 5.0),
)  # fmt: skip
"""Time [s] and gains of the torso's attitude [1/s²], [1/s], linear in between: table 7.4."""
SURPRISED: Schedule = (
    (0.0, 300.0, 50.0), (1.03, 300.0, 50.0), (1.05, 0.01, 0.001), (1.25, 30.0, 5.0),
)  # fmt: skip
"""Table 7.5."""


@dataclass(frozen=True, eq=False)
class ImpactRun:
    """What happened.

    Args:
        time: (n,) [s].
        pitch: (n,) of the torso [rad].
        com: (n,) ahead of the ankle [m].
        pressure: (n,) CoP [m].
    """

    time: Array
    pitch: Array
    com: Array
    pressure: Array


def accommodate_impact(
    schedule: Schedule,
    force: float = 5.5,
    start: float = 0.05,
    duration: float = 4.0,
    body: TwoLinkBody | None = None,
    inertia: float = 0.03,
    dt: float = 5e-4,
) -> ImpactRun:
    """Stand, be hit for 50 ms at 1 s, recover.

    Args:
        schedule: Gains of the torso.
        force: From behind, at the neck [N].
        start: CoM ahead of the ankle [m].
        duration: [s].
        body: The body.
        inertia: Of the torso about its centre [kg m²]; our choice.
        dt: Step [s].
    """
    body = body or TwoLinkBody()
    lean = float(np.arcsin(start * body.mass / ((body.leg * body.leg_centre) + body.torso * body.length)))
    angles, rates, rows = np.array([lean, -lean]), np.zeros(2), []
    masses, tilt = np.array([body.leg, body.torso]), np.ones(2)
    times, stiff, damp = np.array(schedule).T
    for k in range(round(duration / dt)):
        t = k * dt
        push = force if 1.0 <= t < 1.05 else 0.0
        J, drift = _points_motion(body, angles, rates)
        M = np.einsum("i,ixj,ixk->jk", masses, J, J) + inertia * np.outer(tilt, tilt)
        bias = np.einsum("i,ixj,ix->j", masses, J, drift + np.array([0.0, _G]))
        ahead, bent = masses @ J[:, 0] / body.mass, float(masses @ drift[:, 0]) / body.mass
        x = float(body.com(angles)[0])
        wished = np.array([
            _COM[0] * (start - x) - _COM[1] * float(ahead @ rates) - bent,
            -np.interp(t, times, stiff) * angles.sum() - np.interp(t, times, damp) * rates.sum(),
        ])  # fmt: skip
        torque = M @ np.linalg.solve(np.array([ahead, tilt]), wished) + bias
        lever = _NECK * np.cos(angles.sum())
        height = body.length * np.cos(angles[0]) + lever
        found = np.linalg.solve(M, torque - bias + push * np.array([height, lever]))
        motion = J @ found + drift
        support = float(masses @ (_G + motion[:, 1]))
        pressure = body.pressure(angles, motion, push, height) - inertia * found.sum() / support
        rows.append((t, angles.sum(), x, pressure))
        rates = rates + dt * found
        angles = angles + dt * rates
    return ImpactRun(*np.array(rows).T)


def _points_motion(body: TwoLinkBody, angles: Array, rates: Array) -> tuple[Array, Array]:
    """Jacobians (2, 2, 2) of both masses by ankle and hip, and their accelerations (2, 2) at constant rates."""
    a, b = angles[0], angles.sum()
    along = [np.array([np.cos(x), -np.sin(x)]) for x in (a, b)]
    inward = [-np.array([np.sin(x), np.cos(x)]) for x in (a, b)]
    leg, hip, torso = body.leg_centre, body.length, body.torso_centre
    J = np.array([
        np.column_stack([leg * along[0], np.zeros(2)]),
        np.column_stack([hip * along[0] + torso * along[1], torso * along[1]]),
    ])  # fmt: skip
    spin = rates[0] ** 2, rates.sum() ** 2
    return J, np.array([leg * spin[0] * inward[0], hip * spin[0] * inward[0] + torso * spin[1] * inward[1]])
