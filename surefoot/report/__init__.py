"""Pages that a person opens: self-contained HTML files."""

from surefoot.report.audit_page import audit_page
from surefoot.report.evidence import Evidence, Ghost, PlanePlot, Plot, Region, Verdict
from surefoot.report.evidence_layers import with_layers
from surefoot.report.motion_plots import motion_plots
from surefoot.report.report_page import report_page, write_report
from surefoot.report.robot_page import robot_page, write_robot_page
from surefoot.report.scene_mesh import SceneMesh, collision_meshes, robot_meshes
from surefoot.report.workspace_page import workspace_page, write_workspace_page

__all__ = [
    "Evidence",
    "Ghost",
    "PlanePlot",
    "Plot",
    "Region",
    "SceneMesh",
    "Verdict",
    "audit_page",
    "collision_meshes",
    "motion_plots",
    "report_page",
    "robot_meshes",
    "robot_page",
    "with_layers",
    "workspace_page",
    "write_report",
    "write_robot_page",
    "write_workspace_page",
]
