"""Balance controllers by name, on one common body: what the literature offers beside `control.balance`, to compare.

They stand and keep CoM, base and posture; none steps. Nenchev & Konno 2019, sections 5.8 to 5.13.
"""

from numpy.typing import ArrayLike

from surefoot.control.classic.accelerations import (
    CompositeBody,
    DirectControl,
    MomentumDamping,
    MotionForce,
    OperationalSpace,
    WeightedInverse,
)
from surefoot.control.classic.base import ClassicController, ClassicGains
from surefoot.control.classic.body import StandingBody, standing_body
from surefoot.control.classic.forces import CentroidalPivot, GravityCompensation, MulticontactImpedance, SimpleTorque
from surefoot.control.classic.rates import RATES
from surefoot.control.classic.synergies import SYNERGIES, Synergies, SynergyCommand
from surefoot.control.classic.twist import TorsoTwist, torso_twist
from surefoot.errors import one_of
from surefoot.robot import Robot

__all__ = [
    "CLASSIC",
    "SYNERGIES",
    "ClassicController",
    "ClassicGains",
    "StandingBody",
    "Synergies",
    "SynergyCommand",
    "TorsoTwist",
    "classic_controller",
    "standing_body",
    "torso_twist",
]

CLASSIC: dict[str, type[ClassicController]] = {
    "operational_space": OperationalSpace,
    "weighted_inverse": WeightedInverse,
    "momentum_damping": MomentumDamping,
    "crb": CompositeBody,
    "motion_force": MotionForce,
    "direct": DirectControl,
    "hyon": GravityCompensation,
    "henze": MulticontactImpedance,
    "cmp": CentroidalPivot,
    "dcm_gi": SimpleTorque,
    **RATES,
}
"""The controllers by name."""


def classic_controller(
    method: str, robot: Robot, q0: ArrayLike | None = None, dt: float = 0.002, gains: ClassicGains | None = None
) -> ClassicController:
    """A controller by its name.

    Args:
        method: One of `CLASSIC`.
        robot: A robot with a floating base that stands on its feet, every joint driven.
        q0: (nq,) the posture to keep; home if omitted.
        dt: Control period [s].
        gains: The gains; those of all controllers if omitted.

    Raises:
        UnknownNameError: There is no such controller.
    """
    if method not in CLASSIC:
        raise one_of("controller", method, CLASSIC)
    return CLASSIC[method](robot, q0, dt, gains)
