"""What a scenario file says: `Scenario` and its tables."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from surefoot.scenario.schema.controllers import ControllerTable
from surefoot.scenario.schema.events import EventTable
from surefoot.scenario.schema.kinds import NotNegative, Pair, Positive, Vector
from surefoot.scenario.schema.motions import MotionTable
from surefoot.scenario.schema.world import WorldTable
from surefoot.scenario.table import Table

__all__ = [
    "AuditTable",
    "ConstraintMethod",
    "EstimatorTable",
    "InitialTable",
    "RobotTable",
    "Scenario",
    "SensorsTable",
    "SimulationTable",
]

_NAME = "text of at most 100 letters, digits, dots, - and _, the first a letter or digit"


class RobotTable(Table):
    """`[robot]`: which robot.

    Args:
        name: Name in the zoo (`surefoot robots`), or a URDF or MJCF file: its path from the folder of the scenario
            file, or from where you are.
        base: How it is tied to the world; "auto" for what the robot says, else floating for a robot with legs.
        mimic: Joints that follow others: kept, with their couplings ("coupling"), taken away ("reduce"), or "free".
        drives: Kind of all drives; "auto" for what each drive says of itself.
    """

    name: str = "g1"
    base: Literal["auto", "floating", "planar", "fixed"] = "auto"
    mimic: Literal["coupling", "reduce", "free"] = "coupling"
    drives: Literal["auto", "torque", "torque_speed", "dc_motor", "elastic", "servo"] = "auto"


class InitialTable(Table):
    """`[initial]`: how it begins; at home and at rest where nothing is said.

    Args:
        joints: Positions [rad] or [m] by joint.
        position: Where the base is, x and y in world [m]; that of home if left out. A robot that floats is put on the
            ground there.
        on_slope: Whether its base is turned with the ground under it.
        lift: How much higher than there the base is [m].
        velocity: Of the base, in world [m/s].
    """

    joints: dict[str, float] = {}
    position: Pair | None = None
    on_slope: bool = False
    lift: float = 0.0
    velocity: Vector = (0.0, 0.0, 0.0)


class SensorsTable(Table):
    """`[sensors]`: what is measured.

    Args:
        kind: "default": those of a legged robot of today.
        dropout: Share of the readings that never arrive, of every sensor.
        burst: Mean length of a drop-out [s]; 0 where each reading is lost or not by itself.
        imu: Link or frame that carries the IMU; the base if left out.
    """

    kind: Literal["none", "ideal", "default"] = "none"
    dropout: Annotated[float, Field(ge=0.0, lt=1.0)] = 0.0
    burst: NotNegative = 0.0
    imu: str | None = None


class EstimatorTable(Table):
    """`[estimator]`: what the controller sees.

    Args:
        kind: "none": the truth; "base": a filter of IMU, encoders and contacts.
    """

    kind: Literal["none", "base"] = "none"


ConstraintMethod = Literal[
    "auto", "lagrange", "gauss", "elimination", "maggi_svd", "maggi_qr", "aghili", "range_space", "udwadia_kalaba",
    "recursive", "iterative", "minimal", "pinocchio",
]  # fmt: skip


class SimulationTable(Table):
    """`[simulation]`: how it is simulated.

    Args:
        engine: Whose physics: MuJoCo's, or our own.
        duration: How long [s].
        dt: Step of the physics [s].
        control_dt: Time between commands [s], a multiple of dt; dt if left out.
        seed: Of all randomness.
        initial_spread: Standard deviation of the first joint positions around the initial ones [rad] or [m].
        self_collision: Whether the robot may touch itself (`mujoco`).
        convex_pieces: Whether meshes touch by convex pieces instead of their hulls (`mujoco`).
        contact: Contact model (`native`).
        integrator: (`native`).
        method: How the acceleration of a robot with closed chains, couplings or held surfaces is found (`native`); see
            `docs/constraints.md`.
        stabilisation: What keeps it on its constraints (`native`): "projection" after each step if left out.
        alpha: Gain of "baumgarte" on the velocities of gaps [1/s] (`native`).
        beta: Gain of "baumgarte" on gaps [1/s]; alpha if left out (`native`).
        held: Contact surfaces that constraints hold where they are at the start (`native`).
    """

    engine: Literal["mujoco", "native"] = "mujoco"
    duration: Annotated[float, Field(gt=0.0, le=36000.0)] = 5.0
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
    """`[audit]`: how the motion of the run is audited; the verdict of the run does not depend on it.

    Args:
        kind: "quick": without collisions.
    """

    kind: Literal["full", "quick", "none"] = "full"


class Scenario(Table):
    """A scenario file.

    Args:
        name: Its name, also of the folder that a run writes.
        description: One line.
        study: What is measured and judged beside the usual.
        robot: Which robot.
        world: Where it is.
        initial: How it begins.
        motion: What is planned before the run.
        controller: Who decides.
        sensors: What is measured.
        estimator: What the controller sees.
        simulation: How it is simulated.
        events: What happens.
        audit: How its motion is audited.
    """

    name: Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$", description=_NAME)]
    description: str = ""
    study: Literal[
        "none", "stand", "drop", "slide", "touch", "free_floating", "motion", "reach", "servo", "estimate",
        "mechanism", "pendulum_drift", "gears", "impact", "formalism",
    ] = "none"  # fmt: skip
    robot: RobotTable = RobotTable()
    world: WorldTable = WorldTable()
    initial: InitialTable = InitialTable()
    motion: MotionTable | None = None
    controller: ControllerTable = ControllerTable()
    sensors: SensorsTable = SensorsTable()
    estimator: EstimatorTable = EstimatorTable()
    simulation: SimulationTable = SimulationTable()
    events: list[EventTable] = []
    audit: AuditTable = AuditTable()
