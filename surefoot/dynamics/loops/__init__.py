"""Closed chains in O(n) by minimal coordinates."""

from surefoot.dynamics.loops.graph import LoopGraph, Subsystem, gear_matrix, loop_graph
from surefoot.dynamics.loops.minimal_coordinates import minimal_acceleration, minimal_forward, minimal_function

__all__ = [
    "LoopGraph",
    "Subsystem",
    "gear_matrix",
    "loop_graph",
    "minimal_acceleration",
    "minimal_forward",
    "minimal_function",
]
