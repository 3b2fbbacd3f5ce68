"""`NativeEngine`: moves robots in a world by our own compiled steps.

Which mover a robot of the native engine needs.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import numpy as np
from numpy.typing import ArrayLike

from surefoot.arrays import Array, finite_array, number
from surefoot.dynamics import Baumgarte
from surefoot.errors import NotSupportedError, ShapeError, one_of
from surefoot.motion import Command, Ground, State, World
from surefoot.motion.world import in_world
from surefoot.robot import Robot
from surefoot.robot.model import carrying
from surefoot.sim.drives import Actuation, DrivenJoints, ideal_drives
from surefoot.sim.measured import Balance, Touches
from surefoot.sim.native.balance import BalanceBook, contact_wrench, touches_of
from surefoot.sim.native.constrained import BAUMGARTE, ConstrainedMover, Holding, held_by_constraints
from surefoot.sim.native.contact_laws import ContactLaw, Rigid, SpringDamper, law_of
from surefoot.sim.native.kernels import SUMMED, Settings
from surefoot.sim.native.mover import Mover
from surefoot.sim.native.rigid import RigidMover
from surefoot.sim.native.world import notes_of, object_robot, with_friction, with_ground
from surefoot.spatial import se3

__all__ = ["NativeEngine", "make_mover"]


def make_mover(
    robot: Robot, world: World | None, law: ContactLaw | Rigid, settings: Settings, holding: Holding
) -> Mover:
    """What moves a robot.

    Args:
        robot: The robot, with the gravity of the world.
        world: The world; None for empty space.
        law: Contact law.
        settings: Of the step.
        holding: How constraints are kept.

    Raises:
        NotSupportedError: Rigid contacts of a robot that constraints hold.
    """
    if not held_by_constraints(robot, holding):
        return RigidMover(robot, world, settings, law) if isinstance(law, Rigid) else Mover(robot, world, settings)
    if isinstance(law, Rigid):
        raise NotSupportedError(
            f"`{robot.name}` is held by constraints; rigid contacts are for trees",
            next_step='use contact="spring_damper", or hold its surfaces with `held`',
        )
    return ConstrainedMover(robot, world, settings, holding)


_WATCHED = 25  # steps of "rk4" after which the account of energy is looked at


class NativeEngine:
    """A `PhysicsEngine`: one step is one call of machine code for each robot.

    Robots touch the ground (planes, boxes, height fields) by the points of their contact surfaces, under a contact law
    of `contact_laws`; objects by their corners. Robots, objects and obstacles do not touch each other; the
    notes say so. Springs of an actuation, joint friction, stops and contacts are integrated implicitly, see
    `surefoot.sim.native.step`. `reset` takes payloads away; friction and ground stay as they are.

    Args:
        robots: The robot, or several.
        world: The world; None for empty space.
        dt: Step [s].
        contact: Contact law, or its name.
        integrator: "semi_implicit" or "rk4". "rk4" is explicit: for smooth motion, soft drives and soft contacts. Gains
            with which a mode of the drives would grow are refused, and a run whose energy account breaks ends.
        limits: Whether joints stop at their limits.
        friction: Whether joints have friction.
        springs: Whether actuations may have gains; without, a step takes a fifth less time.
        self_collision: Whether robots should touch themselves; they do not here, and a note says so.
        constraint_method: Of `surefoot.dynamics.methods.methods.METHODS`, where constraints hold a robot.
        stabilisation: What keeps it on them: "none", "baumgarte" or "projection" (after each step).
        baumgarte: α and β of "baumgarte" [1/s].
        held: Contact surfaces of the first robot that are held where they are when the engine is reset.

    Raises:
        NotSupportedError: An object of another shape than box, sphere, cylinder and capsule; rigid contacts and
            constraints. Steps: gains that are too stiff for "rk4".
        ModelError: A closed chain cannot be closed, or constraints contradict each other.
    """

    def __init__(
        self,
        robots: Robot | Sequence[Robot],
        world: World | None = None,
        dt: float = 0.001,
        *,
        contact: ContactLaw | Rigid | str = SpringDamper(),  # noqa: B008 - frozen
        integrator: str = "semi_implicit",
        limits: bool = True,
        friction: bool = True,
        springs: bool = True,
        self_collision: bool = False,
        constraint_method: str = "auto",
        stabilisation: str = "projection",
        baumgarte: tuple[float, float] = BAUMGARTE,
        held: Sequence[str] = (),
    ) -> None:
        self.robots: tuple[Robot, ...] = (robots,) if isinstance(robots, Robot) else tuple(robots)
        if not self.robots:
            raise ShapeError("an engine needs a robot")
        self.dt = number(dt, "dt", positive=True)
        self.world, self._law = world, law_of(contact)
        touches = world is not None and bool(world.ground)
        soft = SpringDamper() if isinstance(self._law, Rigid) else self._law
        self._settings = Settings(self.dt, soft, integrator, touches, limits, friction, springs)
        self.notes = notes_of(self.robots, world, self_collision)
        holding = Holding(constraint_method, stabilisation, Baumgarte(*baumgarte))
        ties = [replace(holding, held=tuple(held)), *(holding for _ in self.robots[1:])]
        made = partial(make_mover, world=world, law=self._law, settings=self._settings)
        self._movers = [made(self._here(robot), holding=own) for robot, own in zip(self.robots, ties, strict=True)]
        things = () if world is None else world.objects
        bodies = {x.name: self._here(object_robot(x, world.friction)) for x in things if world}
        self._objects = {name: made(body, holding=holding) for name, body in bodies.items()}
        self._all = [*self._movers, *self._objects.values()]
        self._torque_limits = [DrivenJoints(robot).torque_limits for robot in self.robots]
        self._watched = _WATCHED if integrator == "rk4" else sys.maxsize
        self._payloads: list[dict[str, tuple[float, Array]]] = [{} for _ in self.robots]
        self._book = BalanceBook(self._all)
        self.reset(*(State.of(robot) for robot in self.robots))

    def _here(self, robot: Robot) -> Robot:
        """The robot under the gravity of the world."""
        return in_world(robot, self.world)

    # -- state ----------------------------------------------------------------------------------------------------

    @property
    def robot(self) -> Robot:
        """The first robot."""
        return self.robots[0]

    @property
    def time(self) -> float:
        """Now [s]."""
        return self._start + self._steps * self.dt

    @property
    def state(self) -> State:
        """State of the first robot now."""
        return State(self.time, self._movers[0].q, self._movers[0].v)

    @property
    def states(self) -> tuple[State, ...]:
        """State of each robot now."""
        return tuple(State(self.time, mover.q, mover.v) for mover in self._movers)

    @property
    def balance(self) -> Balance:
        """The account of energy and momentum of everything that moves since the reset."""
        return self._book.balance()

    def reset(self, *states: State) -> None:
        """Begin again from a state of each robot, drives off, no pushes and payloads; objects go back to their places.

        Args:
            *states: One for each robot, all of the same time.
        """
        self._require_states(states)
        for k, loads in enumerate(self._payloads):
            if loads:
                loads.clear()
                self._movers[k].replace_robot(self._here(self.robots[k]))
        self._start, self._steps = float(states[0].t), 0
        for mover, state in zip(self._movers, states, strict=True):
            mover.start(state.q, state.v)
        for thing in () if self.world is None else self.world.objects:
            mover = self._objects[thing.name]
            mover.start(se3.to_pose(thing.pose), np.zeros(6))
        for mover in self._all:
            mover.off()
        self._book.reset()
        self.begin()

    def _require_states(self, states: Sequence[State]) -> None:
        if len(states) != len(self.robots):
            raise ShapeError(f"{len(states)} states for {len(self.robots)} robots")
        if len({state.t for state in states}) > 1:
            raise ShapeError("the states are of different times", evidence={"times": [state.t for state in states]})
        for robot, state in zip(self.robots, states, strict=True):
            robot.checked_q(state.q)
            finite_array(state.v, (robot.nv,), f"v of `{robot.name}`")

    def object_state(self, name: str) -> tuple[Array, Array]:
        """Where an object of the world is now and how it moves.

        Args:
            name: The object.

        Returns:
            T_world_object (4, 4), and its twist (6,) in its own axes, linear first [m/s], [rad/s].
        """
        if name not in self._objects:
            raise one_of("object", name, self._objects)
        mover = self._objects[name]
        return np.array(mover.kernels.placements(mover.q)[0]), mover.v.copy()

    # -- steps ----------------------------------------------------------------------------------------------------

    def begin(self, *actuations: Actuation) -> None:
        """Find the forces that act in the state as it is, without a step.

        `torques` are those of the springs where joints are now, within the limits; accelerations and contact forces are
        those of the step to come.

        Args:
            *actuations: One for each robot; the drives as last set if left out.
        """
        if actuations:
            self._set_drives(actuations)
        for mover in self._all:
            mover.begin()

    def advance(self, *actuations: Actuation) -> None:
        """One step of dt.

        Args:
            *actuations: One for each robot.

        Raises:
            SimulationError: Velocities grew beyond all bounds, or under "rk4" the energy account broke.
        """
        self._set_drives(actuations)
        self._go()

    def native_steps(self, count: int, *actuations: Actuation) -> None:
        """Many steps under drives that stay as they are.

        Args:
            count: How many.
            *actuations: One for each robot.

        Raises:
            SimulationError: Velocities grew beyond all bounds, or under "rk4" the energy account broke.
        """
        self._set_drives(actuations)
        if len(self._all) > 1:
            for _ in range(count):
                self._go()
            return
        end = self._steps + count
        while self._steps < end:
            wanted = min(end - self._steps, self._watched - self._steps % self._watched)
            done = self._all[0].run(wanted)
            self._steps += done
            if done < wanted:
                raise self._all[0].diverged(self.time + self.dt)
            self._watch()

    def step(self, *commands: Command) -> State:
        """Go on by one step under commands to ideal drives with the torque limits of the robots.

        Args:
            *commands: One for each robot.

        Returns:
            The state of the first robot.
        """
        self.advance(*ideal_drives(self.robots, commands, self._torque_limits))
        return self.state

    def _set_drives(self, actuations: Sequence[Actuation]) -> None:
        if len(actuations) != len(self._movers):
            raise ShapeError(f"{len(actuations)} actuations for {len(self._movers)} robots")
        for mover, actuation in zip(self._movers, actuations, strict=True):
            mover.set_drives(actuation)

    def _go(self) -> None:
        """One step under the drives as they are set."""
        for mover in self._all:
            mover.compute()
        for mover in self._all:
            if not mover.accept():
                raise mover.diverged(self.time + self.dt)
        self._steps += 1
        self._watch()

    def _watch(self) -> None:
        """Explicit steps of what is too stiff for them create energy; that is no result."""
        if self._steps % self._watched == 0:
            self._book.require_kept(self.time)

    # -- measured -------------------------------------------------------------------------------------------------

    def torques(self, robot: int = 0) -> Array:
        """(nu,) torques of the drives that acted, within their limits [N m] or [N]."""
        return self.mover(robot).record["torque"].copy()

    def acceleration(self, robot: int = 0) -> Array:
        """(nv,) of the step: its change of v over its duration."""
        return self.mover(robot).record["acceleration"].copy()

    def touches(self, robot: int = 0) -> Touches:
        """Where the robot touches the ground."""
        return touches_of(self.mover(robot))

    def modes(self, robot: int = 0) -> Array:
        """(n,) what each contact point does: 0 free, 1 sticks, 2 slides."""
        return self.mover(robot).record["mode"].copy()

    def drift(self, robot: int = 0) -> tuple[Array, Array]:
        """Residuals (m,) of the constraints of a robot [m] or [rad], and their rates (m,), now; empty for a tree."""
        return self.mover(robot).drift()

    def wrench(self, contact: str, robot: int = 0) -> Array:
        """(6,) on the robot, in the frame of the contact surface, linear first [N], [N m]."""
        return contact_wrench(self.mover(robot), contact)

    def slip(self, contact: str, robot: int = 0) -> float:
        """Way [m] that the loaded contact surface slid since the reset."""
        mover = self.mover(robot)
        if contact not in mover.robot.contacts:
            raise one_of("contact surface", contact, mover.robot.contacts)
        return float(mover.sums[SUMMED + list(mover.robot.contacts).index(contact)])

    def placement(self, link: str, robot: int = 0) -> Array:
        """T_world_link (4, 4) now."""
        mover = self.mover(robot)
        _require_link(mover.robot, link)
        return np.array(mover.kernels.frames(mover.q, [link])[0])

    def com(self, robot: int = 0) -> Array:
        """(3,) centre of mass of the robot and its payloads in world now [m]."""
        mover = self.mover(robot)
        return np.array(mover.kernels.com(mover.q))

    def mover(self, robot: int = 0) -> Mover:
        """What moves a robot: a `ConstrainedMover` where constraints hold it."""
        if not 0 <= robot < len(self.robots):
            raise ShapeError(f"there is no robot {robot}", evidence={"robots": [item.name for item in self.robots]})
        return self._movers[robot]

    # -- changes --------------------------------------------------------------------------------------------------

    def push(self, link: str, wrench: ArrayLike, robot: int = 0, point: ArrayLike | None = None) -> None:
        """Add a wrench on the body that carries a link, until `release`.

        Args:
            link: The link.
            wrench: (6,) force [N] and moment [N m] in world axes.
            robot: Which robot.
            point: (3,) in world [m] where the force acts; the centre of mass of the body if left out. The lever arm is
                that of this moment and stays; push again after a release where the body moves far.
        """
        mover = self.mover(robot)
        _require_link(mover.robot, link)
        body = mover.robot.body_of(link)
        if body < 0:
            raise NotSupportedError(f"link `{link}` is fixed to the world; a push does nothing there")
        added = np.array(finite_array(wrench, (6,), "wrench of a push"))
        if point is not None:
            T = mover.kernels.placements(mover.q)[body]
            centre = T[:3, :3] @ mover.robot.tree.coms[body] + T[:3, 3]
            added[3:] += np.cross(finite_array(point, (3,), "point of a push") - centre, added[:3])
        mover.add_push(body, added)

    def release(self) -> None:
        """End all pushes."""
        for mover in self._all:
            mover.release()

    def set_friction(self, friction: float, pieces: Sequence[int] | None = None) -> None:
        """Change the Coulomb coefficient of pieces of ground; the slipperier of two touching surfaces decides.

        Args:
            friction: ≥ 0.
            pieces: Their indices; None for all.
        """
        self._take_world(with_friction(self.world, friction, pieces))

    def set_ground(self, ground: Sequence[Ground]) -> None:
        """Replace the pieces of ground, friction included.

        Args:
            ground: As many and of the same kinds as before.

        Raises:
            NotSupportedError: Another number of pieces, or other kinds.
        """
        self._take_world(with_ground(self.world, ground))

    def _take_world(self, world: World | None) -> None:
        self._book.keep()
        self.world = world
        for mover in self._all:
            mover.set_world(world)
        self._book.changed()

    def set_payload(self, link: str, mass: float, position: ArrayLike, robot: int = 0) -> None:
        """Put a point mass on a link; one for each link, a new one replaces the old. Compiles the step anew.

        Args:
            link: The link.
            mass: [kg]; 0 takes it away again.
            position: (3,) in the frame of the link [m].
            robot: Which robot.
        """
        mover = self.mover(robot)
        _require_link(mover.robot, link)
        loads = self._payloads[robot]
        loads[link] = number(mass, "mass of a payload"), np.array(finite_array(position, (3,), "position of a payload"))
        loaded = self.robots[robot]
        for name, (weight, place) in loads.items():
            loaded = carrying(loaded, name, weight, place)
        self._book.keep()
        mover.replace_robot(self._here(loaded))
        self._book.changed()
        mover.compute()


def _require_link(robot: Robot, link: str) -> None:
    if link not in robot.link_names:
        raise one_of("link", link, robot.link_names)
