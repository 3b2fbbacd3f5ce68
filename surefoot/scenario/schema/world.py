"""The `[world]` table of a scenario file."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal, Self

from pydantic import Field, Strict, model_validator

from surefoot.scenario.schema.kinds import Edges, Friction, KindTable, NotNegative, Positive, Time, Vector
from surefoot.scenario.table import Table, complaint

Blocks = Annotated[int, Field(ge=1, le=30)]
Acceleration = Annotated[float, Field(ge=-1000.0, le=1000.0)]


class GroundMotionTable(KindTable):
    """`[world.ground.motion]`: how a box of ground moves.

    Args:
        kind: Whether what stands on it moves it.
        translation: Amplitude of a sine, in world [m].
        rotation: Amplitude of a sine, a rotation vector in world [rad].
        frequency: Of the sine, which grows within its first period [Hz].
        start: Beginning of the sine [s].
        times: Of keyframes; from one to the next the box moves from rest to rest [s].
        translations: At the keyframes [m].
        rotations: At the keyframes, rotation vectors [rad].
        mass: Of the board [kg].
        axis: Of the pivot, in the axes of the box.
        point: On that axis, from the box's centre [m].
        stiffness: Of the pivot's spring [N m/rad].
        damping: Of the pivot [N m s/rad].
        angle: At the start [rad].
    """

    KINDS: ClassVar[dict[str, str]] = {
        "law": "by a law over time, whatever stands on it",
        "pivot": "a board that tilts about an axis, under a spring, a damper and its load",
    }
    KEYS: ClassVar[dict[str, set[str]]] = {
        "law": {"translation", "rotation", "frequency", "start", "times", "translations", "rotations"},
        "pivot": {"mass", "axis", "point", "stiffness", "damping", "angle"},
    }
    NEEDS: ClassVar[dict[str, set[str]]] = {"pivot": {"mass"}}

    kind: Literal["law", "pivot"]
    translation: Vector | None = None
    rotation: Vector | None = None
    frequency: Annotated[float, Field(gt=0.0, le=100.0)] | None = None
    start: Time | None = None
    times: list[Time] | None = None
    translations: list[Vector] | None = None
    rotations: list[Vector] | None = None
    mass: Positive | None = None
    axis: Vector | None = None
    point: Vector | None = None
    stiffness: NotNegative | None = None
    damping: NotNegative | None = None
    angle: float | None = None


class GroundTable(KindTable):
    """`[[world.ground]]`: a piece of ground.

    Args:
        kind: Kind of ground.
        friction: Coulomb coefficient; default: that of the world.
        point: A point on the plane [m].
        normal: Outward normal of the plane.
        size: Edges of the box [m].
        position: Centre of the box [m].
        yaw: Rotation of the box about z [rad].
        rpy: Orientation of the box in place of `yaw`, for slopes: roll, pitch and yaw about the world axes [rad].
        near: Contact surface of the robot from which, at home, position and yaw count, x to where the robot looks.
        motion: How the box moves; default: it rests.
        steps: Number of steps.
        rise: Height of a step, or largest height of blocks [m].
        run: Depth of a step [m].
        width: Of the stairs [m].
        start: Midpoint of the lower edge of the first step [m].
        heights: Rows along x of heights along y [m].
        cell: Spacing of the grid points, or edge of the blocks [m].
        origin: Position of the first grid point or block [m].
        count: Number of blocks along x and along y.
        seed: Of the heights of blocks; default: that of the run.
    """

    KINDS: ClassVar[dict[str, str]] = {
        "plane": "an infinite plane, level or sloped",
        "box": "a box to stand on, to lean on or to bump into, upright or sloped",
        "stairs": "stairs that ascend along x",
        "height_field": "a grid of heights",
        "blocks": "square blocks side by side, of random heights",
    }
    KEYS: ClassVar[dict[str, set[str]]] = {
        "plane": {"point", "normal"},
        "box": {"size", "position", "yaw", "rpy", "near", "motion"},
        "stairs": {"steps", "rise", "run", "width", "start"},
        "height_field": {"heights", "cell", "origin"},
        "blocks": {"count", "cell", "rise", "origin", "seed"},
    }
    NEEDS: ClassVar[dict[str, set[str]]] = {
        "box": {"size"},
        "stairs": {"steps", "rise", "run"},
        "height_field": {"heights", "cell"},
        "blocks": {"count", "cell", "rise"},
    }

    kind: Literal["plane", "box", "stairs", "height_field", "blocks"]
    friction: Friction | None = None
    point: Vector | None = None
    normal: Vector | None = None
    size: Edges | None = None
    position: Vector | None = None
    yaw: float | None = None
    rpy: Vector | None = None
    near: str | None = None
    motion: GroundMotionTable | None = None
    steps: Annotated[int, Field(ge=1, le=1000)] | None = None
    rise: Positive | None = None
    run: Positive | None = None
    width: Positive | None = None
    start: Vector | None = None
    heights: list[list[float]] | None = None
    cell: Positive | None = None
    origin: Vector | None = None
    count: Annotated[tuple[Blocks, Blocks], Strict(False)] | None = None
    seed: Annotated[int, Field(ge=0)] | None = None

    @model_validator(mode="after")
    def _one_orientation(self) -> Self:
        if self.yaw is not None and self.rpy is not None:
            raise complaint("rpy", self.rpy, "a box has either `yaw` or `rpy`")
        return self


class ObjectTable(KindTable):
    """`[[world.objects]]`: a movable object that can be pushed, lifted and carried.

    Args:
        kind: Its shape.
        name: Its name.
        mass: [kg].
        position: Initial position of its centre [m].
        yaw: Initial rotation about z [rad].
        size: Edges of the box [m].
        radius: [m].
        length: Of the cylinder [m].
    """

    KINDS: ClassVar[dict[str, str]] = {
        "box": "with edges along its axes",
        "sphere": "around its centre",
        "cylinder": "along its z axis",
    }
    KEYS: ClassVar[dict[str, set[str]]] = {"box": {"size"}, "sphere": {"radius"}, "cylinder": {"radius", "length"}}
    NEEDS: ClassVar[dict[str, set[str]]] = KEYS

    kind: Literal["box", "sphere", "cylinder"]
    name: str
    mass: Positive
    position: Vector = (0.0, 0.0, 0.0)
    yaw: float = 0.0
    size: Edges | None = None
    radius: Positive | None = None
    length: Positive | None = None


class ObstacleTable(KindTable):
    """`[[world.obstacles]]`: a fixed obstacle that must not be touched; feet and hands may if it is touchable.

    Args:
        kind: Its shape.
        name: Its name.
        position: Of its centre [m].
        rpy: Orientation: roll, pitch and yaw about the world axes, in that order [rad].
        size: Edges of the box [m].
        radius: [m].
        length: Along z, of a capsule without its caps [m].
        friction: Coulomb coefficient; default: that of the world.
        touchable: Whether contact surfaces may touch it: walls, rails, tables.
    """

    KINDS: ClassVar[dict[str, str]] = {**ObjectTable.KINDS, "capsule": "along its z axis, with round ends"}
    KEYS: ClassVar[dict[str, set[str]]] = {**ObjectTable.KEYS, "capsule": {"radius", "length"}}
    NEEDS: ClassVar[dict[str, set[str]]] = KEYS

    kind: Literal["box", "sphere", "cylinder", "capsule"]
    name: str
    position: Vector = (0.0, 0.0, 0.0)
    rpy: Vector = (0.0, 0.0, 0.0)
    size: Edges | None = None
    radius: Positive | None = None
    length: Positive | None = None
    friction: Friction | None = None
    touchable: bool = False


class WorldTable(Table):
    """`[world]`: ground, obstacles and objects around the robot.

    Args:
        friction: Coulomb coefficient of ground pieces without their own.
        gravity: In world [m/s²].
        empty: Whether there is no ground.
        ground: Pieces of ground; default: level ground at z = 0 for robots that stand, none for fixed-base robots.
        unit: Of the lengths of `ground`: "m"; "leg" for the length of a leg of a biped; "body" for the height h of the
            centre of mass at home, with masses in that of the robot, M, and frequencies, stiffness and damping of
            moving ground in √(g/h), M g h and M h √(g h).
        obstacles: Fixed obstacles that must not be touched, or only by feet and hands.
        objects: Movable objects.
    """

    friction: Friction = 0.7
    gravity: Annotated[tuple[Acceleration, Acceleration, Acceleration], Strict(False)] = (0.0, 0.0, -9.81)
    empty: bool = False
    ground: list[GroundTable] = []
    unit: Literal["m", "leg", "body"] = "m"
    obstacles: Annotated[list[ObstacleTable], Field(max_length=2000)] = []
    objects: Annotated[list[ObjectTable], Field(max_length=500)] = []

    @model_validator(mode="after")
    def _empty_means_no_ground(self) -> Self:
        if self.empty and self.ground:
            raise complaint("empty", True, "a world that is `empty` has no `ground`")
        return self
