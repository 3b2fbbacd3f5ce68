"""Build the `World` of a scenario."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pinocchio as pin

from surefoot.errors import NotSupportedError, ScenarioError, one_of
from surefoot.geometry import Box, Capsule, Cylinder, Plane, Shape, Sphere
from surefoot.motion import Ground, GroundBox, GroundPlane, HeightField, MovableObject, Obstacle, World, stairs
from surefoot.motion.world import STANDARD_GRAVITY, GroundLaw, Pivot, blocks
from surefoot.robot import Robot, anatomy, placement
from surefoot.robot.build import lowest_points
from surefoot.scenario.blame import blaming
from surefoot.scenario.registry import imported
from surefoot.scenario.schema import GroundTable, ObjectTable, ObstacleTable, WorldTable

_LENGTHS = {"point", "size", "rise", "run", "width", "start", "heights", "cell", "origin"}
_MOST_PIECES = 2000  # 27 000 blocks: half a second a step
_TOLERATED_DEPTH = 0.005  # [m]
_MOTIONS: dict[str, type[GroundLaw] | type[Pivot]] = {"law": GroundLaw, "pivot": Pivot}


@dataclass(frozen=True)
class Units:
    """What the numbers of `[[world.ground]]` are multiplied by.

    Args:
        length: [m].
        mass: [kg].
        time: [s].
    """

    length: float = 1.0
    mass: float = 1.0
    time: float = 1.0

    @classmethod
    def of(cls, unit: str, robot: Robot) -> Units:
        """The units that a scenario names.

        Args:
            unit: "m", "leg" or "body".
            robot: The robot.

        Raises:
            NotSupportedError: The robot has no legs or contacts to measure.
        """
        if unit == "m":
            return cls()
        if unit == "leg":
            return cls(imported("surefoot.gait:StepLimits").of(robot).leg)
        if not robot.contacts:
            raise NotSupportedError(f"`{robot.name}` has no contact surfaces", next_step='set world.unit = "m"')
        ground = min(float(corners[:, 2].min()) for corners in robot.contact_corners(robot.home).values())
        data = robot.model.createData()
        height = float(pin.centerOfMass(robot.model, data, np.array(robot.home))[2]) - ground
        return cls(height, robot.mass, float(np.sqrt(height / STANDARD_GRAVITY)))

    def moved(self, values: dict[str, Any]) -> dict[str, Any]:
        """Keys of `[world.ground.motion]` in SI units; `start` and `times` are seconds already."""
        moment = self.mass * self.length**2 / self.time**2
        factors = {"mass": self.mass, "frequency": 1.0 / self.time, "stiffness": moment, "damping": moment * self.time}
        factors |= dict.fromkeys(("translation", "translations", "point"), self.length)
        return {key: _scaled(v, factors[key]) if key in factors else v for key, v in values.items()}


def build_world(table: WorldTable, robot: Robot, seed: int = 0) -> World:
    """The world.

    Args:
        table: What the scenario says.
        robot: The robot: one that stands gets level ground if the scenario has none. A planar or fixed base cannot be
            lifted out of the ground: a robot that is more than 5 mm inside it at home gets none.
        seed: Of blocks without their own.
    """
    with blaming("world", "unit"):
        units = Units.of(table.unit, robot)
    with blaming("world", "ground"):
        pieces = build_ground(table.ground, robot, units, seed)
    if not table.empty and not table.ground and _could_stand(robot) and _depth_at_home(robot) <= _TOLERATED_DEPTH:
        pieces = (GroundPlane(),)
    with blaming("world"):
        return World(
            ground=pieces,
            obstacles=tuple(_obstacle(item) for item in table.obstacles),
            objects=tuple(_object(item) for item in table.objects),
            friction=table.friction,
            gravity=np.array(table.gravity),
        )


def missing_ground(table: WorldTable, robot: Robot) -> list[str]:
    """Why a robot that could stand gets no ground, if it gets none.

    Args:
        table: What the scenario says.
        robot: The robot.
    """
    if table.ground or table.empty or not _could_stand(robot) or _depth_at_home(robot) <= _TOLERATED_DEPTH:
        return []
    return [f"no ground: at home the robot would be {_depth_at_home(robot):.3g} m inside it"]


def build_ground(
    tables: list[GroundTable], robot: Robot | None = None, units: Units | None = None, seed: int = 0
) -> tuple[Ground, ...]:
    """Pieces of ground.

    Args:
        tables: What the scenario says.
        robot: The robot, near whose contact surfaces they may be; without it, none is near one.
        units: Of lengths and moving ground; SI units if omitted.
        seed: Of blocks without their own.
    """
    count = sum((item.steps or 1) * int(np.prod(item.count or (1, 1))) for item in tables)
    if count > _MOST_PIECES:
        raise ScenarioError(
            f"the ground has {count} pieces",
            key=("world", "ground"),
            evidence={"at most": _MOST_PIECES},
            next_step="give fewer and larger pieces, or a height field",
        )
    return tuple(piece for item in tables for piece in _ground(item, robot, units or Units(), seed))


def _could_stand(robot: Robot) -> bool:
    return robot.base == "floating" or bool(robot.contacts)


def _depth_at_home(robot: Robot) -> float:
    """How far the lowest point of a robot with a planar or fixed base is below z = 0 at home [m]; 0 if it floats."""
    if robot.base == "floating":
        return 0.0
    frames = robot.placements(robot.home)
    shapes = [item for item in robot.collisions if not isinstance(item.shape, Plane)]
    points = [lowest_points(item.shape, frames[item.link] @ item.placement) for item in shapes]
    points += robot.contact_corners(robot.home).values()
    return max(0.0, -min((float(cloud[:, 2].min()) for cloud in points), default=0.0))


def _ground(table: GroundTable, robot: Robot | None, units: Units, seed: int) -> list[Ground]:
    """The pieces of one table; omitted keys take the defaults of the pieces."""
    keys = {"kind", "position", "yaw", "rpy", "near", "motion"}
    given: dict[str, Any] = {k: v for k, v in table.model_dump(exclude_none=True).items() if k not in keys}
    given |= {key: _scaled(given[key], units.length) for key in _LENGTHS & given.keys()}
    match table.kind:
        case "plane":
            return [GroundPlane(**given)]
        case "box":
            turn = table.rpy or (0.0, 0.0, table.yaw or 0.0)
            pose = placement(units.length * np.array(table.position or (0.0, 0.0, 0.0)), pin.rpy.rpyToMatrix(*turn))
            if table.near is not None and robot is not None:
                pose = _near(table.near, robot) @ pose
            motion = None
            if table.motion is not None:
                moves = units.moved(table.motion.model_dump(exclude_none=True, exclude={"kind"}))
                motion = _MOTIONS[table.motion.kind](**moves)
            return [GroundBox(pose=pose, motion=motion, **given)]
        case "stairs":
            return list(stairs(**given))
        case "height_field":
            return [HeightField(**given)]
        case "blocks":
            return list(blocks(**{"seed": seed, **given}))


def _scaled(value: Any, scale: float) -> Any:
    """A length, or nested lists of lengths, times a scale."""
    return scale * value if isinstance(value, int | float) else [_scaled(part, scale) for part in value]


def _near(contact: str, robot: Robot) -> np.ndarray:
    """(4, 4): where a contact surface is at home, x to where the robot looks."""
    if contact not in robot.contacts:
        raise one_of("contact surface", contact, robot.contacts)
    surface, (x, y, _) = robot.contacts[contact], anatomy(robot).forward
    at = robot.placements(robot.home)[surface.frame] @ surface.placement
    return _upright(tuple(at[:3, 3]), float(np.arctan2(y, x)))


def _obstacle(table: ObstacleTable) -> Obstacle:
    pose = placement(table.position, pin.rpy.rpyToMatrix(*table.rpy))
    return Obstacle(table.name, _shape(table), pose, table.friction, table.touchable)


def _object(table: ObjectTable) -> MovableObject:
    return MovableObject(table.name, _shape(table), table.mass, _upright(table.position, table.yaw))


def _shape(table: ObjectTable | ObstacleTable) -> Shape:
    given = table.model_dump(include=table.KEYS[table.kind])
    match table.kind:
        case "box":
            return Box(**given)
        case "sphere":
            return Sphere(**given)
        case "cylinder":
            return Cylinder(**given)
        case "capsule":
            return Capsule(**given)


def _upright(position: tuple[float, float, float] | None, yaw: float | None) -> np.ndarray:
    """A placement that is turned about z alone."""
    return placement(position or (0.0, 0.0, 0.0), pin.rpy.rpyToMatrix(0.0, 0.0, yaw or 0.0))
