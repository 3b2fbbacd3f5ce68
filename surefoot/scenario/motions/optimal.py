"""Motions by optimal control: solved before the run, followed in it with their torques as feedforward."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from surefoot.control.legged import WholeBodyFollower
from surefoot.errors import ScenarioError
from surefoot.geometry import Box
from surefoot.motion import Log, Trajectory, World
from surefoot.ocp import Formulation, Problem, Solution, SolverOptions, check, prices
from surefoot.ocp import motions as problems
from surefoot.report import Plot
from surefoot.robot import Robot
from surefoot.scenario.findings import Findings
from surefoot.scenario.motions.plan import Plan, Planned
from surefoot.scenario.schema import MotionTable

_TOLERANCE, _ITERATIONS = 1e-6, 500
_HIGHEST = 1.0  # [m] beyond which no obstacle is looked for
_ASTRAY = 0.25  # of the height of the base, beyond which it does not follow the plan any more
_STEP = 0.005  # [s] of what is followed
_STEPS = 8  # of a periodic walk that are executed


class PlannedWholeBody(Planned, WholeBodyFollower):
    """Follows the trajectory of a plan by whole-body control.

    Args:
        robot: The robot.
        plan: The plan.
    """

    def __init__(self, robot: Robot, plan: Plan) -> None:
        super().__init__(robot, plan.trajectory)
        self.plan = plan


def problem_of(
    table: MotionTable, robot: Robot, formulation: Formulation | None = None, density: float = 1.0
) -> Problem:
    """The problem of a motion.

    Args:
        table: The `[motion]` table.
        robot: The robot.
        formulation: Another formulation than the table's.
        density: Number of intervals as a multiple of the usual one.
    """

    def given(**names: str) -> dict[str, Any]:
        pairs = {argument: getattr(table, key) for argument, key in names.items()}
        return {argument: value for argument, value in pairs.items() if value is not None}

    match table.kind:
        case "swingup":
            own = Formulation(table.dynamics or "forward", table.integrator or "rk4", table.control or "plc")
            form = formulation or own
            count = 1 + round(density * ((table.nodes or 21) - 1))
            return problems.swingup(robot, count, formulation=form, **given(objective="objective", duration="duration"))
        case "squat_fast":
            form = formulation or Formulation("inverse", table.integrator or "semi_implicit")
            count = round(density * ((table.nodes or 31) - 1))
            return problems.squat(robot, intervals=count, formulation=form, **given(depth="depth", duration="duration"))
        case "jump":
            return problems.jump(robot, density=density, **given(height="height"))
        case "bound":
            return problems.bound(robot, density=density, **given(length="length"))
        case _:
            single, double = (round(density * count) for count in (24, 8))
            return problems.walk_step(robot, intervals=(single, double), **_walk_arguments(table))


def _walk_arguments(table: MotionTable) -> dict[str, Any]:
    pairs = {"objective": table.objective, "free_foot": table.free_foot, "step": table.length}
    found = {name: value for name, value in pairs.items() if value is not None}
    return found | ({"zmp_radius": None} if table.strict_zmp is False else {})


def _solved(table: MotionTable, robot: Robot, options: SolverOptions) -> Solution:
    solver = table.solver or "riccati"
    if table.kind == "ocp_walk":
        return problems.solve_walk(robot, solver=solver, options=options, **_walk_arguments(table))
    problem = problem_of(table, robot)
    if table.kind in ("jump", "bound"):
        return problems.solve_leap(problem, solver, options)
    apart = table.kind == "squat_fast" and bool(robot.collisions)
    return (problem.solve_apart if apart else problem.solve)(solver, options)


def _options(robot: Robot) -> SolverOptions:
    return SolverOptions(tolerance=_TOLERANCE if robot.nv < 10 else 1e-4, max_iterations=_ITERATIONS)


def _planned(table: MotionTable, robot: Robot, world: World) -> Plan:
    """Solve the problem of a table and make a plan of the solution."""
    return _plan(table, robot, _solved(table, robot, _options(robot)))


def _plan(table: MotionTable, robot: Robot, solution: Solution) -> Plan:
    """The plan of a solution; a periodic step is repeated."""
    found = check(solution)
    metrics = solution.metrics()
    metrics |= {f"duration_{name.replace(' ', '_')}_s": value for name, value in solution.durations.items()}
    metrics["active_limits"] = ", ".join(f"{name} ({count})" for name, count in list(found.active.items())[:12])
    if np.isfinite(found.defect):
        metrics |= {"reintegration_defect": found.defect, "torque_excess_between_nodes": found.torque_excess}
    motion = problems.motion_to_follow(solution)
    is_step = solution.problem.coupling is not None
    if is_step:
        metrics |= {f"walk_{name}": value for name, value in problems.step_figures(solution).to_dict().items()}
        motion = problems.walk_on(robot, motion, table.steps or _STEPS)
    motion = motion.resample(dt=_STEP)  # at the rate of a controller: torques held or linear as planned
    return Plan(
        motion,
        metrics,
        solution.trouble,
        _curves(solution, motion),
        partial(_judge, motion),
        solution.feedback(),
        {"solution.npz": solution.save},
        starts_moving=is_step,
    )


swingup = squat_fast = jump = bound = ocp_walk = _planned


def overstep(table: MotionTable, robot: Robot, world: World) -> Plan:
    """Step over the box of the world, or over the highest that the robot can do.

    Args:
        table: length: first guess of the step [m]; highest; pressure_box; solver.
        robot: A biped with flat feet.
        world: With one box across the way.

    Raises:
        ScenarioError: The world does not have one box.
    """
    boxes = [(item, item.shape) for item in world.obstacles if isinstance(item.shape, Box)]
    if len(boxes) != 1:
        raise ScenarioError(
            "there must be one box to step over", evidence={"boxes": len(boxes)}, next_step="add [[world.obstacles]]"
        )
    box, shape = boxes[0]
    width, breadth, height = shape.size
    task = problems.Overstep(
        height=_HIGHEST if table.highest else float(height),
        width=float(width),
        distance=None if table.highest else float(box.pose[0, 3]),
        length=table.length or problems.Overstep.length,
        pressure_box=table.pressure_box,
    )
    solution = problems.solve_overstep(robot, task, table.solver or "riccati", _options(robot))
    plan, reached = _plan(table, robot, solution), solution.parameters[problems.HEIGHT]
    plan = replace(plan, metrics={**plan.metrics, **problems.step_sizes(solution)})
    if table.highest:
        pose = np.array(box.pose)
        pose[0, 3], pose[2, 3] = solution.parameters[problems.DISTANCE], 0.5 * reached
        higher = replace(box, shape=Box((width, breadth, reached)), pose=pose)
        others = tuple(item for item in world.obstacles if item is not box)
        return replace(plan, world=replace(world, obstacles=(*others, higher)))
    if plan.trouble is None and reached < height - 1e-3:
        limits = [name for name in prices(solution) if not name.startswith(("obstacle ", "duration", "parameter"))][:3]
        trouble = f"it can step over no more than {reached:.3f} m here; what holds it back: {', '.join(limits)}"
        return replace(plan, trouble=trouble)
    return plan


def _curves(solution: Solution, motion: Trajectory) -> tuple[Plot, ...]:
    robot, driven = solution.problem.robot, solution.problem.robot.driven
    names = [drive.joint for drive in robot.drives]
    limits = np.array([drive.torque_limit for drive in robot.drives])
    tau = np.asarray(motion.tau)
    worst = np.argsort(-np.abs(tau / limits).max(axis=0))[:6]
    rates = np.asarray(motion.v)[:, driven]
    found = [
        Plot("plan: drive forces over their limits", "1", {names[k]: tau[:, k] / limits[k] for k in worst}),
        Plot("plan: joint rates", "rad/s | m/s", {names[k]: rates[:, k] for k in worst}),
    ]
    forces = {name: wrench[:, 2] for name, wrench in motion.wrenches.items()}
    return (*found, Plot("plan: normal forces", "N", forces)) if forces else tuple(found)


def _judge(motion: Trajectory, robot: Robot, log: Log) -> Findings:
    """How near the run stays to the plan."""
    inside = log.time <= motion.end + 1e-9
    planned = motion.resample(times=np.clip(log.time[inside], motion.start, motion.end)) if inside.any() else motion
    entries = [int(robot.tree.q_index[i]) for i in range(robot.tree.n) if robot.tree.nq_of(i) == 1]
    error = np.abs(np.asarray(log["q"])[inside][:, entries] - planned.q[:, entries])
    metrics = {
        "run_joint_error": float(error.max(initial=0.0)),
        "run_joint_error_end": float(error[-1].max(initial=0.0)),
    }
    if robot.base == "floating":
        base = np.linalg.norm(np.asarray(log["q"])[inside][:, :3] - planned.q[:, :3], axis=1)
        worst, most = float(base.max(initial=0.0)), _ASTRAY * float(planned.q[0, 2])
        metrics |= {"run_base_error_m": worst}
        if worst > most:
            return Findings(metrics, f"the robot leaves the plan: its base is {worst:.2g} m away from it")
    return Findings(metrics)
