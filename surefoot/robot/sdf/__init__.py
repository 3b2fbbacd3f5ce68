"""Reading SDF files (Gazebo models): links, joints, inertias, shapes, springs, gears and closed chains."""

from surefoot.robot.sdf.read import SdfRobot, sdf_links

__all__ = ["SdfRobot", "sdf_links"]
