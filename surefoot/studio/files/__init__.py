"""Robots, runs and motions in the folder of the studio."""

from surefoot.studio.files.robots import RobotKey, RobotStore
from surefoot.studio.files.runs import (
    LoadedMotion,
    load_motion,
    motion_choices,
    report_link,
    report_of,
    run_choices,
)

__all__ = [
    "LoadedMotion",
    "RobotKey",
    "RobotStore",
    "load_motion",
    "motion_choices",
    "report_link",
    "report_of",
    "run_choices",
]
