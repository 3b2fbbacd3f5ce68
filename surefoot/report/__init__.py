"""Pages that a person opens: self-contained HTML files."""

from surefoot.report.robot_page import robot_page, write_robot_page
from surefoot.report.run_page import Curve, run_page

__all__ = ["Curve", "robot_page", "run_page", "write_robot_page"]
