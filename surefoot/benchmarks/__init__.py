"""Measurements that anyone can repeat: our kernels against other libraries, and how methods grow with the robot."""

from surefoot.benchmarks.dynamics import DynamicsBench, run_dynamics

__all__ = ["DynamicsBench", "run_dynamics"]
