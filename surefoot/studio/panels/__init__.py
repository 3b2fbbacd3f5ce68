"""The panels of a tab: robot, scenario, runs and jobs."""

from surefoot.studio.panels.desk import Desk
from surefoot.studio.panels.jobs import JobsPanel
from surefoot.studio.panels.replay import ReplayPanel
from surefoot.studio.panels.robot import RobotPanel
from surefoot.studio.panels.scenario import ScenarioPanel

__all__ = ["Desk", "JobsPanel", "ReplayPanel", "RobotPanel", "ScenarioPanel"]
