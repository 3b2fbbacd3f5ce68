"""Motions by optimal control: solved before the run, followed in it with their torques as feedforward."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from surefoot.motion import Log, Trajectory, World
from surefoot.ocp import Formulation, Problem, Solution, SolverOptions, check
from surefoot.ocp import motions as problems
from surefoot.report import Plot
from surefoot.robot import Robot
from surefoot.scenario.findings import Findings
from surefoot.scenario.motions.plan import Plan
from surefoot.scenario.schema import MotionTable

__all__ = ["bound", "jump", "ocp_walk", "options_for", "plan_of_solution", "problem_of", "squat_fast", "swingup"]

_TOLERANCE, _ITERATIONS = 1e-6, 500
_STEP = 0.005  # [s] of what is followed
_STEPS = 8  # of a periodic walk that are executed


def problem_of(table: MotionTable, robot: Robot, formulation: Formulation | None = None) -> Problem:
    """The problem of a motion.

    Args:
        table: The `[motion]` table.
        robot: The robot.
        formulation: Another formulation than the table's.
    """

    def given(**names: str) -> dict[str, Any]:
        pairs = {argument: getattr(table, key) for argument, key in names.items()}
        return {argument: value for argument, value in pairs.items() if value is not None}

    match table.kind:
        case "swingup":
            own = Formulation(table.dynamics or "forward", table.integrator or "rk4", table.control or "plc")
            form = formulation or own
            return problems.swingup(
                robot, formulation=form, **given(nodes="nodes", objective="objective", duration="duration")
            )
        case "squat_fast":
            form = formulation or Formulation("inverse", table.integrator or "semi_implicit")
            count = {} if table.nodes is None else {"intervals": table.nodes - 1}
            return problems.squat(robot, formulation=form, **count, **given(depth="depth", duration="duration"))
        case "jump":
            return problems.jump(robot, **given(height="height"))
        case "bound":
            return problems.bound(robot, **given(length="length"))
        case _:
            return problems.walk_step(robot, **_walk_arguments(table))


def _walk_arguments(table: MotionTable) -> dict[str, Any]:
    pairs = {"objective": table.objective, "free_foot": table.free_foot, "step": table.length}
    found = {name: value for name, value in pairs.items() if value is not None}
    return found | ({"zmp_radius": None} if table.strict_zmp is False else {})


def _solved(table: MotionTable, robot: Robot, options: SolverOptions) -> Solution:
    solver = table.solver or "riccati"
    if table.kind == "ocp_walk":
        return problems.solve_walk(robot, solver=solver, options=options, **_walk_arguments(table))
    problem = problem_of(table, robot)
    apart = table.kind in ("squat_fast", "jump", "bound") and bool(robot.collisions)
    return (problem.solve_apart if apart else problem.solve)(solver, options)


def options_for(robot: Robot) -> SolverOptions:
    """Tolerance and limits of a solve for a robot."""
    return SolverOptions(tolerance=_TOLERANCE if robot.nv < 10 else 1e-4, max_iterations=_ITERATIONS)


def _planned(table: MotionTable, robot: Robot, world: World) -> Plan:
    """Solve the problem of a table and make a plan of the solution."""
    return plan_of_solution(table, robot, _solved(table, robot, options_for(robot)))


def plan_of_solution(table: MotionTable, robot: Robot, solution: Solution) -> Plan:
    """The plan of a solution; a periodic step is repeated.

    Args:
        table: The `[motion]` table.
        robot: The robot.
        solution: What was solved.
    """
    found = check(solution)
    metrics = solution.metrics()
    metrics |= {f"duration_{name.replace(' ', '_')}_s": value for name, value in solution.durations.items()}
    metrics["active_limits"] = ", ".join(f"{name} ({count})" for name, count in list(found.active.items())[:12])
    if np.isfinite(found.defect):
        metrics |= {"reintegration_defect": found.defect, "torque_excess_between_nodes": found.torque_excess}
    trouble = None if solution.success else f"the solver did not converge: {solution.staged.message}"
    motion = solution.trajectory
    is_step = solution.problem.coupling is not None
    if is_step:
        metrics |= {f"walk_{name}": value for name, value in problems.step_figures(solution).to_dict().items()}
        motion = problems.walk_on(solution.problem.robot, motion, steps)
    motion = motion.resample(dt=_STEP)  # at the rate of a controller: torques held or linear as planned
    return Plan(
        motion,
        metrics,
        trouble,
        _curves(solution, motion),
        partial(_judge, motion),
        solution.feedback(),
        {"solution.npz": solution.save},
        starts_moving=is_step,
    )


swingup = squat_fast = jump = bound = ocp_walk = _planned


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
        metrics |= {"run_base_error_m": float(base.max(initial=0.0))}
    return Findings(metrics)
