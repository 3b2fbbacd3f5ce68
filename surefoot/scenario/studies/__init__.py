"""Studies: additional measurements and pass criteria of scenarios."""

from collections.abc import Mapping

from surefoot.scenario.findings import Study
from surefoot.scenario.registry import imported

__all__ = ["ALWAYS", "STUDIES", "study_of"]

_MODULES = {
    "drives": ("gears", "servo"),
    "drop": ("drop",),
    "estimate": ("estimate",),
    "formalism": ("formalism", "pace", "swing_up"),
    "free_floating": ("free_floating",),
    "impact": ("impact",),
    "mechanism": ("mechanism",),
    "pendulum_drift": ("pendulum_drift",),
    "reach": ("motion", "reach"),
    "receding": ("mpc",),
    "slide": ("slide",),
    "stand": ("balance", "stand"),
    "touch": ("touch",),
    "walking": ("walk",),
}
STUDIES: Mapping[str, str] = {
    kind: f"surefoot.scenario.studies.{module}:{kind}" for module, kinds in _MODULES.items() for kind in kinds
}
"""The function of each kind of study."""

ALWAYS: Mapping[str, tuple[str, ...]] = {
    "walk": (
        "goal_error_m",
        "goal_error_rad",
        "mean_speed_m_s",
        "steps",
        "cost_of_transport",
        "electrical_cost_of_transport",
        "fall_cause",
    )
}
"""Metrics of a study that are there also for a run that was stopped, as None."""


def study_of(kind: str) -> Study:
    """Import the study of a kind.

    Args:
        kind: A key of `STUDIES`.
    """
    study: Study = imported(STUDIES[kind])
    return study
