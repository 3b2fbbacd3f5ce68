"""Study walkers: small models of well-known ways to walk, each with its periodic gait and how stable that is.

cycle = limit_cycle(SimplestWalker(slope=0.009))
"""

from surefoot.reduced.walkers.compass import Compass, PassiveCompass, SimplestWalker
from surefoot.reduced.walkers.hopper import RaibertHopper
from surefoot.reduced.walkers.pattern_generator import Matsuoka, PatternWalker
from surefoot.reduced.walkers.stride import LimitCycle, Stride, Walker, limit_cycle, survived_kick, walk
from surefoot.reduced.walkers.virtual_model import VirtualModelWalker, leg_jacobian, leg_torques
from surefoot.reduced.walkers.zero_dynamics import ZeroDynamicsWalker

__all__ = [
    "WALKERS",
    "Compass",
    "LimitCycle",
    "Matsuoka",
    "PassiveCompass",
    "PatternWalker",
    "RaibertHopper",
    "SimplestWalker",
    "Stride",
    "VirtualModelWalker",
    "Walker",
    "ZeroDynamicsWalker",
    "leg_jacobian",
    "leg_torques",
    "limit_cycle",
    "survived_kick",
    "walk",
]

WALKERS: tuple[Walker, ...] = (
    SimplestWalker(), PassiveCompass(), ZeroDynamicsWalker(), PatternWalker(), VirtualModelWalker(), RaibertHopper(),
)  # fmt: skip
"""One of each."""
