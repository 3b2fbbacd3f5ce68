"""Impacts: impulses, restitution, equivalent masses."""

from surefoot.dynamics.impacts.impact import Impact, impact, impact_jump
from surefoot.dynamics.impacts.mass import Blow, blow, cop_jump, equivalent_mass, gear_augmentation
from surefoot.dynamics.impacts.pushing import ImpactLaw, pushing_impact

__all__ = [
    "Blow",
    "Impact",
    "ImpactLaw",
    "blow",
    "cop_jump",
    "equivalent_mass",
    "gear_augmentation",
    "impact",
    "impact_jump",
    "pushing_impact",
]
