"""What a scenario file says about one step past obstacles."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from surefoot.scenario.schema_kinds import NotNegative, Positive
from surefoot.scenario.table import Table

__all__ = ["StepTable"]

Negative = Annotated[float, Field(lt=0.0)]
Share = Annotated[float, Field(gt=0.0, lt=1.0)]


class StepTable(Table):
    """`[motion.step]`: a step, which knows no obstacles, and how it gives way to them. The stance foot is at x = 0.

    Args:
        behind: Where the swing foot starts, behind the stance foot [m].
        ahead: Where it lands, ahead of the stance foot [m].
        apart: Distance of the feet across [m].
        lift: How high the foot is led [m].
        tilt: How far the toes hang down at this height [rad].
        sink: How much lower the base is than at home [m].
        shift: How long the weight takes to the stance foot before the swing, and to the middle after it [s].
        gives_way: Which of x, y and z of the swing foot give way.
        off: When the potentials are switched off, share of the swing.
        reach: Distance at which the foot begins to give way [m].
        slope: Rate of giving way at contact [m/s], negative.
        attraction: Rate of the way back to the plan [1/s].
    """

    behind: float
    ahead: float
    apart: Positive
    lift: Positive
    tilt: float = 0.0
    sink: float = 0.0
    shift: Positive = 1.0
    gives_way: Literal["x", "y", "z", "xy", "xz", "yz", "xyz"] = "yz"
    off: Share = 0.8
    reach: Positive = 0.05
    slope: Negative = -2.0
    attraction: NotNegative = 4.0
