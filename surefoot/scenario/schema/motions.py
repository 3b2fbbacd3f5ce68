"""What a scenario file says about motions that are planned before the run."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from pydantic import Field

from surefoot.scenario.schema.kinds import KindTable, NotNegative, Positive, PositivePair, Vector
from surefoot.scenario.table import Table

__all__ = ["MotionTable", "StepTable", "WeightsTable"]

Negative = Annotated[float, Field(lt=0.0)]
Share = Annotated[float, Field(gt=0.0, lt=1.0)]


class WeightsTable(Table):
    """`[motion.weights]`: what a motion costs.

    Args:
        velocity: Of squared joint velocities.
        collision: Of nearness to other things.
        limits: Of nearness to joint limits.
        change: Of the squared rate of the free part of the joint velocities [s²]; 0 where it may jump.
    """

    velocity: Positive = 1.0
    collision: NotNegative
    limits: NotNegative
    change: NotNegative = 0.0


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


class MotionTable(KindTable):
    """`[motion]`: what is planned; the controller `follow` follows it.

    Args:
        kind: Which motion.
        duration: Of the motion [s], where nothing slows it down; of one cycle of an eight; of the swing of a foot.
        rate_limit: Largest joint rates [rad/s]: of all joints together for `com_rise`, else of each.
        rise: How far up [m]; what the robot can do well if left out.
        frame: The frame that moves; if left out, the end of the longest chain, or the first foot.
        centre: Of the eight, from where the frame is at home, in world axes [m].
        size: Half width and half height of the eight [m].
        plane: Of the eight, in world axes: the first one is that of its width.
        cycles: How many eights.
        orientation: Whether the frame keeps the orientation that it has at home.
        tilt: By how much more each further cycle turns the frame about the normal of the plane [rad].
        damping: λ of the damped inverse that the motion is compared with.
        points: Where the frame goes, one after the other: ways from where it begins, in world axes [m].
        joints: First posture [rad] or [m]; that of home where nothing is said.
        hands: Where frames go, in world [m], by frame.
        hold: How long the frame stays at the end [s].
        method: What is followed; "unaware": of obstacles.
        horizon: How far the predictive method looks ahead [s].
        other_horizons: Horizons that it is compared with [s].
        cycle: Of the control loop that is planned [s].
        influence: Nearer than this, things repel each other [m].
        tool_radius: Of what is held along the line from the last joint to the frame [m]; nothing if left out.
        tolerance: How far the frame may be off its way [m].
        weights: Of the predictive method.
        local_weights: Of the local method.
        step: Of the foot that swings.
    """

    KINDS: ClassVar[dict[str, str]] = {
        "com_rise": "raises the centre of mass over fixed feet, through straight knees",
        "figure_eight": "a hand draws an eight through singular postures",
        "harvest": "a hand goes from point to point among obstacles, looking ahead",
        "swing_over": "a foot swings past obstacles that its plan does not know",
        "reach": "hands go somewhere while the feet stay and the robot keeps its balance and clear of everything",
    }
    KEYS: ClassVar[dict[str, set[str]]] = {
        "com_rise": {"rise", "duration", "rate_limit"},
        "figure_eight": {
            "frame", "centre", "size", "plane", "cycles", "orientation", "tilt", "duration", "rate_limit", "damping"
        },
        "harvest": {
            "frame", "points", "joints", "duration", "hold", "method", "horizon", "other_horizons", "cycle",
            "influence", "tool_radius", "tolerance", "weights", "local_weights",
        },
        "reach": {"hands", "duration", "hold", "cycle", "influence", "tolerance"},
        "swing_over": {"frame", "duration", "cycle", "step"},
    }  # fmt: skip
    NEEDS: ClassVar[dict[str, set[str]]] = {
        "harvest": {"frame", "points", "duration"},
        "swing_over": {"duration", "step"},
    }

    kind: Literal["com_rise", "figure_eight", "harvest", "swing_over", "reach"]
    duration: Positive | None = None
    rate_limit: Positive | None = None
    rise: Positive | None = None
    frame: str | None = None
    centre: Vector | None = None
    size: PositivePair | None = None
    plane: Literal["xy", "xz", "yz"] | None = None
    cycles: Annotated[int, Field(ge=1, le=20)] | None = None
    orientation: bool | None = None
    tilt: float | None = None
    damping: Positive | None = None
    points: list[Vector] | None = None
    joints: dict[str, float] | None = None
    hands: dict[str, Vector] | None = None
    hold: NotNegative | None = None
    method: Literal["predictive", "local", "unaware"] | None = None
    horizon: Positive | None = None
    other_horizons: list[Positive] | None = None
    cycle: Positive | None = None
    influence: Positive | None = None
    tool_radius: Positive | None = None
    tolerance: Positive | None = None
    weights: WeightsTable | None = None
    local_weights: WeightsTable | None = None
    step: StepTable | None = None
