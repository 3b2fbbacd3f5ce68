"""The `[mpc]` table of a scenario file: what a receding horizon does, and how."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from surefoot.scenario.schema.kinds import NotNegative, Pair
from surefoot.scenario.table import Table


class MpcTable(Table):
    """`[mpc]`: model-predictive control, for the controller `mpc`.

    Args:
        gait: "stand" keeps the first posture; "trot" lifts diagonal pairs of four feet in turn.
        model: "whole_body": torques by inverse dynamics and the gains of the solver; "centroidal": momentum and full
            kinematics, with whole-body control below.
        speed: Forward and to the left [m/s].
        swing: Time of a foot in the air [s]; default: for the height of the centre of mass.
        horizon: How far it looks ahead [s].
        step: Length of an interval, and time from one solution to the next [s].
        iterations: Newton steps for each solution.
        latency: Time from a measurement until its solution is used [s].
        budget: CPU time of a solution [s]; plans that take longer are used an interval later, and runs do not repeat
            exactly; default: any.
    """

    gait: Literal["stand", "trot"] = "stand"
    model: Literal["whole_body", "centroidal"] = "whole_body"
    speed: Pair = (0.0, 0.0)
    swing: Annotated[float, Field(gt=0.05, le=2.0)] | None = None
    horizon: Annotated[float, Field(gt=0.0, le=5.0)] = 0.4
    step: Annotated[float, Field(ge=0.002, le=0.2)] = 0.02
    iterations: Annotated[int, Field(ge=1, le=20)] = 1
    latency: NotNegative = 0.0
    budget: Annotated[float, Field(gt=0.0)] | None = None
