"""`MujocoEngine`: moves robots in a world by MuJoCo."""

from __future__ import annotations

from collections.abc import Sequence

import mujoco
import numpy as np
from numpy.typing import ArrayLike

from surefoot.arrays import Array, finite_array
from surefoot.errors import NotSupportedError, ShapeError, one_of
from surefoot.motion import Command, Ground, State, World
from surefoot.robot import Robot
from surefoot.sim.drives import Actuation, ideal_drives
from surefoot.sim.measured import Balance, Touches
from surefoot.sim.mujoco.actuators import Actuators
from surefoot.sim.mujoco.balance import BalanceBook
from surefoot.sim.mujoco.changes import Payloads, change_friction, change_ground
from surefoot.sim.mujoco.contacts import ContactBook
from surefoot.sim.mujoco.model import MujocoScene, StateMap, build_scene, qpos_qvel
from surefoot.sim.mujoco.physics import Physics, warnings_kept
from surefoot.sim.mujoco.shapes import Progress
from surefoot.sim.mujoco.world import object_name

__all__ = ["MujocoEngine"]


class MujocoEngine:
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
        self.robots: tuple[Robot, ...] = (robots,) if isinstance(robots, Robot) else tuple(robots)
        if not self.robots:
            raise ShapeError("an engine needs a robot")
        if not (np.isfinite(dt) and dt > 0.0):
            raise ShapeError(f"dt is {dt}, expected a finite number > 0")
        scene = build_scene(
            self.robots, world, timestep=dt, self_collision=self_collision, convex_pieces=convex_pieces,
            progress=progress,
        )  # fmt: skip
        self.dt, self.notes = float(dt), scene.notes
        self._physics = Physics(scene)
        self._actuators = Actuators(self._physics)
        self._maps = [StateMap(model) for model in scene.models]
        self._payloads = [Payloads(bodies) for bodies in scene.bodies]
        self._limits = [_torque_limits(robot) for robot in self.robots]
        self._links: dict[tuple[int, str], tuple[int, Array]] = {}
        self._pushed: list[int] = []
        self._states: tuple[State, ...] | None = None
        self._set_states([State.of(robot) for robot in self.robots])
        self._contacts = ContactBook(self._physics)
        self._balance = BalanceBook(self._physics, self._actuators)

    @property
    def robot(self) -> Robot:
        """The first robot."""
        return self.robots[0]

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
    def state(self) -> State:
        """State of the first robot now."""
        return self.states[0]

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
        """Begin again from a state of each robot, drives off, no pushes and payloads; objects go back to their places.

        Args:
            *states: One for each robot, all of the same time.
        """
        cleared = [payloads.clear() for payloads in self._payloads]
        if any(cleared):
            self._recompile()
        self._set_states(states)
        self._contacts.reset()
        self._balance.reset()

    def _set_states(self, states: Sequence[State]) -> None:
        if len(states) != len(self.robots):
            raise ShapeError(f"{len(states)} states for {len(self.robots)} robots")
        if len({state.t for state in states}) > 1:
            raise ShapeError("the states are of different times", evidence={"times": [state.t for state in states]})
        for robot, state in zip(self.robots, states, strict=True):
            robot.checked_q(state.q)
            finite_array(state.v, (robot.nv,), f"v of `{robot.name}`")
        self._physics.start_at(states[0].t)
        for model, state in zip(self.scene.models, states, strict=True):
            self._physics.qpos[model.qpos], self._physics.qvel[model.qvel] = qpos_qvel(model, state.q, state.v)
        self._actuators.off()
        self._pushed, self._states = [], None
        self._physics.forward()

    def begin(self, *actuations: Actuation) -> None:
        """Find the forces that act in the state as it is, without a step.

        Args:
            *actuations: One for each robot.
        """
        self._actuators.set(actuations)
        self._actuators.begin()
        self._physics.forward()
        self._contacts.read()

    def advance(self, *actuations: Actuation) -> None:
        """One step of dt.

        Args:
            *actuations: One for each robot.

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

    def step(self, *commands: Command) -> State:
        """Go on by one step under commands to ideal drives with the torque limits of the robots.

        Args:
            *commands: One for each robot.

        Returns:
            The state of the first robot.
        """
        self.advance(*ideal_drives(self.robots, commands, self._limits))
        return self.state

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
        """Way [m] that the loaded contact surface slid since the reset."""
        return self._contacts.slip(self._index(robot), contact)

    def placement(self, link: str, robot: int = 0) -> Array:
        """T_world_link (4, 4) now."""
        body, T_body_link = self._link(link, robot)
        data, out = self._physics.placed, np.eye(4)
        out[:3, :3], out[:3, 3] = data.xmat[body].reshape(3, 3), data.xpos[body]
        return out @ T_body_link

    def com(self, robot: int = 0) -> Array:
        """(3,) centre of mass of the robot and its payloads in world now [m]."""
        bodies = self.scene.models[self._index(robot)].tree_bodies
        masses = self.mj.body_mass[bodies]
        return np.array(masses @ self._physics.placed.xipos[bodies] / masses.sum())

    def object_state(self, name: str) -> tuple[Array, Array]:
        """Where an object of the world is now and how it moves.

        Args:
            name: The object.

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

    def push(self, link: str, wrench: ArrayLike, robot: int = 0, point: ArrayLike | None = None) -> None:
        """Add a wrench on the body that carries a link, until `release`.

        Args:
            link: The link.
            wrench: (6,) force [N] and moment [N m] in world axes.
            robot: Which robot.
            point: (3,) in world [m] where the force acts; the centre of mass of the body if left out. The lever arm is
                that of this moment and stays; push again after a release where the body moves far.
        """
        body, _ = self._link(link, robot)
        if body == 0:
            raise NotSupportedError(f"link `{link}` is fixed to the world; a push does nothing there")
        added = np.array(finite_array(wrench, (6,), "wrench of a push"))
        if point is not None:
            arm = finite_array(point, (3,), "point of a push") - self._physics.placed.xipos[body]
            added[3:] += np.cross(arm, added[:3])
        self._physics.data.xfrc_applied[body] += added
        if body not in self._pushed:
            self._pushed.append(body)

    def release(self) -> None:
        """End all pushes."""
        if self._pushed:
            self._physics.data.xfrc_applied[:] = 0.0
            self._pushed = []

    def set_friction(self, friction: float, pieces: Sequence[int] | None = None) -> None:
        """Change the Coulomb coefficient of pieces of ground; the slipperier of two touching surfaces decides.

        Args:
            friction: ≥ 0.
            pieces: Their indices; None for all.
        """
        change_friction(self.scene, friction, pieces)
        self._contacts.model_changed()

    def set_ground(self, ground: Sequence[Ground]) -> None:
        """Replace the pieces of ground, friction included.

        Args:
            ground: As many and of the same kinds as before; height fields with as many cells.

        Raises:
            NotSupportedError: Another number of pieces, other kinds or grids.
        """
        self._physics.scene = change_ground(self.scene, ground)
        self._recompile()

    def set_payload(self, link: str, mass: float, position: ArrayLike, robot: int = 0) -> None:
        """Put a point mass on a link; one for each link, a new one replaces the old.

        Args:
            link: The link.
            mass: [kg]; 0 takes it away again.
            position: (3,) in the frame of the link [m].
            robot: Which robot.
        """
        self._link(link, robot)
        self._payloads[robot].put(link, mass, position)
        self._recompile()

    def _recompile(self) -> None:
        before = self._balance.keep()
        self._physics.recompile()
        self._actuators.bind()
        self._contacts.model_changed()
        self._balance.model_changed(before)

    def _index(self, robot: int) -> int:
        if not 0 <= robot < len(self.robots):
            raise ShapeError(f"there is no robot {robot}", evidence={"robots": [item.name for item in self.robots]})
        return robot

    def _link(self, link: str, robot: int) -> tuple[int, Array]:
        """MuJoCo body that carries a link, and T_body_link (4, 4)."""
        if (robot, link) not in self._links:
            ids = self.scene.models[self._index(robot)].body_ids
            if link not in ids:
                raise one_of("link", link, ids)
            owner = self.robots[robot]
            self._links[robot, link] = ids[link], owner.model.frames[owner.frame_id(link)].placement.homogeneous
        return self._links[robot, link]


def _torque_limits(robot: Robot) -> Array:
    """(nu,) of the drives."""
    return np.repeat(
        [drive.torque_limit for drive in robot.drives],
        [robot.tree.nv_of(robot.joint_index(drive.joint)) for drive in robot.drives],
    ).astype(float)
