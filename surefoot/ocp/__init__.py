"""Optimal control: motions as multi-phase problems with hard limits, free times, contacts and impacts."""

from surefoot.ocp.blocks import ankle_excitation, head_stabilisation, zmp_inside
from surefoot.ocp.check import Check, check, check_derivatives, prices
from surefoot.ocp.formulation import Formulation
from surefoot.ocp.node import Node
from surefoot.ocp.problem import Problem
from surefoot.ocp.solution import Solution, load_solution
from surefoot.solvers.staged import SolverOptions

__all__ = [
    "Check",
    "Formulation",
    "Node",
    "Problem",
    "Solution",
    "SolverOptions",
    "ankle_excitation",
    "check",
    "check_derivatives",
    "head_stabilisation",
    "load_solution",
    "prices",
    "zmp_inside",
]
