"""The page of a run: replay, plots and audit on one clock."""

from surefoot.report.page.audit_page import audit_page
from surefoot.report.page.html import html_page, html_table
from surefoot.report.page.motion_plots import (
    JointSeries,
    joint_positions,
    joint_velocities,
    motion_plots,
    torque_series,
)
from surefoot.report.page.report_page import report_page, write_report

__all__ = [
    "JointSeries",
    "audit_page",
    "html_page",
    "html_table",
    "joint_positions",
    "joint_velocities",
    "motion_plots",
    "report_page",
    "torque_series",
    "write_report",
]
