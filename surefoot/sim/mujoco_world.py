"""Ground, obstacles and objects of a world as MuJoCo has them."""

from __future__ import annotations

from typing import Any

import mujoco
import numpy as np

from surefoot.geometry import Box, Plane
from surefoot.motion.ground import Ground, GroundBox, GroundPlane, HeightField
from surefoot.motion.world import World
from surefoot.robot import placement
from surefoot.sim.mujoco_bodies import quaternion_wxyz
from surefoot.sim.mujoco_shapes import Meshes, add_shape, friction_settings

__all__ = ["OBJECT_BITS", "ROBOT_BITS", "SELF_COLLIDING_BITS", "WORLD_BITS", "add_world"]

# Two geoms touch if contype of one and conaffinity of the other share a bit.
WORLD_BITS = {"contype": 1, "conaffinity": 0}
OBJECT_BITS = {"contype": 1, "conaffinity": 1}
ROBOT_BITS = {"contype": 0, "conaffinity": 1}
SELF_COLLIDING_BITS = {"contype": 2, "conaffinity": 3}
_DEPTH = 1.0  # how far a height field reaches below its lowest point [m]
_LEAST_RISE = 1e-6


def add_world(spec: mujoco.MjSpec, world: World, meshes: Meshes) -> tuple[str, ...]:
    """Add a world; objects go last, so that the robot's coordinates stay first.

    Args:
        spec: The specification to add to, the robot already in it.
        world: The world.
        meshes: Where hulls are kept.

    Returns:
        Names of the geoms of the ground.
    """
    spec.option.gravity = world.gravity
    names = tuple(_add_ground(spec, world, piece, f"ground {k}", meshes) for k, piece in enumerate(world.ground))
    grip = friction_settings(world.friction)
    for item in world.obstacles:
        add_shape(spec.worldbody, meshes, item.shape, item.pose, name=f"obstacle {item.name}", **WORLD_BITS, **grip)
    for thing in world.objects:
        T = thing.pose
        body = spec.worldbody.add_body(name=f"object {thing.name}", pos=T[:3, 3], quat=quaternion_wxyz(T[:3, :3]))
        body.add_freejoint(name=f"object {thing.name}")
        name = f"object {thing.name}"
        add_shape(body, meshes, thing.shape, placement(), name=name, mass=thing.mass, **OBJECT_BITS, **grip)
    return names


def _add_ground(spec: mujoco.MjSpec, world: World, piece: Ground, name: str, meshes: Meshes) -> str:
    friction = world.friction if piece.friction is None else piece.friction
    settings: dict[str, Any] = {"name": name, **WORLD_BITS, **friction_settings(friction)}
    match piece:
        case GroundPlane():
            add_shape(spec.worldbody, meshes, Plane(), placement(piece.point, _turn_to(piece.normal)), **settings)
        case GroundBox():
            add_shape(spec.worldbody, meshes, Box(piece.size), piece.pose, **settings)
        case HeightField():
            _add_height_field(spec, piece, settings)
    return name


def _turn_to(normal: np.ndarray) -> np.ndarray:
    """A rotation (3, 3) that takes z to a unit normal that points up; the shortest one."""
    x, y, z = normal
    turned = np.array(
        [[1.0 - x * x / (1.0 + z), -x * y / (1.0 + z), x], [-x * y / (1.0 + z), 1.0 - y * y / (1.0 + z), y]]
    )
    return np.vstack([turned, [-x, -y, z]])


def _add_height_field(spec: mujoco.MjSpec, piece: HeightField, settings: dict[str, Any]) -> None:
    """MuJoCo's height fields have rows along y, heights scaled to 0…1, and their centre at the geom."""
    nx, ny = piece.heights.shape
    low, high = float(piece.heights.min()), float(piece.heights.max())
    rise = max(high - low, _LEAST_RISE)
    half = 0.5 * piece.cell * np.array([nx - 1, ny - 1])
    name = f"{settings['name']} heights"
    spec.add_hfield(
        name=name, nrow=ny, ncol=nx, size=[half[0], half[1], rise, _DEPTH],
        userdata=((piece.heights.T - low) / rise).ravel(),
    )  # fmt: skip
    spec.worldbody.add_geom(
        type=mujoco.mjtGeom.mjGEOM_HFIELD, hfieldname=name, pos=np.add(piece.origin, [*half, low]), **settings
    )
