"""Avoiding collisions while moving: braking, damping, potentials, reactive swings."""

from surefoot.ik.avoidance.damper import DamperRows, VelocityDamper
from surefoot.ik.avoidance.potential import (
    Potential,
    cubic_potential,
    limit_potential,
    quadratic_potential,
    smooth_potential,
)
from surefoot.ik.avoidance.reactive import (
    Deviation,
    ReactiveAvoidance,
    Return,
    avoiding_rate,
    deviated_pose,
    deviated_twist,
    return_duration,
)
from surefoot.ik.avoidance.sphere import InfluenceSphere
from surefoot.ik.avoidance.stepper import AvoidingStepper

__all__ = [
    "AvoidingStepper",
    "DamperRows",
    "Deviation",
    "InfluenceSphere",
    "Potential",
    "ReactiveAvoidance",
    "Return",
    "VelocityDamper",
    "avoiding_rate",
    "cubic_potential",
    "deviated_pose",
    "deviated_twist",
    "limit_potential",
    "quadratic_potential",
    "return_duration",
    "smooth_potential",
]
