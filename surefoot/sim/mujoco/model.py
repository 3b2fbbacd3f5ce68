"""`build_mujoco`, `build_scene`: the MuJoCo model of robots in a world, built from the `Robot`s themselves.

States between Pinocchio's layout and a MuJoCo model: `motion.exchange`, less the joints that are locked here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from types import MappingProxyType

import mujoco
import numpy as np
from numpy.typing import ArrayLike, NDArray

from surefoot.arrays import Array
from surefoot.errors import ModelError, NotSupportedError
from surefoot.geometry import Mesh
from surefoot.motion import World
from surefoot.motion.exchange import Block, decode, encode, layout_blocks
from surefoot.robot import Coupling, Robot
from surefoot.sim.mujoco.bodies import RobotBodies, add_actuators, add_bodies, add_ties
from surefoot.sim.mujoco.shapes import Meshes, Progress, add_contacts, add_robot_shapes, cut_meshes
from surefoot.sim.mujoco.world import add_world, hull_notes, robot_bits
from surefoot.spatial import quaternion

Indices = NDArray[np.int64]
_SIZES = {int(mujoco.mjtJoint.mjJNT_FREE): (7, 6), int(mujoco.mjtJoint.mjJNT_BALL): (4, 3)}
_TOUCHING = 0.002  # hulls of meshes that are nearer at home touch as soon as the robot moves [m]


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

    Bodies are in the order of the trees, which is MuJoCo's own (depth first), one robot after the other, then the
    objects. Names of several robots begin with `0/`, `1/` … A robot touches the world, objects and other robots, and
    itself if `self_collision`; then pairs of neighbours, excluded pairs and pairs that touch at home are omitted.

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
    """Leave out pairs of bodies of one robot: neighbours, excluded, touching at home; whether there are any."""
    data = mujoco.MjData(mj)
    margins = mj.geom_margin.copy()
    mj.geom_margin[:] = _TOUCHING  # each; that of a pair is the larger one
    for item in added:
        model = _mapped(mj, item)
        data.qpos[model.qpos], _ = qpos_qvel(model, model.robot.home, np.zeros(model.robot.nv))
    mujoco.mj_forward(mj, data)
    mj.geom_margin[:] = margins
    touching = [tuple(mj.body(mj.geom_bodyid[geom]).name for geom in pair) for pair in data.contact.geom]
    pairs = [pair for item in added for pair in sorted(_pairs_left_out(item.bodies, touching))]
    for first, second in pairs:
        spec.add_exclude(bodyname1=first, bodyname2=second)
    return bool(pairs)


def _pairs_left_out(bodies: RobotBodies, touching: Sequence[tuple[str, ...]]) -> set[tuple[str, ...]]:
    """Names of bodies of a robot that may touch: neighbours, excluded pairs, and touching pairs that are its own."""
    names, parents = [body.name for body in bodies.bodies], bodies.robot.tree.parents
    excluded = [tuple(bodies.place_of(link)[0].name for link in pair) for pair in bodies.robot.excludes]
    pairs: set[tuple[str, ...]] = {(names[int(parents[i])], names[i]) for i in range(len(names)) if parents[i] >= 0}
    own = set(names)
    if bodies.base.name != "world":
        pairs |= {(bodies.base.name, names[i]) for i in range(len(names)) if parents[i] < 0}
        own.add(bodies.base.name)
    for pair in (*touching, *(pair for pair in excluded if len(set(pair)) == 2)):
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


_TURN = 2.0 * np.pi
_MOST_TURNS = 32  # of a leader, either way
_ROUNDING = 1e-9  # [rad] or [m]
_CONJUGATE = np.array([1.0, -1.0, -1.0, -1.0])
_SAME_NUMBERS = ("revolute", "prismatic", "translation", "spherical", "free")
"""Joints whose q is that of MuJoCo, quaternions in another order."""


class StateMap:
    """Which entries of a robot go where. What takes no arithmetic goes by index, the rest by `motion.exchange`."""

    def __init__(self, model: MujocoModel) -> None:
        self.model = model
        self._home, self._nv = np.array(model.robot.home), model.robot.nv
        self.blocks = [b for b in layout_blocks(model.robot, "mujoco") if model.qpos_index[b.joint] >= 0]
        own = [b for b in self.blocks if not b.is_follower]
        direct = [b for b in own if self._kind(b) in _SAME_NUMBERS and b.placement is None]
        turning = [b for b in own if self._kind(b) == "continuous"]
        self._others = [b for b in own if b not in direct and b not in turning]
        self._q, self._qpos = _pairs([(self._q_rows(b), self.places(b)[0]) for b in direct])
        self._turn_q, self._turn_qpos = _pairs([(b.q.start + np.arange(1), self.places(b)[0]) for b in turning])
        self._v, self._qvel = _pairs([(np.r_[b.v], self.places(b)[1]) for b in own])
        self._floating = [(b.v.start, *self._starts(b)) for b in own if self._kind(b) == "free"]
        self._planar = [(b.v.start, *self._starts(b)) for b in own if self._kind(b) == "planar"]

    def _kind(self, block: Block) -> str:
        return self.model.robot.tree.kinds[block.joint]

    def _starts(self, block: Block) -> tuple[int, int]:
        position, velocity = self.places(block)
        return int(position.start), int(velocity.start)

    def _q_rows(self, block: Block) -> Indices:
        """Entries of q in the order of MuJoCo's."""
        rows = np.r_[block.q]
        if self._kind(block) in ("free", "spherical"):
            rows[-4:] = quaternion.to_wxyz(rows[-4:])
        return rows

    def places(self, block: Block) -> tuple[slice, slice]:
        """Entries of a joint among those of the robot in qpos and qvel."""
        start = int(self.model.qpos_index[block.joint]) - self.model.qpos.start
        begin = int(self.model.qvel_index[block.joint]) - self.model.qvel.start
        return slice(start, start + len(block.format.position)), slice(begin, begin + len(block.format.velocity))

    def q_v(self, qpos: Array, qvel: Array) -> tuple[Array, Array]:
        """As the function `q_v`; float arrays only."""
        q, v = self._home.copy(), np.zeros(self._nv)
        q[self._q], v[self._v] = qpos[self._qpos], qvel[self._qvel]
        for at_v, at_qpos, at_qvel in self._floating:
            back = qpos[at_qpos + 3 : at_qpos + 7] * _CONJUGATE
            mujoco.mju_rotVecQuat(v[at_v : at_v + 3], qvel[at_qvel : at_qvel + 3], back)
        if len(self._turn_q):
            angle = qpos[self._turn_qpos]
            q[self._turn_q], q[self._turn_q + 1] = np.cos(angle), np.sin(angle)
        if self._others:
            self._decode_others(qpos, qvel, q, v)
        return q, v

    def _decode_others(self, qpos: Array, qvel: Array, q: Array, v: Array) -> None:
        places = [self.places(block) for block in self._others]
        found = decode(self.model.robot, self._others, [(qpos[None, a], qvel[None, b]) for a, b in places])
        for block in self._others:
            q[block.q] = found[0][0, block.q]
            if found[1] is not None:
                v[block.v] = found[1][0, block.v]

    def acceleration(self, qpos: Array, qvel: Array, qacc: Array) -> Array:
        """dv/dt (nv,) from MuJoCo's numbers of the robot; locked joints do not accelerate.

        MuJoCo has velocities ẋ of free and planar joints in world axes, v has Rᵀ ẋ: dv/dt = Rᵀ ẍ − ω × Rᵀ ẋ.

        Args:
            qpos: (nq,) of the model.
            qvel: (nv,) of the model.
            qacc: (nv,) of the model.
        """
        out = np.zeros(self._nv)
        out[self._v] = qacc[self._qvel]
        for at_v, at_qpos, at_qvel in self._floating:
            back, turning, speed = qpos[at_qpos + 3 : at_qpos + 7] * _CONJUGATE, np.zeros(3), np.zeros(3)
            mujoco.mju_rotVecQuat(speed, qvel[at_qvel : at_qvel + 3], back)
            mujoco.mju_rotVecQuat(out[at_v : at_v + 3], qacc[at_qvel : at_qvel + 3], back)
            mujoco.mju_cross(turning, qvel[at_qvel + 3 : at_qvel + 6], speed)
            out[at_v : at_v + 3] -= turning
        for at_v, at_qpos, at_qvel in self._planar:
            c, s = np.cos(qpos[at_qpos + 2]), np.sin(qpos[at_qpos + 2])
            back, rate = np.array([[c, s], [-s, c]]), qvel[at_qvel + 2]
            x, y = back @ qvel[at_qvel : at_qvel + 2]
            out[at_v : at_v + 2] = back @ qacc[at_qvel : at_qvel + 2] - rate * np.array([-y, x])
        return out


def _pairs(items: list[tuple[Indices, slice]]) -> tuple[Indices, Indices]:
    """Two lists of indices of equal length."""
    nothing = np.zeros(0, dtype=np.int64)
    first = [np.asarray(rows, dtype=np.int64) for rows, _ in items]
    second = [np.r_[place] for _, place in items]
    return np.concatenate([nothing, *first]), np.concatenate([nothing, *second])


@lru_cache(maxsize=16)
def _map_of(model: MujocoModel) -> StateMap:
    return StateMap(model)


def qpos_qvel(model: MujocoModel, q: ArrayLike, v: ArrayLike) -> tuple[Array, Array]:
    """MuJoCo's qpos and qvel of the robot; what q and v say of locked joints is dropped.

    q does not count the turns of continuous joints; those of coupled ones are chosen so that the coupling holds.

    Args:
        model: The MuJoCo model.
        q: (nq,) Pinocchio's.
        v: (nv,) Pinocchio's.
    """
    layout, q, v = _map_of(model), np.asarray(q, dtype=float), np.asarray(v, dtype=float)
    qpos, qvel = np.zeros(model.nq), np.zeros(model.nv)
    for block, (position, velocity) in zip(layout.blocks, encode(layout.blocks, q[None], v[None]), strict=True):
        at_q, at_v = layout.places(block)
        qpos[at_q] = position[0]
        if velocity is not None:
            qvel[at_v] = velocity[0]
    _count_turns(model, qpos)
    return qpos, qvel


def _count_turns(model: MujocoModel, qpos: Array) -> None:
    """Add full turns to coupled continuous joints: the leader's that fit its followers, then those next to the leader.

    Of several numbers of turns of a leader that fit its followers equally well the smallest is taken.
    """
    index = model.robot.joint_index
    names = {name: int(model.qpos_index[index(name)]) for c in model.robot.couplings for name in (c.joint, c.source)}
    places = {name: place - model.qpos.start if place >= 0 else -1 for name, place in names.items()}
    turning = {n for n in places if model.robot.tree.kinds[index(n)] == "continuous"}
    moving = [c for c in model.robot.couplings if places[c.joint] >= 0 and places[c.source] >= 0]
    for leader in dict.fromkeys(c.source for c in moving):
        group = [c for c in moving if c.source == leader]
        if leader in turning:
            qpos[places[leader]] += _leader_turns(qpos, places, group, turning)
        for item in (c for c in group if c.joint in turning):
            missing = item.offset + item.ratio * qpos[places[leader]] - qpos[places[item.joint]]
            qpos[places[item.joint]] += _TURN * round(missing / _TURN)


def _leader_turns(qpos: Array, places: dict[str, int], group: list[Coupling], turning: set[str]) -> float:
    """Full turns [rad] of a continuous leader for which its followers are nearest to where they should be."""
    turns = _TURN * np.array(sorted(range(-_MOST_TURNS, _MOST_TURNS + 1), key=abs))
    miss = np.zeros(len(turns))
    for item in group:
        error = item.offset + item.ratio * (qpos[places[item.source]] + turns) - qpos[places[item.joint]]
        miss += np.abs(error - _TURN * np.round(error / _TURN) if item.joint in turning else error)
    return float(turns[int(np.argmax(miss <= miss.min() + _ROUNDING))])


def q_v(model: MujocoModel, qpos: ArrayLike, qvel: ArrayLike) -> tuple[Array, Array]:
    """Pinocchio's q and v; locked joints are at home and at rest, followers are where their sources put them.

    Args:
        model: The MuJoCo model.
        qpos: The robot's entries; what comes after them is not looked at.
        qvel: The robot's entries; what comes after them is not looked at.
    """
    return _map_of(model).q_v(np.asarray(qpos, dtype=float), np.asarray(qvel, dtype=float))
