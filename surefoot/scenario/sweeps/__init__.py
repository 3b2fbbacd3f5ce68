"""Many runs on all cores: matrices of scenarios and robots, and searches over settings."""

from surefoot.scenario.sweeps.controllers import (
    CONTROLLERS,
    SHARES,
    ControllerRow,
    compare_controllers,
    controllers_page,
    push_unit,
)
from surefoot.scenario.sweeps.jobs import OTHER_ROBOT, PASSED, Job, Outcome, run_jobs
from surefoot.scenario.sweeps.matrix import MatrixRow, matrix_jobs, matrix_page, matrix_table, run_matrix
from surefoot.scenario.sweeps.perturbed import Perturbation, Rate, perturbed_overrides, wilson
from surefoot.scenario.sweeps.push_map import PushMap, PushRow, is_stale, largest_survived, push_map_page, run_push_map
from surefoot.scenario.sweeps.speed import FastestWalk, Trial, fastest_walk

__all__ = [
    "CONTROLLERS",
    "OTHER_ROBOT",
    "PASSED",
    "SHARES",
    "ControllerRow",
    "FastestWalk",
    "Job",
    "MatrixRow",
    "Outcome",
    "Perturbation",
    "PushMap",
    "PushRow",
    "Rate",
    "Trial",
    "compare_controllers",
    "controllers_page",
    "fastest_walk",
    "is_stale",
    "largest_survived",
    "matrix_jobs",
    "matrix_page",
    "matrix_table",
    "perturbed_overrides",
    "push_map_page",
    "push_unit",
    "run_jobs",
    "run_matrix",
    "run_push_map",
    "wilson",
]
