"""How far a pendulum is from falling: margins, critical times, the state of balance and what can still be done.

The extrapolated CoM (xCoM, capture point) is x_ex = x + ẋ / ω. While it is within the support, some CoP brings the
pendulum to rest (Nenchev & Konno 2019, sections 5.3 and 5.6.1). Support intervals are (lower, upper) [m].
"""

from __future__ import annotations

from math import inf, log
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from surefoot.arrays import Array
from surefoot.errors import ShapeError
from surefoot.geometry import distance_inside

BalanceState = Literal["A", "B", "C", "D"]
Strategy = Literal["ankle", "angular momentum", "step"]


class Margin(NamedTuple):
    """Distance from losing balance.

    Args:
        distance: s of the xCoM from the nearest edge of the support [m]; negative outside.
        impulse: M ω s, the least impulse that tips the pendulum [N s]; negative where it is lost already.
    """

    distance: float
    impulse: float


def extrapolated_com(com: ArrayLike, velocity: ArrayLike, omega: float) -> Array:
    """X + ẋ / ω [m].

    Args:
        com: (..., d) [m].
        velocity: (..., d) [m/s].
        omega: √(g / z) [1/s].
    """
    return np.asarray(np.asarray(com, dtype=float) + np.asarray(velocity, dtype=float) / omega)


def stability_margin(com: ArrayLike, velocity: ArrayLike, omega: float, support: ArrayLike, mass: float) -> Margin:
    """The margin in one direction, or above a polygon (5.10) to (5.15).

    Args:
        com: (1,) or (2,) [m].
        velocity: (1,) or (2,) [m/s].
        omega: √(g / z) [1/s].
        support: (2,) ends of an interval, or (k, 2) corners of a convex polygon, counter-clockwise [m].
        mass: M [kg].
    """
    point, area = np.atleast_1d(extrapolated_com(com, velocity, omega)), np.asarray(support, dtype=float)
    if area.ndim == 1:
        lower, upper = area
        distance = float(min(point[0] - lower, upper - point[0]))
    else:
        distance = float(distance_inside(point[None], area)[0])
    return Margin(distance, mass * omega * distance)


def critical_time(com: float, velocity: float, omega: float, support: tuple[float, float]) -> float:
    """t_cr ≈ (edge − x_ex) / ẋ, the time left to act [s]; infinite at rest, 0 outside (section 5.3).

    Args:
        com: x [m].
        velocity: ẋ [m/s].
        omega: √(g / z) [1/s].
        support: Its ends [m].
    """
    if velocity == 0.0:
        return inf
    ahead = support[1] if velocity > 0.0 else support[0]
    return max((ahead - com - velocity / omega) / velocity, 0.0)


def time_to_edge(com: float, velocity: float, cop: float, omega: float, support: tuple[float, float]) -> float:
    """The exact time until the xCoM leaves the support under a CoP that rests: (1/ω) ln((edge − p) / (x_ex − p)) [s].

    Args:
        com: x [m].
        velocity: ẋ [m/s].
        cop: p [m], within the support.
        omega: √(g / z) [1/s].
        support: Its ends [m].
    """
    away = com + velocity / omega - cop
    if away == 0.0:
        return inf
    edge = (support[1] if away > 0.0 else support[0]) - cop
    return log(edge / away) / omega if edge / away > 1.0 else 0.0


def balance_state(com: float, velocity: float, cop: float, omega: float, support: tuple[float, float]) -> BalanceState:
    """Which of four states a pendulum is in (section 5.3), in the direction in which it moves.

    A: x < x_ex < p, no action is needed; B: x < p < x_ex, the ankle must act, without hurry; C: p < x < x_ex, time is
    critical, ankle or angular momentum; D: x_ex is beyond the edge, angular momentum or a step.

    Args:
        com: x [m].
        velocity: ẋ [m/s].
        cop: p [m].
        omega: √(g / z) [1/s].
        support: Its ends [m].
    """
    sign = 1.0 if velocity >= 0.0 else -1.0
    edge = support[1] if sign > 0.0 else -support[0]
    x, p = sign * com, sign * cop
    ahead = x + sign * velocity / omega
    if ahead > edge:
        return "D"
    if ahead <= p:
        return "A"
    return "B" if x < p else "C"


def wheel_region(support: tuple[float, float], moment: float, weight: float) -> tuple[float, float]:
    """Ends of the interval of x_ex from which a wheel of a largest moment helps: ± m / (M g) wider (section 5.6.1) [m].

    Args:
        support: Its ends [m].
        moment: Largest moment of the wheel [N m].
        weight: M g [N].
    """
    if moment < 0.0 or weight <= 0.0:
        raise ShapeError("moment and weight must not be negative", evidence={"moment": moment, "weight": weight})
    return support[0] - moment / weight, support[1] + moment / weight


def recovery_strategy(
    com: float, velocity: float, omega: float, support: tuple[float, float], moment: float, weight: float
) -> Strategy:
    """What can stop the pendulum: the ankle, angular momentum as well, or only a step (Fig. 5.13).

    Args:
        com: x [m].
        velocity: ẋ [m/s].
        omega: √(g / z) [1/s].
        support: Its ends [m].
        moment: Largest moment of the wheel [N m].
        weight: M g [N].
    """
    ahead = com + velocity / omega
    lower, upper = wheel_region(support, moment, weight)
    if support[0] <= ahead <= support[1]:
        return "ankle"
    return "angular momentum" if lower <= ahead <= upper else "step"
