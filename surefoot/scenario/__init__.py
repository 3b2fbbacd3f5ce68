"""Scenarios: TOML files that join robot, world, controller and simulation; the only room where siblings meet."""

from surefoot.scenario.catalogue import describe, names, read_scenario
from surefoot.scenario.metrics import metrics_of
from surefoot.scenario.run import RunInterrupted, RunResult, resolved_scenario, run_scenario
from surefoot.scenario.schema import Scenario

__all__ = [
    "RunInterrupted",
    "RunResult",
    "Scenario",
    "describe",
    "metrics_of",
    "names",
    "read_scenario",
    "resolved_scenario",
    "run_scenario",
]
