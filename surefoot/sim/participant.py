"""`Participant`: one robot of a simulation, with its controller, drives, sensors and estimator.

How far an estimate is from the truth.
"""

from __future__ import annotations

import fnmatch
from typing import Any, ClassVar

import numpy as np

from surefoot.arrays import Array
from surefoot.errors import NotSupportedError, ShapeError, one_of
from surefoot.estimation import BaseLayout, EncodedJoints
from surefoot.motion import Command, Controller, Estimator, State, World
from surefoot.robot import Robot
from surefoot.sim.drives import Actuation, DriveBank, DrivenJoints
from surefoot.sim.engine import PhysicsEngine
from surefoot.sim.incidents import FallDetector, IncidentBook
from surefoot.sim.sensors import Sensors, Truth

__all__ = ["EstimateError", "Participant"]


class EstimateError:
    """Errors of the base; of a robot without one, there are none.

    Args:
        robot: The robot.
    """

    UNITS: ClassVar[dict[str, str]] = {
        "estimate.q": "mixed",
        "estimate.v": "mixed",
        "estimate.position_error": "m",
        "estimate.attitude_error": "rad",
        "estimate.velocity_error": "m/s",
    }

    def __init__(self, robot: Robot) -> None:
        self._base = BaseLayout(robot) if robot.base_joint is not None else None

    def columns(self, truth: State, estimate: State) -> dict[str, Any]:
        """A row of a log: the estimate, and the distance, angle and velocity (in world axes) between it and the truth.

        Args:
            truth: What is.
            estimate: What is believed.
        """
        out: dict[str, Any] = {"estimate.q": estimate.q, "estimate.v": estimate.v}
        if self._base is None:
            return out
        true, guess = (self._base.pose(x.q) for x in (truth, estimate))
        speeds = [T.rotation @ self._base.twist(x.v)[:3] for T, x in ((true, truth), (guess, estimate))]
        turn = true.rotation.T @ guess.rotation
        axis = np.array([turn[2, 1] - turn[1, 2], turn[0, 2] - turn[2, 0], turn[1, 0] - turn[0, 1]])
        return out | {
            "estimate.position_error": float(np.linalg.norm(true.translation - guess.translation)),
            "estimate.attitude_error": float(np.arctan2(np.linalg.norm(axis), np.trace(turn) - 1.0)),
            "estimate.velocity_error": float(np.linalg.norm(speeds[0] - speeds[1])),
        }


class Participant:
    """From what is to what the drives do.

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
        self.joints = DrivenJoints(robot)
        self.book = IncidentBook(robot, world, index)
        self.readings: dict[str, Array] = {}
        self.command = Command(torque=np.zeros(robot.nu))
        self._error = EstimateError(robot)
        self._seen = State.of(robot)
        self._ratio = np.zeros(robot.nu)

    def reset(self, state: State) -> None:
        """Begin in a state, which the estimator is told.

        Args:
            state: The state.
        """
        self.drives.reset(self.joints.positions(state), self.joints.velocities(state))
        self._seen = state
        if self.estimator is not None:
            self.estimator.reset(state)

    def sense(self, engine: PhysicsEngine, state: State) -> None:
        """Read the sensors, and find the state that the controller sees.

        Args:
            engine: After a step.
            state: The true state.
        """
        self._seen = state
        if self.sensors is None:
            return
        wrenches = {name: engine.wrench(name, self.index) for name in self.robot.contacts}
        self.readings = self.sensors.read(Truth(state.t, state.q, state.v, engine.acceleration(self.index), wrenches))
        if self.estimator is not None:
            self._seen = self.estimator.update(state.t, self.readings)

    def decide(self, t: float) -> None:
        """Ask the controller.

        Args:
            t: Now [s].

        Raises:
            ShapeError: The command does not fit the robot.
        """
        command = self.controller.command(t, self._seen)
        if not isinstance(command, Command):
            raise ShapeError(f"the controller returned a {type(command).__name__}, expected a Command")
        if command.size != self.robot.nu:
            raise ShapeError(f"the command has {command.size} entries, `{self.robot.name}` needs {self.robot.nu}")
        self.command = command

    def act(self, state: State) -> Actuation:
        """What the drives do in the next step.

        Args:
            state: The true state.
        """
        return self.drives.act(self.command, self.joints.positions(state), self.joints.velocities(state))

    def note_torques(self, torques: Array) -> None:
        """Remember the largest share of a limit since the last row of the log.

        Args:
            torques: (nu,) that acted.
        """
        limits = self.joints.torque_limits
        share = np.divide(np.abs(torques), limits, out=np.zeros(len(limits)), where=limits > 0.0)
        np.maximum(self._ratio, share, out=self._ratio)

    def after_tick(self, engine: PhysicsEngine, state: State, dt: float) -> None:
        """Look for incidents.

        Args:
            engine: After the tick.
            state: The true state.
            dt: Length of the tick [s].
        """
        self.book.look(engine, state, self._ratio, dt)

    def row(self, engine: PhysicsEngine, state: State, push: Array) -> dict[str, Any]:
        """One row of the log, without prefix.

        Args:
            engine: After a step.
            state: The true state.
            push: (3,) force of pushes now [N].
        """
        k, falls = self.index, self.book.falls
        base = engine.placement(self.book.base_link, k)
        out: dict[str, Any] = {f"contact.{name}.wrench": engine.wrench(name, k) for name in self.robot.contacts}
        out |= {f"contact.{name}.slip": engine.slip(name, k) for name in self.robot.contacts}
        out |= {f"drive.{name}": values for name, values in self._drive_readings().items()}
        out |= {f"sensor.{name}": values for name, values in self.readings.items()}
        if self.estimator is not None:
            out |= self._error.columns(state, self._seen)
        ratio, self._ratio = float(self._ratio.max(initial=0.0)), np.zeros(self.robot.nu)
        return out | {
            "q": state.q,
            "v": state.v,
            "tau": engine.torques(k),
            "tracking.error": self.joints.error(self.command, state),
            "torque.ratio": ratio,
            "base.height": falls.height(base[:3, 3]),
            "com.height": falls.height(engine.com(k)),
            "base.tilt": falls.tilt(base),
            "push.force": push,
        }

    def columns(self) -> tuple[dict[str, str], dict[str, int]]:
        """Units and sizes of the columns of `row`."""
        robot = self.robot
        units = {"q": "mixed", "v": "mixed", "tau": "N m | N", "tracking.error": "rad | m", "torque.ratio": "1"}
        units |= {"base.height": "m", "com.height": "m", "base.tilt": "rad", "push.force": "N"}
        sizes = {"q": robot.nq, "v": robot.nv, "tau": robot.nu, "tracking.error": robot.nu, "push.force": 3}
        for name in robot.contacts:
            units |= {f"contact.{name}.wrench": "N | N m", f"contact.{name}.slip": "m"}
            sizes[f"contact.{name}.wrench"] = 6
        for name in self._drive_readings():
            units[f"drive.{name}"], sizes[f"drive.{name}"] = _DRIVE_UNITS.get(name, "rad | m"), robot.nu
        if self.sensors is not None:
            for name, (size, unit) in self._sensor_columns(self.sensors).items():
                units[f"sensor.{name}"], sizes[f"sensor.{name}"] = unit, size
        if self.estimator is not None:
            units |= EstimateError.UNITS
            sizes |= {"estimate.q": robot.nq, "estimate.v": robot.nv}
        return units, sizes

    def _sensor_columns(self, sensors: Sensors) -> dict[str, tuple[int, str]]:
        """Size and unit of each reading."""
        joints = EncodedJoints(self.robot).size
        return {name: _SENSOR_COLUMNS.get(name.rpartition(".")[2], (joints, "mixed")) for name in sensors.names}

    def _drive_readings(self) -> dict[str, Array]:
        """Readings of the drives that at least one drive has."""
        return {name: values for name, values in self.drives.readings().items() if name in self._shown()}

    def _shown(self) -> frozenset[str]:
        kinds = set(self.drives.kinds.values())
        return frozenset(name for kind in kinds for name in _SHOWN.get(kind, ()))

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
            raise NotSupportedError("a sensor is to be lost, but there are none", next_step="give `sensors` as well")
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
