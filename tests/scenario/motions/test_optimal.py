"""The contract of optimal control: what runs and comparisons of formulations leave behind."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from surefoot.cli.compare import compare_formulations_command
from surefoot.ocp import SolverOptions, load_solution
from surefoot.ocp.motions import swingup
from surefoot.robot import load
from surefoot.scenario import run_scenario

FIGURES = (
    "converged",
    "iterations",
    "kkt_residual",
    "solve_time_s",
    "build_time_s",
    "objective",
    "variables",
    "constraints",
)


@pytest.mark.slow
def test_a_run_leaves_figures_and_a_solution_to_restart_from(tmp_path: Path) -> None:
    run_scenario("swingup", out=tmp_path / "run", overrides=["motion.nodes=21"])
    metrics = json.loads((tmp_path / "run" / "metrics.json").read_text())
    assert set(FIGURES) <= set(metrics)
    assert metrics["converged"] is True
    assert metrics["kkt_residual"] < 1e-5
    assert (metrics["variables"], metrics["constraints"]) == (209, 610)
    assert min(metrics["iterations"], metrics["solve_time_s"], metrics["build_time_s"]) > 0
    earlier, heading = load_solution(tmp_path / "run" / "solution.npz")
    assert heading["objective"] == metrics["objective"]
    again = swingup(load("cartpole:bearing"), 21).solve(warm=earlier, options=SolverOptions(tolerance=1e-6))
    assert again.success
    assert again.iterations <= metrics["iterations"] // 2
    assert again.objective == pytest.approx(metrics["objective"], rel=1e-5)


@pytest.mark.slow
def test_formulations_are_compared_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert compare_formulations_command("swingup", "riccati", True, ["motion.nodes=21"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["scenario"], found["solver"]) == ("swingup", "riccati")
    runs = {run["formulation"]: run for run in found["formulations"]}
    assert {"forward-rk4-plc", "idop-rk4-plc", "inverse-radau-constant"} <= set(runs)
    assert all({*FIGURES, "defect", "torque_excess"} <= set(run) for run in runs.values())
    assert runs["forward-rk4-plc"]["variables"] == 209
    assert runs["forward-rk4-plc"]["converged"]
    assert runs["forward-rk4-plc"]["objective"] == pytest.approx(1053.54, rel=1e-4)
