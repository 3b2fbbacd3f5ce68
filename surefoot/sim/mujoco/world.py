"""Ground, obstacles and objects of a world as MuJoCo has them."""

from __future__ import annotations

from typing import Any

import mujoco
import numpy as np

from surefoot.errors import NotSupportedError
from surefoot.geometry import Mesh, is_nearly_convex
from surefoot.motion import Ground, GroundBox, GroundPlane, HeightField, World
from surefoot.robot import placement
from surefoot.sim.mujoco.bodies import quaternion_wxyz
from surefoot.sim.mujoco.shapes import Meshes, add_shape, friction_settings
from surefoot.spatial import so3

# Two geoms touch if contype of one and conaffinity of the other share a bit.
_WORLD_BITS = {"contype": 1, "conaffinity": 0}
_OBJECT_BITS = {"contype": 1, "conaffinity": 1}
_MOST_ROBOTS = 30  # MuJoCo has 31 bits
_DEPTH = 1.0  # how far a height field reaches below its lowest point [m]
_LEAST_RISE = 1e-6


def robot_bits(k: int, count: int, *, self_collision: bool) -> dict[str, Any]:
    """Attributes of the geoms of a robot: it touches world, objects, other robots and, if wanted, itself.

    Args:
        k: Which robot.
        count: How many there are.
        self_collision: Whether each may touch itself.

    Raises:
        NotSupportedError: There are more robots than bits.
    """
    if count > _MOST_ROBOTS:
        raise NotSupportedError(f"MuJoCo can tell at most {_MOST_ROBOTS} robots apart, got {count}")
    touched = [i for i in range(count) if i != k or self_collision]
    return {
        "contype": 2 << k if self_collision or count > 1 else 0,
        "conaffinity": 1 | sum(2 << i for i in touched),
    }


def ground_name(k: int) -> str:
    """Name of the geom of a piece of ground."""
    return f"ground {k}"


def object_name(name: str) -> str:
    """Name of the body, the joint and the geom of an object."""
    return f"object {name}"


def add_world(spec: mujoco.MjSpec, world: World, meshes: Meshes) -> None:
    """Add a world; objects go last, so that the robots' coordinates stay first.

    Args:
        spec: The specification to add to, the robots already in it.
        world: The world.
        meshes: Where hulls are kept.
    """
    spec.option.gravity = world.gravity
    for k, piece in enumerate(world.ground):
        settings = {**_WORLD_BITS, **ground_settings(piece, world.friction)}
        geom = spec.worldbody.add_geom(name=ground_name(k), **settings)
        shape_ground(spec, geom, piece)
    grip = friction_settings(world.friction)
    for item in world.obstacles:
        own = grip if item.friction is None else friction_settings(item.friction)
        add_shape(spec.worldbody, meshes, item.shape, item.pose, f"obstacle {item.name}", **_WORLD_BITS, **own)
    for thing in world.objects:
        T, name = thing.pose, object_name(thing.name)
        body = spec.worldbody.add_body(name=name, pos=T[:3, 3], quat=quaternion_wxyz(T[:3, :3]))
        body.add_freejoint(name=name)
        add_shape(body, meshes, thing.shape, placement(), name, thing.mass, **_OBJECT_BITS, **grip)


def hull_notes(world: World, *, convex_pieces: bool = False) -> tuple[str, ...]:
    """Which obstacles and objects touch otherwise than described.

    Args:
        world: The world.
        convex_pieces: Whether meshes whose triangles are known are cut into pieces.
    """
    return tuple(
        f"{kind} `{item.name}` touches by the convex hull of its mesh"
        for kind, items in (("obstacle", world.obstacles), ("object", world.objects))
        for item in items
        if isinstance(item.shape, Mesh) and _is_only_hull(item.shape, convex_pieces=convex_pieces)
    )


def _is_only_hull(mesh: Mesh, *, convex_pieces: bool) -> bool:
    """Whether a mesh touches by a hull that may be another body than the mesh."""
    return not (convex_pieces and len(mesh.triangles())) and not is_nearly_convex(mesh)


def ground_settings(piece: Ground, friction: float) -> dict[str, Any]:
    """Attributes of a geom for the friction of a piece of ground.

    Args:
        piece: The piece.
        friction: Coulomb coefficient where the piece has none of its own.
    """
    return friction_settings(friction if piece.friction is None else piece.friction)


def shape_ground(spec: mujoco.MjSpec, geom: mujoco.MjsGeom, piece: Ground) -> None:
    """Give a geom the shape and the place of a piece of ground.

    Args:
        spec: The specification of the geom.
        geom: The geom, new or of the same kind of ground.
        piece: The piece.
    """
    match piece:
        case GroundPlane():
            geom.type, geom.size = mujoco.mjtGeom.mjGEOM_PLANE, [0.0, 0.0, 1.0]
            geom.pos, geom.quat = piece.point, quaternion_wxyz(so3.turn_to(piece.normal))
        case GroundBox():
            geom.type, geom.size = mujoco.mjtGeom.mjGEOM_BOX, 0.5 * np.array(piece.size)
            geom.pos, geom.quat = piece.pose[:3, 3], quaternion_wxyz(piece.pose[:3, :3])
        case HeightField():
            _shape_height_field(spec, geom, piece)


def _shape_height_field(spec: mujoco.MjSpec, geom: mujoco.MjsGeom, piece: HeightField) -> None:
    """MuJoCo's height fields have rows along y, heights scaled to 0…1, and their centre at the geom."""
    nx, ny = piece.heights.shape
    low, high = float(piece.heights.min()), float(piece.heights.max())
    rise = max(high - low, _LEAST_RISE)
    half = 0.5 * piece.cell * np.array([nx - 1, ny - 1])
    name = f"{geom.name} heights"
    field = spec.hfield(name) or spec.add_hfield(name=name)
    field.nrow, field.ncol, field.size = ny, nx, [half[0], half[1], rise, _DEPTH]
    field.userdata = ((piece.heights.T - low) / rise).ravel()
    geom.type, geom.hfieldname = mujoco.mjtGeom.mjGEOM_HFIELD, name
    geom.pos = np.add(piece.origin, [*half, low])
