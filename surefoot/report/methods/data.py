"""Results of a comparison of constraint methods."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from surefoot.arrays import Array


@dataclass(frozen=True, eq=False)
class MethodRun:
    """One method, or one way to keep constraints, on the scenario.

    Args:
        name: Of the method or way.
        trouble: Why it could not run; "" if it could.
        gap: (n,) largest gap of a constraint over time [m] or [rad].
        energy: (n,) energy that came from nowhere over time [J].
        gap_max: The largest gap.
        gap_growth: p of gap ∝ t^p in the second half; None where gaps are rounding.
        rate_max: The largest rate of a gap [m/s] or [rad/s].
        energy_error_j: The most energy from nowhere.
        condition: Of the matrix that the method solves, the worst of some states; None where it solves none.
        acceleration_error: Largest difference to the reference, relative, over the same states.
        force_error: The same of the constraint force Jᵀ λ.
        step_s: Computing time of a step [s], lowest decile; noisy.
    """

    name: str
    trouble: str = ""
    gap: Array | None = None
    energy: Array | None = None
    gap_max: float | None = None
    gap_growth: float | None = None
    rate_max: float | None = None
    energy_error_j: float | None = None
    condition: float | None = None
    acceleration_error: float | None = None
    force_error: float | None = None
    step_s: float | None = None

    def to_dict(self) -> dict[str, Any]:
        """Numbers without the series and without the time of a step, which is not the same twice."""
        left_out = ("name", "gap", "energy", "step_s")
        return {key: value for key, value in vars(self).items() if key not in left_out}


@dataclass(frozen=True, eq=False)
class MethodsComparison:
    """All methods on one scenario.

    Args:
        scenario: Its name.
        robot: Of the scenario.
        integrator: Of the scenario.
        dt: Step [s].
        duration: How long each ran [s].
        rows: Names of the rows of the constraints.
        rank: How many are independent.
        mobility: Degrees of freedom that are left.
        time: (n,) of the series [s].
        methods: One for each method, none of them stabilised.
        stabilisations: One for each way to keep constraints, with the method of the scenario.
        reference: The method that the others are compared with.
    """

    scenario: str
    robot: str
    integrator: str
    dt: float
    duration: float
    rows: tuple[str, ...]
    rank: int
    mobility: int
    time: Array
    methods: tuple[MethodRun, ...]
    stabilisations: tuple[MethodRun, ...]
    reference: str

    def to_dict(self) -> dict[str, Any]:
        """For JSON: the same for the same scenario; computing times are in `timing`."""
        facts = ("scenario", "robot", "integrator", "dt", "duration", "rank", "mobility", "reference")
        return {
            **{name: getattr(self, name) for name in facts},
            "rows": list(self.rows),
            "methods": {run.name: run.to_dict() for run in self.methods},
            "stabilisations": {run.name: run.to_dict() for run in self.stabilisations},
        }

    def timing(self) -> dict[str, Any]:
        """Computing time of a step of each [s]; measured, so never the same twice."""
        groups = {"methods": self.methods, "stabilisations": self.stabilisations}
        return {group: {run.name: run.step_s for run in runs} for group, runs in groups.items()}
