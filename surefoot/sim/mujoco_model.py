"""`build_mujoco`, `build_scene`: the MuJoCo model of robots in a world, built from the `Robot`s themselves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType

import mujoco
import numpy as np
from numpy.typing import NDArray

from surefoot.errors import ModelError, NotSupportedError
from surefoot.geometry import Mesh
from surefoot.motion.world import World
from surefoot.robot import Robot
from surefoot.sim.mesh_pieces import Progress, cut_meshes
from surefoot.sim.mujoco_bodies import RobotBodies, add_actuators, add_bodies, add_ties
from surefoot.sim.mujoco_shapes import Meshes, add_contacts, add_robot_shapes
from surefoot.sim.mujoco_world import add_world, hull_notes, robot_bits

__all__ = ["MujocoModel", "MujocoScene", "build_mujoco", "build_scene", "compiled"]

Indices = NDArray[np.int64]
_SIZES = {int(mujoco.mjtJoint.mjJNT_FREE): (7, 6), int(mujoco.mjtJoint.mjJNT_BALL): (4, 3)}


@dataclass(frozen=True, eq=False)
class MujocoModel:
    """A MuJoCo model with the maps to a robot in it.

    Args:
        mj: The MuJoCo model.
        robot: The robot.
        qpos: Entries of the robot in qpos.
        qvel: Entries of the robot in qvel.
        qpos_index: (n,) first entry of each tree joint in qpos; −1 for a locked one.
        qvel_index: (n,) first entry of each tree joint in qvel; −1 for a locked one.
        body_ids: MuJoCo body by link name, also of links that a fixed joint holds; 0 for what is fixed to the world.
        tree_bodies: (n,) MuJoCo body of each tree body.
        geoms: All geoms of the robot.
        contact_geoms: Geoms of each contact surface.
        actuators: (nu,) actuator of each entry of a command; −1 where the joint is locked.
        lifted: Bodies whose mass or moments were lifted to what MuJoCo accepts.
        locked: Joints that move no mass and are held at home.
    """

    mj: mujoco.MjModel = field(repr=False)
    robot: Robot = field(repr=False)
    qpos: slice
    qvel: slice
    qpos_index: Indices
    qvel_index: Indices
    body_ids: Mapping[str, int] = field(repr=False)
    tree_bodies: Indices = field(repr=False)
    geoms: tuple[int, ...] = field(repr=False)
    contact_geoms: Mapping[str, tuple[int, ...]]
    actuators: Indices = field(repr=False)
    lifted: tuple[str, ...]
    locked: tuple[str, ...]

    @property
    def nq(self) -> int:
        """Entries of the robot in qpos."""
        return int(self.qpos.stop - self.qpos.start)

    @property
    def nv(self) -> int:
        """Entries of the robot in qvel."""
        return int(self.qvel.stop - self.qvel.start)


@dataclass(frozen=True, eq=False)
class MujocoScene:
    """Robots in a world: the MuJoCo model, what it was made from, and the maps to the robots.

    Args:
        mj: The MuJoCo model.
        spec: What it was compiled from.
        world: The world; None for empty space.
        bodies: The robots in the specification.
        models: The robots in the model.
        notes: What is simulated otherwise than described.
    """

    mj: mujoco.MjModel
    spec: mujoco.MjSpec
    world: World | None
    bodies: tuple[RobotBodies, ...]
    models: tuple[MujocoModel, ...]
    notes: tuple[str, ...]


@dataclass
class _Added:
    """A robot in the specification, before it is compiled."""

    bodies: RobotBodies
    contacts: Mapping[str, tuple[str, ...]]
    actuators: Indices


def build_mujoco(
    robot: Robot,
    world: World | None = None,
    *,
    timestep: float = 0.002,
    self_collision: bool = False,
    convex_pieces: bool = False,
) -> MujocoModel:
    """The MuJoCo model of one robot in a world, as `build_scene` makes it.

    Args:
        robot: The robot.
        world: The world; None for empty space with the robot's gravity.
        timestep: Of the integration [s].
        self_collision: Whether the robot may touch itself.
        convex_pieces: Whether meshes touch by convex pieces instead of their hulls.

    Raises:
        NotSupportedError: A joint or closed chain that MuJoCo does not have.
        ModelError: MuJoCo refuses the model.
    """
    scene = build_scene([robot], world, timestep=timestep, self_collision=self_collision, convex_pieces=convex_pieces)
    return scene.models[0]


def build_scene(
    robots: Sequence[Robot],
    world: World | None = None,
    *,
    timestep: float = 0.002,
    self_collision: bool = False,
    convex_pieces: bool = False,
    progress: Progress | None = None,
) -> MujocoScene:
    """The MuJoCo model of robots in a world.

    Bodies stand in the order of the trees, which is MuJoCo's own (depth first), one robot after the other, then the
    objects. Names of several robots begin with `0/`, `1/` … A robot touches the world, objects and other robots, and
    itself if `self_collision`; then pairs of neighbours and pairs that touch at home are left out.

    Args:
        robots: The robots.
        world: The world; None for empty space with the gravity of the robots.
        timestep: Of the integration [s].
        self_collision: Whether robots may touch themselves.
        convex_pieces: Whether meshes touch by convex pieces instead of their hulls; the first time that takes seconds
            for each mesh, later ones read the pieces from the cache.
        progress: Called with the share 0…1 of the meshes that are cut.

    Raises:
        NotSupportedError: A joint or closed chain that MuJoCo does not have.
        ModelError: MuJoCo refuses the model.
    """
    spec = _specification(robots, world, timestep)
    meshes = Meshes(spec, cut_meshes(_meshes_of(robots, world), progress) if convex_pieces else None)
    friction = world.friction if world is not None else 0.7
    added = [_add_robot(spec, meshes, robots, k, friction, self_collision=self_collision) for k in range(len(robots))]
    if world is not None:
        add_world(spec, world, meshes)
    mj = compiled(spec, robots)
    if self_collision and _exclude_touching_at_home(spec, added, mj):
        mj = compiled(spec, robots)
    models = tuple(_mapped(mj, item) for item in added)
    notes = hull_notes(world, convex_pieces=convex_pieces) if world is not None else ()
    return MujocoScene(mj, spec, world, tuple(item.bodies for item in added), models, notes)


def _meshes_of(robots: Sequence[Robot], world: World | None) -> list[Mesh]:
    """The meshes that can touch."""
    shapes = [item.shape for robot in robots for item in robot.collisions]
    if world is not None:
        shapes += [item.shape for item in world.obstacles] + [item.shape for item in world.objects]
    return [shape for shape in shapes if isinstance(shape, Mesh)]


def _specification(robots: Sequence[Robot], world: World | None, timestep: float) -> mujoco.MjSpec:
    """An empty specification: elliptic friction cones; damping and stiffness of drives are solved with the contacts."""
    gravities = np.array([robot.tree.gravity for robot in robots])
    if world is None and (gravities != gravities[0]).any():
        raise NotSupportedError("the robots have different gravities", next_step="give a world; its gravity counts")
    spec = mujoco.MjSpec()
    spec.modelname = " ".join(robot.name for robot in robots)
    spec.compiler.degree = False
    spec.option.timestep = timestep
    spec.option.gravity = gravities[0]
    spec.option.integrator = mujoco.mjtIntegrator.mjINT_DISCRETE
    spec.option.cone = mujoco.mjtCone.mjCONE_ELLIPTIC
    spec.option.impratio = 100.0
    spec.option.tolerance = 1e-10
    spec.option.disableflags |= mujoco.mjtDisableBit.mjDSBL_AUTORESET
    return spec


def _add_robot(
    spec: mujoco.MjSpec, meshes: Meshes, robots: Sequence[Robot], k: int, friction: float, *, self_collision: bool
) -> _Added:
    """Bodies, shapes, drives and ties of one robot."""
    robot, bits = robots[k], robot_bits(k, len(robots), self_collision=self_collision)
    is_held = any(robot.body_of(item.link) < 0 for item in robot.collisions)
    bodies = add_bodies(spec, robot, f"{k}/" if len(robots) > 1 else "", own_base=self_collision and is_held)
    geoms = add_robot_shapes(bodies, meshes, bits, friction)
    contacts = add_contacts(bodies, meshes, bits, geoms)
    actuators = add_actuators(bodies)
    add_ties(bodies)
    return _Added(bodies, contacts, actuators)


def compiled(spec: mujoco.MjSpec, robots: Sequence[Robot]) -> mujoco.MjModel:
    """The model of a specification.

    Args:
        spec: The specification.
        robots: What is in it, for the message.

    Raises:
        ModelError: MuJoCo refuses it.
    """
    try:
        return spec.compile()
    except ValueError as error:
        raise ModelError(
            f"MuJoCo refuses {' and '.join(f'`{robot.name}`' for robot in robots)}",
            evidence={"MuJoCo": " ".join(str(error).split())},
            next_step="repair that part of the description",
            file=robots[0].source or None if len(robots) == 1 else None,
        ) from error


def _exclude_touching_at_home(spec: mujoco.MjSpec, added: Sequence[_Added], mj: mujoco.MjModel) -> bool:
    """Leave out the pairs of bodies of one robot that are neighbours or touch at home; whether there are any."""
    from surefoot.sim.mujoco_state import qpos_qvel

    data = mujoco.MjData(mj)
    for item in added:
        model = _mapped(mj, item)
        data.qpos[model.qpos], _ = qpos_qvel(model, model.robot.home, np.zeros(model.robot.nv))
    mujoco.mj_forward(mj, data)
    touching = [tuple(mj.body(mj.geom_bodyid[geom]).name for geom in pair) for pair in data.contact.geom]
    pairs = [pair for item in added for pair in sorted(_pairs_left_out(item.bodies, touching))]
    for first, second in pairs:
        spec.add_exclude(bodyname1=first, bodyname2=second)
    return bool(pairs)


def _pairs_left_out(bodies: RobotBodies, touching: Sequence[tuple[str, ...]]) -> set[tuple[str, ...]]:
    """Names of bodies of a robot that may touch: neighbours, and those of the touching pairs that are its own."""
    names, parents = [body.name for body in bodies.bodies], bodies.robot.tree.parents
    pairs: set[tuple[str, ...]] = {(names[int(parents[i])], names[i]) for i in range(len(names)) if parents[i] >= 0}
    own = set(names)
    if bodies.base.name != "world":
        pairs |= {(bodies.base.name, names[i]) for i in range(len(names)) if parents[i] < 0}
        own.add(bodies.base.name)
    for pair in touching:
        if own.issuperset(pair) and pair[::-1] not in pairs:
            pairs.add(pair)
    return pairs


def _mapped(mj: mujoco.MjModel, added: _Added) -> MujocoModel:
    bodies, robot = added.bodies, added.bodies.robot
    firsts = [mj.joint(names[0]) if names else None for names in bodies.joints]
    tree_bodies = np.array([mj.body(body.name).id for body in bodies.bodies], dtype=np.int64)
    body_of = {name: robot.body_of(name) for name in robot.link_names}
    qpos, qvel = _entries(mj, [name for names in bodies.joints for name in names])
    geom_ids = {n: tuple(mj.geom(g).id for g in geoms) for n, geoms in added.contacts.items()}
    return MujocoModel(
        mj=mj,
        robot=robot,
        qpos=qpos,
        qvel=qvel,
        qpos_index=np.array([-1 if j is None else j.qposadr[0] for j in firsts], dtype=np.int64),
        qvel_index=np.array([-1 if j is None else j.dofadr[0] for j in firsts], dtype=np.int64),
        body_ids=MappingProxyType({n: 0 if i < 0 else int(tree_bodies[i]) for n, i in body_of.items()}),
        tree_bodies=tree_bodies,
        geoms=tuple(mj.geom(name).id for name in bodies.geoms),
        contact_geoms=MappingProxyType(geom_ids),
        actuators=added.actuators,
        lifted=tuple(bodies.lifted),
        locked=tuple(robot.tree.joint_names[i] for i in bodies.locked),
    )


def _entries(mj: mujoco.MjModel, joints: Sequence[str]) -> tuple[slice, slice]:
    """Entries of neighbouring joints in qpos and in qvel."""
    if not joints:
        return slice(0, 0), slice(0, 0)
    ids = [mj.joint(name).id for name in joints]
    first, last = min(ids), max(ids)
    nq, nv = _SIZES.get(int(mj.jnt_type[last]), (1, 1))
    qpos = slice(int(mj.jnt_qposadr[first]), int(mj.jnt_qposadr[last]) + nq)
    return qpos, slice(int(mj.jnt_dofadr[first]), int(mj.jnt_dofadr[last]) + nv)
