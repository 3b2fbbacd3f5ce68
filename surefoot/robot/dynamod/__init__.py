"""DYNAMOD's three files: kinematics, dynamics, tags and contacts in Maple's syntax (Koch, appendix F)."""

from surefoot.robot.dynamod.read import NAMES, dynamod_robot
from surefoot.robot.dynamod.write import write_dynamod

__all__ = ["NAMES", "dynamod_robot", "write_dynamod"]
