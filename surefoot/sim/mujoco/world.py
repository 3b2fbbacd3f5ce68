"""Ground, obstacles and objects of a world as MuJoCo has them."""

from __future__ import annotations

from typing import Any

import mujoco
import numpy as np

from surefoot.arrays import Array
from surefoot.errors import NotSupportedError
from surefoot.geometry import Mesh, is_nearly_convex
from surefoot.motion import Ground, GroundBox, GroundPlane, HeightField, World
from surefoot.motion.world import GroundLaw, Pivot
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
_UNMOVED = 1e4  # inertia of ground that moves by a law [kg] and [kg m²]: nothing stops it within a step
_NO_MASS = 1e-6  # its mass, without weight to speak of


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
        moves = isinstance(piece, GroundBox) and piece.motion is not None
        home = _moving_body(spec, k, piece) if isinstance(piece, GroundBox) and moves else spec.worldbody
        geom = home.add_geom(name=ground_name(k), **settings)
        shape_ground(spec, geom, piece)
        if moves:
            geom.pos, geom.quat, geom.mass = np.zeros(3), [1.0, 0.0, 0.0, 0.0], 0.0
    grip = friction_settings(world.friction)
    for item in world.obstacles:
        own = grip if item.friction is None else friction_settings(item.friction)
        add_shape(spec.worldbody, meshes, item.shape, item.pose, f"obstacle {item.name}", **_WORLD_BITS, **own)
    for thing in world.objects:
        T, name = thing.pose, object_name(thing.name)
        body = spec.worldbody.add_body(name=name, pos=T[:3, 3], quat=quaternion_wxyz(T[:3, :3]))
        body.add_freejoint(name=name)
        add_shape(body, meshes, thing.shape, placement(), name, thing.mass, **_OBJECT_BITS, **grip)


def _moving_body(spec: mujoco.MjSpec, k: int, piece: GroundBox) -> mujoco.MjsBody:
    """The body of a piece that moves: on a hinge, or free and too heavy to be moved by what stands on it."""
    T, name = piece.pose, ground_name(k)
    body = spec.worldbody.add_body(name=name, pos=T[:3, 3], quat=quaternion_wxyz(T[:3, :3]))
    body.explicitinertial, body.ipos, body.iquat = True, np.zeros(3), [1.0, 0.0, 0.0, 0.0]
    if isinstance(piece.motion, Pivot):
        pivot, squares = piece.motion, np.square(piece.size)
        body.mass, body.inertia = pivot.mass, pivot.mass / 12.0 * (squares.sum() - squares)
        body.add_joint(
            name=name, type=mujoco.mjtJoint.mjJNT_HINGE, pos=pivot.point, axis=pivot.axis, stiffness=pivot.stiffness,
            damping=pivot.damping,
        )  # fmt: skip
    else:
        body.mass, body.inertia = _NO_MASS, np.full(3, _NO_MASS)
        body.add_freejoint(name=name).armature = _UNMOVED
    return body


class MovingGround:
    """The pieces of ground of a scene that move: places and speeds of those that move by a law, before each step.

    Args:
        world: The world; None for empty space.
    """

    def __init__(self, world: World | None) -> None:
        pieces = {} if world is None else {k: world.ground[k] for k in world.moving}
        self._pieces = {k: x for k, x in pieces.items() if isinstance(x, GroundBox)}

    def bind(self, mj: mujoco.MjModel) -> None:
        """Take a model; the weight of ground must not loosen the tolerance of MuJoCo's solver."""
        joints = {k: mj.joint(ground_name(k)) for k in self._pieces}
        self._q = {k: int(joint.qposadr[0]) for k, joint in joints.items()}
        self._v = {k: int(joint.dofadr[0]) for k, joint in joints.items()}
        self.bodies = np.array([mj.body(ground_name(k)).id for k in self._pieces], dtype=np.int64)
        laws = [k for k, x in self._pieces.items() if isinstance(x.motion, GroundLaw)]
        self.driven = np.array([self._v[k] + i for k in laws for i in range(6)], dtype=np.int64)
        """Entries of qvel that are set, not found."""
        own = np.setdiff1d(np.arange(mj.nv), self.driven)
        if len(self.driven) and len(own):
            mj.stat.meaninertia = float(mj.dof_M0[own].mean())

    def start(self, data: mujoco.MjData) -> None:
        """Boards at their first angles."""
        for k, piece in self._pieces.items():
            if isinstance(piece.motion, Pivot):
                data.qpos[self._q[k]] = piece.motion.angle

    def lead(self, data: mujoco.MjData, dt: float) -> None:
        """Place what moves by a law where it is now, with its speed at the end of a step.

        Args:
            data: MuJoCo's data.
            dt: Of the step [s].
        """
        for k, piece in self._pieces.items():
            if isinstance(piece.motion, GroundLaw):
                T, _ = piece.motion.placed(piece.pose, data.time)
                ahead, twist = piece.motion.placed(piece.pose, data.time + dt)
                q, v = self._q[k], self._v[k]
                data.qpos[q : q + 3], data.qpos[q + 3 : q + 7] = T[:3, 3], quaternion_wxyz(T[:3, :3])
                data.qvel[v : v + 3], data.qvel[v + 3 : v + 6] = twist[:3], ahead[:3, :3].T @ twist[3:]

    def places(self, data: mujoco.MjData) -> dict[int, Array]:
        """T_world_box (4, 4) of every piece that moves.

        Args:
            data: With the places of bodies.
        """
        out = {}
        for k, body in zip(self._pieces, self.bodies, strict=True):
            out[k] = np.eye(4)
            out[k][:3, :3], out[k][:3, 3] = data.xmat[body].reshape(3, 3), data.xpos[body]
        return out


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
