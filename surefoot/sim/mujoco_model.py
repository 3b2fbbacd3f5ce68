"""`build_mujoco`: the MuJoCo model of a robot in a world, built from the `Robot` itself."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

import mujoco
import numpy as np
from numpy.typing import NDArray

from surefoot.errors import ModelError
from surefoot.motion.world import World
from surefoot.robot import Robot
from surefoot.sim.mujoco_bodies import RobotBodies, add_actuators, add_bodies, add_ties
from surefoot.sim.mujoco_shapes import Meshes, add_contacts, add_robot_shapes
from surefoot.sim.mujoco_world import ROBOT_BITS, SELF_COLLIDING_BITS, add_world

__all__ = ["MujocoModel", "build_mujoco"]

Indices = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class MujocoModel:
    """A MuJoCo model with the maps to the robot that it came from.

    Args:
        mj: The MuJoCo model.
        robot: The robot.
        qpos_index: (n,) first entry of each tree joint in qpos; −1 for a locked one.
        qvel_index: (n,) first entry of each tree joint in qvel; −1 for a locked one.
        body_ids: MuJoCo body by link name, also of links that a fixed joint holds.
        tree_bodies: (n,) MuJoCo body of each tree body.
        contact_geoms: Geoms of each contact surface.
        ground_geoms: Geoms of the ground.
        actuators: (nu,) actuator of each entry of a command; −1 where the joint is locked.
        lifted: Bodies whose mass or moments were lifted to what MuJoCo accepts.
        locked: Joints that move no mass and are held at home.
        notes: What is simulated otherwise than described.
    """

    mj: mujoco.MjModel = field(repr=False)
    robot: Robot = field(repr=False)
    qpos_index: Indices
    qvel_index: Indices
    body_ids: Mapping[str, int] = field(repr=False)
    tree_bodies: Indices = field(repr=False)
    contact_geoms: Mapping[str, tuple[int, ...]]
    ground_geoms: tuple[int, ...]
    actuators: Indices = field(repr=False)
    lifted: tuple[str, ...]
    locked: tuple[str, ...]
    notes: tuple[str, ...] = ()

    @property
    def nq(self) -> int:
        """Entries of the robot in qpos (objects come after them)."""
        joints = [j for j in range(self.mj.njnt) if self.mj.jnt_bodyid[j] <= self._last_body]
        return int(sum({0: 7, 1: 4}.get(int(self.mj.jnt_type[j]), 1) for j in joints))

    @property
    def nv(self) -> int:
        """Entries of the robot in qvel (objects come after them)."""
        return int(np.sum(self.mj.dof_bodyid <= self._last_body))

    @property
    def _last_body(self) -> int:
        return int(self.tree_bodies.max(initial=0))


def build_mujoco(
    robot: Robot, world: World | None = None, *, timestep: float = 0.002, self_collision: bool = False
) -> MujocoModel:
    """The MuJoCo model of a robot in a world.

    Bodies stand in the order of the tree, which is MuJoCo's own (depth first). The robot touches the world only, unless
    `self_collision`; then pairs of neighbours and pairs that touch at home are left out.

    Args:
        robot: The robot.
        world: The world; None for empty space with the robot's gravity.
        timestep: Of the integration [s].
        self_collision: Whether the robot may touch itself.

    Raises:
        NotSupportedError: A joint or closed chain that MuJoCo does not have.
        ModelError: MuJoCo refuses the model.
    """
    spec = _specification(robot, timestep)
    meshes = Meshes(spec)
    bodies = add_bodies(spec, robot)
    bits = SELF_COLLIDING_BITS if self_collision else ROBOT_BITS
    friction = world.friction if world is not None else 0.7
    add_robot_shapes(bodies, meshes, bits, friction)
    contacts = add_contacts(bodies, meshes, bits)
    actuators = add_actuators(bodies)
    add_ties(bodies)
    ground = add_world(spec, world, meshes) if world is not None else ()
    mj = _compiled(spec, robot)
    if self_collision and _exclude_touching_at_home(spec, bodies, mj):
        mj = _compiled(spec, robot)
    return _mapped(mj, bodies, contacts, ground, actuators)


def _specification(robot: Robot, timestep: float) -> mujoco.MjSpec:
    """An empty specification: elliptic friction cones; damping and stiffness of drives are solved with the contacts."""
    spec = mujoco.MjSpec()
    spec.modelname = robot.name
    spec.compiler.degree = False
    spec.option.timestep = timestep
    spec.option.gravity = robot.tree.gravity
    spec.option.integrator = mujoco.mjtIntegrator.mjINT_DISCRETE
    spec.option.cone = mujoco.mjtCone.mjCONE_ELLIPTIC
    spec.option.impratio = 100.0
    spec.option.tolerance = 1e-10
    spec.option.disableflags |= mujoco.mjtDisableBit.mjDSBL_AUTORESET
    return spec


def _compiled(spec: mujoco.MjSpec, robot: Robot) -> mujoco.MjModel:
    try:
        return spec.compile()
    except ValueError as error:
        raise ModelError(
            f"MuJoCo refuses `{robot.name}`",
            evidence={"MuJoCo": " ".join(str(error).split())},
            next_step="repair that part of the description",
            file=robot.source or None,
        ) from error


def _exclude_touching_at_home(spec: mujoco.MjSpec, bodies: RobotBodies, mj: mujoco.MjModel) -> bool:
    """Leave out the pairs of robot bodies that are neighbours or touch at home; whether there are any."""
    from surefoot.sim.mujoco_state import qpos_qvel

    model = _mapped(mj, bodies, {}, (), np.zeros(0, dtype=np.int64))
    data = mujoco.MjData(mj)
    data.qpos[: model.nq], _ = qpos_qvel(model, bodies.robot.home, np.zeros(bodies.robot.nv))
    mujoco.mj_forward(mj, data)
    names = [body.name for body in bodies.bodies]
    parents = bodies.robot.tree.parents
    pairs = {(names[int(parents[i])], names[i]) for i in range(len(names)) if parents[i] >= 0}
    for pair in data.contact.geom:
        touching = tuple(mj.body(mj.geom_bodyid[geom]).name for geom in pair)
        if touching[0] in names and touching[1] in names and touching[::-1] not in pairs:
            pairs.add(touching)
    for first, second in sorted(pairs):
        spec.add_exclude(bodyname1=first, bodyname2=second)
    return bool(pairs)


def _mapped(
    mj: mujoco.MjModel,
    bodies: RobotBodies,
    contacts: Mapping[str, tuple[str, ...]],
    ground: tuple[str, ...],
    actuators: Indices,
) -> MujocoModel:
    robot = bodies.robot
    firsts = [mj.joint(names[0]) if names else None for names in bodies.joints]
    tree_bodies = np.array([mj.body(body.name).id for body in bodies.bodies], dtype=np.int64)
    body_of = {name: robot.body_of(name) for name in robot.link_names}
    return MujocoModel(
        mj=mj,
        robot=robot,
        qpos_index=np.array([-1 if j is None else j.qposadr[0] for j in firsts], dtype=np.int64),
        qvel_index=np.array([-1 if j is None else j.dofadr[0] for j in firsts], dtype=np.int64),
        body_ids=MappingProxyType({n: 0 if i < 0 else int(tree_bodies[i]) for n, i in body_of.items()}),
        tree_bodies=tree_bodies,
        contact_geoms=MappingProxyType({n: tuple(mj.geom(g).id for g in geoms) for n, geoms in contacts.items()}),
        ground_geoms=tuple(mj.geom(name).id for name in ground),
        actuators=actuators,
        lifted=tuple(bodies.lifted),
        locked=tuple(robot.tree.joint_names[i] for i in bodies.locked),
        notes=tuple(
            f"the elastic gear of `{drive.joint}` is simulated as rigid, without its rotor"
            for drive in robot.drives
            if drive.gear == "elastic"
        ),
    )
