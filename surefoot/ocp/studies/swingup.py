"""The swing-up of Koch, section 5.3: table 5.2, numbers of nodes, and random guesses."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from surefoot.dynamics import own_constraints
from surefoot.motion import Trajectory
from surefoot.ocp.check import check
from surefoot.ocp.formulation import Formulation
from surefoot.ocp.motions import swingup
from surefoot.ocp.problem import Problem
from surefoot.ocp.solution import Solution
from surefoot.robot import Robot
from surefoot.solvers.staged import SolverOptions

Tell = Callable[[float, str], None] | None
_TOLERANCE = 1e-4
_SAME = 1e-3  # relative difference of costs up to which optima count as the same
TABLE: tuple[tuple[str, str, str, str, int, int, int], ...] = (
    ("energy", "FD", "plc", "BFGS", 209, 627, 142),
    ("energy", "ID", "plc", "BFGS", 209, 652, 91),
    ("energy", "FD", "plci", "BFGS", 230, 672, 42),
    ("energy", "ID", "plci", "BFGS", 230, 714, 70),
    ("energy", "FD", "plc", "exact", 209, 610, 34),
    ("energy", "ID", "plc", "exact", 209, 652, 35),
    ("energy", "FD", "plci", "exact", 230, 672, 423),
    ("energy", "ID", "plci", "exact", 230, 714, 21),
    ("time", "FD", "plc", "BFGS", 210, 612, 93),
    ("time", "ID", "plc", "BFGS", 210, 654, 44),
)
"""Objective, dynamics, controls, Hessian, variables, constraints and iterations of Koch, table 5.2."""


class SwingRow(NamedTuple):
    """A row of the table, Koch's figures beside ours; `solver` "sqp" has BFGS updates, "riccati" exact Hessians."""

    objective: str
    dynamics: str
    control: str
    hessian: str
    solver: str
    variables: int
    constraints: int
    iterations: int
    koch_variables: int
    koch_constraints: int
    koch_iterations: int
    converged: bool
    kkt_residual: float
    cost: float
    duration: float


def swing_table(robot: Robot, tell: Tell = None) -> list[SwingRow]:
    """Solve the ten problems of table 5.2; those of least time start from the motion of least energy.

    Args:
        robot: `cartpole:bearing`.
        tell: Called with the share that is done, and what is solved now.
    """
    rows = []
    for k, (objective, dynamics, control, hessian, variables, constraints, iterations) in enumerate(TABLE):
        if tell is not None:
            tell(k / len(TABLE), f"{objective} {dynamics} {control} {hessian}")
        solver = "sqp" if hessian == "BFGS" else "riccati"
        problem = _problem(robot, objective, dynamics, control, 21)
        if objective == "time":
            guess = _energetic(robot, dynamics, control)
            problem.guess(guess.time_scaled(problem.phases[0].duration[1] / guess.duration))
        found = problem.solve(solver, _options())
        m = found.metrics()
        rows.append(
            SwingRow(
                objective, dynamics, control, hessian, solver, m["variables"], m["constraints"], found.iterations,
                variables, constraints, iterations, found.success, found.staged.kkt_residual, found.objective,
                found.durations["swing"],
            )
        )  # fmt: skip
    return rows


def _energetic(robot: Robot, dynamics: str, control: str) -> Trajectory:
    """The motion of least energy."""
    return _problem(robot, "energy", dynamics, control, 21).solve("riccati", _options()).trajectory


def _options() -> SolverOptions:
    return SolverOptions(tolerance=_TOLERANCE, max_iterations=1000)


def _problem(robot: Robot, objective: str, dynamics: str, control: Any, nodes: int) -> Problem:
    form = Formulation("forward" if dynamics == "FD" else "idop", "rk4", control)
    return swingup(robot, nodes, objective, form)


class NodeRun(NamedTuple):
    """A swing-up with some number of nodes: cost, and by what share the force is exceeded between nodes."""

    nodes: int
    dynamics: str
    control: str
    converged: bool
    iterations: int
    cost: float
    force_excess: float
    defect: float


def node_study(
    robot: Robot, nodes: Sequence[int] = (21, 41, 81, 161), tell: Tell = None, dynamics: Sequence[str] = ("FD", "ID")
) -> list[NodeRun]:
    """Least energy with more and more nodes, by all formulations: sixteen runs (Koch, section 5.3).

    Args:
        robot: `cartpole:bearing`.
        nodes: Numbers of nodes.
        tell: As in `swing_table`.
        dynamics: "FD" and "ID", or one of them.
    """
    runs, kinds = [], [(d, c) for d in dynamics for c in ("plc", "plci")]
    for k, (kind, control) in enumerate(kinds):
        for j, count in enumerate(nodes):
            if tell is not None:
                tell((k + j / len(nodes)) / len(kinds), f"{kind} {control}, {count} nodes")
            found = _problem(robot, "energy", kind, control, count).solve("riccati", _options())
            seen = check(found)
            runs.append(
                NodeRun(
                    count, kind, control, found.success, found.iterations, found.objective, seen.torque_excess,
                    seen.defect,
                )
            )  # fmt: skip
    return runs


class GuessRun(NamedTuple):
    """A solve from a random guess, and to which of the optima it led, counted from the best."""

    seed: int
    converged: bool
    iterations: int
    cost: float
    optimum: int


def random_guesses(problem: Callable[[], Problem], count: int = 5, spread: float = 0.5) -> list[GuessRun]:
    """Solve a problem from guesses that are disturbed at random: how many optima are there?

    Args:
        problem: Makes the problem.
        count: Number of guesses.
        spread: Standard deviation of each driven or free joint at each of some times, joined smoothly [rad] or [m].
    """
    found: list[Solution] = []
    for seed in range(count):
        own = problem()
        own.guess(_disturbed(own, np.random.default_rng(seed), spread))
        found.append(own.solve("riccati", SolverOptions(tolerance=_TOLERANCE, max_iterations=500)))
    optima: list[float] = []
    for cost in sorted(s.objective for s in found if s.success):
        if not optima or cost > optima[-1] * (1.0 + _SAME) + 1e-9:
            optima.append(cost)
    return [
        GuessRun(
            seed, s.success, s.iterations, s.objective,
            int(np.searchsorted(optima, s.objective * (1.0 - _SAME))) + 1 if s.success else 0,
        )
        for seed, s in enumerate(found)
    ]  # fmt: skip


def _disturbed(problem: Problem, random: np.random.Generator, spread: float) -> Callable[[float], Any]:
    """Between the ends of a problem, with bumps that vanish there; a floating base and what loops hold stay."""
    chart, robot = problem.chart, problem.robot
    home = chart.coordinates(robot.home)
    ends = [np.array([e.y.get(k, home[k]) for k in range(robot.nv)]) for e in (problem.first, problem.last)]
    total = sum(phase.duration[1] for phase in problem.phases)
    waves = random.normal(0.0, spread, (3, robot.nv))
    waves[:, list(robot.base_rows)] = 0.0
    own = own_constraints(robot)
    if own.rows:
        J = np.asarray(own.jacobian(robot.tree, np.array(robot.home)), dtype=float)
        waves[:, np.abs(J).max(axis=0) > 0.0] = 0.0
    low, high = chart.limits()

    def at(t: float) -> Any:
        s = t / total
        y = (1.0 - s) * ends[0] + s * ends[1]
        y = y + sum(wave / (k + 1) * np.sin((k + 1) * np.pi * s) for k, wave in enumerate(waves))
        return np.asarray(chart.configuration(np.clip(y, low, high)), dtype=float)

    return at
