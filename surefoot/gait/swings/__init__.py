"""Swings of a foot that give way to obstacles which their plan does not know (Buschmann 2014, section 5.4.3)."""

from surefoot.gait.swings.reactive import SWINGS, SwingHistory, swing_over, swing_twice
from surefoot.gait.swings.walker import SwingStep

__all__ = ["SWINGS", "SwingHistory", "SwingStep", "swing_over", "swing_twice"]
