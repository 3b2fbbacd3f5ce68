"""Measurements that anyone can repeat: our kernels against other libraries, and how methods grow with the robot."""

from surefoot.benchmarks.dynamics import DynamicsBench, run_dynamics
from surefoot.benchmarks.scaling import ScalingBench, run_scaling
from surefoot.benchmarks.scaling_plot import grouped, require_plot_name, write_plot
from surefoot.benchmarks.sim import SimBench, run_sim

__all__ = [
    "DynamicsBench",
    "ScalingBench",
    "SimBench",
    "grouped",
    "require_plot_name",
    "run_dynamics",
    "run_scaling",
    "run_sim",
    "write_plot",
]
