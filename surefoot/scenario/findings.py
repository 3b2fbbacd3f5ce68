"""`Findings`: results that a study or the judge of a planned motion adds to a run."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from surefoot.markup import Html
from surefoot.motion import Log
from surefoot.report import DataTable, Outline, Plot
from surefoot.scenario.schema import Scenario
from surefoot.sim import Simulation


@dataclass(frozen=True, eq=False)
class StudiedRun:
    """A finished run.

    Args:
        scenario: What was run.
        simulation: The simulation.
        log: What it measured.
    """

    scenario: Scenario
    simulation: Simulation
    log: Log


@dataclass(frozen=True, eq=False)
class Findings:
    """Results of a study or a judge.

    Args:
        metrics: Numbers and texts for `metrics.json`.
        trouble: What is wrong; None if nothing is.
        plots: For the page.
        tables: For the page.
        outlines: For the page.
        details: Further HTML for the page.
    """

    metrics: dict[str, Any] = field(default_factory=dict)
    trouble: str | None = None
    plots: Sequence[Plot] = ()
    tables: Sequence[DataTable] = ()
    outlines: Sequence[Outline] = ()
    details: Html = field(default_factory=Html)


Study = Callable[[StudiedRun], Findings]
