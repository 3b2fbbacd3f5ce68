"""Footfalls: planned stances and motions, their pictures, and how they are executed."""

from surefoot.scenario.motions.footfalls.planned import footfalls
from surefoot.scenario.motions.footfalls.stepping import Stepping, Steps

__all__ = ["Stepping", "Steps", "footfalls"]
