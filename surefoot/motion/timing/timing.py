"""The fastest motion along a path within limits: TOPP-RA, Pham & Pham 2018.

Limits at a place of the path are rows a u + b x + c ≤ 0 on x = (ds/dt)² and u = d²s/dt², stored as (a, b, c).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from surefoot.arrays import Array, finite_array, number
from surefoot.codegen.loops import Floats, Ints, NativeCode
from surefoot.errors import NotSupportedError, ShapeError
from surefoot.motion.timing.path import Path, PathPoints
from surefoot.motion.trajectory import Trajectory
from surefoot.robot import Robot

_FEWEST, _MOST, _PER_PIECE = 200, 4000, 24  # intervals of the grid


class PathRows(NamedTuple):
    """Limits a u + b x + c ≤ 0 on x = (ds/dt)² and u = d²s/dt² at n places, m each.

    Args:
        a: (n, m).
        b: (n, m).
        c: (n, m); best scaled so that the limit itself is −1.
        names: m names, for messages.
    """

    a: Array
    b: Array
    c: Array
    names: tuple[str, ...]


RowsOf = Callable[[PathPoints], PathRows]
"""Limits at points of a path, such as those of `surefoot.ik.timing`."""


def affine_rows(values: Sequence[Array], lower: ArrayLike, upper: ArrayLike, names: Sequence[str]) -> PathRows:
    """Rows of lower ≤ y ≤ upper, for a quantity y = y₀ + y_u u + y_x x; infinite limits make no rows.

    Args:
        values: y₀, y_u and y_x, each (n, k).
        lower: (k,).
        upper: (k,).
        names: k names.
    """
    y0, yu, yx = values
    parts: list[tuple[Array, Array, Array, list[str]]] = []
    for sign, limit, word in ((1.0, np.asarray(upper, dtype=float), "upper"), (-1.0, np.asarray(lower), "lower")):
        use = np.flatnonzero(np.isfinite(limit))
        size = np.maximum(np.abs(limit[use]), 1e-6)
        scaled = [sign * y[:, use] / size for y in (yu, yx, y0)]
        parts.append((*scaled[:2], scaled[2] - sign * limit[use] / size, [f"{word} {names[k]}" for k in use.tolist()]))
    a, b, c = (np.hstack([part[j] for part in parts]) for j in range(3))
    return PathRows(a, b, c, tuple(name for part in parts for name in part[3]))


@dataclass(frozen=True, eq=False)
class PathLimits:
    """Limits along a path; at least one must bind the motion.

    Args:
        velocity: (nv,) largest |v|, infinite entries for none; None for those of the robot.
        acceleration: (nv,) or a number: largest |a|; None for none.
        rows: Further limits, e.g. on torques and contact forces: functions of points of the path.
    """

    velocity: ArrayLike | None = None
    acceleration: ArrayLike | None = None
    rows: Sequence[RowsOf] = ()


@dataclass(frozen=True, eq=False)
class Timing:
    """Speeds along a path.

    Args:
        path: The path.
        success: Whether the limits can be kept.
        cause: Why not, and where.
        s: (n,) places.
        speed: (n,) ds/dt.
        acceleration: (n − 1,) d²s/dt², constant in each interval.
        time: (n,) [s].
        binding: n − 1 names of the limits that bound the motion in the intervals.
    """

    path: Path
    success: bool
    cause: str = ""
    s: Array = field(default_factory=lambda: np.zeros(0))
    speed: Array = field(default_factory=lambda: np.zeros(0))
    acceleration: Array = field(default_factory=lambda: np.zeros(0))
    time: Array = field(default_factory=lambda: np.zeros(0))
    binding: tuple[str, ...] = ()

    @property
    def duration(self) -> float:
        """[s]; infinite without success."""
        return float(self.time[-1]) if self.success else np.inf

    def at(self, t: ArrayLike) -> tuple[Array, Array, Array]:
        """Place, speed and acceleration along the path at times t (n,) [s], each (n,)."""
        self._require_success()
        times = np.clip(np.asarray(t, dtype=float), 0.0, self.duration)
        k = np.clip(np.searchsorted(self.time, times, side="right") - 1, 0, len(self.time) - 2)
        h = times - self.time[k]
        u = self.acceleration[k]
        s = self.s[k] + h * (self.speed[k] + 0.5 * h * u)
        return np.clip(s, self.s[k], self.s[k + 1]), np.maximum(self.speed[k] + h * u, 0.0), u

    def trajectory(self, dt: float = 0.01, start: float = 0.0, **others: Any) -> Trajectory:
        """The motion, sampled; with q, v and a.

        Args:
            dt: Step [s]; the end is added where the step does not meet it.
            start: First time [s].
            **others: Further fields of the `Trajectory`, e.g. its schedule.
        """
        step = number(dt, "dt", positive=True)
        count = int(np.ceil(self.duration / step - 1e-9)) if self.success else 0
        self._require_success()
        t = np.minimum(step * np.arange(count + 1), self.duration)
        s, speed, u = self.at(t)
        point = self.path.at(s)
        v = point.first * speed[:, None]
        a = point.first * u[:, None] + point.second * speed[:, None] ** 2
        return Trajectory.of(self.path.robot, start + t, point.q, v, a=a, **others)

    def _require_success(self) -> None:
        if not self.success:
            raise NotSupportedError(
                f"the path has no timing: {self.cause}", next_step="relax a limit or change the path"
            )


def time_path(
    path: Path,
    limits: PathLimits | None = None,
    start_speed: float = 0.0,
    end_speed: float = 0.0,
    intervals: int | None = None,
) -> Timing:
    """The fastest motion along a path: controllable sets backwards, then greedily forwards.

        x = (ds/dt)²,  u = d²s/dt²,  x_{k+1} = x_k + 2 Δ u_k,  a u + b x + c ≤ 0    [motion.topp-ra]   Pham & Pham 2018

    Limits hold at both ends of every interval under its constant u, and in between to the order Δ².

    Args:
        path: The path.
        limits: Its limits; by default the robot's velocities.
        start_speed: ds/dt at the start.
        end_speed: ds/dt at the end.
        intervals: Of the grid; by default 200, or 24 for each piece of the curve.
    """
    limits = limits or PathLimits()
    s = _grid(path, intervals)
    begin, end = path.at(s[:-1]), path.at(s[1:], before=True)
    ceiling = _ceiling(path, limits, begin, end)
    rows, row_ends, names = _rows(path, limits, begin, end)
    n, m = len(s), len(names)
    reach = np.zeros((n, 2))
    reach[-1] = number(end_speed, "end speed") ** 2
    work, bounds, pair = np.zeros((2 * m + 2, 3)), np.zeros(2), np.zeros(n + 1, dtype=np.int64)
    names = (*names, *names, "speed that can still be braked", "speed that the end needs")
    shared = [x.ctypes.data for x in (s, rows, row_ends)]
    failed = PASSES["backward_pass"](n, m, *shared, *(x.ctypes.data for x in (ceiling, reach, work, bounds, pair)))
    if failed >= 0 or reach[-1, 1] > ceiling[-1] * (1.0 + 1e-9):
        where = float(s[failed]) if failed >= 0 else float(s[-1])
        blame = sorted({names[k] for k in pair[:2] if k >= 0}) if failed >= 0 else ["velocity at the end"]
        return Timing(path, False, f"no speed keeps the limits at s = {where:.4g} of {s[-1]:.4g}: {', '.join(blame)}")
    profile = np.zeros(2 * n - 1)
    profile[0] = number(start_speed, "start speed") ** 2
    if not reach[0, 0] * (1.0 - 1e-9) - 1e-12 <= profile[0] <= reach[0, 1] * (1.0 + 1e-9) + 1e-12:
        low, high = np.sqrt(reach[0])
        return Timing(path, False, f"the start speed must be {low:.4g}…{high:.4g}, is {start_speed:.4g}")
    PASSES["forward_pass"](n, m, *shared, *(x.ctypes.data for x in (reach, profile, work, bounds, pair)))
    speed = np.sqrt(profile[:n])
    steps = 2.0 * np.diff(s) / (speed[:-1] + speed[1:])
    if not np.isfinite(steps).all():
        k = int(np.flatnonzero(~np.isfinite(steps))[0])
        return Timing(path, False, f"the robot cannot move on at s = {s[k]:.4g}: {names[pair[2 + k]]}")
    binding = tuple(names[k] for k in pair[2:])
    return Timing(path, True, "", s, speed, profile[n:], np.r_[0.0, np.cumsum(steps)], binding)


def _grid(path: Path, intervals: int | None) -> Array:
    """Places (n,), breaks of the curve included."""
    breaks = path.curve.breaks
    wanted = min(max(_FEWEST, _PER_PIECE * (len(breaks) - 1)), _MOST) if intervals is None else int(intervals)
    if wanted < 2:
        raise ShapeError(f"the grid of a path needs two intervals or more, got {wanted}")
    lengths = np.diff(breaks)
    parts = np.maximum(np.ceil(wanted * lengths / lengths.sum()), 1).astype(int)
    pieces = [np.linspace(a, b, k, endpoint=False) for a, b, k in zip(breaks, breaks[1:], parts, strict=False)]
    return np.r_[np.concatenate(pieces), breaks[-1]]


def _ceiling(path: Path, limits: PathLimits, begin: PathPoints, end: PathPoints) -> Array:
    """(n,) largest x that the velocities allow, finite."""
    given = path.robot.limits.velocity if limits.velocity is None else limits.velocity
    largest = _positive(given, path.robot.nv)
    with np.errstate(divide="ignore"):
        x = [((largest / np.abs(point.first)) ** 2).min(axis=1) for point in (begin, end)]
    out = np.minimum(np.r_[x[0], np.inf], np.r_[np.inf, x[1]])
    return np.minimum(out, 1e12)


def _rows(path: Path, limits: PathLimits, begin: PathPoints, end: PathPoints) -> tuple[Array, Array, tuple[str, ...]]:
    """Rows (n − 1, m, 3) at the beginnings and ends of the intervals, and m names."""
    makers = list(limits.rows)
    if limits.acceleration is not None:
        most = _positive(limits.acceleration, path.robot.nv)
        joints = [f"acceleration of {joint}" for joint in _velocity_names(path.robot)]
        makers.append(lambda p: affine_rows((0.0 * p.first, p.first, p.second), -most, most, joints))
    stacks = []
    made: list[PathRows] = []
    for point in (begin, end):
        made = [make(point) for make in makers]
        nothing = np.zeros((len(point.s), 0))
        columns = [np.hstack([nothing, *(getattr(rows, k) for rows in made)]) for k in "abc"]
        stacks.append(finite_array(np.stack(columns, axis=-1), (len(point.s), None, 3), "limits of the path"))
    return stacks[0], stacks[1], tuple(name for rows in made for name in rows.names)


def _velocity_names(robot: Robot) -> list[str]:
    """The joint of each entry of v."""
    tree = robot.tree
    return [joint for i, joint in enumerate(tree.joint_names) for _ in range(tree.nv_of(i))]


def _positive(value: ArrayLike, size: int) -> Array:
    """(size,) positive limits, infinite ones included."""
    out = np.array(np.broadcast_to(np.asarray(value, dtype=float), (size,)))
    if np.isnan(out).any() or (out <= 0.0).any():
        raise ShapeError("limits of a path must be positive", evidence={"limits": out})
    return out


def gather(m: int, i: int, step: float, begin: Floats, end: Floats, reach: Floats, rows: Floats) -> None:
    """Rows (2 m + 2, 3) on u and x at the beginning of interval i.

    The limits there; those at its end, where x is x + 2 step u; and that x at its end is within `reach`.
    """
    for j in range(m):
        at = 3 * (i * m + j)
        to = 3 * j
        rows[to] = begin[at]
        rows[to + 1] = begin[at + 1]
        rows[to + 2] = begin[at + 2]
        to = 3 * (m + j)
        rows[to] = end[at] + 2.0 * step * end[at + 1]
        rows[to + 1] = end[at + 1]
        rows[to + 2] = end[at + 2]
    to = 6 * m
    rows[to] = 2.0 * step
    rows[to + 1] = 1.0
    rows[to + 2] = -reach[2 * (i + 1) + 1]
    rows[to + 3] = -2.0 * step
    rows[to + 4] = -1.0
    rows[to + 5] = reach[2 * (i + 1)]


def largest_u(k: int, rows: Floats, x: float, found: Floats, pair: Ints) -> float:
    """The largest u at x; `found` and `pair` get (largest, least) u and the rows that bound them, −1 for none."""
    found[0] = 1e300
    found[1] = -1e300
    pair[0] = -1
    pair[1] = -1
    for j in range(k):
        a = rows[3 * j]
        if a > 0.0:
            u = -(rows[3 * j + 2] + rows[3 * j + 1] * x) / a
            if u < found[0]:
                found[0] = u
                pair[0] = j
        if a < 0.0:
            u = -(rows[3 * j + 2] + rows[3 * j + 1] * x) / a
            if u > found[1]:
                found[1] = u
                pair[1] = j
    return found[0]


def edge(k: int, rows: Floats, low: float, high: float, sign: float, found: Floats, pair: Ints) -> float:
    """The largest (sign 1) or least (sign −1) x in low…high for which there is a u; −1 if there is none.

    The width of the interval of u is a concave function of x. Newton's method meets its zero in finitely many steps:
    the pair of rows that bounds u at x bounds it everywhere.
    """
    x = high if sign > 0.0 else low
    for _ in range(k + 8):
        largest_u(k, rows, x, found, pair)
        if pair[0] < 0 or pair[1] < 0:
            return x
        gap = found[0] - found[1]
        if gap >= -1e-11 * (1.0 + abs(found[0]) + abs(found[1])):
            return x
        t = 3 * pair[0]
        b = 3 * pair[1]
        slope = rows[b + 1] / rows[b] - rows[t + 1] / rows[t]
        if slope * sign >= 0.0:
            return -1.0
        x = x - gap / slope
        if x < low or x > high:
            return -1.0
    return -1.0


def x_range(k: int, rows: Floats, high: float, bounds: Floats, pair: Ints) -> int:
    """`bounds` gets the least and largest x ≤ high that rows on x alone allow; those rows leave u alone from then on.

    Returns 0 if there is none, with the row in `pair`.
    """
    bounds[0] = 0.0
    bounds[1] = high
    most = 0.0
    for j in range(k):
        most = max(most, abs(rows[3 * j]))
    for j in range(k):
        if abs(rows[3 * j]) <= 1e-12 * most:
            rows[3 * j] = 0.0
            b = rows[3 * j + 1]
            c = rows[3 * j + 2]
            if b > 0.0:
                bounds[1] = min(bounds[1], -c / b)
            if b < 0.0:
                bounds[0] = max(bounds[0], -c / b)
            if bounds[1] < bounds[0] or (b == 0.0 and c > 1e-12):
                pair[0] = j
                pair[1] = j
                return 0
    return 1


def backward_pass(
    n: int, m: int, s: Floats, begin: Floats, end: Floats, ceiling: Floats, reach: Floats, rows: Floats, bounds: Floats,
    pair: Ints,
) -> int:  # fmt: skip
    """Controllable sets: `reach` (n, 2) gets the least and largest x from which the end can be reached.

    The last pair of `reach` is given. Returns the interval at whose beginning no x is left, with rows in `pair`; or −1.
    """
    k = 2 * m + 2
    for i in range(n - 2, -1, -1):
        gather(m, i, s[i + 1] - s[i], begin, end, reach, rows)
        if x_range(k, rows, ceiling[i], bounds, pair) == 0:
            return i
        low = bounds[0]
        high = edge(k, rows, low, bounds[1], 1.0, bounds, pair)
        if high < 0.0:
            return i
        least = edge(k, rows, low, high, -1.0, bounds, pair)
        reach[2 * i] = high if least < 0.0 else least
        reach[2 * i + 1] = high
    return -1


def forward_pass(
    n: int, m: int, s: Floats, begin: Floats, end: Floats, reach: Floats, profile: Floats, rows: Floats, bounds: Floats,
    pair: Ints,
) -> None:  # fmt: skip
    """The fastest profile: `profile` holds x at n places, the first one given, then u in n − 1 intervals.

    `bounds` and `pair` have room for two numbers; then n − 1 entries of `pair` follow: the row that bounds u each time.
    """
    for i in range(n - 1):
        step = s[i + 1] - s[i]
        gather(m, i, step, begin, end, reach, rows)
        u = largest_u(2 * m + 2, rows, profile[i], bounds, pair)
        x = profile[i] + 2.0 * step * u
        x = max(min(x, reach[2 * i + 3]), reach[2 * i + 2])
        profile[n + i] = (x - profile[i]) / (2.0 * step)
        profile[i + 1] = x
        pair[2 + i] = pair[0]


PASSES = NativeCode(
    [gather, largest_u, edge, x_range, backward_pass, forward_pass], entries=["backward_pass", "forward_pass"]
)
