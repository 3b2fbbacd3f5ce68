"""The `[motion]` table of a scenario file: motions that are planned before the run."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from pydantic import Field

from surefoot.scenario.schema.kinds import Cycle, Duration, Hold, KindTable, NotNegative, Positive, PositivePair, Vector
from surefoot.scenario.table import Table

Negative = Annotated[float, Field(lt=0.0)]
Share = Annotated[float, Field(gt=0.0, lt=1.0)]


class WeightsTable(Table):
    """`[motion.weights]`: cost weights of a motion.

    Args:
        velocity: Weight of squared joint velocities.
        collision: Weight of proximity to obstacles.
        limits: Weight of proximity to joint limits.
        change: Weight of the squared rate of the free part of the joint velocities [s²]; 0 allows jumps.
    """

    velocity: Positive = 1.0
    collision: NotNegative
    limits: NotNegative
    change: NotNegative = 0.0


class StepTable(Table):
    """`[motion.step]`: a step planned without obstacles, and how it evades them. The stance foot is at x = 0.

    Args:
        behind: Where the swing foot starts, behind the stance foot [m].
        ahead: Where it lands, ahead of the stance foot [m].
        apart: Lateral distance of the feet [m].
        lift: Planned height of the foot [m].
        tilt: Downward pitch of the toes at this height [rad].
        sink: How far the base is below its home height [m].
        shift: Time to shift the weight to the stance foot before the swing, and back after it [s].
        gives_way: Axes along which the swing foot may evade.
        off: When the potentials are switched off, as a fraction of the swing.
        reach: Distance at which the foot starts to evade [m].
        slope: Evasion rate at contact [m/s], negative.
        attraction: Rate of return to the plan [1/s].
    """

    behind: float
    ahead: float
    apart: Positive
    lift: Positive
    tilt: float = 0.0
    sink: float = 0.0
    shift: Annotated[float, Field(gt=0.0, le=60.0)] = 1.0
    gives_way: Literal["x", "y", "z", "xy", "xz", "yz", "xyz"] = "yz"
    off: Share = 0.8
    reach: Positive = 0.05
    slope: Negative = -2.0
    attraction: NotNegative = 4.0


class MotionTable(KindTable):
    """`[motion]`: a planned motion, executed by the controller `follow`.

    Args:
        kind: Which motion.
        duration: Of the motion [s] unless it must slow down; of one figure eight, one synergy, or the swing of a foot.
        rate_limit: Largest joint rate [rad/s]: the norm over all joints for `com_rise`, else per joint.
        rise: Height to rise [m]; default: what the robot can do comfortably.
        frame: The frame that moves; default: the end of the longest chain, or the first foot.
        centre: Of the eight, relative to the home position of the frame, in world axes [m].
        size: Half width and half height of the eight [m].
        plane: Plane of the eight, in world axes; its width is along the first axis.
        cycles: Number of eights.
        orientation: Whether the frame keeps its home orientation.
        tilt: Additional rotation of the frame about the plane's normal with each further cycle [rad].
        damping: Damping λ of the damped inverse used for comparison.
        points: Targets of the frame in order, relative to its initial position, in world axes [m].
        joints: Initial posture [rad] or [m]; default: home.
        hands: Target position in world [m] by frame.
        hold: How long the frame stays at the end [s].
        method: Which plan to execute; "unaware" ignores obstacles.
        horizon: Planning horizon of the predictive method [s].
        other_horizons: Further horizons to compare with [s].
        cycle: Cycle time of the planned control loop [s].
        influence: Distance below which repulsion acts [m].
        tool_radius: Radius of a tool along the line from the last joint to the frame [m]; default: no tool.
        tolerance: Allowed deviation of the frame from its path [m].
        weights: Of the predictive method.
        local_weights: Of the local method.
        step: Of the foot that swings.
        nodes: Number of nodes of an optimal-control problem.
        dynamics: Formulation: inverse dynamics (accelerations and contact forces are controls), forward dynamics, or
            the relaxed inverse dynamics IdOP.
        integrator: Formulation: a shooting step, or a collocation.
        control: Formulation: controls that are constant, piecewise linear, or have piecewise linear rates.
        objective: What is least: "energy" or "time" of a swing-up; of a walk one of Koch's five.
        solver: Solver of the optimal-control problem.
        depth: How far the centre of mass is lowered [m].
        height: How far the centre of mass rises in the air [m].
        length: How far a bound or a step leads [m].
        strict_zmp: Whether the zero-moment point stays near the middle of the soles and the line between them.
        free_foot: Whether length and width of steps are free.
        highest: Whether the obstacle is made as high as the robot can step over, and put where that is best.
        pressure_box: Half the side of the square below an ankle in which the centre of pressure of its foot stays [m].
        steps: How many steps of a periodic walk are executed.
    """

    KINDS: ClassVar[dict[str, str]] = {
        "com_rise": "raises the centre of mass over fixed feet, through straight knees",
        "figure_eight": "a hand traces a figure eight through singular postures",
        "harvest": "a hand moves from point to point among obstacles, looking ahead",
        "swing_over": "a foot swings past obstacles that are not in its plan",
        "reach": "hands reach targets while the feet stay fixed and the robot keeps its balance without collisions",
        "synergies": "moves arms, hands, and centre of mass with base, alone and together, on fixed feet",
        "swingup": "swings a pole up with its cart, by optimal control",
        "squat_fast": "squats and rises with least effort, by optimal control",
        "jump": "jumps on the spot, by optimal control",
        "bound": "bounds forward on four feet, by optimal control",
        "ocp_walk": "a periodic walking step with least effort, by optimal control",
        "overstep": "steps over a box that lies across the way, by optimal control",
    }
    KEYS: ClassVar[dict[str, set[str]]] = {
        "com_rise": {"rise", "duration", "rate_limit"},
        "synergies": {"duration"},
        "figure_eight": {
            "frame", "centre", "size", "plane", "cycles", "orientation", "tilt", "duration", "rate_limit", "damping"
        },
        "harvest": {
            "frame", "points", "joints", "duration", "hold", "method", "horizon", "other_horizons", "cycle",
            "influence", "tool_radius", "tolerance", "weights", "local_weights",
        },
        "reach": {"hands", "duration", "hold", "cycle", "influence", "tolerance"},
        "swing_over": {"frame", "duration", "cycle", "step"},
        "swingup": {"nodes", "dynamics", "integrator", "control", "objective", "solver", "duration"},
        "squat_fast": {"nodes", "duration", "depth", "integrator", "solver"},
        "jump": {"height", "solver"},
        "bound": {"length", "solver"},
        "ocp_walk": {"length", "objective", "strict_zmp", "free_foot", "steps", "solver"},
        "overstep": {"length", "highest", "pressure_box", "solver"},
    }  # fmt: skip
    NEEDS: ClassVar[dict[str, set[str]]] = {
        "harvest": {"frame", "points", "duration"},
        "swing_over": {"duration", "step"},
    }

    kind: Literal[
        "com_rise", "figure_eight", "harvest", "swing_over", "reach", "synergies",
        "swingup", "squat_fast", "jump", "bound", "ocp_walk", "overstep",
    ]  # fmt: skip
    duration: Duration | None = None
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
    hold: Hold | None = None
    method: Literal["predictive", "local", "unaware"] | None = None
    horizon: Positive | None = None
    other_horizons: list[Positive] | None = None
    cycle: Cycle | None = None
    influence: Positive | None = None
    tool_radius: Positive | None = None
    tolerance: Positive | None = None
    weights: WeightsTable | None = None
    local_weights: WeightsTable | None = None
    step: StepTable | None = None
    nodes: Annotated[int, Field(ge=3, le=1001)] | None = None
    dynamics: Literal["inverse", "forward", "idop"] | None = None
    integrator: Literal["semi_implicit", "rk4", "hermite_simpson", "radau"] | None = None
    control: Literal["constant", "plc", "plci"] | None = None
    objective: Literal["energy", "time", "torque", "speed", "postural", "efficiency", "joint_speed"] | None = None
    solver: Literal["ipopt", "fatrop", "riccati", "sqp"] | None = None
    depth: Positive | None = None
    height: Positive | None = None
    length: Positive | None = None
    strict_zmp: bool | None = None
    free_foot: bool | None = None
    highest: bool | None = None
    pressure_box: Positive | None = None
    steps: Annotated[int, Field(ge=1, le=100)] | None = None
