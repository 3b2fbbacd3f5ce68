"""What a scenario file says about the world."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal, Self

from pydantic import Field, Strict, model_validator

from surefoot.scenario.schema.kinds import Edges, Friction, KindTable, Positive, Vector
from surefoot.scenario.table import Table, complaint

__all__ = ["GroundTable", "ObjectTable", "ObstacleTable", "WorldTable"]

Acceleration = Annotated[float, Field(ge=-1000.0, le=1000.0)]


class GroundTable(KindTable):
    """`[[world.ground]]`: a piece of ground.

    Args:
        kind: What it is.
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

    KINDS: ClassVar[dict[str, str]] = {
        "plane": "endless, level or sloped",
        "box": "upright, walked on and bumped into",
        "stairs": "up along x",
        "height_field": "a grid of heights",
    }
    KEYS: ClassVar[dict[str, set[str]]] = {
        "plane": {"point", "normal"},
        "box": {"size", "position", "yaw"},
        "stairs": {"steps", "rise", "run", "width", "start"},
        "height_field": {"heights", "cell", "origin"},
    }
    NEEDS: ClassVar[dict[str, set[str]]] = {
        "box": {"size"},
        "stairs": {"steps", "rise", "run"},
        "height_field": {"heights", "cell"},
    }

    kind: Literal["plane", "box", "stairs", "height_field"]
    friction: Friction | None = None
    point: Vector | None = None
    normal: Vector | None = None
    size: Edges | None = None
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


class ObjectTable(KindTable):
    """`[[world.objects]]`: something that can be pushed, lifted and carried.

    Args:
        kind: Its shape.
        name: Its name.
        mass: [kg].
        position: Of its centre at the start [m].
        yaw: Its turn about z at the start [rad].
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
    """`[[world.obstacles]]`: something that stands still and must not be touched.

    Args:
        kind: Its shape.
        name: Its name.
        position: Of its centre [m].
        rpy: Its turn: roll, pitch and yaw about the axes of the world, in that order [rad].
        size: Edges of the box [m].
        radius: [m].
        length: Along z, of a capsule without its caps [m].
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


class WorldTable(Table):
    """`[world]`: where the robot is.

    Args:
        friction: Coulomb coefficient of ground that has none of its own.
        gravity: In world [m/s²].
        empty: Whether there is no ground at all.
        ground: Pieces of ground; if there are none, level ground at z = 0 for robots that stand, nothing for robots
            that are fixed to the world.
        obstacles: Things that stand still and must not be touched.
        objects: Things that move.
    """

    friction: Friction = 0.7
    gravity: Annotated[tuple[Acceleration, Acceleration, Acceleration], Strict(False)] = (0.0, 0.0, -9.81)
    empty: bool = False
    ground: list[GroundTable] = []
    obstacles: list[ObstacleTable] = []
    objects: list[ObjectTable] = []

    @model_validator(mode="after")
    def _empty_means_no_ground(self) -> Self:
        if self.empty and self.ground:
            raise complaint("empty", True, "a world that is `empty` has no `ground`")
        return self
