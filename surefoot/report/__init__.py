"""Pages that a person opens: self-contained HTML files."""

from surefoot.report.evidence import (
    DataTable,
    Evidence,
    Ghost,
    Outline,
    PlanePlot,
    Plot,
    Region,
    Verdict,
    spans,
    with_layers,
)
from surefoot.report.page import audit_page, motion_plots, report_page, write_report
from surefoot.report.robot_page import robot_page, write_robot_page
from surefoot.report.run_folder import RunFolder, is_run_folder, read_run, robot_of_run
from surefoot.report.scene import SceneMesh, collision_meshes, robot_meshes
from surefoot.report.workspace_page import workspace_page, write_workspace_page

__all__ = [
    "DataTable",
    "Evidence",
    "Ghost",
    "Outline",
    "PlanePlot",
    "Plot",
    "Region",
    "RunFolder",
    "SceneMesh",
    "Verdict",
    "audit_page",
    "collision_meshes",
    "is_run_folder",
    "motion_plots",
    "read_run",
    "report_page",
    "robot_meshes",
    "robot_of_run",
    "robot_page",
    "spans",
    "with_layers",
    "workspace_page",
    "write_report",
    "write_robot_page",
    "write_workspace_page",
]
