"""Which contact surface holds on to which spot, and when."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from surefoot.arrays import Array, finite_array, number, only_keys, placement_matrix
from surefoot.errors import ShapeError, one_of

MIRROR = np.diag([1.0, -1.0, 1.0])
"""Reflection (3, 3) at the x–z plane."""
MIRROR.setflags(write=False)
_TIME_TOLERANCE = 1e-9


@dataclass(frozen=True, eq=False)
class Spot:
    """A place in the world that a contact holds on to.

    Args:
        pose: T_world_contact, (4, 4); z points out of the ground.
        friction: Coulomb coefficient there.
    """

    pose: Array
    friction: float = 0.7

    def __post_init__(self) -> None:
        object.__setattr__(self, "pose", placement_matrix(self.pose, "pose of a spot"))
        object.__setattr__(self, "friction", number(self.friction, "friction of a spot"))

    def same_as(self, other: Spot, tolerance: float = 1e-9) -> bool:
        """Whether both are the same place with the same friction."""
        return bool(np.abs(self.pose - other.pose).max() <= tolerance and self.friction == other.friction)

    def mirrored(self, reflection: ArrayLike = MIRROR) -> Spot:
        """The spot behind the mirror y = 0.

        Args:
            reflection: (3, 3) between the axes of the contact that holds there then and the mirror image of
                this one's; the default keeps x forward and z up.
        """
        T = np.array(self.pose)
        T[:3, :3] = MIRROR @ T[:3, :3] @ np.asarray(reflection)
        T[:3, 3] = MIRROR @ T[:3, 3]
        return replace(self, pose=T)


@dataclass(frozen=True, eq=False)
class Stance:
    """The contacts that hold, by name; none while the robot flies.

    Args:
        spots: Contact name → spot.
    """

    spots: Mapping[str, Spot] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name, spot in self.spots.items():
            if not isinstance(name, str) or not isinstance(spot, Spot):
                raise ShapeError(f"a stance maps contact names to spots, got {name!r} → {type(spot).__name__}")
        object.__setattr__(self, "spots", MappingProxyType(dict(self.spots)))

    @property
    def names(self) -> tuple[str, ...]:
        """The contacts that hold."""
        return tuple(self.spots)

    def __contains__(self, name: str) -> bool:
        return name in self.spots

    def __getitem__(self, name: str) -> Spot:
        if name not in self.spots:
            raise one_of("contact in this stance", name, self.spots)
        return self.spots[name]

    def __len__(self) -> int:
        return len(self.spots)

    def mirrored(self, names: Mapping[str, str], reflections: Mapping[str, ArrayLike] | None = None) -> Stance:
        """The stance behind the mirror y = 0.

        Args:
            names: Contact → contact on the other side; omitted contacts keep their name.
            reflections: Contact → `reflection` of `Spot.mirrored`.
        """
        given = reflections or {}
        return Stance({names.get(n, n): s.mirrored(given.get(n, MIRROR)) for n, s in self.spots.items()})


@dataclass(frozen=True, eq=False)
class Phase:
    """A stance from `start` to `end` [s].

    Args:
        start: When it begins [s].
        end: When it is over [s], after `start`.
        stance: What holds in between.
    """

    start: float
    end: float
    stance: Stance

    def __post_init__(self) -> None:
        times = finite_array([self.start, self.end], (2,), "times of a phase")
        if times[1] <= times[0]:
            raise ShapeError(f"a phase ends at {self.end} s, not after its start at {self.start} s")
        object.__setattr__(self, "start", float(times[0]))
        object.__setattr__(self, "end", float(times[1]))


@dataclass(frozen=True, eq=False)
class ContactSchedule:
    """Stances over time, without gaps. A phase holds from its start on; the last one also at its end.

    Args:
        phases: In order of time, each beginning where the one before ends (to 1e-9 s).
    """

    phases: tuple[Phase, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "phases", tuple(self.phases))
        if not self.phases:
            raise ShapeError("a contact schedule needs a phase")
        for k, (a, b) in enumerate(zip(self.phases, self.phases[1:], strict=False)):
            if abs(b.start - a.end) > _TIME_TOLERANCE:
                kind = "gap" if b.start > a.end else "overlap"
                raise ShapeError(
                    f"{kind} between phase {k} and phase {k + 1} of the contact schedule",
                    evidence={"end": a.end, "start": b.start},
                    next_step="let each phase begin where the one before ends; a stance without spots is a flight",
                )

    @classmethod
    def of(cls, stances: Sequence[Stance], times: ArrayLike) -> ContactSchedule:
        """Stances between consecutive times.

        Args:
            stances: n stances.
            times: (n + 1,) [s], increasing.
        """
        at = finite_array(times, (len(stances) + 1,), "times of the contact schedule")
        return cls(tuple(Phase(at[k], at[k + 1], stance) for k, stance in enumerate(stances)))

    @property
    def start(self) -> float:
        """When it begins [s]."""
        return self.phases[0].start

    @property
    def end(self) -> float:
        """When it is over [s]."""
        return self.phases[-1].end

    @property
    def switches(self) -> Array:
        """Times between the phases [s]."""
        return np.array([phase.start for phase in self.phases[1:]])

    @property
    def names(self) -> tuple[str, ...]:
        """Every contact that holds at some time, in order of first use."""
        return tuple(dict.fromkeys(name for phase in self.phases for name in phase.stance.names))

    def at(self, t: float) -> Stance:
        """The stance at time t [s], start ≤ t ≤ end."""
        if not self.start - _TIME_TOLERANCE <= t <= self.end + _TIME_TOLERANCE:
            raise ShapeError(f"t = {t} s is outside the contact schedule ({self.start} … {self.end} s)")
        return self.phases[int(np.searchsorted(self.switches, t, side="right"))].stance

    def active(self, name: str) -> list[tuple[float, float]]:
        """When a contact holds: (start, end) [s]; phases that follow each other on the same spot are one interval."""
        out: list[tuple[float, float]] = []
        last: Spot | None = None
        for phase in self.phases:
            spot = phase.stance.spots.get(name)
            if spot is not None:
                goes_on = last is not None and spot.same_as(last)
                out[-1:] = [(out[-1][0], phase.end)] if goes_on else [*out[-1:], (phase.start, phase.end)]
            last = spot
        return out

    def shifted(self, by: float) -> ContactSchedule:
        """All times later by `by` [s]."""
        return ContactSchedule(tuple(replace(p, start=p.start + by, end=p.end + by) for p in self.phases))

    def time_scaled(self, factor: float, about: float | None = None) -> ContactSchedule:
        """Slower by `factor`: t' = about + factor (t − about).

        Args:
            factor: New duration over old one.
            about: The time that stays [s]; None for the start.
        """
        factor = number(factor, "time factor", positive=True)
        fixed = self.start if about is None else about
        scale = [fixed + factor * (t - fixed) for t in (*(p.start for p in self.phases), self.end)]
        return ContactSchedule.of([p.stance for p in self.phases], scale)

    def covers(self, start: float, end: float) -> bool:
        """Whether there is a stance at every time from `start` to `end` [s], to 1e-9 s."""
        return self.start - _TIME_TOLERANCE <= start and end <= self.end + _TIME_TOLERANCE

    def clipped(self, start: float, end: float) -> ContactSchedule:
        """The phases from `start` to `end` [s], start < end, which it must cover; slivers up to 1e-9 s are omitted.

        Raises:
            ShapeError: The times are not inside the schedule.
        """
        if not self.covers(start, end):
            raise ShapeError(f"{start} … {end} s is not inside the contact schedule ({self.start} … {self.end} s)")
        inside = [p for p in self.phases if min(p.end, end) - max(p.start, start) > _TIME_TOLERANCE]
        switches = [p.start for p in inside[1:]]
        stances = [p.stance for p in inside] or [self.at(start)]
        return ContactSchedule.of(stances, [start, *switches, end])

    def concatenate(self, other: ContactSchedule) -> ContactSchedule:
        """This one, then `other`, moved in time so that it begins where this one ends."""
        return ContactSchedule((*self.phases, *other.shifted(self.end - other.start).phases))

    def mirrored(self, names: Mapping[str, str], reflections: Mapping[str, ArrayLike] | None = None) -> ContactSchedule:
        """The schedule behind the mirror y = 0; arguments as in `Stance.mirrored`."""
        return ContactSchedule(tuple(replace(p, stance=p.stance.mirrored(names, reflections)) for p in self.phases))

    def to_dict(self) -> dict[str, Any]:
        """The schedule as numbers, texts and lists, for JSON; `from_dict` gives it back bit by bit."""
        return {
            "phases": [
                {
                    "start": p.start,
                    "end": p.end,
                    "spots": {n: {"pose": s.pose.tolist(), "friction": s.friction} for n, s in p.stance.spots.items()},
                }
                for p in self.phases
            ]
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> ContactSchedule:
        """The schedule that `to_dict` wrote."""
        only_keys(data, ("phases",), "contact schedule", ("phases",))
        return cls(tuple(_read_phase(item) for item in data["phases"]))


def _read_phase(data: Any) -> Phase:
    only_keys(data, ("start", "end", "spots"), "phase of a contact schedule", ("start", "end", "spots"))
    spots = {}
    for name, item in data["spots"].items():
        only_keys(item, ("pose", "friction"), f"spot of `{name}`", ("pose", "friction"))
        spots[name] = Spot(item["pose"], item["friction"])
    return Phase(data["start"], data["end"], Stance(spots))
