"""`NativeEngine`: moves robots in a world by our own compiled steps."""

from __future__ import annotations

import functools
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Unpack

import numpy as np
from numpy.typing import ArrayLike

from surefoot.arrays import Array, finite_array, number
from surefoot.errors import NotSupportedError, ShapeError, SimulationError, one_of
from surefoot.kinematics import contact_frame
from surefoot.motion import Ground, State, World
from surefoot.motion.world import in_world
from surefoot.robot import Robot
from surefoot.robot.model import carrying
from surefoot.sim.drives import Actuation
from surefoot.sim.engine import BaseEngine
from surefoot.sim.measured import WORLD, Balance, Touches, row_cross
from surefoot.sim.native.constrained import ConstrainedMover, Holding, HoldingOptions, held_by_constraints
from surefoot.sim.native.contact_laws import ContactLaw, Rigid, SpringDamper, law_of
from surefoot.sim.native.kernels import SUMMED, Settings
from surefoot.sim.native.mover import Mover
from surefoot.sim.native.rigid import RigidMover
from surefoot.sim.native.touch import FREE
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
        moving = self._settings.moving
        if moving:
            self._ground.lead(self._all, self.time, self.dt)
        for mover in self._all:
            mover.compute()
        if moving:
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


_LEAK = 0.1  # share of the energy turned over that may be missing
_LEAST_LEAK = 1e-2  # [J/kg] that may always be missing: a millimetre of height


class BalanceBook:
    """Sums works and impulses over everything that moves.

    Steps book their own work and the impulse of their contacts (`tally`). The springs of contacts count as energy;
    what contacts lose is the work of their forces and what went into springs. What a payload weighs and carries is not
    counted as gained.
    """

    def __init__(self, movers: Sequence[Mover]) -> None:
        self._movers = movers
        self._free = _free_directions(movers)

    def reset(self) -> None:
        """Begin again: nothing has worked yet."""
        self._start = self._kept = self._account()

    def _account(self) -> Array:
        """(6,): kinetic, potential and stored energy [J], momentum [N s], of all."""
        return np.sum([mover.account() for mover in self._movers], axis=0)

    def keep(self) -> None:
        """Remember the account before a change of masses or ground."""
        self._kept = self._account()

    def changed(self) -> None:
        """Go on after a change: what is more or less does not count as gained or lost."""
        self._start = self._start + self._account() - self._kept

    def require_kept(self, time: float) -> None:
        """Refuse to go on where energy came from nowhere, or went there: a tenth of what was turned over.

        Args:
            time: Now [s].

        Raises:
            SimulationError: The account of energy is wrong.
        """
        found, kinetic = self.balance(), float(self._account()[0] + self._start[0])
        works = {name: getattr(found, name) for name in ("drives", "contacts", "damping", "pushes")}
        turned_over = kinetic + sum(abs(work) for work in works.values())
        mass = sum(mover.robot.mass for mover in self._movers)
        if abs(found.energy_residual) <= _LEAK * turned_over + _LEAST_LEAK * mass:
            return
        raise SimulationError(
            f"the simulation diverges: {found.energy_residual:.3g} J came from nowhere until t = {time:.4f} s",
            evidence=works,
            next_step='use a smaller dt, lower gains, softer contacts, or integrator="semi_implicit"',
        )

    def balance(self) -> Balance:
        """The account now."""
        now, total = self._account(), np.sum([mover.sums[:SUMMED] for mover in self._movers], axis=0)
        drives, contacts, damping, pushes = (float(x) for x in total[:4])
        stored = float(now[2] - self._start[2])
        change = float(now[:3].sum() - self._start[:3].sum())
        impulse = total[4:7] + sum(mover.pushes.impulse + mover.weight_impulse for mover in self._movers)
        return Balance(
            energy=float(now[:3].sum()),
            drives=drives,
            contacts=contacts + stored,
            damping=damping,
            pushes=pushes,
            energy_residual=change - (drives + contacts + stored + damping + pushes),
            momentum_residual=self._free @ (now[3:] - self._start[3:] - impulse),
        )


def _free_directions(movers: Sequence[Mover]) -> Array:
    """Projector (3, 3) on the directions in which all can move; NaN if one is fixed to the world."""
    trees = [mover.robot.tree for mover in movers]
    roots = [(tree, i) for tree in trees for i in range(tree.n) if tree.parents[i] < 0]
    if any(tree.kinds[i] not in ("free", "planar") for tree, i in roots):
        return np.full((3, 3), np.nan)
    across = np.array([tree.placements[i, :3, 2] for tree, i in roots if tree.kinds[i] == "planar"]).reshape(-1, 3)
    return np.eye(3) - np.linalg.pinv(across) @ across


def touches_of(mover: Mover) -> Touches:
    """Where a robot touched the ground in the last step."""
    rows = np.flatnonzero(mover.record["mode"] != FREE)
    points = [mover.layout.points[k] for k in rows]
    places = [item.placement for item in mover.held.values()]
    wrenches = [item.wrench for item in mover.held.values()]
    owners = [_surface(mover.robot, name) for name in mover.held]
    return Touches(
        point=_joined(mover.record["point"][rows], [T[:3, 3] for T in places]),
        normal=_joined(mover.ground[rows, :3], [T[:3, 2] for T in places]),
        force=_joined(mover.record["force"][rows], [T[:3, :3] @ w[:3] for T, w in zip(places, wrenches, strict=True)]),
        moment=_joined(np.zeros((len(rows), 3)), [T[:3, :3] @ w[3:] for T, w in zip(places, wrenches, strict=True)]),
        surface=np.array([*(point.surface for point in points), *(number for _, number in owners)], dtype=np.int64),
        body=np.array([*(point.body for point in points), *(frame.body for frame, _ in owners)], dtype=np.int64),
        against=np.full(len(rows) + len(places), WORLD, dtype=np.int64),
    )


def _joined(points: Array, held: list[Array]) -> Array:
    """Rows of points, then rows of held surfaces."""
    return np.concatenate([points, np.reshape(held, (-1, 3))])


def contact_wrench(mover: Mover, name: str) -> Array:
    """(6,) on a contact surface in the last step, in its frame, linear first [N], [N m]."""
    if name in mover.held:
        return mover.held[name].wrench.copy()
    frame, surface = _surface(mover.robot, name)
    if frame.body < 0:
        return np.zeros(6)
    T = mover.kernels.placements(mover.q_of_record)[frame.body]
    origin, axes = T[:3, :3] @ frame.p + T[:3, 3], T[:3, :3] @ frame.R
    rows = [k for k, point in enumerate(mover.layout.points) if point.surface == surface]
    force = mover.record["force"][rows]
    moment = row_cross(mover.record["point"][rows] - origin, force).sum(axis=0)
    return np.concatenate([force.sum(axis=0) @ axes, moment @ axes])


def contact_slip(mover: Mover, name: str) -> float:
    """Slip distance [m] of a loaded contact surface since the reset.

    Args:
        mover: The robot.
        name: The contact surface.
    """
    return float(mover.sums[SUMMED + _surface(mover.robot, name)[1]])


@functools.lru_cache(maxsize=512)
def _surface(robot: Robot, name: str) -> tuple[Any, int]:
    """The frame of a contact surface on its body, and its number."""
    if name not in robot.contacts:
        raise one_of("contact surface", name, robot.contacts)
    return contact_frame(robot, name), list(robot.contacts).index(name)
