"""`simulate`: a controller and a robot in closed loop, everything measured."""

from __future__ import annotations

import time as clock
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefoot.errors import NotSupportedError, ShapeError, SimulationError, one_of
from surefoot.motion import Command, Controller, Log, LogWriter, State, World
from surefoot.robot import Robot
from surefoot.sim.contact_forces import ContactBook
from surefoot.sim.energy import BalanceBook
from surefoot.sim.falls import FallDetector
from surefoot.sim.mujoco_engine import MujocoEngine
from surefoot.sim.pushes import Push

__all__ = ["DivergedError", "Settings", "Simulation", "simulate"]

Array = NDArray[np.float64]
Progress = Callable[[float], None]
AFTER_FALL = 0.5
"""How long a simulation goes on after a fall [s]."""


class DivergedError(SimulationError):
    """The numbers grew beyond all bounds; `log` holds what was measured before.

    Args:
        error: What the engine said.
        log: Until then.
    """

    def __init__(self, error: SimulationError, log: Log) -> None:
        super().__init__(error.message, evidence=error.evidence, next_step=error.next_step)
        self.log = log


@dataclass(frozen=True)
class Settings:
    """How to simulate.

    Args:
        duration: How long [s].
        dt: Step of the physics [s].
        control_dt: Time between commands [s], a multiple of dt.
        seed: Of all randomness.
        initial_spread: Standard deviation of the driven joints' first positions around the initial ones [rad] or [m].
        self_collision: Whether the robot may touch itself.
    """

    duration: float
    dt: float = 0.002
    control_dt: float = 0.002
    seed: int = 0
    initial_spread: float = 0.0
    self_collision: bool = False

    def __post_init__(self) -> None:
        if not (self.dt > 0.0 and self.duration > 0.0 and self.control_dt > 0.0):
            raise ShapeError("duration, dt and control_dt must be positive", evidence={"settings": self})
        ratio = self.control_dt / self.dt
        if abs(ratio - round(ratio)) > 1e-6 or round(ratio) < 1:
            raise ShapeError(
                "control_dt is not a multiple of dt",
                evidence={"dt": self.dt, "control_dt": self.control_dt},
                next_step=f"use control_dt = {max(1, round(ratio)) * self.dt:g}",
            )

    @property
    def substeps(self) -> int:
        """Steps of the physics between commands."""
        return round(self.control_dt / self.dt)

    @property
    def ticks(self) -> int:
        """Commands until the end."""
        return max(1, round(self.duration / self.control_dt))


class Simulation:
    """One run. `run()` goes to its end; `log()` gives what there is so far, also after an interrupt.

    Row k of the log is the state at time t_k with the torques and contact wrenches of the step that ended there (row 0:
    those at the start of the first step, under the first command).

    Args:
        robot: The robot.
        controller: Decides what the drives do.
        world: Where; None for empty space.
        settings: How.
        pushes: What disturbs it.
        initial: First state; at home and at rest if left out.
        notes: What else the log should tell its reader.
    """

    def __init__(
        self,
        robot: Robot,
        controller: Controller,
        world: World | None,
        settings: Settings,
        pushes: Sequence[Push] = (),
        initial: State | None = None,
        notes: Sequence[str] = (),
    ) -> None:
        if robot.tree.n == 0:
            raise NotSupportedError(f"`{robot.name}` has no joint; there is nothing to simulate")
        self.robot, self.controller, self.settings, self.pushes = robot, controller, settings, tuple(pushes)
        self.engine = MujocoEngine(robot, world, settings.dt, self_collision=settings.self_collision)
        for push in self.pushes:
            if push.link not in self.engine.model.body_ids:
                raise one_of("link", push.link, self.engine.model.body_ids)
        self.engine.reset(_spread(robot, initial or State.of(robot), settings))
        self.notes = (*self.engine.model.notes, *notes)
        self.fall_time: float | None = None
        self._falls = FallDetector(robot, world)
        self._balance, self._contacts = BalanceBook(self.engine), ContactBook(self.engine)
        self._base_body = int(self.engine.model.tree_bodies[robot.base_joint or 0])
        self._forces, self._ratio = np.zeros(self.engine.mj.nu), 0.0
        self._writer = LogWriter(*_columns(robot, self.engine), capacity=settings.ticks + 1)
        self._timing = LogWriter({"control": "s", "physics": "s"}, capacity=settings.ticks + 1)

    def run(self, progress: Progress | None = None) -> Log:
        """Go to the end, or to half a second after a fall.

        Args:
            progress: Called now and then with the share that is done, 0…1.

        Raises:
            DivergedError: The numbers grew beyond all bounds.
        """
        start, ticks = self.engine.data.time, self.settings.ticks
        for k in range(ticks):
            try:
                self._tick(first=k == 0)
            except SimulationError as error:
                raise DivergedError(error, self.log()) from error
            now = self.engine.data.time - start
            if progress is not None and (k % 50 == 49 or k == ticks - 1):
                progress((k + 1) / ticks)
            if self.fall_time is not None and now >= self.fall_time - start + AFTER_FALL:
                break
        return self.log()

    def _tick(self, first: bool) -> None:
        """One command, and the steps until the next."""
        before = clock.perf_counter()
        command = self.controller.command(self.engine.data.time, self.engine.state)
        decided = clock.perf_counter()
        if first:
            self._set_pushes()
            self._note_forces(self.engine.begin(command))
            self._contacts.read()
            self._record(command)
        for _ in range(self.settings.substeps):
            self._step(command)
        self._record(command)
        times = {"control": decided - before, "physics": clock.perf_counter() - decided}
        self._timing.append({"time": self.engine.data.time, **times})

    def _step(self, command: Command) -> None:
        self._set_pushes()
        self._balance.before_step()
        self.engine.advance(command)
        self._contacts.after_step()
        self._balance.after_step()
        self._note_forces(self._balance.drive_forces)
        if self.fall_time is None and self._falls.has_fallen(self._com(), self._base()):
            self.fall_time = float(self.engine.data.time)

    def _note_forces(self, forces: Array) -> None:
        """Remember the forces of the actuators, and their largest share of a limit since the last row of the log."""
        self._forces = forces
        self._ratio = max(self._ratio, float((np.abs(forces) / self.engine.force_limits).max(initial=0.0)))

    def _set_pushes(self) -> None:
        self.engine.release()
        active = [push for push in self.pushes if push.acts_at(self.engine.data.time, self.settings.dt)]
        for link in dict.fromkeys(push.link for push in active):
            self.engine.push(link, sum((push.wrench for push in active if push.link == link), np.zeros(6)))

    def _base(self) -> Array:
        """T_world of the body that the base joint moves, else of the first one, (4, 4)."""
        data, out = self.engine.data, np.eye(4)
        out[:3, :3], out[:3, 3] = data.xmat[self._base_body].reshape(3, 3), data.xpos[self._base_body]
        return out

    def _com(self) -> Array:
        """Centre of mass of the robot, (3,) in world [m]."""
        bodies = self.engine.model.tree_bodies
        masses = self.engine.mj.body_mass[bodies]
        return np.array(masses @ self.engine.data.xipos[bodies] / masses.sum())

    def _record(self, command: Command) -> None:
        """One row of the log."""
        state, balance, base = self.engine.state, self._balance.balance(), self._base()
        error = self.engine.position_error(command)
        contacts = self._contacts
        row: dict[str, Any] = {f"contact.{name}.wrench": contacts.wrench(name) for name in self.robot.contacts}
        row |= {f"contact.{name}.slip": contacts.slip[name] for name in self.robot.contacts}
        row |= {f"energy.{name}": getattr(balance, name) for name in ("drives", "contacts", "damping", "pushes")}
        self._writer.append(
            row
            | {
                "time": state.t,
                "q": state.q,
                "v": state.v,
                "tau": self.engine.torques(self._forces),
                "tracking.error": self.engine.torques(error),
                "torque.ratio": self._ratio,
                "base.height": self._falls.height(base[:3, 3]),
                "com.height": self._falls.height(self._com()),
                "base.tilt": self._falls.tilt(base),
                "energy.total": balance.energy,
                "energy.residual": balance.energy_residual,
                "momentum.residual": balance.momentum_residual,
                "push.force": self.engine.data.xfrc_applied[:, :3].sum(axis=0),
            }
        )
        self._ratio = 0.0

    def log(self) -> Log:
        """What was measured so far; partial before the planned end."""
        reached = len(self._writer) == self.settings.ticks + 1
        return self._writer.log(
            partial=not reached,
            metadata={
                "robot": self.robot.name,
                "seed": self.settings.seed,
                "planned_duration_s": self.settings.duration,
                "fall_time_s": self.fall_time,
                "lifted": list(self.engine.model.lifted),
                "locked": list(self.engine.model.locked),
                "notes": list(self.notes),
            },
        )

    def timing(self) -> Log:
        """Wall-clock time of each tick: control and physics [s]."""
        return self._timing.log()


def simulate(
    robot: Robot,
    controller: Controller,
    world: World | None,
    duration: float,
    dt: float = 0.002,
    control_dt: float = 0.002,
    seed: int = 0,
    pushes: Sequence[Push] = (),
    initial: State | None = None,
    progress: Progress | None = None,
) -> Log:
    """Simulate a controlled robot; same arguments, same log bit by bit.

    Args:
        robot: The robot.
        controller: Decides what the drives do.
        world: Where; None for empty space.
        duration: How long [s]; the run ends 0.5 s after a fall.
        dt: Step of the physics [s].
        control_dt: Time between commands [s], a multiple of dt.
        seed: Of all randomness.
        pushes: What disturbs it.
        initial: First state; at home and at rest if left out.
        progress: Called now and then with the share that is done, 0…1.

    Raises:
        DivergedError: The numbers grew beyond all bounds; the error's `log` has what was measured before.
    """
    settings = Settings(duration=duration, dt=dt, control_dt=control_dt, seed=seed)
    return Simulation(robot, controller, world, settings, pushes, initial).run(progress)


def _spread(robot: Robot, state: State, settings: Settings) -> State:
    """The state with its driven joints moved at random, and what is coupled to them."""
    if settings.initial_spread == 0.0:
        return state
    import pinocchio as pin

    step = np.zeros(robot.nv)
    step[robot.driven] = settings.initial_spread * np.random.default_rng(settings.seed).standard_normal(robot.nu)
    for item in robot.couplings:
        follower, leader = (int(robot.tree.v_index[robot.joint_index(name)]) for name in (item.joint, item.source))
        step[follower] = item.ratio * step[leader]
    return State(state.t, pin.integrate(robot.model, np.array(state.q), step), state.v)


def _columns(robot: Robot, engine: MujocoEngine) -> tuple[dict[str, str], dict[str, int]]:
    """Units and sizes of the columns of a log."""
    units = {"q": "mixed", "v": "mixed", "tau": "N m | N", "tracking.error": "rad | m", "torque.ratio": "1"}
    units |= {"base.height": "m", "com.height": "m", "base.tilt": "rad", "push.force": "N", "momentum.residual": "N s"}
    parts = ("total", "drives", "contacts", "damping", "pushes", "residual")
    units |= {f"energy.{part}": "J" for part in parts}
    units |= {f"contact.{name}.wrench": "N | N m" for name in robot.contacts}
    units |= {f"contact.{name}.slip": "m" for name in robot.contacts}
    sizes = {"q": robot.nq, "v": robot.nv, "tau": robot.nu, "tracking.error": robot.nu}
    sizes |= {"momentum.residual": 3, "push.force": 3}
    sizes |= {f"contact.{name}.wrench": 6 for name in robot.contacts}
    return units, sizes
