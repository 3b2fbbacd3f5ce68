"""`Mover`: one robot, or one object, of the native engine: its compiled step and the numbers that it works on.

How stiff drives may be under explicit steps: for small motions of the driven joints under their springs alone, with W
the inverse of the mass matrix,

    d/dt [e, ė] = [[0, E], [−W kp, −W kd]] [e, ė]

and a step of Runge & Kutta's method multiplies a mode of eigenvalue λ by R(hλ), R(z) = 1 + z + z²/2 + z³/6 + z⁴/24:
where |R| > 1 it grows without end.        [sim.explicit-springs]   Hairer & Wanner 1996 §IV.2
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from numpy.typing import ArrayLike, NDArray

from surefoot.arrays import Array
from surefoot.compiler import KernelSet, compile_robot
from surefoot.errors import NotSupportedError, ShapeError, SimulationError
from surefoot.motion import GroundPlane, World
from surefoot.motion.world import contact_planes
from surefoot.robot import Robot
from surefoot.sim.drives import Actuation
from surefoot.sim.native.joints import DrivenRows, Force, Springs, at_start, held_at, next_sides, side_of
from surefoot.sim.native.kernels import SUMMED, Settings, account_kernel, centres_kernel, step_kernel, step_of
from surefoot.sim.native.step import TALLY

_SURE = 2.5  # |hλ| up to which damped modes do not grow
_ROUNDING = 1e-9


def require_stable(robot: Robot, inverse_mass: Array, kp: Array, kd: Array, dt: float) -> None:
    """Refuse gains under which a step of `rk4` diverges.

    Args:
        robot: The robot.
        inverse_mass: (nv, nv) M⁻¹ in the configuration now.
        kp: (nu,) [N m/rad] or [N/m].
        kd: (nu,) [N m s/rad] or [N s/m].
        dt: Step [s].

    Raises:
        NotSupportedError: A mode of the drives would grow.
    """
    rates, modes = _modes(inverse_mass[np.ix_(robot.driven, robot.driven)], kp, kd)
    z = dt * rates
    growth = np.abs(1.0 + z * (1.0 + z / 2.0 * (1.0 + z / 3.0 * (1.0 + z / 4.0))))
    if not len(z) or growth.max() <= 1.0 + _ROUNDING:
        return
    worst = int(np.argmax(growth))
    names = [drive.joint for drive in robot.drives for _ in range(robot.tree.nv_of(robot.joint_index(drive.joint)))]
    raise NotSupportedError(
        f'the drives of `{robot.name}` are too stiff for integrator="rk4", which takes springs and dampers explicitly',
        evidence={
            "joint": names[int(np.argmax(np.abs(modes[len(kp) :, worst])))],
            "grows in a step by": float(growth[worst]),
            "dt": dt,
        },
        next_step=f'use integrator="semi_implicit", dt ≤ {_SURE / np.abs(rates).max():.1g}, or lower gains',
    )


def _modes(W: Array, kp: Array, kd: Array) -> tuple[NDArray[np.complex128], NDArray[np.complex128]]:
    """Eigenvalues (2 nu,) [1/s] and eigenvectors of joints under their springs."""
    n = len(kp)
    system = np.block([[np.zeros((n, n)), np.eye(n)], [-W * kp, -W * kd]])
    rates, modes = np.linalg.eig(system)
    return rates.astype(complex), modes.astype(complex)


_BEYOND, _SPEED = TALLY.index("beyond"), TALLY.index("squared_speed")
_LIMIT = 1e-9  # a torque counts as beyond its limit from here on [N m] or [N]
_FASTEST = 1e4  # [rad/s] or [m/s]: beyond, a simulation has blown up
_ROUNDS_THAT_RELEASE = 8  # after these drives are only held, so that limits hold


class _Pushes:
    """Wrenches in world axes on bodies, about their centres of mass, until they are released.

    Args:
        bodies: Number of bodies.
    """

    def __init__(self, bodies: int) -> None:
        self.given: list[tuple[int, Array]] = []
        self.wrenches = np.zeros((bodies, 6))  # about the origins of the bodies, in their axes
        self.impulse = np.zeros(3)  # of all pushes since the start [N s]

    def release(self) -> None:
        self.given = []
        self.wrenches[:] = 0.0

    def place(self, placements: Array, coms: Array) -> None:
        """Set `wrenches` for bodies at placements (n, 4, 4) with centres of mass (n, 3)."""
        self.wrenches[:] = 0.0
        for body, wrench in self.given:
            turn = placements[body, :3, :3].T
            force = turn @ wrench[:3]
            self.wrenches[body, :3] += force
            self.wrenches[body, 3:] += turn @ wrench[3:] + np.cross(coms[body], force)

    def count_step(self, dt: float) -> None:
        for _, wrench in self.given:
            self.impulse += dt * wrench[:3]


class _Drives:
    """The drives of a robot: what they do in a step, whether an explicit step can do it, and their limits."""

    def __init__(self, robot: Robot, settings: Settings) -> None:
        self._robot, self._settings = robot, settings
        driven = DrivenRows.of(robot)
        self._dofs, self._unplaced = driven.rows, np.flatnonzero(driven.entries < 0)
        self._is_explicit = settings.integrator == "rk4"
        self._ahead = 0.0 if self._is_explicit else settings.dt
        self._is_picky = len(self._unplaced) > 0 or not settings.springs or self._is_explicit
        self.rows = np.zeros((7, robot.nu))
        self._entries = self.rows.reshape(-1)
        self._no_gains = self._known_gains = self._gains()

    def _gains(self) -> tuple[bytes, bytes]:
        return self.rows[2].tobytes(), self.rows[4].tobytes()

    def forget_gains(self) -> None:
        """Gains must be looked at again: the configuration is another one."""
        self._known_gains = self._no_gains

    def off(self) -> None:
        """No drive does anything."""
        self.rows[:] = 0.0
        self.rows[5], self.rows[6] = -np.inf, np.inf

    def set(self, a: Actuation, inverse_mass: Callable[[], Array]) -> None:
        """Take an actuation; refuse gains where there can be none, or none that are so stiff."""
        if len(a.torque) != self._robot.nu:
            raise ShapeError(f"the actuation has {len(a.torque)} entries, `{self._robot.name}` needs {self._robot.nu}")
        np.concatenate((a.torque, a.position, a.kp, a.velocity, a.kd, a.lower, a.upper), out=self._entries)
        if self._is_picky:
            self._refuse_springs(inverse_mass)

    def _refuse_springs(self, inverse_mass: Callable[[], Array]) -> None:
        gains = self._gains()
        if not self._settings.springs and gains != self._no_gains:
            raise NotSupportedError("the engine was made without springs", next_step="make it with springs=True")
        if len(self._unplaced) and self.rows[2, self._unplaced].any():
            raise NotSupportedError("a joint of several axes takes no position command", next_step="command its torque")
        if self._is_explicit and gains != self._known_gains:
            require_stable(self._robot, inverse_mass(), self.rows[2], self.rows[4], self._settings.dt)
            self._known_gains = gains

    def torque_at_start(self, record: Mapping[str, Array], v: Array) -> Array:
        """(nu,) within the limits at the start of a step that was done with all springs free."""
        springs = Springs(*self.rows)
        return np.asarray(springs.clipped(at_start(springs, self._springs_alone(record), v[self._dofs], self._ahead)))

    def _springs_alone(self, record: Mapping[str, Array]) -> Force:
        """tau_0 and c of the springs, from the step that was done with all of them free."""
        gain = self._ahead * (self.rows[4] + self._ahead * self.rows[2])
        return Force(record["torque"] + gain * record["acceleration"][self._dofs], gain)

    def keep_limits(self, call: Callable[[], None], record: Mapping[str, Array], v: Array) -> None:
        """Do a step that left the limits again, with drives held at them.

        Args:
            call: Does the step.
            record: Its outputs.
            v: (nv,) at its start.
        """
        springs, force = Springs(*self.rows.copy()), self._springs_alone(record)
        sides = side_of(springs, at_start(springs, force, v[self._dofs], self._ahead))
        for k in range(_ROUNDS_THAT_RELEASE + self._robot.nu + 1):
            self.rows[:] = held_at(springs, sides)
            call()
            wanted = side_of(springs, force.acting(record["acceleration"][self._dofs]))
            following = next_sides(sides, wanted, release=k < _ROUNDS_THAT_RELEASE)
            if (following == sides).all():
                break
            sides = following
        self.rows[:] = springs


MovingBelow = Callable[[Array], Array]
"""From points (n, 3) to (n, 8): planes as `contact_planes` has them, and velocities of the ground there."""


@dataclass(frozen=True, eq=False)
class HeldSurface:
    """What a contact surface carries that constraints hold to the world.

    Args:
        placement: (4, 4) of its frame in world.
        wrench: (6,) on the robot, in this frame, linear first [N], [N m].
    """

    placement: Array
    wrench: Array


class Mover:
    """One tree of bodies with a state that a compiled step moves on.

    Two copies of the state take turns: a step reads one and writes the other. `compute` does the step, `accept` makes
    its end the state.

    Args:
        robot: The robot, with the gravity of the world.
        world: The world; None for empty space.
        settings: Of the step.
    """

    def __init__(self, robot: Robot, world: World | None, settings: Settings) -> None:
        self.robot, self.settings = robot, settings
        self.drives = _Drives(robot, settings)
        self.pushes = _Pushes(robot.tree.n)
        self.held: dict[str, HeldSurface] = {}
        self.moving: MovingBelow | None = None
        """What is below points, where some of the ground moves."""
        self._build()
        self.set_world(world)

    def _build(self) -> None:
        """Make the arrays, and the steps on them."""
        self.layout = step_of(self.robot, self.settings)[1]
        shapes = self.layout.inputs
        self.ground = np.zeros(shapes["ground"])
        sizes = {**{name: shapes[name] for name in ("q", "v", "memory")}, "sums": SUMMED + len(self.robot.contacts)}
        self._sides = [{name: np.zeros(size) for name, size in sizes.items()} for _ in range(2)]
        self._side = self._recorded = 0
        self.record = {
            name: np.zeros(shape) for name, shape in self.layout.outputs.items() if name not in ("q", "v", "memory")
        }
        self._tally = self.record["tally"].data
        self._calls = self._step_calls()
        self._pushed_calls: list[Callable[[], None]] = []
        self._kernels: KernelSet | None = None

    def _step_calls(self) -> list[Callable[[], None]]:
        """The step from one copy of the state to the other, and back."""
        return [step_kernel(self.robot, self.settings, False)[0].bind(*self._arrays(side)) for side in (0, 1)]

    def _arrays(self, side: int, *more: Array) -> list[Array]:
        """Inputs and outputs of a step from one copy of the state to the other."""
        here, there = self._sides[side], self._sides[1 - side]
        inputs = [here["q"], here["v"], *self.drives.rows, here["memory"], self.ground, *more, here["sums"]]
        return [*inputs, there["q"], there["v"], there["memory"], *self.record.values(), there["sums"]]

    @property
    def q(self) -> Array:
        """(nq,) now."""
        return self._sides[self._side]["q"]

    @property
    def v(self) -> Array:
        """(nv,) now."""
        return self._sides[self._side]["v"]

    @property
    def memory(self) -> Array:
        """(nm,) of the contacts now."""
        return self._sides[self._side]["memory"]

    @property
    def sums(self) -> Array:
        """(7 + surfaces,) works and impulse of the contacts since the start, and way that the surfaces slid."""
        return self._sides[self._side]["sums"]

    @property
    def q_of_record(self) -> Array:
        """(nq,) where the step began whose forces are in the record."""
        return self._sides[self._recorded]["q"]

    @property
    def weight_impulse(self) -> Array:
        """(3,) of gravity since the start [N s]."""
        tree = self.robot.tree
        return self._weight_before + self._steps * self.settings.dt * self.robot.mass * tree.gravity

    @property
    def kernels(self) -> KernelSet:
        """The kernels of the robot."""
        if self._kernels is None:
            self._kernels = compile_robot(self.robot)
        return self._kernels

    def start(self, q: ArrayLike, v: ArrayLike) -> None:
        """Begin at a configuration and velocity, with points that have not touched yet.

        Args:
            q: (nq,).
            v: (nv,).
        """
        self._side = self._recorded = self._steps = 0
        self._weight_before = np.zeros(3)
        self.q[:], self.v[:] = q, v
        self.release()
        self.sums[:], self.pushes.impulse[:] = 0.0, 0.0
        self.drives.forget_gains()
        self._rest_contacts()

    def _rest_contacts(self) -> None:
        """Contacts that have not touched yet; balls touch by their lowest points."""
        self._see_ground()
        points = np.zeros((0, 3))
        if self.layout.points:
            radius = np.array([point.radius for point in self.layout.points])
            points = self._centres() - radius[:, None] * self.ground[:, :3]
        self.memory[:] = self.layout.rest_memory(points)

    def set_world(self, world: World | None) -> None:
        """Take another ground.

        Args:
            world: The world; None for empty space.
        """
        self.world = world
        pieces = () if world is None else world.ground
        alone = world is not None and not any(item.touchable for item in world.obstacles)
        is_constant = alone and len(pieces) == 1 and isinstance(pieces[0], GroundPlane)
        self._ground_varies = world is not None and len(self.ground) > 0 and not is_constant
        if world is not None and is_constant:
            self.ground[:] = contact_planes(world, np.zeros((len(self.ground), 3)))

    def _centres(self) -> Array:
        return np.asarray(centres_kernel(self.robot, self.settings)(self.q))

    def _see_ground(self) -> None:
        """Look up the ground below the contact points."""
        if self.world is not None and self._ground_varies:
            below = partial(contact_planes, self.world) if self.moving is None else self.moving
            self.ground[:] = below(self._centres())

    def add_push(self, body: int, wrench: Array) -> None:
        """Push a body until `release`.

        Args:
            body: Its index.
            wrench: (6,) about its centre of mass, in world axes.
        """
        self.pushes.given.append((body, wrench))
        if not self._pushed_calls:
            kernel, _ = step_kernel(self.robot, self.settings, True)
            self._pushed_calls = [kernel.bind(*self._arrays(side, self.pushes.wrenches)) for side in (0, 1)]

    def release(self) -> None:
        """End all pushes."""
        self.pushes.release()

    def set_drives(self, actuation: Actuation) -> None:
        """Take what the drives do.

        Args:
            actuation: For all driven degrees of freedom.
        """
        self.drives.set(actuation, lambda: self.kernels.minverse(self.q))

    def begin(self) -> None:
        """`compute`, but the torques are those in the state as it is, at the start of the step."""
        call = self._call()
        call()
        torque = self.drives.torque_at_start(self.record, self.v)
        self._keep_limits(call)
        self.record["torque"][:] = torque

    def compute(self) -> None:
        """Do a step, and leave the state as it is: forces and accelerations are those of the step."""
        call = self._call()
        call()
        self._keep_limits(call)

    def _call(self) -> Callable[[], None]:
        """The step from here, with ground and pushes as they are now."""
        self._recorded = self._side
        call = self._calls[self._side]
        if self._ground_varies:
            self._see_ground()
        if self.pushes.given:
            self.pushes.place(self.kernels.placements(self.q), self.robot.tree.coms)
            call = self._pushed_calls[self._side]
        return call

    def _keep_limits(self, call: Callable[[], None]) -> None:
        if self._tally[_BEYOND] > _LIMIT:
            self.drives.keep_limits(call, self.record, self.v)

    def accept(self) -> bool:
        """Make the end of the step the state; False if its velocities are not finite, or beyond all bounds."""
        if not self._tally[_SPEED] < _FASTEST**2:
            return False
        self._side = 1 - self._side
        self._steps += 1
        self.pushes.count_step(self.settings.dt)
        return True

    def run(self, count: int) -> int:
        """Steps under drives that stay as they are; how many were accepted."""
        tally, side, done, fastest = self._tally, self._side, 0, _FASTEST**2
        if not self._ground_varies and not self.pushes.given:
            forth, back = self._calls[side], self._calls[1 - side]
            while done < count:
                forth()
                if tally[_BEYOND] > _LIMIT or not tally[_SPEED] < fastest:
                    break
                forth, back, done = back, forth, done + 1
            self._side = side ^ (done & 1)
            self._recorded, self._steps = 1 - self._side, self._steps + done
        while done < count:
            self.compute()
            if not self.accept():
                break
            done += 1
        return done

    def diverged(self, time: float) -> SimulationError:
        """Why a step was not accepted.

        Args:
            time: At the end of the step [s].
        """
        speed = np.abs(self._sides[1 - self._side]["v"])
        row = int(np.argmax(np.where(np.isfinite(speed), speed, np.inf)))
        tree = self.robot.tree
        joint = next(i for i in reversed(range(tree.n)) if tree.nv_of(i) and tree.v_index[i] <= row)
        return SimulationError(
            f"the simulation diverged at t = {time:.4f} s in joint `{tree.joint_names[joint]}` of `{self.robot.name}`",
            evidence={"speed": float(speed[row]), "torques": self.record["torque"].tolist()},
            next_step="use a smaller dt, lower gains, or look at what the log shows before that time",
        )

    def drift(self) -> tuple[Array, Array]:
        """Residuals of constraints, and their rates; a tree has none."""
        return np.zeros(0), np.zeros(0)

    def account(self) -> Array:
        """(6,): kinetic, potential and stored energy [J], momentum in world [N s]."""
        return np.asarray(account_kernel(self.robot, self.settings)(self.q, self.v, self.memory, self.ground))

    def replace_robot(self, robot: Robot) -> None:
        """Go on in the same state with another robot of the same joints.

        Args:
            robot: With the gravity of the world.
        """
        q, v, memory, sums, world = self.q, self.v, self.memory, self.sums, self.world
        ground, pushes = self.ground, self.pushes.given
        self._weight_before, self._steps = self.weight_impulse, 0
        self.robot, self.settings = robot, replace(self.settings, law=self.layout.law)
        self._build()
        self.drives.forget_gains()
        self.q[:], self.v[:], self.memory[:], self.sums[:] = q, v, memory, sums
        self.ground[:] = ground
        self.set_world(world)
        self.pushes.given = []
        for push in pushes:
            self.add_push(*push)
