"""Many runs on all cores: matrices of scenarios and robots, and searches over settings."""

from surefoot.scenario.sweeps.jobs import Job, Outcome, run_jobs
from surefoot.scenario.sweeps.matrix import (
    MatrixRow,
    fall_rates,
    matrix_jobs,
    matrix_page,
    matrix_table,
    perturbed_jobs,
    run_matrix,
)
from surefoot.scenario.sweeps.push_map import PushMap, PushRow, push_map_page, run_push_map
from surefoot.scenario.sweeps.speed import FastestWalk, Trial, fastest_walk

__all__ = [
    "FastestWalk",
    "Job",
    "MatrixRow",
    "Outcome",
    "PushMap",
    "PushRow",
    "Trial",
    "fall_rates",
    "fastest_walk",
    "matrix_jobs",
    "matrix_page",
    "matrix_table",
    "perturbed_jobs",
    "push_map_page",
    "run_jobs",
    "run_matrix",
    "run_push_map",
]
