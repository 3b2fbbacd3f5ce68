"""Whole-body control: one strict hierarchy a tick, from tasks to torques."""

from surefoot.control.whole_body.clearance import BodyClearance, ClearanceSettings
from surefoot.control.whole_body.rows import WholeBodyRows, WholeBodySettings
from surefoot.control.whole_body.whole_body import ContactHandle, TaskHandle, WholeBody, WholeBodySolution

__all__ = ["BodyClearance", "ClearanceSettings", "ContactHandle", "TaskHandle", "WholeBody", "WholeBodyRows", "WholeBodySettings", "WholeBodySolution"]
