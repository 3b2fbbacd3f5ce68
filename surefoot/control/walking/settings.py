"""`WalkSettings`: times, heights and gains of walking."""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt

import numpy as np

from surefoot.control.legged import leg_reach
from surefoot.control.walking.reference import require_reference
from surefoot.robot import Robot, anatomy

__all__ = ["WalkSettings", "paced_times", "walk_settings", "yaw_share"]

_SINGLE, _DOUBLE, _FIRST = 2.3, 0.75, 2.7  # times in units of 1/ω
_YAW_POWER, _LEAST_YAW = 8, 0.1
_QUICK_POWER = 3  # of the pace by which the time on two feet is shorter
_LIFT = 0.075  # height of a swing foot, share of the leg length


@dataclass(frozen=True)
class WalkSettings:
    """How to walk.

    Args:
        settle: Time to reach the walking height before the first step [s].
        first: Time to shift the weight to the first support [s].
        single: Time on one foot [s].
        double: Time on two feet between steps [s].
        lift: Height of the swing foot over the ground at its highest [m].
        height: Of the centre of mass over the ground [m].
        dcm_gain: How fast errors of the DCM vanish [1/s].
        integral_gain: Of the integral of these errors [1/s²].
        landing_speed: Of a foot that expects the ground [m/s].
        inward: How far the ZMP lies from the middle of the sole towards the other foot [m].
        touch: Probability of touch from which on a foot stands.
        earliest: Share of the swing after which a touch ends it.
        ramp: Time over which a new contact takes its load [s].
        reference: What the DCM follows: a name of `REFERENCES`.
    """

    settle: float = 0.8
    first: float = 0.7
    single: float = 0.6
    double: float = 0.2
    lift: float = 0.05
    height: float = 0.65
    dcm_gain: float = 3.0
    integral_gain: float = 0.5
    landing_speed: float = 0.12
    inward: float = 0.0
    touch: float = 0.5
    earliest: float = 0.6
    ramp: float = 0.04
    reference: str = "dcm"

    def __post_init__(self) -> None:
        require_reference(self.reference)


def walk_settings(robot: Robot, step: float, height: float | None = None) -> WalkSettings:
    """Settings for the size of a robot: times by the pendulum's, heights by the legs.

    Args:
        robot: The robot.
        step: Longest step [m].
        height: Of the centre of mass over the ground [m]; what the legs reach if omitted.
    """
    legs = leg_reach(robot, anatomy(robot))
    height = legs.com_height(step) if height is None else height
    unit = 1.0 / sqrt(float(np.linalg.norm(robot.tree.gravity)) / height)
    return WalkSettings(
        first=_FIRST * unit, single=_SINGLE * unit, double=_DOUBLE * unit, lift=_LIFT * legs.length, height=height
    )


def paced_times(settings: WalkSettings, pace: float) -> tuple[float, float]:
    """Times on one foot and on two feet for quicker or slower steps [s].

    Quicker steps leave less time on two feet, as those of human walkers do, so that feet need not swing much faster.

    Args:
        settings: At the usual pace.
        pace: How much quicker.
    """
    step, double = (settings.single + settings.double) / pace, settings.double / max(pace, pace**_QUICK_POWER)
    return step - double, double


def yaw_share(settings: WalkSettings, omega: float) -> float:
    """How much the trunk keeps its heading: less with quicker steps, whose yaw moment the soles cannot take alone.

    Args:
        settings: Times.
        omega: √(g/h) [1/s].
    """
    return float(min(1.0, max(_LEAST_YAW, (settings.single * omega / _SINGLE) ** _YAW_POWER)))
