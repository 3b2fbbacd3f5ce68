"""Pages that a person opens: self-contained HTML files."""

from surefoot.report.robot_page import robot_page, write_robot_page
from surefoot.report.run_page import Curve, run_page
from surefoot.report.workspace_page import workspace_page, write_workspace_page

__all__ = ["Curve", "robot_page", "run_page", "workspace_page", "write_robot_page", "write_workspace_page"]
