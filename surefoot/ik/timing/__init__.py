"""Limits of torques and contact forces along a path, for `surefoot.motion.timing`."""

from surefoot.ik.timing.efforts import effort_limits

__all__ = ["effort_limits"]
