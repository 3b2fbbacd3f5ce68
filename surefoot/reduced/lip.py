"""The linear inverted pendulum (LIP) in closed form, and the capture-point regulator with a lag of the ground force.

    c̈ = ω² (c − p),   ω² = g / z        [lip.equation]        Nenchev & Konno 2019, section 4.3.1

Its parts diverge and converge: ξ = c + ċ/ω with ξ̇ = ω (ξ − p), and ζ = c − ċ/ω with ζ̇ = −ω (ζ − p). Where the ZMP
moves with constant rate s,

    ξ(t) = p(t) + s/ω + (ξ₀ − p₀ − s/ω) e^{ωt},   ζ(t) = p(t) − s/ω + (ζ₀ − p₀ + s/ω) e^{−ωt}        [lip.parts]
"""

from __future__ import annotations

from math import exp, inf, log, sqrt

import numpy as np
from numpy.typing import ArrayLike

from surefoot.arrays import Array, number
from surefoot.errors import ShapeError


def natural_frequency(height: float, gravity: float = 9.81) -> float:
    """ω = √(g / z) [1/s].

    Args:
        height: z, of the CoM above the ground [m].
        gravity: g [m/s²].
    """
    return sqrt(number(gravity, "gravity", positive=True) / number(height, "height", positive=True))


def pendulum_state(
    com: ArrayLike, velocity: ArrayLike, zmp: ArrayLike, omega: float, t: ArrayLike, rate: ArrayLike = 0.0
) -> tuple[Array, Array]:
    """CoM and its velocity (..., d) after times t (...), for a ZMP that rests or moves with constant rate.

        c = cosh ωt c₀ + (sinh ωt / ω) ċ₀ + (1 − cosh ωt) p        Nenchev & Konno 2019, (7.13), here s ≠ 0 too

    Args:
        com: (d,) at t = 0 [m].
        velocity: (d,) at t = 0 [m/s].
        zmp: (d,) at t = 0 [m].
        omega: √(g / z) [1/s].
        t: Times [s].
        rate: (d,) s of the ZMP [m/s].
    """
    c, v, p, s = (np.asarray(x, dtype=float) for x in (com, velocity, zmp, rate))
    time = np.asarray(t, dtype=float)[..., None]
    grow, at, lead = np.exp(omega * time), p + s * time, s / omega
    diverging = at + lead + (c + v / omega - p - lead) * grow
    converging = at - lead + (c - v / omega - p + lead) / grow
    return (diverging + converging) / 2.0, (diverging - converging) * (omega / 2.0)


def orbital_energy(com: ArrayLike, velocity: ArrayLike, zmp: ArrayLike, omega: float) -> Array:
    """½ (ċ² − ω² (c − p)²) for each axis: constant while the ZMP rests, 0 where the pendulum comes to a stand above it.

    Args:
        com: (..., d) [m].
        velocity: (..., d) [m/s].
        zmp: (..., d) [m].
        omega: √(g / z) [1/s].
    """
    away = np.asarray(com, dtype=float) - np.asarray(zmp, dtype=float)
    return np.asarray(0.5 * (np.asarray(velocity, dtype=float) ** 2 - (omega * away) ** 2))


def capture_zmp(dcm: ArrayLike, target: ArrayLike, omega: float, horizon: float) -> Array:
    """The constant ZMP that brings the DCM to its target within the horizon.

        p = (ξ_T − b ξ) / (1 − b),   b = e^{ωT}        [lip.capture]        Nenchev & Konno 2019, (7.9)

    Applied at every moment with the same horizon, ξ − ξ_T decays with the rate ω / (1 − b).

    Args:
        dcm: (..., d) ξ now [m].
        target: (..., d) ξ_T [m].
        omega: √(g / z) [1/s].
        horizon: T [s], positive.
    """
    b = exp(omega * number(horizon, "horizon", positive=True))
    return np.asarray((np.asarray(target, dtype=float) - b * np.asarray(dcm, dtype=float)) / (1.0 - b))


def regulator_poles(omega: float, horizon: float, lag: float = 0.0) -> Array:
    """Poles of the capture-point regulator (`capture_zmp`), where the ZMP follows its command with a lag.

        T_p ṗ = u − p:   −ω,  (ω T_p − 1 ± √r) / (2 T_p),   r = (1 + ω T_p)² + 4 ω T_p b / (1 − b)        [lip.poles]

    Without a lag they are −ω and ω / (1 − b) (Nenchev & Konno 2019, section 5.5).

    Args:
        omega: √(g / z) [1/s].
        horizon: T of the regulator [s].
        lag: T_p [s].
    """
    b = exp(omega * number(horizon, "horizon", positive=True))
    if lag == 0.0:
        return np.array([-omega, omega / (1.0 - b)])
    root = np.sqrt(complex((1.0 + omega * lag) ** 2 + 4.0 * omega * lag * b / (1.0 - b)))
    poles = np.array([-omega, (omega * lag - 1.0 + root) / (2.0 * lag), (omega * lag - 1.0 - root) / (2.0 * lag)])
    return poles.real if root.imag == 0.0 else poles


def critical_horizon(omega: float, lag: float) -> float:
    """The horizon from which on the regulator with lag does not oscillate; `inf` if none makes it stable (T_p ≥ 1/ω).

        T_cr = (2/ω) ln((1 + ω T_p) / (1 − ω T_p))        [lip.critical]        Nenchev & Konno 2019, section 5.5

    Args:
        omega: √(g / z) [1/s].
        lag: T_p [s].
    """
    if lag < 0.0:
        raise ShapeError("a lag must not be negative", evidence={"lag": lag})
    part = omega * lag
    return inf if part >= 1.0 else 2.0 / omega * log((1.0 + part) / (1.0 - part))
