"""Stances and the motions between them: best-first search, given sequences, plans as records."""

from surefoot.planning.multimodal.best_first import StancePlanner, Weights
from surefoot.planning.multimodal.plan import Limits, Segment, StancePlan
from surefoot.planning.multimodal.roadmap import MultiModalRoadmap
from surefoot.planning.multimodal.sequence import StanceSequence
from surefoot.planning.multimodal.stored import StanceRoadmap

__all__ = [
    "Limits",
    "MultiModalRoadmap",
    "Segment",
    "StancePlan",
    "StancePlanner",
    "StanceRoadmap",
    "StanceSequence",
    "Weights",
]
