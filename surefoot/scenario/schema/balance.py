"""The `[balance]` table of a scenario file: what a robot that stands does, and on what."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from pydantic import Field

from surefoot.scenario.schema.kinds import KindTable, NotNegative, Pair, Positive, Time, Vector
from surefoot.scenario.table import Table

_TIMES = {"duration", "ramp"}


class MoveTable(KindTable):
    """`[[balance.moves]]`: a move. Directions: forward, left, up.

    Args:
        kind: What is done.
        start: When it begins [s]; default: when the move before it ends.
        duration: How long it takes, with both ramps [s].
        ramp: How long it takes to begin, and to end [s]; of a lift, to shift the weight.
        depth: How far the centre of mass is lowered [m]; default: 12 % of its height.
        frequency: Of the repetition [Hz].
        shift: Of the centre of mass, forward and left [m]; default: a quarter of the way to the edge, forward.
        frame: Link or frame that is moved; default: the hand on the left.
        offset: Displacement of the frame or contact surface [m]; default: up and forward, for the size of the robot.
        foot: Foot that is lifted; default: the first one.
        height: How high it is lifted [m]; default: 5 % of the height of the centre of mass.
        hold: How long it stays up [s].
        contact: Contact surface that presses; default: the first one that is not part of a foot.
        force: Normal force with which it presses [N].
        stroke: Amplitude of the strokes [m]; default: sideways, for the size of the robot.
    """

    KINDS: ClassVar[dict[str, str]] = {
        "squat": "lowers the centre of mass",
        "lean": "shifts the centre of mass, or sways it with a `frequency`",
        "reach": "moves a hand and brings it back",
        "hold": "keeps a hand where it is",
        "lift": "shifts the weight, lifts a foot and puts it down",
        "wipe": "presses a hand on what is before it, and strokes",
    }
    KEYS: ClassVar[dict[str, set[str]]] = {
        "squat": {"depth", "frequency", *_TIMES},
        "lean": {"shift", "frequency", *_TIMES},
        "reach": {"frame", "offset", *_TIMES},
        "hold": {"frame", *_TIMES},
        "lift": {"foot", "height", "hold", "ramp"},
        "wipe": {"contact", "force", "offset", "stroke", "frequency", *_TIMES},
    }
    NEEDS: ClassVar[dict[str, set[str]]] = {"wipe": {"force"}}

    kind: Literal["squat", "lean", "reach", "hold", "lift", "wipe"]
    start: Time | None = None
    duration: Positive | None = None
    ramp: Positive | None = None
    depth: float | None = None
    frequency: NotNegative | None = None
    shift: Pair | None = None
    frame: str | None = None
    offset: Vector | None = None
    foot: str | None = None
    height: Positive | None = None
    hold: NotNegative | None = None
    contact: str | None = None
    force: Positive | None = None
    stroke: Vector | None = None


class TaskTable(KindTable):
    """`[[balance.tasks]]`: a task beside balance. Directions: forward, left, up; places: from between the feet.

    Args:
        kind: What it is about.
        frame: Link or frame.
        name: Unique among the tasks; default: kind and frame.
        level: Before the centre of mass ("limbs"), after it ("reach"), or last, beside trunk and posture ("posture").
        weight: Among the tasks of its level.
        stiffness: Of the task [1/s²]; it is critically damped.
        start: When it begins [s].
        end: When it begins to fade out [s]; default: never.
        fade: How long it fades, and moves to its target [s].
        offset: From where the frame is when the task begins [m].
        target: A place [m]: where the frame goes, or what it looks at.
        turn: Rotation vector, from how the frame is when the task begins [rad].
        axis: In the frame: where it looks.
    """

    KINDS: ClassVar[dict[str, str]] = {
        "position": "brings a frame to a place and holds it there",
        "orientation": "turns a frame and holds it so",
        "look": "turns an axis of a frame to a point",
    }
    KEYS: ClassVar[dict[str, set[str]]] = {
        "position": {"offset", "target"},
        "orientation": {"turn"},
        "look": {"target", "axis"},
    }
    NEEDS: ClassVar[dict[str, set[str]]] = {"look": {"target"}}

    kind: Literal["position", "orientation", "look"]
    frame: str
    name: str | None = None
    level: Literal["limbs", "reach", "posture"] = "reach"
    weight: Positive = 1.0
    stiffness: Positive = 200.0
    start: Time = 0.0
    end: Time | None = None
    fade: Positive = 0.5
    offset: Vector | None = None
    target: Vector | None = None
    turn: Vector | None = None
    axis: Vector | None = None


class StanceTable(Table):
    """`[[balance.stances]]`: on which feet the robot stands from a time on. A foot that is missing is lifted.

    The weight is shifted before, so that the foot leaves at `start`; it touches about when the next stance begins.

    Args:
        start: When it begins [s].
        feet: Feet on which it stands: all, or all but one.
        shift: How long the weight is shifted before [s].
        height: How high the other foot is lifted [m]; default: 5 % of the height of the centre of mass.
    """

    start: Time
    feet: list[str]
    shift: Positive = 1.0
    height: Positive | None = None


class BalanceTable(Table):
    """`[balance]`: what a robot does while it stands, for the controller `balance`.

    Args:
        moves: In order.
        tasks: Held or looked at besides.
        stances: On which feet, in order of time; before the first and in the last one on all.
        gain: How fast errors of the capture point vanish [1/s].
        steps: Whether a biped steps when it is pushed beyond what it can hold.
        output: What the drives are told: torques; positions, from which their springs make the torques; or positions
            that also give way to measured forces, for springs that are not known well.
    """

    moves: list[MoveTable] = []
    tasks: list[TaskTable] = []
    stances: list[StanceTable] = []
    gain: Annotated[float, Field(gt=0.0, le=100.0)] | None = None
    steps: bool = False
    output: Literal["torque", "position", "admittance"] = "torque"
