"""`NativeEngine`: moves robots in a world by our own compiled steps."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Unpack

import numpy as np
from numpy.typing import ArrayLike

from surefoot.arrays import Array, finite_array, number
from surefoot.errors import NotSupportedError, ShapeError, one_of
from surefoot.motion import Ground, State, World
from surefoot.motion.world import in_world
from surefoot.robot import Robot
from surefoot.robot.model import carrying
from surefoot.sim.drives import Actuation
from surefoot.sim.engine import BaseEngine
from surefoot.sim.measured import Balance, Touches
from surefoot.sim.native.balance import BalanceBook, contact_slip, contact_wrench, touches_of
from surefoot.sim.native.constrained import ConstrainedMover, Holding, HoldingOptions, held_by_constraints
from surefoot.sim.native.contact_laws import ContactLaw, Rigid, SpringDamper, law_of
from surefoot.sim.native.kernels import Settings
from surefoot.sim.native.mover import Mover
from surefoot.sim.native.rigid import RigidMover
from surefoot.sim.native.world import MovingGround, notes_of, object_robot, with_friction, with_ground
from surefoot.spatial import se3


def _make_mover(
    robot: Robot, world: World | None, law: ContactLaw | Rigid, settings: Settings, holding: Holding
) -> Mover:
    """The mover that a robot, with the gravity of the world, needs."""
    if settings.moving and isinstance(law, Rigid):
        raise NotSupportedError("rigid contacts are for ground that rests", next_step='use contact="spring_damper"')
    if not held_by_constraints(robot, holding):
        return RigidMover(robot, world, settings, law) if isinstance(law, Rigid) else Mover(robot, world, settings)
    if isinstance(law, Rigid):
        raise NotSupportedError(
            f"`{robot.name}` is held by constraints; rigid contacts are for trees",
            next_step='use contact="spring_damper", or hold its surfaces with `held`',
        )
    return ConstrainedMover(robot, world, settings, holding)


_WATCHED = 25  # steps of "rk4" after which the account of energy is looked at


class NativeEngine(BaseEngine):
    """A `PhysicsEngine`: one step is one call of machine code for each robot.

    Robots touch the ground (planes, boxes, height fields) by the points of their contact surfaces, under a contact law
    of `contact_laws`; objects by their corners. Robots, objects and obstacles do not touch each other, which
    the notes report. Springs of an actuation, joint friction, stops and contacts are integrated implicitly, see
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
        self_collision: Whether robots should touch themselves; they do not here, which a note reports.
        **constraints: How constraints are kept where they hold a robot; `held` are surfaces of the first robot.

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
        **constraints: Unpack[HoldingOptions],
    ) -> None:
        super().__init__(robots, dt)
        self.world, self._law = world, law_of(contact)
        touches = world is not None and bool(world.ground or any(item.touchable for item in world.obstacles))
        soft = SpringDamper() if isinstance(self._law, Rigid) else self._law
        moving = world is not None and bool(world.moving)
        self._settings = Settings(self.dt, soft, integrator, touches, limits, friction, springs, moving=moving)
        self._ground = MovingGround(world)
        self.notes = notes_of(self.robots, world, self_collision)
        first = Holding(**constraints)
        holding = replace(first, held=())
        ties = [first, *(holding for _ in self.robots[1:])]
        made = partial(_make_mover, world=world, law=self._law, settings=self._settings)
        self._movers = [made(self._here(robot), holding=own) for robot, own in zip(self.robots, ties, strict=True)]
        things = () if world is None else world.objects
        bodies = {x.name: self._here(object_robot(x, world.friction)) for x in things if world}
        self._objects = {name: made(body, holding=holding) for name, body in bodies.items()}
        self._all = [*self._movers, *self._objects.values()]
        self._watched = _WATCHED if integrator == "rk4" else sys.maxsize
        self._payloads: list[dict[str, tuple[float, Array]]] = [{} for _ in self.robots]
        self._book = BalanceBook(self._all)
        self.reset(*(State.of(robot) for robot in self.robots))

    def _here(self, robot: Robot) -> Robot:
        """The robot under the gravity of the world."""
        return in_world(robot, self.world)

    @property
    def time(self) -> float:
        """Now [s]."""
        return self._start + self._steps * self.dt

    @property
    def states(self) -> tuple[State, ...]:
        """State of each robot now."""
        return tuple(State(self.time, mover.q, mover.v) for mover in self._movers)

    @property
    def balance(self) -> Balance:
        """The account of energy and momentum of everything that moves since the reset."""
        return self._book.balance()

    def reset(self, *states: State) -> None:
        """Begin again from a state of each robot, all of the same time; objects go back to their places.

        Drives are off, pushes and payloads gone.
        """
        self._require_states(states)
        for k, loads in enumerate(self._payloads):
            if loads:
                loads.clear()
                self._movers[k].replace_robot(self._here(self.robots[k]))
        self._start, self._steps = float(states[0].t), 0
        self._ground.reset(self._all, self.time, self.dt)
        for mover, state in zip(self._movers, states, strict=True):
            mover.start(state.q, state.v)
        for thing in () if self.world is None else self.world.objects:
            self._objects[thing.name].start(se3.to_pose(thing.pose), np.zeros(6))
        for mover in self._all:
            mover.drives.off()
        self._book.reset()
        self.begin()

    def ground_places(self) -> dict[int, Array]:
        """T_world_box (4, 4) of every piece of ground that moves, at the start of the last step, by its index."""
        return self._ground.places

    def object_state(self, name: str) -> tuple[Array, Array]:
        """T_world_object (4, 4) of an object of the world now, and its twist (6,) in its own axes, linear first.

        Args:
            name: The object.
        """
        if name not in self._objects:
            raise one_of("object", name, self._objects)
        mover = self._objects[name]
        return np.array(mover.kernels.placements(mover.q)[0]), mover.v.copy()

    def begin(self, *actuations: Actuation) -> None:
        """Find the forces that act in the state as it is, without a step.

        One actuation for each robot; the drives as last set if omitted. `torques` are those of the springs where joints
        are now, within the limits; accelerations and contact forces are those of the step to come.
        """
        if actuations:
            self._set_drives(actuations)
        for mover in self._all:
            mover.begin()

    def advance(self, *actuations: Actuation) -> None:
        """One step of dt; one actuation for each robot.

        Raises:
            SimulationError: Velocities grew beyond all bounds, or under "rk4" the energy account broke.
        """
        self._set_drives(actuations)
        self._go()

    def native_steps(self, count: int, *actuations: Actuation) -> None:
        """Many steps under drives that stay as they are.

        Raises:
            SimulationError: Velocities grew beyond all bounds, or under "rk4" the energy account broke.
        """
        self._set_drives(actuations)
        if len(self._all) > 1 or self._settings.moving:
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

    def _set_drives(self, actuations: Sequence[Actuation]) -> None:
        if len(actuations) != len(self._movers):
            raise ShapeError(f"{len(actuations)} actuations for {len(self._movers)} robots")
        for mover, actuation in zip(self._movers, actuations, strict=True):
            mover.set_drives(actuation)

    def _go(self) -> None:
        """One step under the drives as they are set."""
        self._ground.lead(self._all, self.time, self.dt)
        for mover in self._all:
            mover.compute()
        self._ground.tilt(self._all, self.dt)
        for mover in self._all:
            if not mover.accept():
                raise mover.diverged(self.time + self.dt)
        self._steps += 1
        self._watch()

    def _watch(self) -> None:
        """Stop where explicit steps create energy, because something is too stiff for them."""
        if self._steps % self._watched == 0:
            self._book.require_kept(self.time)

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
        """Slip distance [m] of the loaded contact surface since the reset."""
        return contact_slip(self.mover(robot), contact)

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
        return self._movers[self._index(robot)]

    def _moving_body(self, link: str, robot: int) -> int | None:
        owner = self.mover(robot).robot
        _require_link(owner, link)
        return body if (body := owner.body_of(link)) >= 0 else None

    def _centre_of(self, body: int, robot: int) -> Array:
        mover = self.mover(robot)
        T = mover.kernels.placements(mover.q)[body]
        return np.array(T[:3, :3] @ mover.robot.tree.coms[body] + T[:3, 3])

    def _add_push(self, body: int, wrench: Array, robot: int) -> None:
        self.mover(robot).add_push(body, wrench)

    def release(self) -> None:
        """End all pushes."""
        for mover in self._all:
            mover.release()

    def set_friction(self, friction: float, pieces: Sequence[int] | None = None) -> None:
        """Change the Coulomb coefficient of pieces of ground (indices; None: all); the slipperier surface decides."""
        self._take_world(with_friction(self.world, friction, pieces))

    def set_ground(self, ground: Sequence[Ground]) -> None:
        """Replace the pieces of ground, friction included; as many and of the same kinds as before."""
        self._take_world(with_ground(self.world, ground))

    def _take_world(self, world: World | None) -> None:
        self._book.keep()
        self.world = self._ground.world = world
        for mover in self._all:
            mover.set_world(world)
        self._ground.lead(self._all, self.time, self.dt)
        self._book.changed()

    def set_payload(self, link: str, mass: float, position: ArrayLike, robot: int = 0) -> None:
        """Put a point mass [kg] at a position (3,) in the frame of a link [m]; 0 takes it away again.

        Each link has one; a new one replaces the old. Compiles the step anew.
        """
        mover = self.mover(robot)
        _require_link(mover.robot, link)
        loads = self._payloads[robot]
        loads[link] = number(mass, "mass of a payload"), np.array(finite_array(position, (3,), "position of a payload"))
        self._book.keep()
        mover.replace_robot(self._here(_loaded(self.robots[robot], loads)))
        self._book.changed()
        mover.compute()


def _require_link(robot: Robot, link: str) -> None:
    if link not in robot.link_names:
        raise one_of("link", link, robot.link_names)


def _loaded(robot: Robot, loads: Mapping[str, tuple[float, Array]]) -> Robot:
    """The robot with masses at places on its links."""
    for link, (mass, place) in loads.items():
        robot = carrying(robot, link, mass, place)
    return robot
