"""Drives: torque sources, torque-speed lines, DC motors, elastic gears, servos."""

from surefoot.sim.drives.actuation import Actuation, DrivenJoints, ideal_drives
from surefoot.sim.drives.drives import READINGS, DriveBank

__all__ = ["READINGS", "Actuation", "DriveBank", "DrivenJoints", "ideal_drives"]
