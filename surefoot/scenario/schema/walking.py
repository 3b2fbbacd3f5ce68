"""The `[walk]` table of a scenario file: where to walk, and how."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from surefoot.scenario.schema.kinds import Pair, Positive, Time, Vector
from surefoot.scenario.table import Table, complaint

_WAYS = ("goal", "path", "commands")
_FARTHEST = 1000.0  # [m] or leg lengths: all steps to the goal are planned


class VelocityTable(Table):
    """`[[walk.commands]]`: a velocity that holds until the next command, as from a joystick.

    Args:
        time: When [s].
        forward: [m/s].
        left: [m/s].
        turn: Yaw rate [rad/s].
    """

    time: Time
    forward: float = 0.0
    left: float = 0.0
    turn: float = 0.0


class WalkTable(Table):
    """`[walk]`: the way of a biped, for the controller `walk`; one of `goal`, `path` and `commands`.

    Args:
        goal: x [m], y [m] and yaw [rad] of the middle between the feet at the end. Steps lead around obstacles.
        path: Points to walk along [m].
        commands: Velocities over time.
        unit: Of the lengths and velocities of `goal`, `path`, `commands`, `step` and `gaze`: "m", or "leg" for the
            length of a leg, so that a scenario suits robots of any size.
        step: Longest step [m]; default: a cautious share of the leg length.
        pace: How much quicker steps are than by default; the time on two feet shrinks by its cube.
        single: Time on one foot [s]; default: from the height of the centre of mass.
        double: Time on two feet between steps [s]; default: from the height of the centre of mass.
        lift: Height of the swing foot [m]; default: a share of the leg length.
        height: Of the centre of mass [m]; default: what the legs reach for the longest step.
        settle: Time to reach the walking height before the first step [s].
        first: Time to shift the weight to the first support, and to come to rest after the last step [s]; default: from
            the height of the centre of mass.
        dcm_gain: How fast errors of the DCM vanish [1/s].
        integral_gain: Of the integral of these errors [1/s²].
        landing_speed: Of a foot that expects the ground [m/s].
        reference: What the DCM follows: its bounded motion over the steps, ZMP preview control, or a capture-point gait
            (to the end of the step, or tracking). "mpc" is for plans only, and refused.
        blind: Whether the controller takes the ground for level, whatever it is.
        tray: Hand that is kept level, "left" or "right", or a frame: its tilt stays as it is at the start.
        gaze: Point that the head looks at, in units of `unit`.
    """

    goal: Vector | None = None
    path: list[Pair] | None = None
    commands: list[VelocityTable] | None = None
    unit: Literal["m", "leg"] = "m"
    step: Positive | None = None
    pace: Annotated[float, Field(gt=0.2, le=5.0)] | None = None
    single: Annotated[float, Field(gt=0.1, le=3.0)] | None = None
    double: Annotated[float, Field(gt=0.0, le=3.0)] | None = None
    lift: Positive | None = None
    height: Positive | None = None
    settle: Annotated[float, Field(ge=0.0, le=10.0)] | None = None
    first: Annotated[float, Field(gt=0.1, le=5.0)] | None = None
    dcm_gain: Annotated[float, Field(gt=0.0, le=20.0)] | None = None
    integral_gain: Annotated[float, Field(ge=0.0, le=10.0)] | None = None
    landing_speed: Annotated[float, Field(gt=0.0, le=1.0)] | None = None
    reference: Literal["dcm", "preview", "cps", "cpt", "mpc"] | None = None
    blind: bool = False
    tray: str | None = None
    gaze: Vector | None = None

    @model_validator(mode="after")
    def _one_way(self) -> Self:
        given = [name for name in _WAYS if getattr(self, name) is not None]
        if len(given) != 1:
            which = given[-1] if given else "goal"
            raise complaint(which, getattr(self, which), f"`[walk]` needs one of {', '.join(_WAYS)}")
        if self.goal is not None and max(map(abs, self.goal[:2])) > _FARTHEST:
            raise complaint("goal", self.goal, f"expected a goal within {_FARTHEST:g} m")
        return self
