"""When contacts hold: phases of a motion and its two ends."""

from __future__ import annotations

import operator
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Self, TypeVar, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from surefoot.arrays import Array, finite_array, number, placement_matrix
from surefoot.errors import NotSupportedError, ShapeError, one_of
from surefoot.motion import ContactSchedule, World
from surefoot.motion.exchange import mirror_of
from surefoot.ocp.chart import Chart
from surefoot.ocp.formulation import Formulation
from surefoot.robot import Robot

Transition = Literal["continuous", "soft", "impact", "lift-off"]
T = TypeVar("T")
Heights = Callable[[float], Array]
_AWAY, _TURNED = 5e-3, 0.05  # [m] and [rad] by which a start may miss its contacts
_NO_LOAD, _ANY_LOAD = 1e-2, 1e3  # shares of the weight
_DIRECTIONS = ("x [m]", "y [m]", "z [m]", "rx [rad]", "ry [rad]", "rz [rad]")


@dataclass(frozen=True, eq=False)
class PhaseSpec:
    """A phase with one set of contacts.

    Args:
        name: Unique.
        contacts: Contacts that hold.
        intervals: Number of intervals.
        duration: Lower end, guess and upper end [s]; all equal if it is fixed.
        spots: Contact → pose (4, 4) where it holds.
        free: Contact → directions (0…5 for x y z rx ry rz) in which its place is free.
        transition: How it begins: "continuous", "soft" (new contacts arrive at rest), "impact" (inelastic) or
            "lift-off" (contacts that leave have no wrench any more).
        friction: Coulomb coefficient; that of the contacts if None.
    """

    name: str
    contacts: tuple[str, ...]
    intervals: int
    duration: tuple[float, float, float]
    spots: Mapping[str, Array]
    free: Mapping[str, tuple[int, ...]]
    transition: Transition = "continuous"
    friction: float | None = None


@dataclass(eq=False)
class Ends:
    """Fixed entries of the state at one end: coordinates and rates by index."""

    y: dict[int, float] = field(default_factory=dict)
    dy: dict[int, float] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class Periodic:
    """Coupling of the two ends: x_N = sign · x_0[source], in all entries but those that are omitted."""

    source: NDArray[np.int64]
    sign: Array
    omit: tuple[int, ...]


class Timeline:
    """Phases and ends of a motion.

    Args:
        robot: The robot.
        world: Where it moves; level ground if None.
        formulation: Dynamics, integrator and controls.
    """

    def __init__(self, robot: Robot, world: World | None = None, formulation: Formulation | None = None) -> None:
        self.robot, self.world = of_type(robot, Robot), of_type(world or World(), World)
        self.formulation = of_type(formulation or Formulation(), Formulation)
        self.chart = Chart(robot)
        self.phases: list[PhaseSpec] = []
        self.first, self.last = Ends(), Ends()
        self.coupling: Periodic | None = None

    def __repr__(self) -> str:
        phases = ", ".join(f"{item.name} ({item.intervals})" for item in self.phases)
        return f"{type(self).__name__}({self.robot.name}, {self.formulation}, phases: {phases or 'none'})"

    @classmethod
    def of(cls, robot: Robot, schedule: ContactSchedule, step: float = 0.04, **others: Any) -> Self:
        """A problem whose phases are those of a contact schedule.

        Args:
            robot: The robot.
            schedule: Stances with times and spots.
            step: About the length of an interval [s].
            **others: World and formulation.
        """
        problem, step = cls(robot, **others), number(step, "step", positive=True)
        for k, item in enumerate(of_type(schedule, ContactSchedule).phases):
            duration = item.end - item.start
            spots = {name: spot.pose for name, spot in item.stance.spots.items()}
            friction = min((spot.friction for spot in item.stance.spots.values()), default=None)
            problem.phase(
                f"phase{k}", item.stance.names, max(2, round(duration / step)), duration, spots=spots,
                transition="soft" if k else "continuous", friction=friction,
            )  # fmt: skip
        return problem

    def phase(
        self,
        name: str,
        contacts: Sequence[str] = (),
        intervals: int = 20,
        duration: float | Sequence[float] = 1.0,
        *,
        spots: Mapping[str, ArrayLike] | None = None,
        free: Mapping[str, Sequence[int]] | None = None,
        transition: Transition = "continuous",
        friction: float | None = None,
    ) -> None:
        """Append a phase.

        Args:
            name: Unique.
            contacts: Contacts of the robot that hold.
            intervals: Number of intervals, at least 1.
            duration: Fixed [s], or (lower, upper), or (lower, guess, upper).
            spots: Contact of the phase → pose (4, 4) in world; where it is at home if omitted.
            free: Contact → directions (0…5) in which its place is left to the solver.
            transition: "continuous", "soft" (new contacts arrive at rest), "impact", or "lift-off" (contacts that leave
                have no wrench any more when it begins).
            friction: Coulomb coefficient of the ground; that of the contacts if None.
        """
        if not isinstance(name, str) or not name or name in {item.name for item in self.phases}:
            raise ShapeError("phases need different names", evidence={"name": name}, subject=str(name), kind="phase")
        contacts = names_of(contacts, f"contacts of phase `{name}`", "contact", self.robot.contacts)
        for given, what, own in (
            (spots or {}, "spots", contacts),
            (free or {}, "free directions", self.robot.contacts),
        ):
            if not isinstance(given, Mapping):
                raise ShapeError(f"{what} of phase `{name}` go by contact", evidence={"given": given})
            names_of(given, f"{what} of phase `{name}`", "contact of the phase", own)
        if transition not in get_args(Transition):
            raise one_of("transition", str(transition), get_args(Transition))
        if transition == "impact" and not self.phases:
            raise NotSupportedError("a motion cannot begin with an impact", subject=name, kind="phase")
        count, times = _intervals(name, intervals), _durations(name, duration)
        if friction is not None:
            friction = number(friction, f"friction of phase `{name}`", positive=True)
        links, surfaces = self.robot.placements(self.robot.home), self.robot.contacts
        places = {c: links[surfaces[c].frame] @ surfaces[c].placement for c in contacts}
        places |= {c: placement_matrix(T, f"spot of `{c}` in phase `{name}`") for c, T in (spots or {}).items()}
        directions = {c: _directions(c, (free or {}).get(c, ())) for c in contacts}
        self.phases.append(PhaseSpec(name, contacts, count, times, places, directions, transition, friction))

    def start(self, q: ArrayLike | None = None, *, at_rest: bool = True, only: Sequence[str] | None = None) -> None:
        """Fix the beginning: configuration q (nq,) and, unless `at_rest` is False, zero velocity; see `end`."""
        self._fix(self.first, q, at_rest, only)

    def end(self, q: ArrayLike | None = None, *, at_rest: bool = True, only: Sequence[str] | None = None) -> None:
        """Fix the end.

        Args:
            q: (nq,) configuration; None leaves it free.
            at_rest: Whether the velocity is zero.
            only: Names of coordinates (`problem.chart.names`) to fix; by default all, or as many as contacts leave
                free: what contacts hold already is not fixed twice.
        """
        self._fix(self.last, q, at_rest, only)

    def _fix(self, ends: Ends, q: ArrayLike | None, at_rest: bool, only: Sequence[str] | None) -> None:
        only = None if only is None else names_of(only, "fixed coordinates", "coordinate", self.chart.names)
        rows = [k for k, name in enumerate(self.chart.names) if only is None or name in only]
        if q is not None:
            y = self.chart.coordinates(self.robot.checked_q(finite_array(q, (self.robot.nq,), "q")))
            ends.y = {k: float(y[k]) for k in rows}
        if at_rest:
            ends.dy = dict.fromkeys(rows, 0.0)

    def fix(
        self, end: Literal["start", "end"], name: str, position: float | None = None, rate: float | None = None
    ) -> None:
        """Fix one coordinate, or its rate, at an end.

        Args:
            end: "start" or "end".
            name: The coordinate.
            position: Its value; None leaves it.
            rate: Of its rate; None leaves it.
        """
        if name not in self.chart.names:
            raise one_of("coordinate", name, self.chart.names)
        if end not in ("start", "end"):
            raise one_of("end of a motion", str(end), ("start", "end"))
        ends, k = self.first if end == "start" else self.last, self.chart.names.index(name)
        if position is not None:
            ends.y[k] = finite(position, name)
        if rate is not None:
            ends.dy[k] = finite(rate, name)

    def periodic(self, mirror: bool = False, omit: Sequence[str] | None = None) -> None:
        """Couple the ends: the state at the end is that at the start, or its mirror image.

        Args:
            mirror: Whether left and right change places.
            omit: Coordinates that are not coupled; by default the way forward of a floating base.
        """
        n = self.robot.nv
        if omit is None:
            omit = ("x",) if self.robot.base == "floating" else ()
        omit = names_of(omit, "coordinates that are not coupled", "coordinate", self.chart.names)
        source, sign = _mirrored(self.robot) if mirror else (np.arange(n), np.ones(n))
        skip = tuple(self.chart.names.index(name) for name in omit)
        self.coupling = Periodic(np.r_[source, source + n], np.r_[sign, sign], skip)


def swing_heights(phases: Sequence[PhaseSpec], contact: str, where: Collection[str], height: float) -> Heights:
    """Least height [m] of a contact at a time of the guess, while it is up: a sine² between where it held and will.

    Args:
        phases: Of a motion.
        contact: The contact.
        where: Names of phases in which it is up; those that follow each other are one swing.
        height: In the middle of a swing, over the line between the places [m].
    """
    times = np.cumsum([0.0, *(phase.duration[1] for phase in phases)])
    swings, k = list[tuple[float, float, float, float]](), 0
    while k < len(phases):
        last = k
        while last < len(phases) and phases[last].name in where:
            last += 1
        if last > k:
            spots = [phases[i].spots.get(contact) if 0 <= i < len(phases) else None for i in (k - 1, last)]
            known = [float(spot[2, 3]) for spot in spots if spot is not None] or [0.0]
            swings.append((float(times[k]), float(times[last]), known[0], known[-1]))
        k = last + 1

    def least(t: float) -> Array:
        begin, end, low, high = min(swings, key=lambda swing: abs(2.0 * t - swing[0] - swing[1]) - swing[1] + swing[0])
        s = float(np.clip((t - begin) / (end - begin), 0.0, 1.0))
        return np.array([(1.0 - s) * low + s * high + height * np.sin(np.pi * s) ** 2])

    return least


def share_at_end(phases: Sequence[PhaseSpec], name: str, is_end: bool, intervals: float) -> Heights:
    """Most share of the weight at a time of the guess: along a ramp to zero at one end of a phase.

    Args:
        phases: Of a motion.
        name: Of the phase.
        is_end: Whether it is the end, or else the beginning.
        intervals: Length of the ramp from zero to the weight; before and after it, any force will do.
    """
    k = [phase.name for phase in phases].index(name)
    begin = sum(phase.duration[1] for phase in phases[:k])
    step = phases[k].duration[1] / phases[k].intervals

    def most(t: float) -> Array:
        passed = round((t - begin) / step)
        away = phases[k].intervals - 1 - passed if is_end else passed
        return np.array([_NO_LOAD + away / intervals if away <= intervals else _ANY_LOAD])

    return most


def require_start_on_contacts(problem: Timeline) -> None:
    """Refuse a fixed beginning in which contacts of the first phase are not where they hold.

    Args:
        problem: With at least one phase.

    Raises:
        ShapeError: A contact is away from its spot in a direction that it ties, and that is not free.
    """
    robot, chart, phase, n = problem.robot, problem.chart, problem.phases[0], problem.robot.nv
    if len(problem.first.y) < n:
        return  # its contacts are put on their spots by rows
    links = robot.placements(np.asarray(chart.configuration(np.array([problem.first.y[k] for k in range(n)]))))
    away = {}
    for name in phase.contacts:
        surface, spot = robot.contacts[name], phase.spots[name]
        E = np.linalg.inv(spot) @ links[surface.frame] @ surface.placement
        error = np.abs(np.r_[E[:3, 3], 0.5 * (E[[2, 0, 1], [1, 2, 0]] - E[[1, 2, 0], [2, 0, 1]])])
        held = [k for k in np.flatnonzero(surface.tied).tolist() if k not in phase.free[name]]
        if (error[held] > np.array([_AWAY] * 3 + [_TURNED] * 3)[held]).any():
            away[name] = ", ".join(f"{_DIRECTIONS[k]} {error[k]:.3g}" for k in held if error[k] > _AWAY)
    if away:
        raise ShapeError(
            f"the start is not on the contacts of phase `{phase.name}`: {', '.join(away)}",
            evidence=away,
            next_step="start where they touch, give `spots` where they are, or leave directions `free`",
            subject=next(iter(away)),
            kind="contact",
        )


def finite(value: Any, name: str) -> float:
    """A finite number."""
    return float(finite_array([value], (1,), name)[0])


def names_of(given: Iterable[str], what: str, kind: str, known: Iterable[str]) -> tuple[str, ...]:
    """Names, each once and of those that are known.

    Args:
        given: The names.
        what: Which these are, in messages.
        kind: What one of them is.
        known: Those that exist.
    """
    names = tuple(given) if isinstance(given, Iterable) else ()
    is_list = isinstance(given, Iterable) and not isinstance(given, str) and all(isinstance(x, str) for x in names)
    if not is_list or len(set(names)) < len(names):
        raise ShapeError(f"{what} must be a list of different names", evidence={"given": given})
    for name in names:
        if name not in known:
            raise one_of(kind, str(name), known)
    return names


def of_type(value: Any, kind: type[T]) -> T:
    """The value, if it is of the type.

    Args:
        value: What was given.
        kind: What is needed.
    """
    if not isinstance(value, kind):
        raise NotSupportedError(f"expected a {kind.__name__}, got {type(value).__name__}")
    return value


def _intervals(name: str, given: Any) -> int:
    count = 0 if isinstance(given, bool) or not hasattr(given, "__index__") else operator.index(given)
    if count < 1:
        raise ShapeError(
            f"phase `{name}` must have a whole number of intervals, at least one interval",
            evidence={"intervals": given},
        )
    return count


def _directions(name: str, given: Sequence[int]) -> tuple[int, ...]:
    if not isinstance(given, Iterable) or not all(isinstance(k, int | np.integer) and k in range(6) for k in given):
        raise ShapeError(f"free directions of `{name}` must be of 0…5 (x y z rx ry rz)", evidence={"given": given})
    return tuple(given)


def _durations(name: str, given: float | Sequence[float]) -> tuple[float, float, float]:
    try:
        values = np.atleast_1d(np.asarray(given, dtype=float))
    except (TypeError, ValueError, OverflowError):
        values = np.zeros(0)
    if values.shape not in ((1,), (2,), (3,)) or not np.isfinite(values).all() or (np.diff(values) < 0.0).any():
        raise ShapeError(
            f"the duration of phase `{name}` must be a number, or bounds in order", evidence={"duration": given}
        )
    if not values[0] > 0.0:
        raise ShapeError(f"the duration of phase `{name}` must be positive", evidence={"duration": given}, subject=name)
    low, high = float(values[0]), float(values[-1])
    return low, float(values[1]) if len(values) == 3 else 0.5 * (low + high), high


def _mirrored(robot: Robot) -> tuple[NDArray[np.int64], Array]:
    """Coordinates of the mirror image: y'[k] = sign[k] · y[source[k]]."""
    mirror, n = mirror_of(robot), robot.nv
    images = np.column_stack([mirror.velocity(column) for column in np.eye(n)])
    source = np.abs(images).argmax(axis=1)
    return source, np.sign(images[np.arange(n), source])
