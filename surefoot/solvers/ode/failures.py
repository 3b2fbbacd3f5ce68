"""What ends an integration early. Each error carries what was computed before, as `so_far`."""

from __future__ import annotations

from typing import Any

from surefoot.errors import SimulationError

__all__ = ["FieldNotFiniteError", "IntegrationError", "StepTooSmallError"]


class IntegrationError(SimulationError):
    """An integration could not go on; `so_far` is the `OdeResult` of the steps before, None if there is none."""

    so_far: Any = None


class FieldNotFiniteError(IntegrationError):
    """The field or an event function returned NaN or infinity."""


class StepTooSmallError(IntegrationError):
    """Error control asks for steps without end: the system is stiff, not smooth, or has a pole."""
