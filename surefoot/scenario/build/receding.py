"""Build the controller of a receding horizon."""

from __future__ import annotations

from surefoot.arrays import Array
from surefoot.motion import Controller
from surefoot.ocp import Formulation, Problem, motions
from surefoot.ocp.receding import Horizon, Mpc
from surefoot.robot import Robot
from surefoot.scenario.blame import blaming
from surefoot.scenario.build.centroidal import CentroidalMpc
from surefoot.scenario.schema import MpcTable

__all__ = ["build_mpc", "mpc_problem"]

REPEAT = {"stand": None, "trot": "first pair"}
"""From which phase each gait repeats."""


def build_mpc(table: MpcTable, robot: Robot, q: Array) -> Controller:
    """The controller, with all its machine code.

    Args:
        table: What the scenario says.
        robot: The robot.
        q: (nq,) its first posture.
    """
    with blaming("mpc"):
        problem, intervals = mpc_problem(table, robot.replace(home=q)), max(2, round(table.horizon / table.step))
        repeat, iterations, latency = REPEAT[table.gait], table.iterations, table.latency
        if table.model == "centroidal":
            return CentroidalMpc(Horizon(problem, intervals, repeat, iterations, latency))
        return Mpc(problem, intervals, repeat, iterations=iterations, latency=latency)


def mpc_problem(table: MpcTable, robot: Robot) -> Problem:
    """The problem of a table.

    Args:
        table: What the scenario says.
        robot: The robot; it begins at home.
    """
    formulation = Formulation("inverse" if table.model == "whole_body" else "centroidal")
    if table.gait == "stand":
        return motions.stand(robot, table.step, formulation)
    return motions.trot(robot, table.speed, table.step, table.swing, formulation)
