"""What ends an integration early. Each error carries what was computed before, as `so_far`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from surefoot.errors import SimulationError

if TYPE_CHECKING:
    from surefoot.solvers.ode.result import OdeResult

__all__ = ["FieldNotFiniteError", "IntegrationError", "StepTooSmallError"]


class IntegrationError(SimulationError):
    """An integration could not go on; `so_far` has the steps before, None if there is none."""

    so_far: OdeResult | None = None


class FieldNotFiniteError(IntegrationError):
    """The field or an event function returned NaN or infinity."""


class StepTooSmallError(IntegrationError):
    """Error control asks for steps without end: the system is stiff, not smooth, or has a pole."""
