"""`BaseEstimator`: the state of a robot from its IMU, encoders and contact sensors."""

from __future__ import annotations

from collections.abc import Mapping
from math import isfinite, isnan

import numpy as np
import pinocchio as pin
from numpy.typing import ArrayLike

from surefoot.arrays import Array, finite_array
from surefoot.errors import NotSupportedError, ShapeError, SimulationError
from surefoot.estimation.filter_kernels import filter_kernels
from surefoot.estimation.footholds import ContactPoints, FootholdBook, TippingSoles
from surefoot.estimation.invariant_filter import InertialStep, InvariantFilter, leg_twist
from surefoot.estimation.settings import EstimatorSettings
from surefoot.estimation.state_layout import BaseLayout, EncodedJoints
from surefoot.estimation.tick import TICK
from surefoot.estimation.trackers import JointTracker, TouchTracker
from surefoot.kinematics import Frame
from surefoot.motion import State
from surefoot.motion.world import STANDARD_GRAVITY
from surefoot.robot import Robot

_GENERAL = 2  # what `tick.put_base` returns where it does not know what to do


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
        self._soles = TippingSoles(list(robot.contacts.values()), self._points.contact_of)
        self._inertial = InertialStep(self._filter, self.settings)
        self._t: float | None = None
        self._q, self._v = np.array(robot.neutral), np.zeros(robot.nv)
        self._base_imu, self._variance = self._imu.inverse(), np.zeros(self._joints.size)
        self._grip = np.zeros(self._points.count)
        n, nj = self._points.count, self._joints.size
        self._feet, self._jacobians = np.zeros((n, 3)), np.zeros((n, 3, nj))
        self._look = self._kernels.contact_points.bind(self._q, self._feet, self._jacobians) if n else _nothing
        self._readings = _Readings(robot, nj)
        self._bind_tick()

    def _bind_tick(self) -> None:
        """Bind the loops of a tick in which no sensor is silent."""
        kalman, step, probability, s = self._filter, self._inertial, self._touch.probability, self.settings
        k, readings, wrenches = len(probability), self._readings.imu, self._readings.wrenches
        self._share, self._bend = np.zeros(k), np.zeros(k)
        rates = kalman.size, kalman.true, kalman.known, kalman.noise, kalman.walk
        thresholds = np.array([s.touch_force, s.touch_hysteresis, s.touch_width])
        self._begin = TICK.bind(
            "begin", 0.0, readings, step.last, kalman.bias, step.densities, step.walks, *rates,
            k, wrenches, self._weight, probability, thresholds, self._share, self._bend,
        )  # fmt: skip
        ends = readings, step.last, kalman.bias, step.turn
        self._settle = TICK.bind("settle", k, probability, self._bend, 0.0, *ends)
        self._find_grip = self._soles.grip(k / s.grip_load, probability, self._share, wrenches, self._grip)
        parts = self._base.parts(self._q, self._v) if self._base is not None and self._imu.isIdentity(0.0) else None
        body = kalman.rotation, kalman.position, kalman.velocity
        self._put = None if parts is None else TICK.bind("put_base", kalman.P, kalman.size, *body, step.turn, *parts)

    def reset(self, state: State) -> None:
        """Begin again from a state, near the truth to within the `initial_…` settings.

        Args:
            state: Where the robot is; position and heading count from here.
        """
        self._t, self._q[:], self._v[:] = state.t, state.q, state.v
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
        dt, readings = self._advance(t), self._readings
        readings.take(measurements)
        self._tracker.update(dt, readings.position, readings.velocity)
        self._joints.put(self._tracker.position, self._q)
        if self._base is not None:
            self._update_base(dt)
            code = _GENERAL if self._put is None else self._put.run()
            if code and not isfinite(self._filter.P.trace() + self._filter.position.sum()):
                raise SimulationError(
                    f"the estimator of `{self.robot.name}` has diverged",
                    evidence={"time [s]": self._t},
                    next_step="check its readings for infinite numbers, wrong units, or another robot",
                )
            if code:
                self._write_base(self._base)
        self._v[self._joints.v_rows] = self._tracker.velocity
        q, v = self._q.copy(), self._v.copy()
        is_finite = isfinite(np.vdot(q, q) + np.vdot(v, v))
        return State.trusted(t, q, v) if is_finite else State(t, q, v)  # which says what is not finite

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

    def _update_base(self, dt: float) -> None:
        """One step of the filter."""
        self._look()
        self._begin.real[0] = dt
        if self._begin.run():
            self._filter.go_on(dt)
            np.tanh(self._bend, out=self._bend)
            self._settle.real[3] = self._touch.change(dt)
            self._settle.run()
        else:
            self._bridge(dt)
        self._find_grip.run()
        self._variance[:] = self._tracker.variance
        self._footholds.update(dt, self._feet, self._jacobians, self._variance, self._grip)

    def _bridge(self, dt: float) -> None:
        """The step of the IMU and the touches, where a sensor is silent or was."""
        imu, legs = self._readings.imu, None
        if isnan(imu.sum()):
            grip = self._footholds.grip(self._touch.probability)
            legs = leg_twist(self._feet, self._moving(), grip, self._inertial.twist)
        self._inertial.advance(dt, imu, legs)
        forces, bits = self._readings.wrenches[:, 2], self._readings.bits
        speeds = np.zeros(len(bits))
        if isnan(forces.sum()) and (np.isnan(forces) & np.isnan(bits)).any():
            twist = self._inertial.twist
            each = np.linalg.norm(twist[:3] + np.cross(twist[3:], self._feet) + self._moving(), axis=1)
            np.maximum.at(speeds, self._points.contact_of, each)
        np.divide(forces, self._weight, out=self._share)
        self._touch.update(dt, self._share, bits, speeds)

    def _moving(self) -> Array:
        """(n, 3) velocities of the contact points against the IMU, in its frame [m/s]."""
        out: Array = self._jacobians @ self._tracker.velocity
        return out

    def _write_base(self, base: BaseLayout) -> None:
        """The filter's estimate as q and v of the base; a planar base takes the filter back into its plane."""
        found, twist = self._filter, self._imu.act(pin.Motion(self._inertial.twist)).vector
        pose = pin.SE3(found.rotation, found.position) * self._base_imu
        base.put(pose, twist, self._q, self._v)
        if base.planar:
            T = base.pose(self._q) * self._imu
            inside = self._imu.actInv(pin.Motion(base.twist(self._v))).linear
            found.rotation, found.position, found.velocity = T.rotation, T.translation, T.rotation @ inside


class _Readings:
    """The readings of one tick in one array; NaN where there is none.

    Args:
        robot: The robot.
        nj: Number of its joints with an encoder.
    """

    def __init__(self, robot: Robot, nj: int) -> None:
        names, k = list(robot.contacts), len(robot.contacts)
        sizes = {"encoder.position": nj, "encoder.velocity": nj, "imu.gyro": 3, "imu.accelerometer": 3}
        sizes |= {f"contact.{name}.wrench": 6 for name in names} | {f"contact.{name}.touching": 1 for name in names}
        ends = np.cumsum([0, *sizes.values()]).tolist()
        self._all = np.full(ends[-1], np.nan)
        places = zip(sizes.items(), ends, strict=False)
        self._places = [(name, (size,), self._all[at : at + size]) for (name, size), at in places]
        rest = self._all[2 * nj :]
        self.position, self.velocity, self.imu = self._all[:nj], self._all[nj : 2 * nj], rest[:6]
        self.wrenches, self.bits = rest[6 : 6 + 6 * k].reshape(k, 6), rest[6 + 6 * k :]

    def take(self, measurements: Mapping[str, Array]) -> None:
        """Read all.

        Raises:
            ShapeError: A reading has the wrong size.
        """
        for name, shape, place in self._places:
            value = measurements.get(name)
            if value is None:
                place[:] = np.nan
            elif np.shape(value) == shape:
                place[:] = value
            else:
                raise ShapeError(f"reading `{name}` has shape {np.shape(value)}, expected {shape}")


def _nothing() -> None:
    """Look at no feet."""


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
