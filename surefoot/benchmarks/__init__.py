"""Measurements that anyone can repeat: our kernels against other libraries, and how methods grow with the robot."""

from surefoot.benchmarks.distance import DistanceBench, run_distance
from surefoot.benchmarks.dynamics import DynamicsBench, run_dynamics
from surefoot.benchmarks.hierarchy import bench_control_loop
from surefoot.benchmarks.ik import IkBench, run_ik
from surefoot.benchmarks.ik_peers import peer_pythons
from surefoot.benchmarks.loops import LoopsBench, run_loops
from surefoot.benchmarks.machine import header
from surefoot.benchmarks.predictive import PredictiveBench, run_predictive
from surefoot.benchmarks.scaling import ScalingBench, run_scaling
from surefoot.benchmarks.scaling_plot import grouped, require_plot_name, write_plot
from surefoot.benchmarks.sim import SimBench, run_sim

__all__ = [
    "DistanceBench",
    "DynamicsBench",
    "IkBench",
    "LoopsBench",
    "PredictiveBench",
    "ScalingBench",
    "SimBench",
    "bench_control_loop",
    "grouped",
    "header",
    "peer_pythons",
    "require_plot_name",
    "run_distance",
    "run_dynamics",
    "run_ik",
    "run_loops",
    "run_predictive",
    "run_scaling",
    "run_sim",
    "write_plot",
]
