"""The `[controller]` table of a scenario file."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from pydantic import Field

from surefoot.scenario.schema.kinds import KindTable, NotNegative, Pair, Positive, Time, Vector
from surefoot.scenario.table import Table


class KeyframeTable(Table):
    """`[[controller.keyframes]]`: a posture at a given time.

    Args:
        time: When [s].
        joints: Position [rad] or [m] by joint; the others stay unchanged.
    """

    time: Time
    joints: dict[str, float]


class WaveTable(Table):
    """`[controller.waves.JOINT]`: a harmonic motion.

    Args:
        amplitude: [rad] or [m].
        frequency: [Hz].
        phase: [rad].
    """

    amplitude: float
    frequency: Positive
    phase: float = 0.0


class ForcePointTable(Table):
    """`[[controller.points]]`: torques at a time.

    Args:
        time: When [s].
        torques: [N m] or [N] by joint; zero for joints that are not listed.
    """

    time: Time
    torques: dict[str, float]


_GAINS = {"bandwidth", "damping_ratio"}


class ControllerTable(KindTable):
    """`[controller]`: computes the commands of the drives.

    Args:
        kind: Which controller.
        bandwidth: Natural frequency ω of the joints [rad/s].
        damping_ratio: Damping ratio ζ of the joints.
        keyframes: Postures.
        waves: Harmonic motions by joint.
        start: When the motion begins [s].
        cycles: Number of cycles.
        joints: The joints that move.
        speed: Norm of the joint velocities [rad/s]; commanded speed of a walk [m/s].
        angular_only: Whether only the angular reaction must vanish.
        length: Length of a stroke along the path in joint space [rad].
        strokes: Number of strokes, alternately forth and back.
        direction: Initial direction of the motion, by joint.
        gravity: Whether gravity is compensated by feedforward.
        frame: The frame that moves, or that rests while the base turns.
        displacement: Of the frame, in world axes [m].
        duration: Of the motion [s].
        points: Torques.
        error: Share by which the masses and the length that the controller believes are wrong.
        trust: Share of a measurement in the estimate.
        gains: Stiffness of the pole's turn and height, and of the cart's feed.
        method: Which classic controller; `surefoot compare-controllers` names them.
        pace: How many times as fast as the robot falls the loops of a classic controller are.
        com: Stiffness and damping of its centre of mass [1/s²], [1/s]; default: by the pace.
        base_schedule: Times [s] with stiffness and damping of its base [1/s²], [1/s], linear in between.
        momentum: Its damping of angular momentum [1/s].
        rolling: Relative angular acceleration per angle by which soles have rolled [1/s²], of `momentum_damping`.
        lean: How far it moves the centre of mass in the first 0.8 s, in world axes [m].
        speed_share: Share of the joints' speed limits that it keeps, with those of position; default: it ignores both.
        press: What contacts that do not stand press with, of `motion_force`: by name, rows of a time [s] and a normal
            force [N], or of a time and a wrench on the robot, in world axes [N], [N m]; linear in between.
    """

    KINDS: ClassVar[dict[str, str]] = {
        "joint_pd": "holds the initial posture with joint springs and gravity compensation",
        "limp": "applies no torque",
        "joint_path": "moves through postures",
        "joint_waves": "moves joints sinusoidally",
        "reactionless": "moves joints without reacting on the base",
        "inversion": "turns the base about a frame that rests in space",
        "hand_reach": "moves a frame along a line",
        "force_schedule": "applies given torques over time",
        "follow": "follows the plan of `[motion]`",
        "follow_body": "follows the plan of `[motion]` by whole-body control; contacts may change",
        "walk": "walks the way of `[walk]`, by whole-body control",
        "balance": "stands and makes the moves of `[balance]`, by whole-body control",
        "classic": "stands by a controller of the literature, see `method`",
        "swing_up": "swings up the pole of a cart-pole, by the layers of Busenhart 1994",
        "layered_walk": "walks in the plane at a commanded speed, by the layers of Busenhart 1994",
        "mpc": "stands or trots by the receding horizon of `[mpc]`",
    }
    KEYS: ClassVar[dict[str, set[str]]] = {
        "joint_pd": _GAINS,
        "limp": set(),
        "joint_path": {"keyframes", "gravity", *_GAINS},
        "joint_waves": {"waves", "start", "cycles", "gravity", *_GAINS},
        "reactionless": {"joints", "speed", "angular_only", "length", "strokes", "direction", "start", *_GAINS},
        "inversion": {"joints", "speed", "frame", "length", "strokes", "direction", "start", *_GAINS},
        "hand_reach": {"frame", "displacement", "joints", "start", "duration", "gravity", *_GAINS},
        "force_schedule": {"points"},
        "follow": _GAINS,
        "follow_body": set(),
        "walk": set(),
        "balance": set(),
        "classic": {"method", "pace", "com", "base_schedule", "momentum", "rolling", "lean", "speed_share", "press"},
        "swing_up": {"error", "trust", "gains"},
        "layered_walk": {"speed"},
        "mpc": set(),
    }
    NEEDS: ClassVar[dict[str, set[str]]] = {
        "joint_path": {"keyframes"},
        "joint_waves": {"waves"},
        "reactionless": {"joints", "speed"},
        "inversion": {"joints", "speed", "frame"},
        "hand_reach": {"frame", "displacement"},
        "force_schedule": {"points"},
    }

    kind: Literal[
        "joint_pd", "limp", "joint_path", "joint_waves", "reactionless", "inversion", "hand_reach", "force_schedule",
        "follow", "follow_body", "walk", "balance", "classic", "swing_up", "layered_walk", "mpc",
    ] = "joint_pd"  # fmt: skip
    bandwidth: Annotated[float, Field(gt=0.0, le=1e6)] | None = None
    damping_ratio: Positive | None = None
    keyframes: list[KeyframeTable] | None = None
    waves: dict[str, WaveTable] | None = None
    start: Time | None = None
    cycles: Annotated[int, Field(ge=1)] | None = None
    joints: list[str] | None = None
    speed: Positive | None = None
    angular_only: bool | None = None
    length: Positive | None = None
    strokes: Annotated[int, Field(ge=1)] | None = None
    direction: dict[str, float] | None = None
    gravity: bool | None = None
    frame: str | None = None
    displacement: Vector | None = None
    duration: Positive | None = None
    points: list[ForcePointTable] | None = None
    error: Annotated[float, Field(ge=0.0, lt=1.0)] | None = None
    trust: Annotated[float, Field(gt=0.0, le=1.0)] | None = None
    gains: Vector | None = None
    method: str | None = None
    pace: Annotated[float, Field(gt=1.0, le=20.0)] | None = None
    com: Pair | None = None
    base_schedule: list[Vector] | None = None
    momentum: NotNegative | None = None
    rolling: NotNegative | None = None
    lean: Vector | None = None
    speed_share: Annotated[float, Field(gt=0.0, le=1.0)] | None = None
    press: dict[str, list[list[float]]] | None = None
