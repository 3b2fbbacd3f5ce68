"""Walking with five objectives and three sets of constraints: fifteen runs (Koch, chapter 7)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from surefoot.ocp.motions import OBJECTIVES, StepFigures, solve_walk, step_figures
from surefoot.ocp.solution import Solution
from surefoot.robot import Robot
from surefoot.solvers.staged import SolverOptions

SETS = {"zmp free": (False, False), "fif": (True, False), "frf": (True, True)}
"""Set of constraints → whether the zero-moment point is held, and whether the foot lands freely.

"fif" and "frf" are Koch's names for a strict zero-moment point with fixed and with free foot placement.
"""
KOCH: dict[str, dict[str, tuple[float, ...]]] = {
    "torque": {"fif": (0.152, 0.144, 0.102, 0.704), "frf": (0.129, 0.049, 0.138, 0.590)},
    "speed": {"fif": (0.152, 0.144, 0.228, 0.661), "frf": (0.171, 0.027, 0.363, 0.551)},
    "joint_speed": {"fif": (0.152, 0.144, 0.100, 0.611), "frf": (0.098, 0.0253, 0.079, 0.509)},
    "postural": {"fif": (0.152, 0.144, 0.122, 0.654), "frf": (0.158, 0.038, 0.174, 0.624)},
    "efficiency": {"fif": (0.152, 0.144, 0.090, 0.530), "frf": (0.185, 0.016, 0.163, 0.523)},
}
"""Objective → set → step length [m], step width [m], speed [m/s] and duty factor of Koch, tables 7.2 and 7.3."""


@dataclass(frozen=True, eq=False)
class WalkRun:
    """One of the runs.

    Args:
        objective: What is least.
        constraints: One of `SETS`.
        solution: The solution, good or bad.
        figures: Of the step.
    """

    objective: str
    constraints: str
    solution: Solution
    figures: StepFigures

    @property
    def koch(self) -> tuple[float, ...] | None:
        """What Koch reports for his robot: length, width, speed, duty factor."""
        return KOCH.get(self.objective, {}).get(self.constraints)

    def to_dict(self) -> dict[str, Any]:
        """As numbers and texts."""
        names = ("step_length", "step_width", "speed", "duty")
        koch = None if self.koch is None else dict(zip(names, self.koch, strict=True))
        return {
            "objective_name": self.objective,
            "constraints_set": self.constraints,
            **self.solution.metrics(),
            **self.figures.to_dict(),
            "koch": koch,
        }


def walking_study(
    robot: Robot,
    step: float = 0.15,
    objectives: Sequence[str] = OBJECTIVES,
    tell: Callable[[float, str], None] | None = None,
    options: SolverOptions | None = None,
) -> list[WalkRun]:
    """Solve for a step with every objective and every set of constraints.

    The strict set with fixed feet is solved first, from a kinematic guess; the relaxed sets start from it, so that a
    relaxation never ends in a worse optimum than what it relaxes.

    Args:
        robot: A biped, see `walk_step`.
        step: Length of a fixed step [m].
        objectives: Some of `OBJECTIVES`.
        tell: Called with the share that is done, and what is solved now.
        options: Of the solver.
    """
    options = options or SolverOptions(tolerance=1e-4, max_iterations=500)
    found: dict[tuple[str, str], WalkRun] = {}

    def solved(objective: str, constraints: str, warm: Solution | None) -> Solution:
        is_strict, is_free = SETS[constraints]
        radius: dict[str, Any] = {} if is_strict else {"zmp_radius": None}
        given: dict[str, Any] = {"free_foot": is_free, "step": step, "calm": False, **radius}
        solution = solve_walk(robot, objective, options=options, warm=warm, **given)
        found[objective, constraints] = WalkRun(objective, constraints, solution, step_figures(solution))
        return solution

    for k, objective in enumerate(objectives):
        first: Solution | None = None
        for j, constraints in enumerate(("fif", "zmp free", "frf")):
            if tell is not None:
                tell((3 * k + j) / (3 * len(objectives)), f"{objective}, {constraints}")
            solution = solved(objective, constraints, first)
            first = solution if first is None else first
    return [found[objective, constraints] for objective in objectives for constraints in SETS]
