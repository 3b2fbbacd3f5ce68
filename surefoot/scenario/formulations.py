"""`compare_formulations`: one optimal-control motion by all formulations that fit, side by side."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from itertools import product
from pathlib import Path

from surefoot.errors import NotSupportedError, ScenarioError
from surefoot.ocp import Formulation, SolverOptions, check
from surefoot.robot.model import under_gravity
from surefoot.scenario.build import build_world, load_robot
from surefoot.scenario.catalogue import resolved_scenario
from surefoot.scenario.registry import imported

__all__ = ["FormulationRun", "compare_formulations"]

_PROBLEM = "surefoot.scenario.motions.optimal:problem_of"
_SMALL = 10  # degrees of freedom up to which forward dynamics is differentiated twice


@dataclass(frozen=True)
class FormulationRun:
    """One formulation of a motion.

    Args:
        formulation: Dynamics, integrator and controls.
        converged: Whether the solver converged.
        iterations: Newton steps.
        objective: Cost.
        variables: Number of variables.
        constraints: Number of constraints.
        kkt_residual: Scaled optimality error.
        solve_time_s: Of the solver [s].
        build_time_s: To compile or load the kernels [s].
        defect: Of the state at the end of an interval, after fine re-integration.
        torque_excess: Largest violation of force limits between nodes, as a share.
        position_excess: Of position limits between nodes [rad] or [m].
        speed_excess: Of speed limits between nodes, as a share.
    """

    formulation: str
    converged: bool
    iterations: int
    objective: float
    variables: int
    constraints: int
    kkt_residual: float
    solve_time_s: float
    build_time_s: float
    defect: float
    torque_excess: float
    position_excess: float
    speed_excess: float

    def to_dict(self) -> dict[str, object]:
        """As numbers and texts; NaN as None."""
        return {name: None if value != value else value for name, value in asdict(self).items()}


def compare_formulations(
    scenario: str | Path,
    overrides: Sequence[str] = (),
    tell: Callable[[float, str], None] | None = None,
    solver: str = "riccati",
) -> list[FormulationRun]:
    """Solve the motion of a scenario by every formulation that fits its robot.

    Args:
        scenario: Name or file of a scenario with an optimal-control motion.
        overrides: `key=value` texts.
        tell: Called with the share that is done, and what is solved now.
        solver: Of the staged programs.

    Raises:
        ScenarioError: The scenario has no motion that can be formulated in several ways.
    """
    given = resolved_scenario(scenario, None, None, overrides, None)
    table = given.motion
    if table is None or table.kind not in ("swingup", "squat_fast"):
        raise ScenarioError(
            f"`{given.name}` has no motion with several formulations", next_step="try `swingup` or `squat-fast`"
        )
    robot = load_robot(given.robot)
    robot = under_gravity(robot, build_world(given.world, robot).gravity)
    forms = _formulations(robot.nv)
    runs = []
    for k, form in enumerate(forms):
        if tell is not None:
            tell(k / len(forms), str(form))
        options = SolverOptions(tolerance=1e-6 if robot.nv < _SMALL else 1e-4, max_iterations=300)
        found = imported(_PROBLEM)(table, robot, form).solve(solver, options)
        seen = check(found)
        runs.append(
            FormulationRun(
                str(form), **found.metrics(), defect=seen.defect, torque_excess=seen.torque_excess,
                position_excess=seen.position_excess, speed_excess=seen.speed_excess,
            )
        )  # fmt: skip
    return runs


def _formulations(dofs: int) -> list[Formulation]:
    """All that fit together; for large robots only direct inverse dynamics."""
    dynamics = ("forward", "idop", "inverse") if dofs < _SMALL else ("inverse",)
    found = []
    for parts in product(dynamics, ("rk4", "semi_implicit", "hermite_simpson", "radau"), ("constant", "plc", "plci")):
        try:
            found.append(Formulation(*parts))  # type: ignore[arg-type]
        except NotSupportedError:
            continue
    return found
