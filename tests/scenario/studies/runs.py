"""Scenarios run without a folder, with what their studies find."""

from __future__ import annotations

from dataclasses import dataclass

from surefoot.motion import Log
from surefoot.scenario import resolved_scenario
from surefoot.scenario.build import build_simulation
from surefoot.scenario.findings import Findings, StudiedRun
from surefoot.scenario.studies import study_of
from surefoot.sim import Simulation


@dataclass(frozen=True, eq=False)
class Studied:
    """A run that is over, and what its study found."""

    simulation: Simulation
    log: Log
    findings: Findings

    @property
    def metrics(self) -> dict:
        return self.findings.metrics


def studied(name, *overrides: str, robot: str | None = None) -> Studied:
    """Run a scenario with changes; the study of the scenario looks at it."""
    scenario = resolved_scenario(name, robot, None, overrides)
    simulation = build_simulation(scenario)
    log = simulation.run()
    return Studied(simulation, log, study_of(scenario.study)(StudiedRun(scenario, simulation, log)))
