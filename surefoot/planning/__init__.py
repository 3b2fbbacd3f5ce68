"""Multi-modal motion planning: which foot where, and how to get there."""

from surefoot.planning.audit import PlanAudit, audit_plan
from surefoot.planning.chart import LimbChart
from surefoot.planning.connect import SINGLE_MODE, Budget, SingleMode, connect
from surefoot.planning.footholds import Footholds, footholds_at, standable
from surefoot.planning.limbs import limb_angles, limbs_of
from surefoot.planning.multimodal import Limits, Segment, StancePlan, StancePlanner, StanceSequence, Weights
from surefoot.planning.space import CAUSES, Margins, Mode, StanceModel
from surefoot.planning.stances import Move, Sampling, StanceGraph
from surefoot.planning.support import support_region
from surefoot.planning.timing import Pace, TimedPlan, plan_trajectory, timed_plan

__all__ = [
    "CAUSES",
    "SINGLE_MODE",
    "Budget",
    "Footholds",
    "LimbChart",
    "Limits",
    "Margins",
    "Mode",
    "Move",
    "Pace",
    "PlanAudit",
    "Sampling",
    "Segment",
    "SingleMode",
    "StanceGraph",
    "StanceModel",
    "StancePlan",
    "StancePlanner",
    "StanceSequence",
    "TimedPlan",
    "Weights",
    "audit_plan",
    "connect",
    "footholds_at",
    "limb_angles",
    "limbs_of",
    "plan_trajectory",
    "standable",
    "support_region",
    "timed_plan",
]
