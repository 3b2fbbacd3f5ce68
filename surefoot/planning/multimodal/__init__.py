"""Stances and the motions between them: best-first search, given sequences, plans as records."""

from surefoot.planning.multimodal.best_first import StancePlanner, Weights
from surefoot.planning.multimodal.plan import Limits, Segment, StancePlan
from surefoot.planning.multimodal.sequence import StanceSequence

__all__ = ["Limits", "Segment", "StancePlan", "StancePlanner", "StanceSequence", "Weights"]
