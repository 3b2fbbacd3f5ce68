"""Scenarios: TOML files that join robot, world, controller and simulation; the only room where siblings meet."""

from surefoot.scenario.build import load_robot
from surefoot.scenario.catalogue import describe, names, read_scenario, scenario_text
from surefoot.scenario.metrics import metrics_of
from surefoot.scenario.run import RunInterrupted, RunResult, resolved_scenario, run_scenario
from surefoot.scenario.schema import Scenario
from surefoot.scenario.world_file import read_world

__all__ = [
    "RunInterrupted",
    "RunResult",
    "Scenario",
    "describe",
    "load_robot",
    "metrics_of",
    "names",
    "read_scenario",
    "read_world",
    "resolved_scenario",
    "run_scenario",
    "scenario_text",
]
