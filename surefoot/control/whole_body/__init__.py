"""Whole-body control: one strict hierarchy a tick, from tasks to torques."""

from surefoot.control.whole_body.clearance import BodyClearance, ClearanceSettings
from surefoot.control.whole_body.problem import Conflict, NamedProblem
from surefoot.control.whole_body.rows import FREE, WholeBodyRows, WholeBodySettings
from surefoot.control.whole_body.walls import wall_clearance
from surefoot.control.whole_body.whole_body import TROUBLES, ContactHandle, TaskHandle, WholeBody, WholeBodySolution

__all__ = [
    "FREE",
    "TROUBLES",
    "BodyClearance",
    "ClearanceSettings",
    "Conflict",
    "ContactHandle",
    "NamedProblem",
    "TaskHandle",
    "WholeBody",
    "WholeBodyRows",
    "WholeBodySettings",
    "WholeBodySolution",
    "wall_clearance",
]
