"""`Trajectory`: a motion over time. It knows its manifold, so it can be sampled without the robot."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
import pinocchio as pin
from numpy.typing import ArrayLike

from surefoot.arrays import Array, finite_array, increasing_times, number
from surefoot.errors import NotSupportedError, ShapeError
from surefoot.motion.exchange import joint_kinds, manifold, require_unit_length
from surefoot.motion.files import TRAJECTORY_FORMAT, Bundle, contradiction, read_bundle, write_bundle
from surefoot.motion.mirror import mirror_of
from surefoot.motion.quintic import Place, bracket, configuration_between, linear, linear_at, place_of
from surefoot.motion.side_names import side_pairs
from surefoot.motion.stance import ContactSchedule
from surefoot.motion.state import State
from surefoot.robot import Robot

__all__ = ["Sample", "Trajectory"]

_OPTIONAL = ("v", "a", "tau")
_NAMED = ("wrenches", "references")


@dataclass(frozen=True, eq=False)
class Sample:
    """A trajectory at one time. What the trajectory does not have is None or empty.

    Args:
        t: Time [s].
        q: (nq,).
        v: (nv,).
        a: (nv,).
        tau: (nu,) [N m] or [N].
        wrenches: Contact → (6,), contact frame, linear first [N], [N m].
        references: Name → (k,).
    """

    t: float
    q: Array
    v: Array | None = None
    a: Array | None = None
    tau: Array | None = None
    wrenches: Mapping[str, Array] = field(default_factory=dict)
    references: Mapping[str, Array] = field(default_factory=dict)

    @property
    def state(self) -> State:
        """Time, q and v."""
        if self.v is None:
            raise NotSupportedError("the trajectory has no velocities, so a sample of it is no state")
        return State(self.t, self.q, self.v)


@dataclass(frozen=True, eq=False)
class Trajectory:
    """A motion of a robot, sampled.

    Args:
        robot: Name of the robot.
        joints: Names of its joints, in the order of q.
        kinds: Kinds of its joints (`manifold.joint_kinds`), which say how to interpolate.
        time: (n,) increasing [s].
        q: (n, nq) Pinocchio's layout, quaternions of unit length to 1e-6.
        v: (n, nv), or None.
        a: (n, nv), or None.
        tau: (n, nu) at the driven degrees of freedom [N m] or [N], or None.
        wrenches: Contact → (n, 6): on the robot, in the contact frame, linear first [N], [N m].
        references: Name → (n, k): whatever a planner wants to hand on.
        schedule: Which contacts hold when, from the first time to the last or longer; None where nobody said.
    """

    robot: str
    joints: tuple[str, ...]
    kinds: tuple[str, ...]
    time: Array
    q: Array
    v: Array | None = None
    a: Array | None = None
    tau: Array | None = None
    wrenches: Mapping[str, Array] = field(default_factory=dict)
    references: Mapping[str, Array] = field(default_factory=dict)
    schedule: ContactSchedule | None = None

    def __post_init__(self) -> None:
        set_field = object.__setattr__
        set_field(self, "joints", tuple(str(name) for name in self.joints))
        set_field(self, "time", increasing_times(self.time))
        n = len(self.time)
        set_field(self, "kinds", tuple(str(kind) for kind in self.kinds))
        if len(self.kinds) != len(self.joints):
            raise ShapeError(f"{len(self.joints)} joints have {len(self.kinds)} kinds")
        model = manifold(self.kinds)
        set_field(self, "q", finite_array(self.q, (n, model.nq), "q"))
        require_unit_length(self.q, self.joints, self.kinds)
        for name in _OPTIONAL:
            if getattr(self, name) is not None:
                set_field(self, name, finite_array(getattr(self, name), (n, None if name == "tau" else model.nv), name))
        sizes = {name: 6 if name == "wrenches" else None for name in _NAMED}
        for name, size in sizes.items():
            series = {k: finite_array(x, (n, size), f"{name} `{k}`") for k, x in getattr(self, name).items()}
            set_field(self, name, MappingProxyType(series))
        self._require_cover()

    def _require_cover(self) -> None:
        if self.schedule is not None and not self.schedule.covers(self.start, self.end):
            raise ShapeError(
                "the contact schedule does not cover the trajectory",
                evidence={
                    "schedule": (self.schedule.start, self.schedule.end),
                    "trajectory": (self.start, self.end),
                },
                next_step="give the stances from its first time to its last",
            )

    @classmethod
    def of(cls, robot: Robot, time: ArrayLike, q: ArrayLike, v: ArrayLike | None = None, **others: Any) -> Trajectory:
        """A trajectory that fits a robot.

        Args:
            robot: The robot.
            time: (n,) [s].
            q: (n, nq).
            v: (n, nv), or None.
            **others: Further fields by name.

        Raises:
            ShapeError: A shape does not fit the robot, or quaternions are not of unit length.
        """
        rows = finite_array(q, (None, robot.nq), "q")
        rates = None if v is None else finite_array(v, (len(rows), robot.nv), "v")
        out = cls(robot.name, robot.joint_names, joint_kinds(robot), increasing_times(time), rows, rates, **others)
        out.require(robot)
        return out

    @classmethod
    def load(cls, path: str | Path) -> Trajectory:
        """Read what `save` wrote.

        Raises:
            FileFormatError: The file is missing, cut off, of another kind or newer version, or holds wrong numbers.
        """
        bundle = read_bundle(path, TRAJECTORY_FORMAT)
        try:
            return _of_bundle(bundle)
        except (ShapeError, KeyError, TypeError, AttributeError) as error:
            raise contradiction(path, TRAJECTORY_FORMAT, error) from error

    def save(self, path: str | Path) -> None:
        """Write to `.npz` or `.parquet`, whole or not at all."""
        write_bundle(path, _bundle_of(self))

    def __len__(self) -> int:
        return len(self.time)

    @property
    def start(self) -> float:
        """First time [s]."""
        return float(self.time[0])

    @property
    def end(self) -> float:
        """Last time [s]."""
        return float(self.time[-1])

    @property
    def duration(self) -> float:
        """From first to last time [s]."""
        return self.end - self.start

    def require(self, robot: Robot) -> None:
        """Refuse a robot with other joints or sizes than those of this trajectory."""
        if (self.joints, self.kinds) != (robot.joint_names, joint_kinds(robot)):
            differ = [pair for pair in zip(self.joints, robot.joint_names, strict=False) if pair[0] != pair[1]]
            evidence = {"joints": (len(self.joints), len(robot.joint_names)), "first that differ": differ[:1]}
            raise ShapeError(f"the trajectory of `{self.robot}` does not fit robot `{robot.name}`", evidence=evidence)
        for name, size in (("q", robot.nq), ("v", robot.nv), ("a", robot.nv), ("tau", robot.nu)):
            value = getattr(self, name)
            if value is not None and value.shape[1] != size:
                raise ShapeError(f"{name} has shape {value.shape}, `{robot.name}` needs (n, {size})")

    def sample(self, t: float) -> Sample:
        """The motion at time t [s], start ≤ t ≤ end; exact at the samples.

        q is cubic on the manifold where there is v, else geodesic (`interpolation.configuration_between`); the rest is
        linear in between.
        """
        if not self.start <= t <= self.end:
            raise self._outside(t, t)
        place = place_of(self.time, t)
        q = self._configuration(place)
        q.setflags(write=False)
        return Sample(
            float(t),
            q,
            v=None if self.v is None else linear_at(self.v, place),
            a=None if self.a is None else linear_at(self.a, place),
            tau=None if self.tau is None else linear_at(self.tau, place),
            wrenches={name: linear_at(x, place) for name, x in self.wrenches.items()},
            references={name: linear_at(x, place) for name, x in self.references.items()},
        )

    def resample(self, times: ArrayLike | None = None, dt: float | None = None) -> Trajectory:
        """The motion at other times.

        Args:
            times: (m,) increasing, inside the trajectory [s]; or
            dt: a step [s] from the start; the end is added where the step does not meet it.
        """
        at = self._times(times, dt)
        k, s = bracket(self.time, at)
        named: dict[str, Any] = {
            name: {key: linear(x, k, s) for key, x in getattr(self, name).items()} for name in _NAMED
        }
        values = {name: getattr(self, name) for name in _OPTIONAL}
        optional: dict[str, Any] = {name: None if x is None else linear(x, k, s) for name, x in values.items()}
        return replace(self, time=at, q=self._configurations(k, s), **optional, **named)

    def _times(self, times: ArrayLike | None, dt: float | None) -> Array:
        if (times is None) == (dt is None):
            raise ShapeError("give either `times` or `dt` to resample")
        if dt is not None:
            step = number(dt, "dt", positive=True)
            count = int(np.floor(self.duration / step + 1e-9))
            at = self.start + step * np.arange(count + 1)
            times = np.minimum(at, self.end) if at[-1] > self.end - 1e-9 * step else np.append(at, self.end)
        found = increasing_times(times if times is not None else (), "times")
        if found[0] < self.start or found[-1] > self.end:
            raise self._outside(found[0], found[-1])
        return found

    def _outside(self, first: float, last: float) -> ShapeError:
        evidence = {"times": (float(first), float(last)), "trajectory": (self.start, self.end)}
        return ShapeError("times lie outside the trajectory", evidence=evidence)

    def _configurations(self, k: np.ndarray, s: Array) -> Array:
        last = len(self) - 1
        out = np.empty((len(k), self.q.shape[1]))
        for row, (i, share) in enumerate(zip(k.tolist(), s.tolist(), strict=True)):
            out[row] = self._configuration((i, min(i + 1, last), share))
        return out

    def _configuration(self, place: Place) -> Array:
        i, j, share = place
        v = None if self.v is None else (self.v[i], self.v[j])
        duration = float(self.time[j] - self.time[i])
        return configuration_between(manifold(self.kinds), (self.q[i], self.q[j]), v, duration, share)

    def concatenate(self, other: Trajectory, tolerance: float | None = 1e-6) -> Trajectory:
        """This motion, then `other`, moved in time to begin where this one ends; its first sample is dropped.

        What the schedules say of times before or after their trajectories is left out.

        Args:
            other: What follows; must have the same fields.
            tolerance: How far q (on the manifold) and v may jump there [rad], [m], …; None for any jump.
        """
        if (self.joints, self.kinds) != (other.joints, other.kinds):
            raise ShapeError(f"trajectories of `{self.robot}` and `{other.robot}` have different joints")
        if tolerance is not None:
            self._check_joint(other, tolerance)
        for name in _OPTIONAL:
            if (getattr(self, name) is None) != (getattr(other, name) is None):
                raise ShapeError(
                    f"only one of the two trajectories has `{name}`", next_step="give it to both or to none"
                )
        pairs = {name: (getattr(self, name), getattr(other, name)) for name in _OPTIONAL}
        optional: dict[str, Any] = {name: None if a is None else _after(a, b) for name, (a, b) in pairs.items()}
        named: dict[str, Any] = {name: self._joined(other, name) for name in _NAMED}
        time = np.append(self.time, other.time[1:] + (self.end - other.start))
        schedule = self._joined_schedule(other)
        return replace(self, time=time, q=_after(self.q, other.q), schedule=schedule, **optional, **named)

    def _joined_schedule(self, other: Trajectory) -> ContactSchedule | None:
        """The stances of both, each from the first to the last time of its trajectory."""
        mine, theirs = self._own_schedule, other._own_schedule
        if mine is None or theirs is None:
            return None
        if other.duration == 0.0:
            return mine
        return theirs.shifted(self.end - other.start) if self.duration == 0.0 else mine.concatenate(theirs)

    @property
    def _own_schedule(self) -> ContactSchedule | None:
        """The schedule from the first time to the last; as it is where these are one."""
        if self.schedule is None or self.duration == 0.0:
            return self.schedule
        return self.schedule.clipped(self.start, self.end)

    def _check_joint(self, other: Trajectory, tolerance: float) -> None:
        jump = np.abs(pin.difference(manifold(self.kinds), np.array(self.q[-1]), np.array(other.q[0]))).max(initial=0.0)
        faster = 0.0 if self.v is None or other.v is None else np.abs(self.v[-1] - other.v[0]).max(initial=0.0)
        if jump > tolerance or faster > tolerance:
            raise ShapeError(
                "the second trajectory does not begin where the first one ends",
                evidence={"jump of q": float(jump), "jump of v": float(faster), "tolerance": tolerance},
                next_step="plan the second one from the end of the first, or pass tolerance=None",
            )

    def _joined(self, other: Trajectory, name: str) -> dict[str, Array]:
        """Named series after each other; contacts that one of the two does not have carry nothing there."""
        mine, theirs = getattr(self, name), getattr(other, name)
        if name == "references" and set(mine) != set(theirs):
            raise ShapeError(
                "the trajectories have different references", evidence={"first": sorted(mine), "second": sorted(theirs)}
            )
        return {
            key: _after(mine.get(key, np.zeros((len(self), 6))), theirs.get(key, np.zeros((len(other), 6))))
            for key in (*mine, *(k for k in theirs if k not in mine))
        }

    def time_scaled(self, factor: float) -> Trajectory:
        """Slower by `factor`, from the same start: v/f, a/f².

        Torques and wrenches belong to the old accelerations and are left out unless the factor is 1; references are
        kept as they are, and the schedule from the first time to the last.
        """
        factor = number(factor, "time factor", positive=True)
        if factor == 1.0:
            return self
        schedule = self._own_schedule
        return replace(
            self,
            time=self.start + factor * (self.time - self.start),
            v=None if self.v is None else self.v / factor,
            a=None if self.a is None else self.a / factor**2,
            tau=None,
            wrenches={},
            schedule=None if schedule is None else schedule.time_scaled(factor, about=self.start),
        )

    def mirrored(
        self, robot: Robot, names: Mapping[str, str] | None = None, references: Mapping[str, ArrayLike] | None = None
    ) -> Trajectory:
        """The motion behind the mirror y = 0, left and right exchanged (`mirror.mirror_of`).

        Args:
            robot: The robot, which must be its own mirror image.
            names: Joint or contact → the one on the other side, where the names do not tell.
            references: Sign of each component of each reference, e.g. {"com": (1, −1, 1)}; names of references change
                sides like those of joints. Every reference of the trajectory needs an entry.

        Raises:
            ModelError: The robot is not symmetric.
            ShapeError: A reference has no signs, or a contact is not the robot's.
        """
        self.require(robot)
        mirror = mirror_of(robot, names)
        for name in (*self.wrenches, *(self.schedule.names if self.schedule else ())):
            if name not in mirror.contacts:
                raise ShapeError(f"`{name}` of the trajectory is no contact of robot `{robot.name}`")
        return replace(
            self,
            q=mirror.configuration(self.q),
            v=None if self.v is None else mirror.velocity(self.v),
            a=None if self.a is None else mirror.velocity(self.a),
            tau=None if self.tau is None else mirror.torque(self.tau),
            wrenches={mirror.contacts[name]: mirror.wrench(name, w) for name, w in self.wrenches.items()},
            references=self._mirrored_references(references or {}),
            schedule=self.schedule and self.schedule.mirrored(mirror.contacts, mirror.contact_reflections),
        )

    def _mirrored_references(self, signs: Mapping[str, ArrayLike]) -> dict[str, Array]:
        pairs, out = side_pairs(self.references), {}
        for name, values in self.references.items():
            if name not in signs:
                raise ShapeError(
                    f"how reference `{name}` looks behind the mirror is not known",
                    next_step="give the sign of each of its components, or remove it before mirroring",
                )
            out[pairs[name]] = values * finite_array(signs[name], (values.shape[1],), f"signs of `{name}`")
        return out


def _after(first: Array, second: Array) -> Array:
    return np.concatenate([first, second[1:]])


def _bundle_of(trajectory: Trajectory) -> Bundle:
    arrays = {name: getattr(trajectory, name) for name in ("time", "q", "v", "a", "tau")}
    arrays |= {f"wrenches/{name}": series for name, series in trajectory.wrenches.items()}
    arrays |= {f"references/{name}": series for name, series in trajectory.references.items()}
    schedule = None if trajectory.schedule is None else trajectory.schedule.to_dict()
    joints = {"joints": list(trajectory.joints), "kinds": list(trajectory.kinds)}
    facts = {"robot": trajectory.robot, **joints, "schedule": schedule}
    return Bundle(TRAJECTORY_FORMAT, {k: x for k, x in arrays.items() if x is not None}, facts)


def _of_bundle(bundle: Bundle) -> Trajectory:
    named: dict[str, Any] = {"wrenches": {}, "references": {}}
    plain: dict[str, Any] = {}
    for name, values in bundle.arrays.items():
        group, _, key = name.partition("/")
        named.get(group, plain)[key or name] = values
    schedule = bundle.facts["schedule"]
    return Trajectory(
        robot=bundle.facts["robot"],
        joints=tuple(bundle.facts["joints"]),
        kinds=tuple(bundle.facts["kinds"]),
        schedule=None if schedule is None else ContactSchedule.from_dict(schedule),
        **named,
        **plain,
    )
