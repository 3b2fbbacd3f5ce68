"""Strategies against pushes and impacts, on a leg and a torso: ankle and hip with transitions, a torso that yields."""

from surefoot.reduced.strategies.ankle_hip import AnkleHip, AnkleHipRun, TwoLinkBody, ankle_hip
from surefoot.reduced.strategies.impact import ANTICIPATED, SURPRISED, ImpactRun, accommodate_impact

__all__ = [
    "ANTICIPATED",
    "SURPRISED",
    "AnkleHip",
    "AnkleHipRun",
    "ImpactRun",
    "TwoLinkBody",
    "accommodate_impact",
    "ankle_hip",
]
