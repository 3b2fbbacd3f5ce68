"""`compare_formulations` and `compare_nodes`: one optimal-control motion by all formulations, or with more nodes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from itertools import product
from pathlib import Path

from surefoot.errors import NotSupportedError, ScenarioError
from surefoot.feasibility import audit
from surefoot.motion import World
from surefoot.ocp import Formulation, SolverOptions, check
from surefoot.robot import Robot
from surefoot.robot.model import under_gravity
from surefoot.scenario.build import build_world, load_robot
from surefoot.scenario.catalogue import resolved_scenario
from surefoot.scenario.registry import imported
from surefoot.scenario.schema import MotionTable

_PROBLEM = "surefoot.scenario.motions.optimal:problem_of"
_SMALL = 10  # degrees of freedom up to which forward dynamics is differentiated twice
_BETWEEN = 0.002  # s between looks at a motion
_LOOKED_AT = ("foot_slip", "penetration", "joint_position", "joint_velocity", "joint_torque", "unilateral_force",
              "friction", "torsional_friction", "cop", "momentum_residual")  # fmt: skip


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
    table, robot, _ = _given(scenario, None, overrides, ("swingup", "squat_fast"))
    forms = _formulations(robot.nv)
    runs = []
    for k, form in enumerate(forms):
        if tell is not None:
            tell(k / len(forms), str(form))
        found = imported(_PROBLEM)(table, robot, form).solve(solver, _options(robot))
        seen = check(found)
        runs.append(
            FormulationRun(
                str(form), **found.metrics(), defect=seen.defect, torque_excess=seen.torque_excess,
                position_excess=seen.position_excess, speed_excess=seen.speed_excess,
            )
        )  # fmt: skip
    return runs


@dataclass(frozen=True)
class NodesRun:
    """A motion with some number of nodes.

    Args:
        nodes: Number of nodes.
        converged: Whether the solver converged.
        iterations: Newton steps.
        objective: Cost.
        beyond: Item of the audit → by how much the motion between nodes breaks it at most, in the unit of the item.
    """

    nodes: int
    converged: bool
    iterations: int
    objective: float
    beyond: dict[str, float]


def compare_nodes(
    scenario: str | Path,
    robot: str | Path | None = None,
    overrides: Sequence[str] = (),
    densities: Sequence[float] = (0.5, 1.0, 2.0),
    tell: Callable[[float, str], None] | None = None,
) -> list[NodesRun]:
    """Solve the motion of a scenario with more and more nodes, and audit what it does between them.

    Args:
        scenario: Name or file of a scenario with an optimal-control motion.
        robot: Another robot than the scenario's.
        overrides: `key=value` texts.
        densities: Numbers of nodes as multiples of the usual one.
        tell: Called with the share that is done, and what is solved now.

    Raises:
        ScenarioError: The scenario has no such motion.
    """
    table, model, world = _given(scenario, robot, overrides, ("swingup", "squat_fast", "jump", "bound", "ocp_walk"))
    runs = []
    for k, density in enumerate(densities):
        if tell is not None:
            tell(k / len(densities), f"{density:g} times the nodes")
        found = imported(_PROBLEM)(table, model, density=density).solve(options=_options(model))
        result = audit(found.trajectory.resample(dt=_BETWEEN), model, world, collisions=False, replay=False)
        items = {name: result.item(name) for name in _LOOKED_AT}
        beyond = {
            f"{item.title} [{item.unit}]" if item.unit else item.title: max(0.0, -item.least_margin)
            for item in items.values()
            if item.status != "skipped" and item.least_margin == item.least_margin
        }
        count = len(found.transcription.stages)
        runs.append(NodesRun(count, found.success, found.iterations, found.objective, beyond))
    return runs


def _given(
    scenario: str | Path, robot: str | Path | None, overrides: Sequence[str], kinds: Sequence[str]
) -> tuple[MotionTable, Robot, World]:
    """The motion of a scenario, which must be of one of some kinds, its robot and its world."""
    given = resolved_scenario(scenario, robot, None, overrides, None)
    table = given.motion
    if table is None or table.kind not in kinds:
        names = ", ".join(f"`{kind.replace('_', '-')}`" for kind in kinds)
        raise ScenarioError(f"`{given.name}` has no motion that can be compared so", next_step=f"try {names}")
    model = load_robot(given.robot)
    world = build_world(given.world, model)
    return table, under_gravity(model, world.gravity), world


def _options(robot: Robot) -> SolverOptions:
    return SolverOptions(tolerance=1e-6 if robot.nv < _SMALL else 1e-4, max_iterations=300)


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
