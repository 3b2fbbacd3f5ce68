"""Redundancy resolved over a horizon."""

from surefoot.ik.predictive.cost import Repulsion
from surefoot.ik.predictive.descent import DescentSettings
from surefoot.ik.predictive.predictive import Following, LocalIk, Prediction, PredictiveIk, PredictiveWeights
from surefoot.ik.predictive.study import (
    History,
    StraightLine,
    Study,
    arm4_study,
    compare,
    follow,
    harvester_study,
    plan_whole,
    predictive_ik,
    stems_study,
)

__all__ = [
    "DescentSettings",
    "Following",
    "History",
    "LocalIk",
    "Prediction",
    "PredictiveIk",
    "PredictiveWeights",
    "Repulsion",
    "StraightLine",
    "Study",
    "arm4_study",
    "compare",
    "follow",
    "harvester_study",
    "plan_whole",
    "predictive_ik",
    "stems_study",
]
