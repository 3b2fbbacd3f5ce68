"""How far an estimate is from the truth."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from surefoot.estimation import BaseLayout
from surefoot.motion import State
from surefoot.robot import Robot

__all__ = ["EstimateError"]


class EstimateError:
    """Errors of the base; of a robot without one, there are none.

    Args:
        robot: The robot.
    """

    UNITS: ClassVar[dict[str, str]] = {
        "estimate.q": "mixed",
        "estimate.v": "mixed",
        "estimate.position_error": "m",
        "estimate.attitude_error": "rad",
        "estimate.velocity_error": "m/s",
    }

    def __init__(self, robot: Robot) -> None:
        self._base = BaseLayout(robot) if robot.base_joint is not None else None

    def columns(self, truth: State, estimate: State) -> dict[str, Any]:
        """A row of a log: the estimate, and the distance, angle and velocity (in world axes) between it and the truth.

        Args:
            truth: What is.
            estimate: What is believed.
        """
        out: dict[str, Any] = {"estimate.q": estimate.q, "estimate.v": estimate.v}
        if self._base is None:
            return out
        true, guess = (self._base.pose(x.q) for x in (truth, estimate))
        speeds = [T.rotation @ self._base.twist(x.v)[:3] for T, x in ((true, truth), (guess, estimate))]
        turn = true.rotation.T @ guess.rotation
        axis = np.array([turn[2, 1] - turn[1, 2], turn[0, 2] - turn[2, 0], turn[1, 0] - turn[0, 1]])
        return out | {
            "estimate.position_error": float(np.linalg.norm(true.translation - guess.translation)),
            "estimate.attitude_error": float(np.arctan2(np.linalg.norm(axis), np.trace(turn) - 1.0)),
            "estimate.velocity_error": float(np.linalg.norm(speeds[0] - speeds[1])),
        }
