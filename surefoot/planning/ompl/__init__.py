"""The planners of OMPL in a process of their own: a bounded chart, validity of states and edges, a budget."""

from surefoot.planning.ompl.boxes import among_boxes
from surefoot.planning.ompl.client import OmplWorker
from surefoot.planning.ompl.joint_space import joint_space
from surefoot.planning.ompl.problem import PLANNERS, Checks, OmplPlan, Query
from surefoot.planning.ompl.stance import OmplSingleMode

__all__ = ["PLANNERS", "Checks", "OmplPlan", "OmplSingleMode", "OmplWorker", "Query", "among_boxes", "joint_space"]
