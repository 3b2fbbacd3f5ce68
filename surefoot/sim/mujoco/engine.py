"""`MujocoEngine`: moves robots in a world by MuJoCo."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import mujoco
import numpy as np
from numpy.typing import ArrayLike

from surefoot.arrays import Array, finite_array, number
from surefoot.errors import NotSupportedError, ShapeError, one_of
from surefoot.motion import Ground, HeightField, State, World
from surefoot.robot import Robot
from surefoot.sim.drives import Actuation
from surefoot.sim.engine import BaseEngine, refuse_moving
from surefoot.sim.measured import Balance, Touches
from surefoot.sim.mujoco.actuators import Actuators
from surefoot.sim.mujoco.balance import BalanceBook
from surefoot.sim.mujoco.bodies import RobotBodies, set_inertia
from surefoot.sim.mujoco.contacts import ContactBook
from surefoot.sim.mujoco.inertia import with_points
from surefoot.sim.mujoco.model import MujocoScene, StateMap, build_scene, qpos_qvel
from surefoot.sim.mujoco.physics import Physics, warnings_kept
from surefoot.sim.mujoco.shapes import Progress, friction_settings
from surefoot.sim.mujoco.world import ground_name, ground_settings, object_name, shape_ground

_UNMOVED = np.eye(4)
_FRICTION_KEYS = ("friction", "condim", "priority")


class MujocoEngine(BaseEngine):
    """A `PhysicsEngine` and an `Engine`: one step is one step of MuJoCo's discrete integrator.

    Springs of an actuation are integrated implicitly, so drives stay stable however stiff they are; limits hold for the
    force that acts, [sim.drive]. The slipperier of two touching surfaces decides about friction.

    The step is semi-implicit: forces and accelerations are those at the positions where the step began, springs
    excepted. `acceleration` is dv/dt in the state at its start.

    Changes of ground and payload compile the model anew in the same state (some milliseconds); until the next step,
    touches, wrenches and accelerations are those in this state under the drives as last set. What a payload weighs and
    carries is not counted as gained in the balance. `reset` takes payloads away; friction and ground stay as they are.

    Args:
        robots: The robot, or several.
        world: The world; None for empty space.
        dt: Step [s].
        self_collision: Whether robots may touch themselves.
        convex_pieces: Whether meshes touch by convex pieces instead of their hulls (see `build_scene`).
        progress: Called with the share 0…1 of the meshes that are cut into pieces.
    """

    def __init__(
        self,
        robots: Robot | Sequence[Robot],
        world: World | None = None,
        dt: float = 0.002,
        *,
        self_collision: bool = False,
        convex_pieces: bool = False,
        progress: Progress | None = None,
    ) -> None:
        super().__init__(robots, dt)
        scene = build_scene(
            self.robots, world, timestep=self.dt, self_collision=self_collision, convex_pieces=convex_pieces,
            progress=progress,
        )  # fmt: skip
        self.notes = scene.notes
        self._physics = Physics(scene)
        self._actuators = Actuators(self._physics)
        self._maps = [StateMap(model) for model in scene.models]
        self._payloads = [Payloads(bodies) for bodies in scene.bodies]
        self._links: dict[tuple[int, str], tuple[int, Array]] = {}
        self._pushed: list[int] = []
        self._states: tuple[State, ...] | None = None
        self._set_states([State.of(robot) for robot in self.robots])
        self._weigh()
        self._contacts = ContactBook(self._physics)
        self._balance = BalanceBook(self._physics, self._actuators)

    @property
    def scene(self) -> MujocoScene:
        """The robots and the world in MuJoCo, with the maps between them."""
        return self._physics.scene

    @property
    def mj(self) -> mujoco.MjModel:
        """MuJoCo's model."""
        return self._physics.mj

    @property
    def data(self) -> mujoco.MjData:
        """MuJoCo's data."""
        return self._physics.data

    @property
    def lifted(self) -> tuple[str, ...]:
        """Bodies whose mass or moments were lifted to what MuJoCo accepts."""
        return tuple(dict.fromkeys(name for model in self.scene.models for name in model.lifted))

    @property
    def locked(self) -> tuple[str, ...]:
        """Joints that move no mass and are held at home."""
        return tuple(dict.fromkeys(name for model in self.scene.models for name in model.locked))

    @property
    def time(self) -> float:
        """Now [s]."""
        return float(self._physics.data.time)

    @property
    def states(self) -> tuple[State, ...]:
        """State of each robot now."""
        if self._states is None:
            self._states = tuple(self._state_of(part) for part in self._maps)
        return self._states

    def _state_of(self, part: StateMap) -> State:
        qpos, qvel = self._physics.qpos[part.model.qpos], self._physics.qvel[part.model.qvel]
        return State(self.time, *part.q_v(qpos, qvel))

    @property
    def balance(self) -> Balance:
        """The account of energy and momentum of everything that moves since the reset."""
        return self._balance.balance()

    def reset(self, *states: State) -> None:
        """Begin again from a state of each robot, all of the same time; objects go back to their places.

        Drives are off, pushes and payloads gone.
        """
        cleared = [payloads.clear() for payloads in self._payloads]
        if any(cleared):
            self._recompile()
        self._set_states(states)
        self._contacts.reset()
        self._balance.reset()

    def _set_states(self, states: Sequence[State]) -> None:
        self._require_states(states)
        self._physics.start_at(states[0].t)
        for model, state in zip(self.scene.models, states, strict=True):
            self._physics.qpos[model.qpos], self._physics.qvel[model.qvel] = qpos_qvel(model, state.q, state.v)
        self._actuators.off()
        self._pushed, self._states = [], None
        self._physics.forward()

    def begin(self, *actuations: Actuation) -> None:
        """Find the forces that act in the state as it is, without a step; one actuation for each robot."""
        self._actuators.set(actuations)
        self._actuators.begin()
        self._physics.forward()
        self._contacts.read()

    def advance(self, *actuations: Actuation) -> None:
        """One step of dt; one actuation for each robot.

        Raises:
            SimulationError: Torques, positions, velocities or accelerations grew beyond all bounds.
        """
        physics = self._physics
        self._actuators.set(actuations)
        physics.remember()
        self._states = None
        with warnings_kept() as messages:
            self._actuators.step()
        physics.finish_step(messages)
        self._contacts.after_step()
        self._balance.after_step(self._pushed)

    def torques(self, robot: int = 0) -> Array:
        """(nu,) torques of the drives that acted, within their limits [N m] or [N]; 0 where a joint is locked."""
        return self._actuators.torques(self._index(robot))

    def acceleration(self, robot: int = 0) -> Array:
        """(nv,) of the step: dv/dt in the state at its start."""
        part, physics = self._maps[self._index(robot)], self._physics
        qpos, qvel = part.model.qpos, part.model.qvel
        return part.acceleration(physics.qpos_before[qpos], physics.qvel_before[qvel], physics.data.qacc[qvel])

    def touches(self, robot: int = 0) -> Touches:
        """Where the robot touches something; where it touches itself, each of its two bodies has a row."""
        return self._contacts.touches(self._index(robot))

    def wrench(self, contact: str, robot: int = 0) -> Array:
        """(6,) on the robot, in the frame of the contact surface, linear first [N], [N m]."""
        return self._contacts.wrench(self._index(robot), contact)

    def slip(self, contact: str, robot: int = 0) -> float:
        """Slip distance [m] of the loaded contact surface since the reset."""
        return self._contacts.slip(self._index(robot), contact)

    def placement(self, link: str, robot: int = 0) -> Array:
        """T_world_link (4, 4) now."""
        body, T_body_link = self._link(link, robot)
        data, out = self._physics.placed, _UNMOVED.copy()
        out[:3, :3], out[:3, 3] = data.xmat[body].reshape(3, 3), data.xpos[body]
        return out @ T_body_link

    def com(self, robot: int = 0) -> Array:
        """(3,) centre of mass of the robot and its payloads in world now [m]."""
        bodies, masses, total = self._masses[self._index(robot)]
        return np.array(masses @ self._physics.placed.xipos[bodies] / total)

    def ground_places(self) -> dict[int, Array]:
        """T_world_box (4, 4) of every piece of ground that moves now, by its index."""
        return self._physics.ground.places(self._physics.placed)

    def object_state(self, name: str) -> tuple[Array, Array]:
        """Where an object of the world is now and how it moves.

        Returns:
            T_world_object (4, 4), and its twist (6,) in its own axes, linear first [m/s], [rad/s].
        """
        known = () if self.scene.world is None else tuple(thing.name for thing in self.scene.world.objects)
        if name not in known:
            raise one_of("object", name, known)
        joint, data, T = self.mj.joint(object_name(name)), self._physics.placed, np.eye(4)
        body, start = int(self.mj.jnt_bodyid[joint.id]), int(joint.dofadr[0])
        T[:3, :3], T[:3, 3] = data.xmat[body].reshape(3, 3), data.xpos[body]
        twist = self._physics.qvel[start : start + 6].copy()
        twist[:3] = T[:3, :3].T @ twist[:3]
        return T, twist

    def _moving_body(self, link: str, robot: int) -> int | None:
        return self._link(link, robot)[0] or None  # body 0 is the world

    def _centre_of(self, body: int, robot: int) -> Array:
        return np.array(self._physics.placed.xipos[body])

    def _add_push(self, body: int, wrench: Array, robot: int) -> None:
        self._physics.data.xfrc_applied[body] += wrench
        if body not in self._pushed:
            self._pushed.append(body)

    def release(self) -> None:
        """End all pushes."""
        if self._pushed:
            self._physics.data.xfrc_applied[:] = 0.0
            self._pushed = []

    def set_friction(self, friction: float, pieces: Sequence[int] | None = None) -> None:
        """Change the Coulomb coefficient of pieces of ground (their indices; None for all).

        The slipperier of two touching surfaces decides.
        """
        change_friction(self.scene, friction, pieces)
        self._contacts.model_changed()

    def set_ground(self, ground: Sequence[Ground]) -> None:
        """Replace the pieces of ground, friction included; as many and of the same kinds, height fields as large."""
        self._physics.scene = change_ground(self.scene, ground)
        self._recompile()

    def set_payload(self, link: str, mass: float, position: ArrayLike, robot: int = 0) -> None:
        """Put a point mass [kg] at a position (3,) in the frame of a link [m]; 0 takes it away again.

        Each link has one; a new one replaces the old.
        """
        self._link(link, robot)
        self._payloads[robot].put(link, mass, position)
        self._recompile()

    def _recompile(self) -> None:
        before = self._balance.keep()
        self._physics.recompile()
        self._weigh()
        self._actuators.bind()
        self._contacts.model_changed()
        self._balance.model_changed(before)

    def _weigh(self) -> None:
        """Keep the bodies of each robot, their masses and the sum of these."""
        groups = [model.tree_bodies for model in self.scene.models]
        self._masses = [(bodies, x := self.mj.body_mass[bodies], x.sum()) for bodies in groups]

    def _link(self, link: str, robot: int) -> tuple[int, Array]:
        """MuJoCo body that carries a link, and T_body_link (4, 4)."""
        if (robot, link) not in self._links:
            ids = self.scene.models[self._index(robot)].body_ids
            if link not in ids:
                raise one_of("link", link, ids)
            owner = self.robots[robot]
            self._links[robot, link] = ids[link], owner.model.frames[owner.frame_id(link)].placement.homogeneous
        return self._links[robot, link]


def change_friction(scene: MujocoScene, friction: float, pieces: Sequence[int] | None) -> None:
    """Change the Coulomb coefficient of pieces of ground, in the specification and in the model.

    Args:
        scene: The scene.
        friction: ≥ 0; the slipperier of two surfaces decides.
        pieces: Their indices; None for all.
    """
    count = len(scene.world.ground) if scene.world is not None else 0
    chosen = range(count) if pieces is None else [int(k) for k in pieces]
    if count == 0:
        raise ShapeError("there is no ground whose friction could change")
    if wrong := [k for k in chosen if not 0 <= k < count]:
        raise ShapeError("there are no such pieces of ground", evidence={"pieces": wrong, "number of pieces": count})
    settings = friction_settings(number(friction, "friction of the ground"))
    for k in chosen:
        name = ground_name(k)
        _set_friction(scene.spec.geom(name), settings)
        geom = scene.mj.geom(name)
        geom.friction[:], geom.condim[:], geom.priority[:] = (settings[key] for key in _FRICTION_KEYS)


def _set_friction(geom: mujoco.MjsGeom, settings: dict[str, object]) -> None:
    for key in _FRICTION_KEYS:
        setattr(geom, key, settings[key])


def change_ground(scene: MujocoScene, ground: Sequence[Ground]) -> MujocoScene:
    """Replace the pieces of ground in the specification; their friction is that which they come with.

    Args:
        scene: The scene.
        ground: As many pieces of the same kinds as before, height fields with as many cells.

    Returns:
        The scene with the new world; its model is still the old one.
    """
    refuse_moving(scene.world, ground)
    before = () if scene.world is None else scene.world.ground
    if scene.world is None or [_kind(piece) for piece in before] != [_kind(piece) for piece in ground]:
        raise NotSupportedError(
            "ground can be replaced only by as many pieces of the same kinds",
            evidence={"before": [_kind(p) for p in before], "after": [_kind(p) for p in ground]},
            next_step="build the world with all pieces that will be needed; boxes can wait below the ground",
        )
    for k, piece in enumerate(ground):
        geom = scene.spec.geom(ground_name(k))
        shape_ground(scene.spec, geom, piece)
        _set_friction(geom, ground_settings(piece, scene.world.friction))
    return replace(scene, world=replace(scene.world, ground=tuple(ground)))


def _kind(piece: Ground) -> str:
    name = type(piece).__name__
    return f"{name} {piece.heights.shape}" if isinstance(piece, HeightField) else name


class Payloads:
    """Point masses on the links of a robot.

    Args:
        bodies: The robot in the specification.
    """

    def __init__(self, bodies: RobotBodies) -> None:
        self._bodies = bodies
        self._loads: dict[str, tuple[int, float, Array]] = {}

    def put(self, link: str, mass: float, position: ArrayLike) -> None:
        """Set the payload of a link in the specification.

        Args:
            link: The link.
            mass: [kg]; 0 takes it away.
            position: (3,) in the frame of the link [m].
        """
        body = self._bodies.robot.body_of(link)
        if body < 0:
            raise NotSupportedError(f"link `{link}` is fixed to the world; a payload does nothing there")
        place = finite_array(position, (3,), "position of a payload")
        T = self._bodies.place_of(link)[1]
        self._loads[link] = body, number(mass, "mass of a payload"), T[:3, :3] @ place + T[:3, 3]
        here = [(m, p) for i, m, p in self._loads.values() if i == body]
        masses, positions = np.array([m for m, _ in here]), np.array([p for _, p in here])
        set_inertia(self._bodies.bodies[body], with_points(self._bodies.inertias[body], masses, positions))

    def clear(self) -> bool:
        """Take all away; whether there were any."""
        bodies = {body for body, _, _ in self._loads.values()}
        for body in bodies:
            set_inertia(self._bodies.bodies[body], self._bodies.inertias[body])
        self._loads.clear()
        return bool(bodies)
