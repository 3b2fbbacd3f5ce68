"""`Scenario`: a scenario file and its tables."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from surefoot.scenario.schema.balance import BalanceTable
from surefoot.scenario.schema.controllers import ControllerTable
from surefoot.scenario.schema.events import EventTable
from surefoot.scenario.schema.kinds import Friction, NotNegative, Pair, Positive, Vector
from surefoot.scenario.schema.motions import MotionTable
from surefoot.scenario.schema.planning import PlannerTable
from surefoot.scenario.schema.receding import MpcTable
from surefoot.scenario.schema.walking import WalkTable
from surefoot.scenario.schema.world import WorldTable
from surefoot.scenario.table import Table, complaint

_NAME = "text of at most 100 letters, digits, dots, - and _, the first a letter or digit"


class TouchTable(Table):
    """`[robot.contacts.NAME]`: a ball with which the robot touches, besides the contact surfaces that it has.

    Args:
        frame: Link or frame that carries it; default: the hand on the left.
        position: Of its centre in that frame [m]; default: at the end of the limb.
        normal: Direction out of what it touches, at home, x to where the robot looks; default: up.
        radius: [m].
        friction: Coulomb coefficient.
    """

    frame: str | None = None
    position: Vector | None = None
    normal: Vector = (0.0, 0.0, 1.0)
    radius: Positive = 0.02
    friction: Friction = 0.7


class RobotTable(Table):
    """`[robot]`: which robot.

    Args:
        name: Robot name (see `surefoot robots`), or a URDF or MJCF file; paths are relative to the scenario file or to
            the current folder.
        base: Connection to the world; "auto" uses the robot's own, else floating for a robot with legs.
        mimic: Treatment of joints that follow others: "coupling" keeps them coupled, "reduce" removes them, "free"
            decouples them.
        drives: Kind of all drives; "auto" uses the kind of each drive.
        contacts: Further contact surfaces by name.
        lock: Joints, or patterns such as "waist_*", that are held, with their positions [rad] or [m].
        only: Joints, or patterns, that stay; all others are held at home. Empty for all.
        home: Home posture: "own" is the robot's, "auto" one in which it stands on its soles, near its own. "usual"
            is "auto" for a robot that balances or walks and has straight legs at home, else "own".
    """

    name: str = "g1"
    base: Literal["auto", "floating", "planar", "fixed"] = "auto"
    mimic: Literal["coupling", "reduce", "free"] = "coupling"
    drives: Literal["auto", "torque", "torque_speed", "dc_motor", "elastic", "servo"] = "auto"
    contacts: dict[str, TouchTable] = {}
    lock: dict[str, float] = {}
    only: list[str] = []
    home: Literal["usual", "own", "auto"] = "usual"


class InitialTable(Table):
    """`[initial]`: the initial state; at home and at rest by default.

    Args:
        joints: Positions [rad] or [m] by joint.
        position: Of the base, x and y in world [m]; default: home. A floating-base robot is placed on the ground there.
        heading: Where a robot with feet looks [rad]; default: home.
        on_slope: Whether the base is aligned with the ground under it.
        lift: Additional height of the base [m].
        velocity: Of the base, in world [m/s].
    """

    joints: dict[str, float] = {}
    position: Pair | None = None
    heading: float | None = None
    on_slope: bool = False
    lift: float = 0.0
    velocity: Vector = (0.0, 0.0, 0.0)


class SensorsTable(Table):
    """`[sensors]`: the sensors of the robot.

    Args:
        kind: "default" has the noise of a typical legged robot.
        dropout: Fraction of lost readings of every sensor.
        burst: Mean duration of a dropout [s]; 0 if readings are lost independently.
        imu: Link or frame that carries the IMU; default: the base.
        delay: Of all readings [s]; default: that of each sensor.
        encoder_noise: Standard deviation of positions and speeds, joint by joint [rad, m; per second]; default: that of
            the kind.
    """

    kind: Literal["none", "ideal", "default"] = "none"
    dropout: Annotated[float, Field(ge=0.0, lt=1.0)] = 0.0
    burst: NotNegative = 0.0
    imu: str | None = None
    delay: Annotated[float, Field(ge=0.0, le=1.0)] | None = None
    encoder_noise: list[NotNegative] | None = None


class EstimatorTable(Table):
    """`[estimator]`: the state that the controller sees.

    Args:
        kind: "none": the true state; "base": a filter of IMU, encoders and contacts.
        point_drift: How fast footholds may wander [m/√s]; default: 0.001, for ground that rests.
    """

    kind: Literal["none", "base"] = "none"
    point_drift: Positive | None = None


ConstraintMethod = Literal[
    "auto", "lagrange", "gauss", "elimination", "maggi_svd", "maggi_qr", "aghili", "range_space", "udwadia_kalaba",
    "recursive", "iterative", "minimal", "pinocchio",
]  # fmt: skip


class SimulationTable(Table):
    """`[simulation]`: engine, step sizes and numerical methods.

    Args:
        engine: MuJoCo, or surefoot's native engine.
        duration: Simulated time [s]; default: as long as the walk of `[walk]` takes, else 5 s.
        dt: Physics step [s].
        control_dt: Control period [s], a multiple of dt; default: dt.
        seed: Random seed.
        initial_spread: Standard deviation of random changes to the initial joint positions [rad] or [m].
        self_collision: Whether the robot collides with itself (`mujoco`).
        convex_pieces: Whether meshes collide as convex pieces instead of convex hulls (`mujoco`).
        contact: Contact model (`native`).
        integrator: Integration method (`native`).
        method: Solution method for closed chains, couplings and held surfaces (`native`); see `docs/constraints.md`.
        stabilisation: Method that prevents constraint drift (`native`); default: "projection" after each step.
        alpha: Gain of "baumgarte" on gap rates [1/s] (`native`).
        beta: Gain of "baumgarte" on gaps [1/s]; default: alpha (`native`).
        held: Contact surfaces that are held at their initial placement by constraints (`native`).
    """

    engine: Literal["mujoco", "native"] = "mujoco"
    duration: Annotated[float, Field(gt=0.0, le=36000.0)] | None = None
    dt: Annotated[float, Field(ge=1e-6, le=0.1)] = 0.002
    control_dt: Positive | None = None
    seed: Annotated[int, Field(ge=0, lt=2**63)] = 0
    initial_spread: NotNegative = 0.0
    self_collision: bool = False
    convex_pieces: bool = False
    contact: Literal["spring_damper", "penalty_pid", "visco_elastic", "rigid"] | None = None
    integrator: Literal["semi_implicit", "rk4"] | None = None
    method: ConstraintMethod | None = None
    stabilisation: Literal["none", "baumgarte", "projection"] | None = None
    alpha: NotNegative | None = None
    beta: NotNegative | None = None
    held: list[str] | None = None


class AuditTable(Table):
    """`[audit]`: the audit of the run's motion; it does not affect the verdict of the run.

    Args:
        kind: "quick" skips collisions.
    """

    kind: Literal["full", "quick", "none"] = "full"


class Scenario(Table):
    """A scenario file.

    Args:
        name: Name of the scenario, also used for the run folder.
        description: One-line description.
        study: Additional measurements and pass criteria.
        robot: The robot.
        world: Ground, obstacles and objects.
        initial: The initial state.
        motion: A motion that is planned before the run.
        planner: Stances and motions that are planned before the run.
        walk: Where to walk.
        balance: Moves of a robot that stands.
        mpc: What a receding horizon does.
        controller: The controller.
        sensors: The sensors.
        estimator: The state estimator.
        simulation: Engine, step sizes and numerical methods.
        events: Pushes and other events.
        audit: The audit of the run's motion.
    """

    name: Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$", description=_NAME)]
    description: str = ""
    study: Literal[
        "none", "stand", "drop", "slide", "touch", "free_floating", "motion", "reach", "servo", "estimate",
        "mechanism", "pendulum_drift", "gears", "impact", "formalism", "walk",
        "balance", "swing_up", "pace", "mpc",
    ] = "none"  # fmt: skip
    robot: RobotTable = RobotTable()
    world: WorldTable = WorldTable()
    initial: InitialTable = InitialTable()
    motion: MotionTable | None = None
    planner: PlannerTable | None = None
    walk: WalkTable | None = None
    balance: BalanceTable = BalanceTable()
    mpc: MpcTable | None = None
    controller: ControllerTable = ControllerTable()
    sensors: SensorsTable = SensorsTable()
    estimator: EstimatorTable = EstimatorTable()
    simulation: SimulationTable = SimulationTable()
    events: Annotated[list[EventTable], Field(max_length=10_000)] = []
    audit: AuditTable = AuditTable()

    @model_validator(mode="after")
    def _no_audit_on_moving_ground(self) -> Self:
        if self.audit.kind != "none" and any(piece.motion is not None for piece in self.world.ground):
            why = 'the audit takes ground for resting; where it moves, use audit.kind = "none"'
            raise complaint("audit", self.audit.kind, why)
        return self
