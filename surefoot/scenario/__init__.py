"""Scenarios: TOML files that combine robot, world, controller and simulation."""

from typing import TYPE_CHECKING, Any

from surefoot.scenario.registry import imported

if TYPE_CHECKING:
    from surefoot.scenario.build import build_world, load_robot
    from surefoot.scenario.catalogue import describe, names, read_scenario, resolved_scenario, scenario_text
    from surefoot.scenario.formulations import compare_formulations, compare_nodes
    from surefoot.scenario.methods import compare_methods
    from surefoot.scenario.metrics import metrics_of
    from surefoot.scenario.outcome import RunResult, run_folder
    from surefoot.scenario.run import RunInterrupted, run_scenario
    from surefoot.scenario.schema import KindTable, Scenario
    from surefoot.scenario.world_file import read_world

__all__ = [
    "KindTable",
    "RunInterrupted",
    "RunResult",
    "Scenario",
    "build_world",
    "compare_formulations",
    "compare_methods",
    "compare_nodes",
    "describe",
    "load_robot",
    "metrics_of",
    "names",
    "read_scenario",
    "read_world",
    "resolved_scenario",
    "run_folder",
    "run_scenario",
    "scenario_text",
]

_MODULES = {
    "build": ("build_world", "load_robot"),
    "catalogue": ("describe", "names", "read_scenario", "resolved_scenario", "scenario_text"),
    "formulations": ("compare_formulations", "compare_nodes"),
    "methods": ("compare_methods",),
    "metrics": ("metrics_of",),
    "outcome": ("RunResult", "run_folder"),
    "run": ("RunInterrupted", "run_scenario"),
    "schema": ("KindTable", "Scenario"),
    "world_file": ("read_world",),
}
_MODULE_OF = {name: module for module, names in _MODULES.items() for name in names}


def __getattr__(name: str) -> Any:
    """Import names on first use: listing scenarios needs no physics."""
    if name not in _MODULE_OF:
        raise AttributeError(f"module `surefoot.scenario` has no attribute `{name}`")
    return imported(f"surefoot.scenario.{_MODULE_OF[name]}:{name}")
