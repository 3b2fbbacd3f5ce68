"""`Participant`: one robot of a simulation, with its controller, drives, sensors and estimator."""

from __future__ import annotations

import fnmatch
from collections.abc import Mapping, Sequence
from functools import partial
from math import atan2, sqrt
from time import perf_counter
from typing import ClassVar

import numpy as np

from surefoot.arrays import Array
from surefoot.errors import NotSupportedError, ShapeError, one_of
from surefoot.estimation import BaseLayout, EncodedJoints
from surefoot.motion import Channel, Command, Controller, Estimator, Observation, State, World
from surefoot.motion.world import STANDARD_GRAVITY
from surefoot.robot import Robot
from surefoot.sim.drives import READINGS, Actuation, DriveBank, DrivenJoints
from surefoot.sim.engine import PhysicsEngine
from surefoot.sim.incidents import FallDetector, IncidentBook
from surefoot.sim.sensors import Sensors, SensorSettings, TouchBits, Truth

PARTS = ("sensors", "estimator", "controller", "solver")
"""Where a participant spends its time."""


class EstimateError:
    """The distance, angle and velocity (in world axes) between an estimated base and the true one.

    Args:
        robot: The robot; without a base, there are no errors.
    """

    UNITS: ClassVar[dict[str, str]] = {"position_error": "m", "attitude_error": "rad", "velocity_error": "m/s"}

    def __init__(self, robot: Robot) -> None:
        self._base = BaseLayout(robot) if robot.base_joint is not None else None

    def between(self, truth: State, estimate: State) -> tuple[float, float, float]:
        """The errors in the order of `UNITS`; NaN without a base."""
        if self._base is None:
            return np.nan, np.nan, np.nan
        true, guess = (self._base.pose(x.q) for x in (truth, estimate))
        speeds = [T.rotation @ self._base.twist(x.v)[:3] for T, x in ((true, truth), (guess, estimate))]
        turn = true.rotation.T @ guess.rotation
        axis = np.array([turn[2, 1] - turn[1, 2], turn[0, 2] - turn[2, 0], turn[1, 0] - turn[0, 1]])
        away, faster, trace = true.translation - guess.translation, speeds[0] - speeds[1], turn.ravel()[::4].sum()
        return sqrt(away @ away), atan2(sqrt(axis @ axis), trace - 1.0), sqrt(faster @ faster)


class Participant:
    """One robot in the loop: sensors, estimator, controller, drives.

    `spent` is the wall-clock time [s] of this tick in sensors, estimator, controller and the controller's solver.

    Args:
        robot: The robot, as its controller knows it.
        index: Its number.
        controller: Decides.
        drives: Between commands and joints.
        world: Where it is; None for empty space.
        sensors: What is measured; None for nothing.
        estimator: From readings to the state that the controller sees; None: it sees the truth.
    """

    def __init__(
        self,
        robot: Robot,
        index: int,
        controller: Controller,
        drives: DriveBank,
        world: World | None,
        sensors: Sensors | None = None,
        estimator: Estimator | None = None,
    ) -> None:
        if estimator is not None and sensors is None:
            raise NotSupportedError("an estimator needs sensors", next_step="give `sensors` as well")
        self.robot, self.index, self.controller, self.drives = robot, index, controller, drives
        self.sensors, self.estimator = sensors, estimator
        self.joints, self.spent = DrivenJoints(robot), [0.0] * len(PARTS)
        self.book = IncidentBook(robot, world, index)
        self.readings: dict[str, Array] = {}
        self.command = Command(torque=np.zeros(robot.nu))
        self._error = EstimateError(robot)
        self._errors = (np.nan, np.nan, np.nan)
        self._seen = self._state = State.of(robot)
        limits = self.joints.torque_limits
        self._limits, self._is_limited, self._share = limits, limits > 0.0, np.zeros(robot.nu)
        self._ratio = np.zeros(robot.nu)
        self._observer = Observer(robot, sensors, estimator) if hasattr(controller, "observe") else None
        self._observation: Observation | None = None

    def reset(self, state: State) -> None:
        """Begin in a state, which is passed to the estimator."""
        self.drives.reset(self.joints.positions(state), self.joints.velocities(state))
        self._seen, self._observation = state, None
        if self.estimator is not None:
            self.estimator.reset(state)

    def sense(self, engine: PhysicsEngine, state: State) -> None:
        """Read the sensors, and find the state and the observation that the controller sees."""
        self._seen, estimating = state, 0.0
        if self.sensors is None and self._observer is None:
            return
        wrenches = {name: engine.wrench(name, self.index) for name in self.robot.contacts}
        truth = Truth(state.t, state.q, state.v, engine.acceleration(self.index), wrenches)
        begin = perf_counter()
        if self.sensors is not None:
            self.readings = self.sensors.read(truth)
        if self.estimator is not None:
            sensed = perf_counter()
            self._seen = self.estimator.update(state.t, self.readings)
            estimating = perf_counter() - sensed
        if self._observer is not None:
            self._observation = self._observer.look(truth, self.readings)
        self.spent[:2] = perf_counter() - begin - estimating, estimating

    def decide(self, t: float) -> None:
        """Ask the controller.

        Args:
            t: Now [s].

        Raises:
            ShapeError: The command does not fit the robot.
        """
        begin = perf_counter()
        if self._observation is not None:
            self.controller.observe(self._observation)  # type: ignore[attr-defined]
        command = self.controller.command(t, self._seen)
        if not isinstance(command, Command):
            raise ShapeError(f"the controller returned a {type(command).__name__}, expected a Command")
        if command.size != self.robot.nu:
            raise ShapeError(f"the command has {command.size} entries, `{self.robot.name}` needs {self.robot.nu}")
        self.command, solver = command, getattr(self.controller, "solver_time", 0.0)
        self.spent[2:] = perf_counter() - begin - solver, solver

    def act(self, state: State) -> Actuation:
        """What the drives do in the next step."""
        return self.drives.act(self.command, self.joints.positions(state), self.joints.velocities(state))

    def note_torques(self, torques: Array) -> None:
        """Remember the largest share of a limit since the last row of the log.

        Args:
            torques: (nu,) that acted.
        """
        np.divide(np.abs(torques), self._limits, out=self._share, where=self._is_limited)
        np.maximum(self._ratio, self._share, out=self._ratio)

    def measure(self, engine: PhysicsEngine, state: State) -> None:
        """Take the numbers that incidents and the log share."""
        self._state = state
        self.book.measure(engine)
        if self.estimator is not None:
            self._errors = self._error.between(state, self._seen)

    def look(self, engine: PhysicsEngine, dt: float) -> None:
        """Look for incidents, after `measure`.

        Args:
            engine: After the tick.
            dt: Length of the tick [s].
        """
        self.book.look(engine, self._state, self._ratio, dt)

    def begin_row(self) -> None:
        """The torques of the next row of the log are still to come."""
        self._ratio[:] = 0.0

    def channels(self, engine: PhysicsEngine, push: Array) -> list[Channel]:
        """The columns of the log as they are after `measure`, without prefix.

        Args:
            engine: The engine.
            push: (3,) force of pushes, which stays up to date [N].
        """
        k, robot, book = self.index, self.robot, self.book
        out = [
            Channel("q", "mixed", robot.nq, lambda: self._state.q),
            Channel("v", "mixed", robot.nv, lambda: self._state.v),
            Channel("tau", "N m | N", robot.nu, lambda: engine.torques(k)),
            Channel("tracking.error", "rad | m", robot.nu, lambda: self.joints.error(self.command, self._state)),
            Channel("torque.ratio", "1", None, lambda: self._ratio.max(initial=0.0)),
            Channel("base.height", "m", None, lambda: book.base_height),
            Channel("com.height", "m", None, lambda: book.com_height),
            Channel("base.tilt", "rad", None, lambda: book.tilt),
            Channel("push.force", "N", 3, lambda: push),
        ]
        for name in robot.contacts:
            out.append(Channel(f"contact.{name}.wrench", "N | N m", 6, partial(engine.wrench, name, k)))
            out.append(Channel(f"contact.{name}.slip", "m", None, partial(engine.slip, name, k)))
        out += [*self._drive_channels(), *self._sensor_channels(), *self._estimate_channels()]
        own: Sequence[Channel] = getattr(self.controller, "channels", ())
        return out + [channel._replace(name=f"control.{channel.name}") for channel in own]

    def _drive_channels(self) -> list[Channel]:
        """Readings that at least one drive has."""
        kinds = set(self.drives.kinds.values())
        shown = [name for name in READINGS if any(name in _SHOWN.get(kind, ()) for kind in kinds)]
        return [
            Channel(f"drive.{x}", _DRIVE_UNITS.get(x, "rad | m"), self.robot.nu, partial(self.drives.reading, x))
            for x in shown
        ]

    def _sensor_channels(self) -> list[Channel]:
        """Readings; NaN before there are any."""
        if self.sensors is None:
            return []
        joints, out = EncodedJoints(self.robot).size, []
        for name in self.sensors.names:
            size, unit = _SENSOR_COLUMNS.get(name.rpartition(".")[2], (joints, "mixed"))
            out.append(Channel(f"sensor.{name}", unit, size, partial(self._reading, name)))
        return out

    def _reading(self, name: str) -> Array | float:
        return self.readings.get(name, np.nan)

    def _estimate_channels(self) -> list[Channel]:
        """The estimate, and how far it is from the truth."""
        if self.estimator is None:
            return []
        return [
            Channel("estimate.q", "mixed", self.robot.nq, lambda: self._seen.q),
            Channel("estimate.v", "mixed", self.robot.nv, lambda: self._seen.v),
            *(
                Channel(f"estimate.{name}", unit, None, partial(self._error_of, k))
                for k, (name, unit) in enumerate(EstimateError.UNITS.items())
            ),
        ]

    def _error_of(self, k: int) -> float:
        return self._errors[k]

    def stand_on(self, world: World | None) -> None:
        """Heights and falls are judged over other ground from now on.

        Args:
            world: The world; None for empty space.
        """
        self.book.falls = FallDetector(self.robot, world)

    def require_sensor(self, pattern: str) -> None:
        """Refuse a sensor that does not exist.

        Args:
            pattern: Its name, with wildcards.
        """
        if self.sensors is None:
            raise NotSupportedError(
                "an event loses a sensor, but the robot has no sensors", next_step="give `sensors` as well"
            )
        if not fnmatch.filter(self.sensors.names, pattern):
            raise one_of("sensor", pattern, self.sensors.names)

    def set_sensor(self, pattern: str, working: bool) -> None:
        """Let sensors fail, or work again.

        Args:
            pattern: Their names, with wildcards.
            working: Whether they work.
        """
        if self.sensors is not None:
            (self.sensors.restore if working else self.sensors.lose)(pattern)


_SENSOR_COLUMNS = {
    "gyro": (3, "rad/s"),
    "accelerometer": (3, "m/s²"),
    "wrench": (6, "N | N m"),
    "touching": (1, "1"),
    "cop": (2, "m"),
    "zmp": (2, "m"),
}
_DRIVE_UNITS = {"current": "A", "voltage": "V", "electrical_power": "W", "motor_angle": "rad"}
_SHOWN = {
    "dc_motor": ("current", "voltage", "electrical_power"),
    "elastic": ("motor_angle",),
    "servo": ("servo_reference",),
}


# `Observer`: what a controller may see beside the state.


class Observer:
    """Makes the observations of one controller.

    Whether contacts touch is taken from the estimator, where it has `touching`; else from the contact bits of the
    sensors (a bit that does not arrive keeps its last value, 0.5 before the first); else from the true forces, with the
    thresholds of the default sensors.

    Args:
        robot: The robot.
        sensors: Its sensors; None for none.
        estimator: Its estimator; None for none.
    """

    def __init__(self, robot: Robot, sensors: Sensors | None, estimator: Estimator | None) -> None:
        self._contacts = tuple(robot.contacts)
        self._sensed, self._estimator = sensors is not None, estimator if hasattr(estimator, "touching") else None
        self._bits = TouchBits(len(self._contacts), robot.mass * STANDARD_GRAVITY, SensorSettings())
        self._last = np.full(len(self._contacts), 0.5)

    def look(self, truth: Truth, readings: Mapping[str, Array]) -> Observation:
        """The observation now."""
        return Observation(truth.t, self._touching(truth, readings), readings)

    def _touching(self, truth: Truth, readings: Mapping[str, Array]) -> Array:
        """(contacts,) probabilities of touch."""
        if self._estimator is not None:
            return np.array(self._estimator.touching)
        if not self._sensed:
            forces = np.array([truth.wrenches[name][2] for name in self._contacts])
            return self._bits.update(forces).astype(float)
        bits = np.array([readings[f"contact.{name}.touching"][0] for name in self._contacts])
        self._last = np.where(np.isnan(bits), self._last, bits)
        return self._last
