"""Studies: statements that tell runs apart, rows of table 5.2, optima from random guesses."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any

import numpy as np
import pytest

from surefoot.ocp import Formulation, Problem, SolverOptions
from surefoot.ocp.motions import OBJECTIVES, StepFigures, swingup
from surefoot.ocp.studies import SETS, TABLE, WalkRun, node_study, random_guesses, statements, swing_table
from surefoot.robot import Drive, Joint, Link, Robot, load

COMMON = StepFigures(**dict.fromkeys((field.name for field in fields(StepFigures)), 1.0))
AS_KOCH: dict[str, dict[str, float]] = {
    "torque": {"torque_square": 1, "cost_of_transport": 1, "zmp_roughness": 0.1, "step_length": 0.13},
    "speed": {"pelvis_sway": 0.04, "impact": 9, "pelvis_yaw": 2, "torque_square": 5, "cost_of_transport": 5,
              "step_length": 0.17},
    "postural": {"pelvis_sway": 0.1, "foot_lift": 2, "knee_range": 2, "torque_square": 4, "cost_of_transport": 4,
                 "zmp_offset": 0.5, "zmp_roughness": 0.1, "step_length": 0.158},
    "efficiency": {"knee_range": 0.5, "torque_square": 1, "cost_of_transport": 1, "step_length": 0.185},
    "joint_speed": {"pelvis_rise": 0.03, "foot_sideways": 2, "knee_range": 0.1, "knee_mean": 0.1, "pelvis_roll": 2,
                    "pelvis_pitch": -0.1, "impact": 0.1, "torque_square": 2, "cost_of_transport": 2,
                    "step_length": 0.09},
}  # fmt: skip
"""Figures by objective of runs of which all that Koch says is true."""


def _run(objective: str, constraints: str) -> WalkRun:
    usual = {"pelvis_sway": 0.07, "pelvis_rise": 0.005, "pelvis_pitch": 0.1, "torque_square": 2, "impact": 2}
    values: dict[str, Any] = {**usual, **AS_KOCH[objective]}
    faster = -1.0 if objective == "joint_speed" else 1.0
    values["speed"] = 0.2 + faster * {"zmp free": 0.05, "fif": 0.0, "frf": 0.1}[constraints]
    values["pelvis_height"] = 0.7 + 0.03 * (constraints == "zmp free")
    values["duty"] = 0.6 - 0.05 * (constraints == "frf")
    values["step_width"] = 0.19 - 0.04 * (constraints == "frf")
    if objective == "joint_speed":
        values["impact"] = {"zmp free": 0.1, "frf": 0.2, "fif": 0.3}[constraints]
    return WalkRun(objective, constraints, None, replace(COMMON, **values))  # type: ignore[arg-type]


def test_statements_hold_for_runs_that_are_as_koch_says() -> None:
    runs = [_run(objective, constraints) for objective in OBJECTIVES for constraints in SETS]
    found = statements(runs)
    assert [s.text for s in found if not s.holds] == []
    assert len(found) == 24


@pytest.mark.parametrize("exchanged", [("speed", "torque"), ("postural", "joint_speed"), ("efficiency", "postural")])
def test_statements_fail_for_runs_that_are_not(exchanged: tuple[str, str]) -> None:
    """With the names of two objectives exchanged, most statements about them are wrong."""
    names = dict(zip(exchanged, reversed(exchanged), strict=True))
    runs = [_run(objective, constraints) for objective in OBJECTIVES for constraints in SETS]
    swapped = [replace(run, objective=names.get(run.objective, run.objective)) for run in runs]
    assert sum(not s.holds for s in statements(swapped)) >= 3


def test_a_convex_problem_has_one_optimum() -> None:
    joint = Joint("slide", "prismatic", axis=(1.0, 0.0, 0.0), lower=-9.0, upper=9.0, velocity=50.0, effort=20.0)
    link = Link("mass", None, joint, 1.0, np.zeros(3), 0.01 * np.eye(3))
    robot = Robot.from_tree("slider", [link], "fixed", drives=(Drive("slide", torque_limit=20.0),))

    def problem() -> Problem:
        own = Problem(robot, formulation=Formulation("forward", "semi_implicit"))
        own.phase("go", (), 20, 1.0)
        own.start([0.0])
        own.end([1.0])
        own.cost("torque")
        return own

    runs = random_guesses(problem, 4, spread=2.0)
    assert all(run.converged for run in runs)
    assert {run.optimum for run in runs} == {1}


def test_bfgs_and_exact_hessians_lead_to_one_optimum() -> None:
    """Least energy by relaxed inverse dynamics: the same cost by SQP as by the interior point."""
    problem = swingup(load("cartpole:bearing"), 21, "energy", Formulation("idop", "rk4", "plc"))
    options = SolverOptions(tolerance=1e-4, max_iterations=300)
    costs = [problem.solve(solver, options).objective for solver in ("sqp", "riccati")]
    assert costs[0] == pytest.approx(costs[1], rel=1e-4)


@pytest.mark.slow
def test_table_and_nodes() -> None:
    """All ten converge; FD and ID agree where they end in the same swing; the excess shrinks with nodes."""
    robot = load("cartpole:bearing")
    rows = swing_table(robot)
    assert len(rows) == len(TABLE)
    assert all(row.converged and row.kkt_residual < 1e-4 for row in rows)
    assert all(row.variables == row.koch_variables for row in rows)
    assert [row.constraints - row.koch_constraints for row in rows] == [610 - 627, *[0] * 9]
    exact = {(row.dynamics, row.control): row.cost for row in rows if row.hessian == "exact"}
    assert exact["FD", "plc"] == pytest.approx(exact["ID", "plc"], rel=0.02)
    assert rows[-1].cost == pytest.approx(rows[-2].cost, rel=1e-3)
    study = {(run.control, run.nodes): run for run in node_study(robot, (21, 41, 81)) if run.dynamics == "FD"}
    excess = [study["plci", count].force_excess for count in (21, 41, 81)]
    assert excess[0] > excess[1] > excess[2]
