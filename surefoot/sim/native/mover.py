"""`Mover`: one robot, or one object, of the native engine: its compiled step and the numbers that it works on.

How stiff drives may be under explicit steps.

For small motions of the driven joints under their springs alone, with W the inverse of the mass matrix,

    d/dt [e, ė] = [[0, E], [−W kp, −W kd]] [e, ė]

and a step of Runge & Kutta's method multiplies a mode of eigenvalue λ by R(hλ), R(z) = 1 + z + z²/2 + z³/6 + z⁴/24:
where |R| > 1 it grows without end.        [sim.explicit-springs]   Hairer & Wanner 1996 §IV.2
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import NamedTuple

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

__all__ = ["HeldSurface", "Mover", "require_stable"]

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


class _Push(NamedTuple):
    """A wrench (6,) in world axes on a body, about its centre of mass."""

    body: int
    wrench: Array


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
        self.driven = DrivenRows.of(robot)
        self._unplaced = np.flatnonzero(self.driven.entries < 0)
        self._is_explicit = settings.integrator == "rk4"
        self._ahead = 0.0 if self._is_explicit else settings.dt
        self._is_picky = len(self._unplaced) > 0 or not settings.springs or self._is_explicit
        self._pushes: list[_Push] = []
        self.push_impulse = np.zeros(3)
        self.held: dict[str, HeldSurface] = {}
        self._build()
        self.set_world(world)

    def _build(self) -> None:
        """Make the arrays, and the steps on them."""
        self.layout = step_of(self.robot, self.settings)[1]
        shapes = self.layout.inputs
        self._nu = self.robot.nu
        self.drive = np.zeros((7, self._nu))
        self._drive_entries = self.drive.reshape(-1)
        self._no_gains = self._known_gains = self.drive[2].tobytes(), self.drive[4].tobytes()
        self.ground = np.zeros(shapes["ground"])
        self.push = np.zeros((self.robot.tree.n, 6))
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
        kernel, _ = step_kernel(self.robot, self.settings, False)
        return [kernel.bind(*self._arrays(side)) for side in (0, 1)]

    def _arrays(self, side: int, *more: Array) -> list[Array]:
        """Inputs and outputs of a step from one copy of the state to the other."""
        here, there = self._sides[side], self._sides[1 - side]
        inputs = [here["q"], here["v"], *self.drive, here["memory"], self.ground, *more, here["sums"]]
        return [*inputs, there["q"], there["v"], there["memory"], *self.record.values(), there["sums"]]

    # -- state ----------------------------------------------------------------------------------------------------

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
        self.sums[:], self.push_impulse[:] = 0.0, 0.0
        self._known_gains = self._no_gains
        self._rest_contacts()

    def _rest_contacts(self) -> None:
        self._see_ground()
        point = self._touching_points()
        self.memory[:] = self.layout.rest_memory(point)

    def _touching_points(self) -> Array:
        """(n, 3): balls touch by their lowest points."""
        if not self.layout.points:
            return np.zeros((0, 3))
        radius = np.array([point.radius for point in self.layout.points])
        return self._centres() - radius[:, None] * self.ground[:, :3]

    # -- world ----------------------------------------------------------------------------------------------------

    def set_world(self, world: World | None) -> None:
        """Take another ground.

        Args:
            world: The world; None for empty space.
        """
        self.world = world
        pieces = () if world is None else world.ground
        self._is_constant = len(pieces) == 1 and isinstance(pieces[0], GroundPlane)
        if world is not None and self._is_constant:
            self.ground[:] = contact_planes(world, np.zeros((len(self.ground), 3)))
        self._see_whether_plain()

    def _see_whether_plain(self) -> None:
        """Whether nothing must be looked up before a step."""
        moving_ground = self.world is not None and len(self.ground) > 0 and not self._is_constant
        self._is_plain = not moving_ground and not self._pushes

    def _centres(self) -> Array:
        found: Array = centres_kernel(self.robot, self.settings)(self.q)
        return found

    def _see_ground(self) -> None:
        if self.world is not None and len(self.ground) and not self._is_constant:
            self.ground[:] = contact_planes(self.world, self._centres())

    # -- pushes ---------------------------------------------------------------------------------------------------

    def add_push(self, body: int, wrench: Array) -> None:
        """Push a body until `release`.

        Args:
            body: Its index.
            wrench: (6,) about its centre of mass, in world axes.
        """
        self._pushes.append(_Push(body, wrench))
        self._see_whether_plain()
        if not self._pushed_calls:
            kernel, _ = step_kernel(self.robot, self.settings, True)
            self._pushed_calls = [kernel.bind(*self._arrays(side, self.push)) for side in (0, 1)]

    def release(self) -> None:
        """End all pushes."""
        self._pushes = []
        self.push[:] = 0.0
        self._see_whether_plain()

    def _see_pushes(self) -> None:
        """Pushes as wrenches about the origins of the bodies, in their axes."""
        self.push[:] = 0.0
        placements = self.kernels.placements(self.q)
        for body, wrench in self._pushes:
            turn = placements[body, :3, :3].T
            force = turn @ wrench[:3]
            self.push[body, :3] += force
            self.push[body, 3:] += turn @ wrench[3:] + np.cross(self.robot.tree.coms[body], force)

    # -- steps ----------------------------------------------------------------------------------------------------

    def set_drives(self, actuation: Actuation) -> None:
        """Take what the drives do.

        Args:
            actuation: For all driven degrees of freedom.
        """
        if len(actuation.torque) != self._nu:
            raise ShapeError(
                f"the actuation has {len(actuation.torque)} entries, `{self.robot.name}` needs {self.robot.nu}"
            )
        a = actuation
        np.concatenate((a.torque, a.position, a.kp, a.velocity, a.kd, a.lower, a.upper), out=self._drive_entries)
        if self._is_picky:
            self._refuse_springs()

    def _refuse_springs(self) -> None:
        """Refuse gains where there can be none, or none that are so stiff."""
        gains = self.drive[2].tobytes(), self.drive[4].tobytes()
        if not self.settings.springs and gains != self._no_gains:
            raise NotSupportedError("the engine was made without springs", next_step="make it with springs=True")
        if len(self._unplaced) and self.drive[2, self._unplaced].any():
            raise NotSupportedError("a joint of several axes takes no position command", next_step="command its torque")
        if self._is_explicit and gains != self._known_gains:
            require_stable(self.robot, self.kernels.minverse(self.q), self.drive[2], self.drive[4], self.settings.dt)
            self._known_gains = gains

    def off(self) -> None:
        """Switch the drives off."""
        self.drive[:] = 0.0
        self.drive[5], self.drive[6] = -np.inf, np.inf

    def begin(self) -> None:
        """`compute`, but the torques are those in the state as it is, at the start of the step."""
        call = self._call()
        call()
        springs = Springs(*self.drive)
        torque = springs.clipped(at_start(springs, self._springs_alone(), self.v[self.driven.rows], self._ahead))
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
        if not self._is_plain:
            self._see_ground()
            if self._pushes:
                self._see_pushes()
                call = self._pushed_calls[self._side]
        return call

    def _springs_alone(self) -> Force:
        """tau_0 and c of the springs, from the step that was done with all of them free."""
        _, _, kp, _, kd, _, _ = self.drive
        gain = self._ahead * (kd + self._ahead * kp)
        return Force(self.record["torque"] + gain * self.record["acceleration"][self.driven.rows], gain)

    def _keep_limits(self, call: Callable[[], None]) -> None:
        """Do the step again with drives held at their limits, if it left them."""
        if not self._tally[_BEYOND] > _LIMIT:
            return
        rows, springs, force = self.driven.rows, Springs(*self.drive.copy()), self._springs_alone()
        sides = side_of(springs, at_start(springs, force, self.v[rows], self._ahead))
        for k in range(_ROUNDS_THAT_RELEASE + self._nu + 1):
            self.drive[:] = held_at(springs, sides)
            call()
            wanted = side_of(springs, force.acting(self.record["acceleration"][rows]))
            following = next_sides(sides, wanted, release=k < _ROUNDS_THAT_RELEASE)
            if (following == sides).all():
                break
            sides = following
        self.drive[:] = springs

    def accept(self) -> bool:
        """Make the end of the step the state; False if its velocities are not finite, or beyond all bounds."""
        if not self._tally[_SPEED] < _FASTEST**2:
            return False
        self._side = 1 - self._side
        self._steps += 1
        for push in self._pushes:
            self.push_impulse += self.settings.dt * push.wrench[:3]
        return True

    def run(self, count: int) -> int:
        """Steps under drives that stay as they are; how many were accepted.

        Args:
            count: How many are wanted.
        """
        tally, side, done, fastest = self._tally, self._side, 0, _FASTEST**2
        if self._is_plain:
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

    # -- accounts -------------------------------------------------------------------------------------------------

    def account(self) -> Array:
        """(6,): kinetic, potential and stored energy [J], momentum in world [N s]."""
        found: Array = account_kernel(self.robot, self.settings)(self.q, self.v, self.memory, self.ground)
        return found

    def replace_robot(self, robot: Robot) -> None:
        """Go on in the same state with another robot of the same joints.

        Args:
            robot: With the gravity of the world.
        """
        q, v, memory, sums, world = self.q, self.v, self.memory, self.sums, self.world
        drive, ground, pushes = self.drive, self.ground, self._pushes
        self._weight_before, self._steps = self.weight_impulse, 0
        self.robot, self.settings = robot, replace(self.settings, law=self.layout.law)
        self._build()
        self.q[:], self.v[:], self.memory[:], self.sums[:] = q, v, memory, sums
        self.drive[:], self.ground[:] = drive, ground
        self.set_world(world)
        self._pushes = []
        for push in pushes:
            self.add_push(*push)
