"""Pages that a person opens: self-contained HTML files."""

from surefoot.report.robot_page import robot_page, write_robot_page
from surefoot.report.run_page import run_page

__all__ = ["robot_page", "run_page", "write_robot_page"]
