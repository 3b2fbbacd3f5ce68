"""Results of inverse kinematics."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from surefoot.arrays import Array
from surefoot.words import counted


@dataclass(frozen=True, eq=False)
class IkResult:
    """The solution of one problem, or the best that was found.

    Args:
        q: (nq,) configuration, inside the limits.
        success: Whether all tasks of the highest priority hold to their tolerances, and nothing touches that must not.
        errors: What is left, by task and unit: {"hand": {"m": 2e-5, "rad": 1e-6}}.
        steps: Steps of the iteration, over all starts.
        starts: Starts that were tried.
        at_limits: Joints that stand at a position limit.
        touching: Two links, or a link and an obstacle, that are too near, where that was asked for and not reached.
    """

    q: Array
    success: bool
    errors: dict[str, dict[str, float]]
    steps: int
    starts: int
    at_limits: tuple[str, ...] = field(default=())
    touching: tuple[str, str] | None = None

    @property
    def message(self) -> str:
        """Summary in one line."""
        if self.success:
            return f"solved in {counted(self.steps, 'step')} from {counted(self.starts, 'start')}"
        left = ", ".join(
            f"{task} {value:.3g} {unit}" for task, parts in self.errors.items() for unit, value in parts.items()
        )
        stuck = f"; at their limits: {', '.join(self.at_limits)}" if self.at_limits else ""
        near = f"; too near: {' and '.join(self.touching)}" if self.touching else ""
        tried = f"{counted(self.starts, 'start')} and {counted(self.steps, 'step')}"
        return f"not solved after {tried}; left: {left}{stuck}{near}"


@dataclass(frozen=True, eq=False)
class BatchResult:
    """The solutions of many problems.

    Args:
        q: (n, nq) configurations, inside the limits; where there is no success, the best that were found.
        success: (n,) whether the tasks of the highest priority hold, and nothing touches that must not.
        steps: (n,) steps of the iteration, over all starts.
        starts: (n,) starts that were tried.
    """

    q: Array
    success: NDArray[np.bool_]
    steps: NDArray[np.int64]
    starts: NDArray[np.int64]
