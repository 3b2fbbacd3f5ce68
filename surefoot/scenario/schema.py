"""What a scenario file says: `Scenario` and its tables."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, model_validator

from surefoot.robot.toml_file import StrictModel

__all__ = [
    "ControllerTable",
    "GroundTable",
    "PushTable",
    "RobotTable",
    "Scenario",
    "SimulationTable",
    "WorldTable",
]

Positive = Annotated[float, Field(gt=0.0)]
NotNegative = Annotated[float, Field(ge=0.0)]
Vector = tuple[float, float, float]


class RobotTable(StrictModel):
    """`[robot]`: which robot.

    Args:
        name: Name in the zoo, or a URDF or MJCF file.
        base: "auto", "floating", "planar" or "fixed".
        mimic: "coupling", "reduce" or "free".
    """

    name: str = "g1"
    base: Literal["auto", "floating", "planar", "fixed"] = "auto"
    mimic: Literal["coupling", "reduce", "free"] = "coupling"


_GROUND_KEYS = {
    "plane": {"point", "normal"},
    "box": {"size", "position", "yaw"},
    "stairs": {"steps", "rise", "run", "width", "start"},
    "height_field": {"heights", "cell", "origin"},
}
_GROUND_NEEDS = {
    "plane": set(),
    "box": {"size"},
    "stairs": {"steps", "rise", "run"},
    "height_field": {"heights", "cell"},
}


class GroundTable(StrictModel):
    """`[[world.ground]]`: a piece of ground.

    Args:
        kind: "plane" (point, normal), "box" (size, position, yaw), "stairs" (steps, rise, run, width, start) or
            "height_field" (heights, cell, origin).
        friction: Coulomb coefficient; that of the world if left out.
        point: A point on the plane [m].
        normal: Out of the plane.
        size: Edges of the box [m].
        position: Centre of the box [m].
        yaw: Turn of the box about z [rad].
        steps: Number of steps.
        rise: Height of a step [m].
        run: Depth of a step [m].
        width: Of the stairs [m].
        start: Middle of the lower edge of the first step [m].
        heights: Rows along x of heights along y [m].
        cell: Distance of the grid points [m].
        origin: Of the first grid point [m].
    """

    kind: Literal["plane", "box", "stairs", "height_field"]
    friction: NotNegative | None = None
    point: Vector | None = None
    normal: Vector | None = None
    size: tuple[Positive, Positive, Positive] | None = None
    position: Vector | None = None
    yaw: float | None = None
    steps: Annotated[int, Field(ge=1, le=1000)] | None = None
    rise: Positive | None = None
    run: Positive | None = None
    width: Positive | None = None
    start: Vector | None = None
    heights: list[list[float]] | None = None
    cell: Positive | None = None
    origin: Vector | None = None

    @model_validator(mode="after")
    def _keys_fit_the_kind(self) -> GroundTable:
        given = {key for key in self.model_fields_set if getattr(self, key) is not None} - {"kind", "friction"}
        if wrong := sorted(given - _GROUND_KEYS[self.kind]):
            raise ValueError(f"a {self.kind} has no `{wrong[0]}`; it has {', '.join(sorted(_GROUND_KEYS[self.kind]))}")
        if missing := sorted(_GROUND_NEEDS[self.kind] - given):
            raise ValueError(f"a {self.kind} needs `{missing[0]}`")
        return self


class WorldTable(StrictModel):
    """`[world]`: what the robot stands on.

    Args:
        friction: Coulomb coefficient of ground that has none of its own.
        gravity: In world [m/s²].
        ground: Pieces of ground; if there are none, level ground at z = 0 for robots that stand, nothing for robots
            that are fixed to the world.
    """

    friction: NotNegative = 0.7
    gravity: Vector = (0.0, 0.0, -9.81)
    ground: list[GroundTable] = []


class ControllerTable(StrictModel):
    """`[controller]`: who decides what the drives do.

    Args:
        kind: "joint_pd": hold the home posture with joint springs and gravity compensation.
        bandwidth: ω of the joints [rad/s].
        damping_ratio: ζ of the joints.
    """

    kind: Literal["joint_pd"] = "joint_pd"
    bandwidth: Positive = 12.0
    damping_ratio: Positive = 0.7


class SimulationTable(StrictModel):
    """`[simulation]`: how it is simulated.

    Args:
        duration: How long [s].
        dt: Step of the physics [s].
        control_dt: Time between commands [s], a multiple of dt; dt if left out.
        seed: Of all randomness.
        initial_spread: Standard deviation of the first joint positions around home [rad] or [m].
        self_collision: Whether the robot may touch itself.
    """

    duration: Annotated[float, Field(gt=0.0, le=36000.0)] = 5.0
    dt: Annotated[float, Field(ge=1e-6, le=0.1)] = 0.002
    control_dt: Positive | None = None
    seed: Annotated[int, Field(ge=0, lt=2**63)] = 0
    initial_spread: NotNegative = 0.0
    self_collision: bool = False


class PushTable(StrictModel):
    """`[[events]]` of kind "push": a constant force on a link for a while.

    Args:
        kind: "push".
        time: When it begins [s].
        duration: How long it lasts [s].
        link: The link; the base of the robot if left out.
        speed: Impulse per mass of the robot [m/s]; or
        impulse: the impulse itself [N s].
        direction: Of the force, in world.
    """

    kind: Literal["push"] = "push"
    time: NotNegative = 1.0
    duration: Positive = 0.1
    link: str | None = None
    speed: NotNegative = 0.1
    impulse: NotNegative | None = None
    direction: Vector = (1.0, 1.0, 0.0)

    @model_validator(mode="after")
    def _has_a_direction(self) -> PushTable:
        if sum(x * x for x in self.direction) < 1e-18:
            raise ValueError("the direction of a push must not be zero")
        return self


class Scenario(StrictModel):
    """A scenario file.

    Args:
        name: Its name, also of the folder that a run writes.
        description: One line.
        robot: Which robot.
        world: What it stands on.
        controller: Who decides.
        simulation: How it is simulated.
        events: What happens.
    """

    name: Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$")]
    description: str = ""
    robot: RobotTable = RobotTable()
    world: WorldTable = WorldTable()
    controller: ControllerTable = ControllerTable()
    simulation: SimulationTable = SimulationTable()
    events: list[PushTable] = []
