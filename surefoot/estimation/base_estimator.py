"""`BaseEstimator`: the state of a robot from its IMU, encoders and contact sensors."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pinocchio as pin
from numpy.typing import ArrayLike

from surefoot.arrays import Array, finite_array
from surefoot.errors import NotSupportedError, ShapeError, SimulationError
from surefoot.estimation.filter_kernels import filter_kernels
from surefoot.estimation.footholds import ContactPoints, FootholdBook
from surefoot.estimation.invariant_filter import InertialStep, InvariantFilter, leg_twist
from surefoot.estimation.settings import EstimatorSettings
from surefoot.estimation.state_layout import BaseLayout, EncodedJoints
from surefoot.estimation.trackers import JointTracker, TouchTracker
from surefoot.kinematics import Frame
from surefoot.motion import State
from surefoot.motion.world import STANDARD_GRAVITY
from surefoot.robot import Robot

__all__ = ["BaseEstimator"]


class BaseEstimator:
    """Estimates base pose and twist, joint positions and velocities.

    The base comes from an invariant Kalman filter (`InvariantFilter`) that integrates the IMU and holds on to the
    points of the contacts that touch; areas count as three points, so the attitude of a flat foot is used, too. A
    contact takes part as far as its probability goes; a point that jumps or slides is omitted (`gate`) and gets a new
    foothold. Silent sensors (NaN, or no entry) are bridged: joints go on with their velocity, the legs stand in for the
    IMU, and contacts are judged by their speed.

    Position in the world and heading cannot be observed: both start from `reset` and drift from there. The joints of a
    robot on a fixed base are passed on alone; of a planar base the estimate is held in its plane.

    Readings are those of `surefoot.sim.Sensors`: "encoder.position", "encoder.velocity", "imu.gyro",
    "imu.accelerometer", "contact.NAME.wrench", "contact.NAME.touching".

    Args:
        robot: The robot.
        settings: What is believed about sensors and ground.
        gravity: (3,) of the world [m/s²]; the robot's if omitted.

    Raises:
        NotSupportedError: A joint with several axes, which no encoder measures, or an IMU that is not on the base.
    """

    def __init__(
        self, robot: Robot, settings: EstimatorSettings | None = None, gravity: ArrayLike | None = None
    ) -> None:
        self.robot, self.settings = robot, settings or EstimatorSettings()
        self._joints = EncodedJoints(robot)
        if self._joints.others:
            raise NotSupportedError(
                f"joint `{self._joints.others[0]}` of `{robot.name}` has several axes; no encoder measures it",
                next_step="use a chain of one-axis joints",
            )
        self._base = None if robot.base_joint is None else BaseLayout(robot)
        self._imu = _imu_placement(robot, self.settings.imu)
        at = Frame(robot.base_joint or 0, self._imu.rotation, self._imu.translation)
        self._points = ContactPoints(robot, self._joints, at)
        self._kernels = filter_kernels(robot, self._points)
        g = finite_array(robot.tree.gravity if gravity is None else gravity, (3,), "gravity")
        self._filter = InvariantFilter(self._kernels, self._points.count, g)
        self._weight = robot.mass * STANDARD_GRAVITY
        self._tracker = JointTracker(self._joints, self.settings)
        self._touch = TouchTracker(len(robot.contacts), self.settings)
        self._footholds = FootholdBook(self._filter, self._points.contact_of, self.settings)
        self._inertial = InertialStep(self._filter, self.settings)
        self._t: float | None = None
        self._q, self._v = np.array(robot.neutral), np.zeros(robot.nv)

    def reset(self, state: State) -> None:
        """Begin again from a state, near the truth to within the `initial_…` settings.

        Args:
            state: Where the robot is; position and heading count from here.
        """
        self._t, self._q, self._v = state.t, np.array(state.q), np.array(state.v)
        self._tracker.reset(self._joints.positions(self._q), self._joints.velocities(self._v))
        self._touch.reset()
        self._footholds.reset()
        if self._base is None:
            return
        T, twist = self._base.pose(self._q) * self._imu, self._imu.actInv(pin.Motion(self._base.twist(self._v)))
        chosen = self.settings
        deviations = [chosen.initial_attitude, chosen.initial_velocity, chosen.initial_position]
        deviations += [chosen.initial_gyro_bias, chosen.initial_accelerometer_bias]
        self._filter.reset(T.rotation, T.rotation @ twist.linear, T.translation, np.array(deviations))
        self._inertial.reset(twist.angular)

    def update(self, t: float, measurements: Mapping[str, Array]) -> State:
        """The state at time t from the readings that arrived then.

        Args:
            t: Time [s], not before the last one.
            measurements: Readings by name; NaN or no entry where nothing arrived.

        Raises:
            ShapeError: `reset` was not called, time runs backwards, or a reading has the wrong size.
            SimulationError: The filter has diverged.
        """
        dt = self._advance(t)
        nj = self._joints.size
        position, velocity = (_reading(measurements, f"encoder.{what}", nj) for what in ("position", "velocity"))
        self._tracker.update(dt, position, velocity)
        self._joints.put(self._tracker.position, self._q)
        if self._base is not None:
            self._update_base(dt, measurements)
            self._write_base(self._base)
        self._v[self._joints.v_rows] = self._tracker.velocity
        return State(t, self._q, self._v)

    @property
    def covariance(self) -> Array:
        """(15, 15) of the IMU's rotation (rotation vector, world axes), velocity and position (world), and offsets."""
        return self._filter.covariance

    @property
    def touching(self) -> Array:
        """(contacts,) probabilities of touch, in the order of `robot.contacts`."""
        return self._touch.probability.copy()

    @property
    def bias(self) -> Array:
        """(6,) offsets of gyroscope [rad/s] and accelerometer [m/s²], in the frame of the IMU."""
        return self._filter.bias.copy()

    def _advance(self, t: float) -> float:
        """Time since the last update [s]."""
        if self._t is None:
            raise ShapeError("the estimator has no first state", next_step="call `reset` before `update`")
        dt = t - self._t
        if not dt >= 0.0:
            raise ShapeError("time of the readings runs backwards", evidence={"before": self._t, "now": t})
        self._t = t
        return dt

    def _update_base(self, dt: float, measurements: Mapping[str, Array]) -> None:
        """One step of the filter."""
        points, jacobians = self._look_at_feet()
        moving = jacobians @ self._tracker.velocity
        readings = np.concatenate([_reading(measurements, f"imu.{what}", 3) for what in ("gyro", "accelerometer")])
        legs = None
        if np.isnan(readings).any():
            legs = leg_twist(points, moving, self._footholds.grip(self._touch.probability), self._inertial.twist)
        self._inertial.advance(dt, readings, legs)
        self._judge_touches(dt, points, moving, measurements)
        self._footholds.update(dt, points, jacobians, self._tracker.variance, self._touch.probability)
        if not np.isfinite(self._filter.P.trace() + self._filter.position.sum()):
            raise SimulationError(
                f"the estimator of `{self.robot.name}` has diverged",
                evidence={"time [s]": self._t},
                next_step="check its readings for infinite numbers, wrong units, or another robot",
            )

    def _look_at_feet(self) -> tuple[Array, Array]:
        """Contact points (n, 3) and Jacobians (n, 3, nj) in the frame of the IMU."""
        if not self._points.count:
            return np.zeros((0, 3)), np.zeros((0, 3, self._joints.size))
        points, jacobians = self._kernels.contact_points(self._q)
        return points, jacobians

    def _judge_touches(self, dt: float, points: Array, moving: Array, measurements: Mapping[str, Array]) -> None:
        """New probabilities of touch."""
        names = self.robot.contacts
        forces = np.array([_reading(measurements, f"contact.{name}.wrench", 6)[2] for name in names])
        bits = np.array([_reading(measurements, f"contact.{name}.touching", 1)[0] for name in names])
        speeds = np.zeros(len(names))
        if (np.isnan(forces) & np.isnan(bits)).any():
            twist = self._inertial.twist
            each = np.linalg.norm(twist[:3] + np.cross(twist[3:], points) + moving, axis=1)
            np.maximum.at(speeds, self._points.contact_of, each)
        self._touch.update(dt, forces / self._weight, bits, speeds)

    def _write_base(self, base: BaseLayout) -> None:
        """The filter's estimate as q and v of the base; a planar base takes the filter back into its plane."""
        found, twist = self._filter, self._imu.act(pin.Motion(self._inertial.twist)).vector
        pose = pin.SE3(found.rotation, found.position) * self._imu.inverse()
        base.put(pose, twist, self._q, self._v)
        if base.planar:
            T = base.pose(self._q) * self._imu
            inside = self._imu.actInv(pin.Motion(base.twist(self._v))).linear
            found.rotation, found.position, found.velocity = T.rotation, T.translation, T.rotation @ inside


def _reading(measurements: Mapping[str, Array], name: str, size: int) -> Array:
    """A reading (size,), NaN if it is not there."""
    value = measurements.get(name)
    if value is None:
        return np.full(size, np.nan)
    if np.shape(value) != (size,):
        raise ShapeError(f"reading `{name}` has shape {np.shape(value)}, expected ({size},)")
    return value


def _imu_placement(robot: Robot, name: str | None) -> pin.SE3:
    """T_base_imu."""
    if name is None:
        return pin.SE3.Identity()
    frame = robot.model.frames[robot.frame_id(name)]
    if robot.base_joint is None or int(frame.parentJoint) != robot.base_joint + 1:
        raise NotSupportedError(
            f"the IMU on `{name}` is not on the base of `{robot.name}`",
            subject=name,
            kind="frame",
            next_step="name a link or frame that is fixed to the base",
        )
    return frame.placement
