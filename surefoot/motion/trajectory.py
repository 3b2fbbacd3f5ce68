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

from surefoot.arrays import (
    Array,
    Place,
    bracket,
    finite_array,
    increasing_times,
    linear,
    linear_at,
    number,
    place_of,
)
from surefoot.errors import NotSupportedError, ShapeError, one_of
from surefoot.motion.exchange import configuration_between, joint_kinds, manifold, require_unit_length, velocities
from surefoot.motion.files import TRAJECTORY_FORMAT, Bundle, contradiction, read_bundle, write_bundle
from surefoot.motion.mirror import mirror_of
from surefoot.motion.stance import ContactSchedule
from surefoot.motion.state import State
from surefoot.robot import Robot
from surefoot.words import side_pairs

_OPTIONAL = ("v", "a", "tau", "tau_rate")
CONTROLS = ("hold", "linear", "integrated")
"""How torques run between samples: held, piecewise linear, or with a rate that is piecewise linear."""
_NAMED = ("wrenches", "references")


@dataclass(frozen=True, eq=False)
class Sample:
    """A trajectory at one time. Quantities that the trajectory does not have are None or empty.

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
            raise NotSupportedError("the trajectory has no velocities; a state needs them")
        return State(self.t, self.q, self.v)


@dataclass(frozen=True, eq=False)
class Trajectory:
    """A motion of a robot, sampled.

    Args:
        robot: Name of the robot.
        joints: Names of its joints, in the order of q.
        kinds: Kinds of its joints (`exchange.joint_kinds`), which define the interpolation.
        time: (n,) increasing [s].
        q: (n, nq) Pinocchio's layout, quaternions of unit length to 1e-6.
        v: (n, nv), or None.
        a: (n, nv), or None.
        tau: (n, nu) at the driven degrees of freedom [N m] or [N], or None.
        wrenches: Contact → (n, 6): on the robot, in the contact frame, linear first [N], [N m].
        references: Name → (n, k): any further series of a planner.
        schedule: Which contacts hold when, from the first time to the last or longer; None if unknown.
        is_v_computed: Whether v was computed from q; it is then no evidence of its own.
        control: How tau runs between samples, one of `CONTROLS`: "hold", "linear", or "integrated" from its rates.
        tau_rate: (n, nu) rates of tau that a planner chose [N m/s] or [N/s], for "integrated"; else None.
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
    is_v_computed: bool = False
    control: str = "linear"
    tau_rate: Array | None = None

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
                width = None if name.startswith("tau") else model.nv
                set_field(self, name, finite_array(getattr(self, name), (n, width), name))
        _require_control(self)
        sizes = {name: 6 if name == "wrenches" else None for name in _NAMED}
        for name, size in sizes.items():
            series = {k: finite_array(x, (n, size), f"{name} `{k}`") for k, x in getattr(self, name).items()}
            set_field(self, name, MappingProxyType(series))
        _require_cover(self)

    @classmethod
    def of(cls, robot: Robot, time: ArrayLike, q: ArrayLike, v: ArrayLike | None = None, **others: Any) -> Trajectory:
        """A trajectory that fits a robot.

        Args:
            robot: The robot.
            time: (n,) [s].
            q: (n, nq).
            v: (n, nv), or None to compute them from q, by differences on its manifold.
            **others: Further fields by name.

        Raises:
            ShapeError: A shape does not fit the robot, or quaternions are not of unit length.
        """
        rows = finite_array(q, (None, robot.nq), "q")
        rates = None if v is None else finite_array(v, (len(rows), robot.nv), "v")
        out = cls(robot.name, robot.joint_names, joint_kinds(robot), increasing_times(time), rows, rates, **others)
        out.require(robot)
        return out if v is not None else out.with_velocities()

    @classmethod
    def load(cls, path: str | Path) -> Trajectory:
        """Read a file that `save` wrote.

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

    def with_velocities(self) -> Trajectory:
        """The motion with v, computed from q by differences on its manifold if it has none."""
        if self.v is not None:
            return self
        return replace(self, v=velocities(manifold(self.kinds), self.time, self.q), is_v_computed=True)

    @property
    def as_given(self) -> Trajectory:
        """The motion without velocities that were computed."""
        return replace(self, v=None, is_v_computed=False) if self.is_v_computed else self

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
        for name, size in (
            ("q", robot.nq),
            ("v", robot.nv),
            ("a", robot.nv),
            ("tau", robot.nu),
            ("tau_rate", robot.nu),
        ):
            value = getattr(self, name)
            if value is not None and value.shape[1] != size:
                raise ShapeError(f"{name} has shape {value.shape}, `{robot.name}` needs (n, {size})")

    def sample(self, t: float) -> Sample:
        """The motion at time t [s], start ≤ t ≤ end; exact at the samples.

        q is cubic on the manifold where there is v, else geodesic (`exchange.configuration_between`); the rest is
        linear in between.
        """
        _require_inside(self, t, t)
        place = place_of(self.time, t)
        q = self._configuration(place)
        q.setflags(write=False)
        return Sample(
            float(t),
            q,
            v=None if self.v is None else linear_at(self.v, place),
            a=None if self.a is None else linear_at(self.a, place),
            tau=_torque(self, place),
            wrenches={name: linear_at(x, place) for name, x in self.wrenches.items()},
            references={name: linear_at(x, place) for name, x in self.references.items()},
        )

    def resample(self, times: ArrayLike | None = None, dt: float | None = None) -> Trajectory:
        """The motion at other times.

        Args:
            times: (m,) increasing, inside the trajectory [s]; or
            dt: a step [s] from the start; the end is added where the step does not meet it.
        """
        at = _resampling_times(self, times, dt)
        k, s = bracket(self.time, at)
        named: dict[str, Any] = {
            name: {key: linear(x, k, s) for key, x in getattr(self, name).items()} for name in _NAMED
        }
        values = {name: getattr(self, name) for name in _OPTIONAL}
        optional: dict[str, Any] = {name: None if x is None else linear(x, k, s) for name, x in values.items()}
        if self.tau is not None and self.control != "linear":
            last = len(self) - 1
            pairs = zip(k.tolist(), s.tolist(), strict=True)
            optional["tau"] = np.array([_torque(self, (i, min(i + 1, last), share)) for i, share in pairs])
        return replace(self, time=at, q=self._configurations(k, s), **optional, **named)

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

        The schedules are clipped to the times of their trajectories.

        Args:
            other: The motion that follows, with the same fields.
            tolerance: How far q (on the manifold) and v may jump there [rad], [m], …; None for any jump.
        """
        if (self.joints, self.kinds) != (other.joints, other.kinds):
            raise ShapeError(f"trajectories of `{self.robot}` and `{other.robot}` have different joints")
        if tolerance is not None:
            _require_continuity(self, other, tolerance)
        for name in _OPTIONAL:
            if (getattr(self, name) is None, self.control) != (getattr(other, name) is None, other.control):
                raise ShapeError(
                    f"only one of the two trajectories has `{name}`", next_step="give it to both or to none"
                )
        pairs = {name: (getattr(self, name), getattr(other, name)) for name in _OPTIONAL}
        optional: dict[str, Any] = {name: None if a is None else _join(a, b) for name, (a, b) in pairs.items()}
        named: dict[str, Any] = {name: _join_named(self, other, name) for name in _NAMED}
        time = np.append(self.time, other.time[1:] + (self.end - other.start))
        schedule = _join_schedules(self, other)
        return replace(self, time=time, q=_join(self.q, other.q), schedule=schedule, **optional, **named)

    def time_scaled(self, factor: float) -> Trajectory:
        """Slower by `factor`, from the same start: v/f, a/f².

        Torques and wrenches belong to the old accelerations and are omitted unless the factor is 1; references are
        kept as they are, and the schedule from the first time to the last.
        """
        factor = number(factor, "time factor", positive=True)
        if factor == 1.0:
            return self
        schedule = _own_schedule(self)
        return replace(
            self,
            time=self.start + factor * (self.time - self.start),
            v=None if self.v is None else self.v / factor,
            a=None if self.a is None else self.a / factor**2,
            tau=None,
            tau_rate=None,
            control="linear",
            wrenches={},
            schedule=None if schedule is None else schedule.time_scaled(factor, about=self.start),
        )

    def mirrored(
        self, robot: Robot, names: Mapping[str, str] | None = None, references: Mapping[str, ArrayLike] | None = None
    ) -> Trajectory:
        """The motion behind the mirror y = 0, left and right exchanged (`mirror.mirror_of`).

        Args:
            robot: The robot, which must be its own mirror image.
            names: Joint or contact → the one on the other side, where the names do not show it.
            references: Sign of each component of each reference, e.g. {"com": (1, −1, 1)}; names of references change
                sides like those of joints. Every reference of the trajectory needs an entry.

        Raises:
            ModelError: The robot is not symmetric.
            ShapeError: A reference has no signs, or a contact is not the robot's.
        """
        return _mirrored(self, robot, names, references or {})


def _require_control(motion: Trajectory) -> None:
    if motion.control not in CONTROLS:
        raise one_of("control law", motion.control, CONTROLS)
    has_rates = motion.tau is not None and motion.tau_rate is not None and motion.tau.shape == motion.tau_rate.shape
    if (motion.control == "integrated" or motion.tau_rate is not None) and not has_rates:
        raise ShapeError("integrated controls need `tau` and `tau_rate` of one shape", next_step="give both")


def _require_cover(motion: Trajectory) -> None:
    if motion.schedule is not None and not motion.schedule.covers(motion.start, motion.end):
        raise ShapeError(
            "the contact schedule does not cover the trajectory",
            evidence={
                "schedule": (motion.schedule.start, motion.schedule.end),
                "trajectory": (motion.start, motion.end),
            },
            next_step="give the stances from its first time to its last",
        )


def _torque(motion: Trajectory, place: Place) -> Array | None:
    """(nu,) as the control law has it between samples."""
    i, j, share = place
    if motion.tau is None or (motion.control == "linear") or i == j:
        return None if motion.tau is None else linear_at(motion.tau, place)
    if motion.control == "hold" or motion.tau_rate is None:
        return np.array(motion.tau[j if share >= 1.0 else i])
    step = share * float(motion.time[j] - motion.time[i])
    return np.asarray(
        motion.tau[i] + step * (motion.tau_rate[i] + 0.5 * share * (motion.tau_rate[j] - motion.tau_rate[i]))
    )


def _resampling_times(motion: Trajectory, times: ArrayLike | None, dt: float | None) -> Array:
    if (times is None) == (dt is None):
        raise ShapeError("give either `times` or `dt` to resample")
    if dt is not None:
        step = number(dt, "dt", positive=True)
        count = int(np.floor(motion.duration / step + 1e-9))
        at = motion.start + step * np.arange(count + 1)
        times = np.minimum(at, motion.end) if at[-1] > motion.end - 1e-9 * step else np.append(at, motion.end)
    checked = increasing_times(times if times is not None else (), "times")
    _require_inside(motion, checked[0], checked[-1])
    return checked


def _require_inside(motion: Trajectory, first: float, last: float) -> None:
    if not motion.start <= first <= last <= motion.end:
        evidence = {"times": (float(first), float(last)), "trajectory": (motion.start, motion.end)}
        raise ShapeError("times lie outside the trajectory", evidence=evidence)


def _join_schedules(first: Trajectory, second: Trajectory) -> ContactSchedule | None:
    """The stances of both, each from the first to the last time of its trajectory."""
    before, after = _own_schedule(first), _own_schedule(second)
    if before is None or after is None:
        return None
    if second.duration == 0.0:
        return before
    return after.shifted(first.end - second.start) if first.duration == 0.0 else before.concatenate(after)


def _own_schedule(motion: Trajectory) -> ContactSchedule | None:
    """The schedule from the first time to the last; unchanged if both are the same time."""
    if motion.schedule is None or motion.duration == 0.0:
        return motion.schedule
    return motion.schedule.clipped(motion.start, motion.end)


def _require_continuity(first: Trajectory, second: Trajectory, tolerance: float) -> None:
    step = pin.difference(manifold(first.kinds), np.array(first.q[-1]), np.array(second.q[0]))
    jump = np.abs(step).max(initial=0.0)
    faster = 0.0 if first.v is None or second.v is None else np.abs(first.v[-1] - second.v[0]).max(initial=0.0)
    if jump > tolerance or faster > tolerance:
        raise ShapeError(
            "the second trajectory does not begin where the first one ends",
            evidence={"jump of q": float(jump), "jump of v": float(faster), "tolerance": tolerance},
            next_step="plan the second one from the end of the first, or pass tolerance=None",
        )


def _join_named(first: Trajectory, second: Trajectory, name: str) -> dict[str, Array]:
    """Named series after each other; a contact that only one of the two has carries nothing in the other."""
    before, after = getattr(first, name), getattr(second, name)
    if name == "references" and set(before) != set(after):
        raise ShapeError(
            "the trajectories have different references", evidence={"first": sorted(before), "second": sorted(after)}
        )
    return {
        key: _join(before.get(key, np.zeros((len(first), 6))), after.get(key, np.zeros((len(second), 6))))
        for key in (*before, *(k for k in after if k not in before))
    }


def _mirrored(
    motion: Trajectory, robot: Robot, names: Mapping[str, str] | None, references: Mapping[str, ArrayLike]
) -> Trajectory:
    """The motion behind the mirror (`Trajectory.mirrored`)."""
    motion.require(robot)
    mirror = mirror_of(robot, names)
    for name in (*motion.wrenches, *(motion.schedule.names if motion.schedule else ())):
        if name not in mirror.contacts:
            raise ShapeError(f"`{name}` of the trajectory is not a contact of robot `{robot.name}`")
    return replace(
        motion,
        q=mirror.configuration(motion.q),
        v=None if motion.v is None else mirror.velocity(motion.v),
        a=None if motion.a is None else mirror.velocity(motion.a),
        tau=None if motion.tau is None else mirror.torque(motion.tau),
        tau_rate=None if motion.tau_rate is None else mirror.torque(motion.tau_rate),
        wrenches={mirror.contacts[name]: mirror.wrench(name, w) for name, w in motion.wrenches.items()},
        references=_mirror_references(motion.references, references),
        schedule=motion.schedule and motion.schedule.mirrored(mirror.contacts, mirror.contact_reflections),
    )


def _mirror_references(references: Mapping[str, Array], signs: Mapping[str, ArrayLike]) -> dict[str, Array]:
    pairs, out = side_pairs(references), {}
    for name, values in references.items():
        if name not in signs:
            raise ShapeError(
                f"the mirror image of reference `{name}` is not known",
                next_step="give the sign of each of its components, or remove it before mirroring",
            )
        out[pairs[name]] = values * finite_array(signs[name], (values.shape[1],), f"signs of `{name}`")
    return out


def _join(first: Array, second: Array) -> Array:
    return np.concatenate([first, second[1:]])


def _bundle_of(trajectory: Trajectory) -> Bundle:
    arrays = {name: getattr(trajectory, name) for name in ("time", "q", *_OPTIONAL)}
    arrays |= {f"wrenches/{name}": series for name, series in trajectory.wrenches.items()}
    arrays |= {f"references/{name}": series for name, series in trajectory.references.items()}
    schedule = None if trajectory.schedule is None else trajectory.schedule.to_dict()
    joints = {"joints": list(trajectory.joints), "kinds": list(trajectory.kinds)}
    facts: dict[str, Any] = {"robot": trajectory.robot, **joints, "schedule": schedule}
    facts |= {"is_v_computed": True} if trajectory.is_v_computed else {}
    facts |= {"control": trajectory.control} if trajectory.control != "linear" else {}
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
        is_v_computed=bool(bundle.facts.get("is_v_computed", False)),
        control=str(bundle.facts.get("control", "linear")),
        **named,
        **plain,
    )
