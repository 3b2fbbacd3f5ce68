"""`Sensors`: what a robot's encoders, IMU, force and contact sensors say."""

from __future__ import annotations

import fnmatch
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property, partial

import numpy as np
from numpy.typing import ArrayLike, NDArray

from surefoot import ops
from surefoot.arrays import Array, finite_array, number
from surefoot.codegen.loops import Floats, NativeCode
from surefoot.compiler import compile_robot
from surefoot.errors import ShapeError, one_of
from surefoot.estimation import EncodedJoints
from surefoot.kinematics import contact_frame, frame_of, frame_placement, frame_velocity
from surefoot.kinematics.frames import frame_classical_acceleration
from surefoot.motion.world import STANDARD_GRAVITY
from surefoot.robot import Robot, Tree
from surefoot.sim.sensors.channels import ChannelBank, Stream
from surefoot.sim.sensors.settings import SensorSettings


@dataclass(slots=True, eq=False)
class Truth:
    """The true state of the world.

    Args:
        t: Time [s].
        q: (nq,) configuration.
        v: (nv,) velocity.
        a: (nv,) acceleration dv/dt, layout of v.
        wrenches: (6,) on the robot, by name of the contact, in its frame, linear first [N], [N m].
    """

    t: float
    q: Array
    v: Array
    a: Array
    wrenches: Mapping[str, Array]


class TouchBits:
    """Contact bits with hysteresis.

    Args:
        count: Number k of contacts.
        weight: Of the robot [N].
        settings: `touch_on` and `touch_off`.
    """

    def __init__(self, count: int, weight: float, settings: SensorSettings) -> None:
        self._on, self._off = settings.touch_on * weight, settings.touch_off * weight
        self._touching = np.zeros(count, dtype=bool)

    def update(self, normal: Array) -> NDArray[np.bool_]:
        """(k,) whether each contact touches, from normal forces (k,) [N]."""
        self._touching = normal > np.where(self._touching, self._off, self._on)
        return self._touching


class Sensors:
    """All sensors of a robot. Same seed, same readings; each sensor has random numbers of its own.

    Readings: "encoder.position", "encoder.velocity" (nj,) of the joints with one axis, in the order of the tree;
    "imu.gyro", "imu.accelerometer" (3,) in the frame of the IMU, the latter the specific force Rᵀ(a − g); for each
    contact "contact.NAME.wrench" (6,) and "contact.NAME.cop" (2,) in its frame, "contact.NAME.touching" (1,) 0 or 1;
    and "zmp" (2,) in world. Centres of pressure and the ZMP are computed from the measured wrenches (the ZMP with the
    true places of the feet). NaN: nothing arrived, or nothing is touched.

    Args:
        robot: The robot.
        settings: How good the sensors are.
        rng: Source of all randomness; one number is drawn from it.
        dt: Time between readings [s].
        gravity: (3,) of the world [m/s²]; the robot's if omitted.
    """

    def __init__(
        self,
        robot: Robot,
        settings: SensorSettings,
        rng: np.random.Generator,
        dt: float,
        gravity: ArrayLike | None = None,
    ) -> None:
        self.robot, self.settings = robot, settings
        self._gravity = finite_array(robot.tree.gravity if gravity is None else gravity, (3,), "gravity")
        self._joints, self._contacts = EncodedJoints(robot), tuple(robot.contacts)
        self._look = _Look(robot, _imu_frame(robot, settings), self._gravity)
        self._weight = robot.mass * STANDARD_GRAVITY  # on Earth, also where nothing weighs anything
        self._bits = TouchBits(len(robot.contacts), self._weight, settings)
        streams = self._streams()
        seed = int(rng.integers(2**63))
        self._bank = ChannelBank(streams, seed, number(dt, "dt of the sensors", positive=True))
        ends = np.cumsum([0, *(stream.size for stream in streams)])
        self._rows = {s.name: slice(a, b) for s, a, b in zip(streams, ends, ends[1:], strict=False)}
        self._groups = _groups(self._rows, robot)
        self._true = np.zeros(self._bank.size)
        self._points = (*(f"contact.{name}.cop" for name in robot.contacts), *(("zmp",) if robot.contacts else ()))
        self._lost: set[str] = set()
        self._measured, self._pressed = np.zeros(6 * len(self._contacts)), np.zeros((len(self._contacts) + 1, 2))

    @property
    def names(self) -> tuple[str, ...]:
        """Names of all readings."""
        return (*self._rows, *self._points)

    def read(self, truth: Truth) -> dict[str, Array]:
        """One reading of every sensor; call it once for each `dt`.

        Args:
            truth: What the world is like now.

        Raises:
            ShapeError: An array of the truth has the wrong size.
            UnknownNameError: The truth has no wrench for one of the contacts.
        """
        self._fill(truth)
        values = self._bank.pass_on(self._true)
        out = {name: values[rows] for name, rows in self._rows.items()}
        self._silence(out)
        if self.robot.contacts:
            out |= self._pressures(values[self._groups["wrench"]])
            self._silence(out)
        return out

    def _silence(self, readings: dict[str, Array]) -> None:
        """NaN for what is lost; wrenches before others are computed from them."""
        for name in self._lost:
            if name in readings:
                readings[name][:] = np.nan

    def lose(self, pattern: str) -> None:
        """From now on nothing arrives from the sensors of a name; `*` and `?` stand for other letters.

        A lost wrench takes the centre of pressure of that contact and the ZMP with it.

        Raises:
            UnknownNameError: No sensor has that name.
        """
        self._lost.update(self._named(pattern))

    def restore(self, pattern: str) -> None:
        """Let the sensors of a name (as in `lose`) be heard again.

        Raises:
            UnknownNameError: No sensor has that name.
        """
        self._lost.difference_update(self._named(pattern))

    def _named(self, pattern: str) -> list[str]:
        found = [name for name in self.names if fnmatch.fnmatchcase(name, pattern)]
        if not found:
            raise one_of("sensor", pattern, self.names)
        return found

    def _streams(self) -> list[Stream]:
        """The sensors that do not follow from others."""
        chosen, joints, contacts = self.settings, self._joints.size, self.robot.contacts
        out = [
            Stream("encoder.position", chosen.encoder_position, joints, one_by_one=True),
            Stream("encoder.velocity", chosen.encoder_velocity, joints, one_by_one=True),
        ]
        if self._look.at is not None:
            out += [Stream("imu.gyro", chosen.gyro, 3), Stream("imu.accelerometer", chosen.accelerometer, 3)]
        wrench = chosen.wrench.scaled(self._weight)
        out += [Stream(f"contact.{name}.wrench", wrench, 6) for name in contacts]
        return out + [Stream(f"contact.{name}.touching", chosen.touch, 1) for name in contacts]

    def _fill(self, truth: Truth) -> None:
        """The true values of all sensors."""
        robot, groups, true = self.robot, self._groups, self._true
        found = np.shape(truth.q), np.shape(truth.v), np.shape(truth.a)
        if found != self._look.shapes:
            has, needs = (dict(zip("qva", shapes, strict=True)) for shapes in (found, self._look.shapes))
            raise ShapeError("q, v or a of the truth has the wrong size", evidence={"has": has, "needs": needs})
        self._look(truth.q, truth.v, truth.a)
        true[groups["position"]] = self._joints.positions(truth.q)
        true[groups["velocity"]] = self._joints.velocities(truth.v)
        if self._look.at is not None:
            true[groups["imu"]] = self._look.felt
        if robot.contacts:
            wrenches = self._wrenches(truth)
            true[groups["wrench"]] = wrenches.ravel()
            true[groups["touching"]] = self._bits.update(wrenches[:, 2])

    def _wrenches(self, truth: Truth) -> Array:
        """(k, 6) of all contacts."""
        given = truth.wrenches
        for name in self._contacts:
            if name not in given:
                raise one_of("wrench of contact", name, given)
        out = np.array([given[name] for name in self._contacts], dtype=float)
        if out.shape != (len(self._contacts), 6):
            raise ShapeError("wrenches of the truth need 6 entries each", evidence={"shape": out.shape})
        return out

    def _pressures(self, wrenches: Array) -> dict[str, Array]:
        """Centres of pressure and ZMP of measured wrenches (6 k,)."""
        self._measured[:] = wrenches
        self._find_pressures()
        return dict(zip(self._points, self._pressed.copy(), strict=True))

    @cached_property
    def _find_pressures(self) -> Callable[[], None]:
        """From the measured wrenches and the places of the contacts to the pressed points."""
        given, places = self._measured.ctypes.data, self._look.placed.ctypes.data
        least, out = self.settings.touch_off * self._weight, self._pressed.ctypes.data
        return partial(PRESSURES["find_pressures"], len(self._contacts), given, places, least, np.nan, out)


class _Look:
    """What a motion looks like to the IMU and at the contacts: a compiled kernel on arrays of its own.

    Args:
        robot: The robot.
        imu: Name of the frame that carries the IMU; None without one.
        gravity: (3,) of the world [m/s²].
    """

    def __init__(self, robot: Robot, imu: str | None, gravity: Array) -> None:
        self.at, places = None if imu is None else frame_of(robot, imu), robot.contacts
        self._contacts = [contact_frame(robot, name) for name in places]
        self._moves = np.zeros(robot.nq), np.zeros(robot.nv), np.zeros(robot.nv)
        self.shapes = tuple(part.shape for part in self._moves)
        self.felt, self.placed = np.zeros(6), np.zeros((len(places), 4, 4))
        """(6,) angular velocity and specific force in the frame of the IMU; T_world_contact (k, 4, 4)."""
        seen = [*([] if imu is None else [self.felt]), *([self.placed] if places else [])]
        self._run = _nothing
        if seen:
            kernels = compile_robot(robot, functions={"sensor_look": (self._seen, {"gravity": (3,)})})
            self._run = kernels.sensor_look.bind(*self._moves, gravity, *seen)

    def __call__(self, q: Array, v: Array, a: Array) -> None:
        """Look; q (nq,), v and a (nv,)."""
        self._moves[0][:], self._moves[1][:], self._moves[2][:] = q, v, a
        self._run()

    def _seen(self, tree: Tree, q: ops.Array, v: ops.Array, a: ops.Array, gravity: ops.Array) -> tuple[ops.Array, ...]:
        out = []
        if self.at is not None:
            turn = frame_velocity(tree, self.at, q, v, "local")[3:]
            push = frame_classical_acceleration(tree, self.at, q, v, a, "local")[:3]
            out.append(ops.concatenate([turn, push - frame_placement(tree, self.at, q)[:3, :3].T @ gravity]))
        if self._contacts:
            out.append(ops.stack([frame_placement(tree, frame, q) for frame in self._contacts]))
        return tuple(out)


def _nothing() -> None:
    """There is nothing to see."""


def _imu_frame(robot: Robot, settings: SensorSettings) -> str | None:
    """Name of the frame that carries the IMU; None if there is none."""
    if settings.imu is not None or robot.base_joint is None:
        return settings.imu
    return robot.tree.joint_names[robot.base_joint]


def _groups(rows: Mapping[str, slice], robot: Robot) -> dict[str, slice]:
    """Entries of sensors that are filled together."""
    out = {"position": rows["encoder.position"], "velocity": rows["encoder.velocity"]}
    if "imu.gyro" in rows:
        out["imu"] = slice(rows["imu.gyro"].start, rows["imu.accelerometer"].stop)
    names = list(robot.contacts)
    for kind in ("wrench", "touching") if names else ():
        out[kind] = slice(rows[f"contact.{names[0]}.{kind}"].start, rows[f"contact.{names[-1]}.{kind}"].stop)
    return out


# Centres of pressure and the ZMP of measured wrenches; a loop for `NativeCode`.


def find_pressures(k: int, wrenches: Floats, T: Floats, least: float, nothing: float, out: Floats) -> None:
    """Points (k + 1, 2) [m] without moment in their plane, as `contact.zero_moment_point` has them.

    Those of wrenches (k, 6) in the planes of their contact frames T (k, 4, 4), and last that of their sum in z = 0;
    `nothing` for a normal force below `least` > 0.
    """
    load = 0.0
    about_x = 0.0
    about_y = 0.0
    for i in range(k):
        w = 6 * i
        t = 16 * i
        force = wrenches[w + 2]
        out[2 * i] = -wrenches[w + 4] / force if force >= least else nothing
        out[2 * i + 1] = wrenches[w + 3] / force if force >= least else nothing
        fx = T[t] * wrenches[w] + T[t + 1] * wrenches[w + 1] + T[t + 2] * force
        fy = T[t + 4] * wrenches[w] + T[t + 5] * wrenches[w + 1] + T[t + 6] * force
        fz = T[t + 8] * wrenches[w] + T[t + 9] * wrenches[w + 1] + T[t + 10] * force
        mx = T[t] * wrenches[w + 3] + T[t + 1] * wrenches[w + 4] + T[t + 2] * wrenches[w + 5]
        my = T[t + 4] * wrenches[w + 3] + T[t + 5] * wrenches[w + 4] + T[t + 6] * wrenches[w + 5]
        load += fz
        about_x += mx + T[t + 7] * fz - T[t + 11] * fy
        about_y += my + T[t + 11] * fx - T[t + 3] * fz
    out[2 * k] = -about_y / load if load >= least else nothing
    out[2 * k + 1] = about_x / load if load >= least else nothing


PRESSURES = NativeCode([find_pressures])
