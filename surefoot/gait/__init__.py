"""Steps of legged robots: swing motions that react to obstacles."""

from surefoot.gait.reactive_swing import SWINGS, SwingHistory, swing_over, swing_twice
from surefoot.gait.swing_walker import SwingStep, foot_contacts, leg_bodies, other_foot

__all__ = [
    "SWINGS",
    "SwingHistory",
    "SwingStep",
    "foot_contacts",
    "leg_bodies",
    "other_foot",
    "swing_over",
    "swing_twice",
]
