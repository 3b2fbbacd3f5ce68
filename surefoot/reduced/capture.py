"""Capture regions of the linear inverted pendulum: from which states a stop is possible within N steps.

On a foot with its CoP at p, the divergent component of motion (DCM, also capture point) obeys

    ξ(t) = p + (ξ(0) − p) e^{ωt}        [capture.dcm]        Nenchev & Konno 2019, (7.52)

Positions are relative to the foot that stands. A box is an array (2, 2): lower ends (x, y), then upper ends.
"""

from __future__ import annotations

from math import ceil, exp, inf, log

import numpy as np
from numpy.typing import ArrayLike

from surefoot.arrays import Array

_ROUNDING = 1e-12


def step_offset(
    omega: float,
    duration: float,
    step: ArrayLike,
    next_step: ArrayLike,
    cop: ArrayLike = 0.0,
    next_cop: ArrayLike = 0.0,
) -> Array:
    """The DCM relative to a foot at the moment it lands, in a gait of period two.

    With τ = e^{ωT}, b₁ at this landing and b₂ at the next one, p₁ + (b₁ − p₁) τ = s₂ + b₂ and
    p₂ + (b₂ − p₂) τ = s₁ + b₁ give

        b₁ = (s₁ + τ s₂ + (τ − 1)(p₂ + τ p₁)) / (τ² − 1)        [capture.offset]

    For p = 0 it is L / (τ − 1) along and W / (τ + 1) across the way (Khadiv et al. 2020, nominal DCM offsets).

    Args:
        omega: √(g / z) [1/s].
        duration: T of both steps [s].
        step: (..., 2) s₁: this landing relative to the foot that stood before [m].
        next_step: (..., 2) s₂: the landing after it, relative to this one.
        cop: (..., 2) p₁: CoP on the foot that lands, relative to it.
        next_cop: (..., 2) p₂: CoP on the next foot, relative to that one.
    """
    tau = exp(omega * duration)
    moved = (tau - 1.0) * (np.asarray(next_cop) + tau * np.asarray(cop))
    return np.asarray((np.asarray(step) + tau * np.asarray(next_step) + moved) / (tau**2 - 1.0))


def capture_box(
    omega: float,
    step_time: float,
    reach: ArrayLike,
    next_reach: ArrayLike,
    cop: ArrayLike,
    next_cop: ArrayLike,
    steps: float = inf,
) -> Array:
    """DCM offsets from a foot that has just landed, from which N steps of one duration end in standing: a box (2, 2).

    Along each axis the farthest CoP and the farthest landing s help most:

        B₀ = [p],   B_N = p + (s + B'_{N−1} − p) e^{−ωT}        [capture.box]

    where B' is the box of the other foot. N → ∞ is the gait of period two at these limits, `step_offset`: the
    viability bounds of Khadiv et al. 2020, here with feet of finite size. As all steps take the same time, the axes are
    independent and the box is exact; with steps of other durations more may be captured.

    Args:
        omega: √(g / z) [1/s].
        step_time: Duration of each step [s], the shortest possible.
        reach: Box of the landings relative to the foot that stands.
        next_reach: Box of the landings relative to the other foot.
        cop: Box of the CoP on the foot that stands.
        next_cop: Box of the CoP on the other foot.
        steps: N; `inf`: any number of steps, the gait need not end.
    """
    s, t = np.asarray(reach, dtype=float), np.asarray(next_reach, dtype=float)
    p, q = np.asarray(cop, dtype=float), np.asarray(next_cop, dtype=float)
    if steps == inf:
        return step_offset(omega, step_time, t, s, p, q)
    if steps == 0:
        return p
    rest = capture_box(omega, step_time, t, s, q, p, steps - 1)
    return np.asarray(p + (s + rest - p) * exp(-omega * step_time))


def capture_radius(
    omega: float, step_time: float, step_length: float, foot_radius: float = 0.0, steps: float = inf
) -> float:
    """Largest distance of the DCM from the foot from which N steps end in standing [m].

        d₀ = r,   d_N = r + (l + d_{N−1} − r) e^{−ωT}   ⇒   d_N = d_∞ − (d_∞ − r) e^{−NωT},
        d_∞ = r + l / (e^{ωT} − 1)        [capture.radius]        Koolen et al. 2012, finite-sized foot

    Args:
        omega: √(g / z) [1/s].
        step_time: T, the shortest duration of a step [s].
        step_length: l, the longest distance between consecutive feet [m].
        foot_radius: r, distance of the CoP that every direction allows [m]; 0: a point foot.
        steps: N; `inf` gives d_∞, which no finite number of steps reaches.
    """
    beyond = step_length / (exp(omega * step_time) - 1.0)
    return foot_radius + beyond - (0.0 if steps == inf else beyond * exp(-steps * omega * step_time))


def steps_to_capture(
    dcm: ArrayLike,
    omega: float,
    step_time: float,
    step_length: float,
    foot_radius: float = 0.0,
    remaining: float | None = None,
) -> float:
    """Least number of steps after which the pendulum can stand; `inf` if it cannot be captured.

    Until the first landing the CoP is as far towards the DCM as it goes; inverse of `capture_radius`.

    Args:
        dcm: (2,) DCM relative to the foot that stands [m].
        omega: √(g / z) [1/s].
        step_time: Shortest duration of a step [s].
        step_length: Longest distance between consecutive feet [m].
        foot_radius: Distance of the CoP that every direction allows [m].
        remaining: Shortest time until the swing foot may land [s]; None: a whole step.
    """
    distance = float(np.hypot(*np.asarray(dcm, dtype=float)))
    if distance <= foot_radius + _ROUNDING:
        return 0
    growth = exp(omega * (step_time if remaining is None else max(remaining, 0.0)))
    landed = foot_radius + (distance - foot_radius) * growth - step_length  # behind the foot: a shorter step will do
    beyond = step_length / (exp(omega * step_time) - 1.0)
    share = 1.0 - max(landed - foot_radius, 0.0) / beyond if beyond > 0.0 else (1.0 if landed <= foot_radius else 0.0)
    if share <= _ROUNDING:
        return inf
    return 1 + ceil(-log(share) / (omega * step_time) - 1e-9)


def capturable(
    dcm: ArrayLike,
    omega: float,
    step_time: float,
    step_length: float,
    foot_radius: float = 0.0,
    remaining: float | None = None,
    steps: float = inf,
) -> bool:
    """Whether the pendulum can come to a stand within N steps (Koolen et al. 2012).

    Args:
        dcm: (2,) DCM relative to the foot that stands [m].
        omega: √(g / z) [1/s].
        step_time: Shortest duration of a step [s].
        step_length: Longest distance between consecutive feet [m].
        foot_radius: Distance of the CoP that every direction allows [m].
        remaining: Shortest time until the swing foot may land [s]; None: a whole step.
        steps: N; `inf`: any finite number.
    """
    needed = steps_to_capture(dcm, omega, step_time, step_length, foot_radius, remaining)
    return needed < inf and needed <= steps
