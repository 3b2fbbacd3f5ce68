"""`World`: ground, obstacles and movable objects around a robot."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import MISSING, dataclass, field, fields
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from surefoot.arrays import Array, finite_array, number, only_keys, placement_matrix
from surefoot.errors import ShapeError, one_of
from surefoot.geometry import Box, Capsule, Cylinder, Ellipsoid, Mesh, Plane, Shape, Sphere
from surefoot.motion.world.ground import Ground, GroundBox, GroundPlane, HeightField
from surefoot.motion.world.moving import GroundLaw, Pivot
from surefoot.robot import Robot, placement
from surefoot.robot.model import under_gravity

STANDARD_GRAVITY = 9.81
_SHAPES: dict[str, type] = {
    kind.__name__.lower(): kind for kind in (Box, Capsule, Cylinder, Ellipsoid, Mesh, Plane, Sphere)
}
_GROUNDS: dict[str, type] = {"plane": GroundPlane, "box": GroundBox, "height_field": HeightField}
_MOTIONS: dict[str, type] = {"law": GroundLaw, "pivot": Pivot}


@dataclass(frozen=True, eq=False)
class Obstacle:
    """A shape that does not move, and that nothing may touch; contact surfaces of robots may if it is touchable.

    Args:
        name: Unique among obstacles and objects.
        shape: The shape.
        pose: T_world_shape, (4, 4).
        friction: Coulomb coefficient; None for that of the world.
        touchable: Whether feet and hands may touch it: walls, rails, tables.
    """

    name: str
    shape: Shape
    pose: Array = field(default_factory=placement)
    friction: float | None = None
    touchable: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "pose", placement_matrix(self.pose, f"pose of obstacle `{self.name}`"))
        if self.friction is not None:
            object.__setattr__(self, "friction", number(self.friction, f"friction of obstacle `{self.name}`"))
        if not isinstance(self.touchable, bool):
            raise ShapeError(f"`touchable` of obstacle `{self.name}` is {self.touchable!r}, expected true or false")


@dataclass(frozen=True, eq=False)
class MovableObject:
    """A shape that can be pushed, lifted and carried.

    Args:
        name: Unique among obstacles and objects.
        shape: The shape, homogeneous.
        mass: [kg].
        pose: T_world_shape at the start, (4, 4).
    """

    name: str
    shape: Shape
    mass: float
    pose: Array = field(default_factory=placement)

    def __post_init__(self) -> None:
        object.__setattr__(self, "mass", number(self.mass, f"mass of object `{self.name}`", positive=True))
        object.__setattr__(self, "pose", placement_matrix(self.pose, f"pose of object `{self.name}`"))


@dataclass(frozen=True, eq=False)
class World:
    """Ground, obstacles and objects. Frozen; what happens in it over time is events.

    Args:
        ground: Pieces of ground; the highest one counts.
        obstacles: Shapes to avoid.
        objects: Shapes that move.
        friction: Coulomb coefficient of ground that has none of its own.
        gravity: (3,) in world [m/s²].
    """

    ground: tuple[Ground, ...] = (GroundPlane(),)
    obstacles: tuple[Obstacle, ...] = ()
    objects: tuple[MovableObject, ...] = ()
    friction: float = 0.7
    gravity: Array = field(default_factory=lambda: np.array([0.0, 0.0, -STANDARD_GRAVITY]))

    def __post_init__(self) -> None:
        for name in ("ground", "obstacles", "objects"):
            object.__setattr__(self, name, tuple(getattr(self, name)))
        object.__setattr__(self, "friction", number(self.friction, "friction of the world"))
        object.__setattr__(self, "gravity", finite_array(self.gravity, (3,), "gravity"))
        names = [item.name for item in self.obstacles] + [item.name for item in self.objects]
        if repeated := sorted({name for name in names if names.count(name) > 1}):
            raise ShapeError("names of obstacles and objects repeat", evidence={"names": repeated})

    @classmethod
    def flat(cls, friction: float = 0.7) -> World:
        """Endless level ground at z = 0."""
        return cls(friction=friction)

    def height(self, x: ArrayLike, y: ArrayLike) -> Array:
        """Height [m] of the highest ground at world x, y [m] (any equal shapes); −inf where there is none."""
        nothing = np.full(np.broadcast_shapes(np.shape(x), np.shape(y)), -np.inf)
        return np.max([nothing, *(piece.height(x, y) for piece in self.ground)], axis=0)

    @property
    def moving(self) -> tuple[int, ...]:
        """Indices of the pieces of ground that move."""
        return tuple(k for k, x in enumerate(self.ground) if isinstance(x, GroundBox) and x.motion is not None)

    def friction_at(self, x: float, y: float) -> float:
        """Coulomb coefficient of the highest ground at world x, y [m]."""
        if not self.ground:
            return self.friction
        top = max(self.ground, key=lambda piece: float(piece.height(x, y)))
        return self.friction if top.friction is None else top.friction

    def to_dict(self) -> dict[str, Any]:
        """The world as numbers, texts and lists, for JSON; `from_dict` gives it back."""
        return {
            "ground": [_write(piece, _GROUNDS) for piece in self.ground],
            "obstacles": [_write_item(item) for item in self.obstacles],
            "objects": [_write_item(item) for item in self.objects],
            "friction": self.friction,
            "gravity": self.gravity.tolist(),
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> World:
        """The world that `to_dict` wrote; omitted keys have their defaults.

        Raises:
            ShapeError: A key is unknown or missing, or a number is wrong.
        """
        only_keys(data, ("ground", "obstacles", "objects", "friction", "gravity"), "world")
        found: dict[str, Any] = {k: data[k] for k in ("friction", "gravity") if k in data}
        if "ground" in data:
            found["ground"] = tuple(_read(item, _GROUNDS, "ground piece") for item in _listed(data["ground"], "ground"))
        for key, kind in (("obstacles", Obstacle), ("objects", MovableObject)):
            found[key] = tuple(_read_item(item, kind, key) for item in _listed(data.get(key, ()), key))
        return cls(**found)


def _listed(value: Any, what: str) -> Sequence[Any]:
    if not isinstance(value, list | tuple):
        raise ShapeError(f"`{what}` is {type(value).__name__}, expected a list")
    return value


def _plain(value: Any) -> Any:
    if isinstance(value, GroundLaw | Pivot):
        return _write(value, _MOTIONS)
    return value.tolist() if isinstance(value, np.ndarray) else list(value) if isinstance(value, tuple) else value


def _fields(kind: type) -> tuple[str, ...]:
    return tuple(item.name for item in fields(kind))


def _write(item: Any, kinds: Mapping[str, type]) -> dict[str, Any]:
    """A dataclass of a table as {"kind": its name there, field: value …}."""
    kind = next(name for name, known in kinds.items() if isinstance(item, known))
    values = {name: _plain(getattr(item, name)) for name in _fields(type(item))}
    return {"kind": kind, **{name: value for name, value in values.items() if value is not None}}


def _read(data: Any, kinds: Mapping[str, type], what: str) -> Any:
    """The dataclass that `_write` wrote."""
    only_keys(data, tuple(data) if isinstance(data, Mapping) else (), what, ("kind",))
    if data["kind"] not in kinds:
        raise one_of(f"kind of {what}", str(data["kind"]), kinds)
    kind = kinds[data["kind"]]
    required = [item.name for item in fields(kind) if item.default is MISSING and item.default_factory is MISSING]
    only_keys(data, ("kind", *_fields(kind)), f"{what} of kind `{data['kind']}`", required)
    values = {name: tuple(v) if _is_flat(v) else v for name, v in data.items() if name != "kind"}
    if kind is GroundBox and "motion" in values:
        values["motion"] = _read(values["motion"], _MOTIONS, "motion of a ground box")
    if kind is Mesh and "points" in values:
        values["points"] = finite_array(values["points"], (None, 3), "points of a mesh")
    return _checked_shape(kind(**values)) if kinds is _SHAPES else kind(**values)


def _checked_shape(shape: Any) -> Any:
    """A shape whose sizes are positive numbers."""
    for name in ("radius", "length", "size", "radii", "scale"):
        for value in np.atleast_1d(np.asarray(getattr(shape, name, 1.0), dtype=object)):
            number(value, f"`{name}` of a {type(shape).__name__.lower()}", positive=True)
    return shape


def _is_flat(value: Any) -> bool:
    return isinstance(value, list) and not any(isinstance(entry, list) for entry in value)


def _write_item(item: Obstacle | MovableObject) -> dict[str, Any]:
    own: dict[str, Any] = {}
    if isinstance(item, MovableObject):
        own["mass"] = item.mass
    else:
        own |= {} if item.friction is None else {"friction": item.friction}
        own |= {"touchable": True} if item.touchable else {}
    return {"name": item.name, "shape": _write(item.shape, _SHAPES), **own, "pose": item.pose.tolist()}


def _read_item(data: Any, kind: type, what: str) -> Any:
    required = ("name", "shape", "mass") if kind is MovableObject else ("name", "shape")
    only_keys(data, _fields(kind), f"entry of `{what}`", required)
    return kind(**{**data, "shape": _read(data["shape"], _SHAPES, "shape")})


def in_world(robot: Robot, world: World | None) -> Robot:
    """The robot under the gravity of a world; the same one for the same world, because kernels are kept by robot.

    Args:
        robot: The robot.
        world: The world; None for empty space with the robot's gravity.
    """
    return robot if world is None else _under_gravity(robot, tuple(float(g) for g in world.gravity))


_under_gravity = lru_cache(maxsize=32)(under_gravity)
