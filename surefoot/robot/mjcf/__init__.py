"""Reading MJCF files through MuJoCo's own compiler."""

from surefoot.robot.mjcf.read import mjcf_links, with_base

__all__ = ["mjcf_links", "with_base"]
