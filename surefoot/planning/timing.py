"""From a plan to a trajectory: each straight piece of a path is run from rest to rest, with its feet exactly held."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from surefoot.arrays import Array
from surefoot.compiler import compile_robot
from surefoot.errors import NotSupportedError
from surefoot.ik.timing import effort_limits
from surefoot.motion import ContactSchedule, Spot, Stance, Trajectory
from surefoot.motion.timing import Path, PathLimits, spline_curve, time_path
from surefoot.planning.multimodal import Segment, StancePlan
from surefoot.planning.space import StanceModel
from surefoot.planning.statics import static_torques
from surefoot.robot import placement
from surefoot.spatial import so3

_SAMPLES = 25  # of a piece, to find its joint rates
_MOST_SAMPLES = 1_000_000
_INTERVALS = 40  # of the grid along a piece
_LEAST_BALANCE = 0.005  # [m]
_STILL = 1e-9  # points nearer than this are one
_HAND_OVER = 0.4  # of the time of a stance: how long a foot takes to hand over its load, or to take it
_PEAK_RATE, _PEAK_ACCELERATION = 1.875, 5.7735  # of s(τ) = 10 τ³ − 15 τ⁴ + 6 τ⁵


@dataclass(frozen=True)
class Pace:
    """How fast a plan is run.

    Args:
        rate: Largest joint rate, as a share of what the drives can do.
        acceleration: Largest joint acceleration [rad/s²].
        least: Shortest duration of a piece [s].
        dt: Distance of the samples [s].
        rest: How long to stand at both ends [s].
        profile: "fastest" for the fastest motion within the limits (TOPP-RA), "gentle" for one without jumps of the
            acceleration, which takes up to twice as long.
        torque: Share of the torque limits that "fastest" may use, on standing feet that do not slip; None for no limit.
    """

    rate: float = 0.6
    acceleration: float = 40.0
    least: float = 0.06
    dt: float = 0.01
    rest: float = 0.5
    profile: Literal["fastest", "gentle"] = "fastest"
    torque: float | None = None


@dataclass(frozen=True, eq=False)
class TimedPlan:
    """A plan in time.

    Args:
        trajectory: Configurations, torques that hold them, and the contact schedule; n samples.
        states: (n, 6 + 3 L) base poses and centres of the feet; balls roll where they stand.
        swings: (n,) index of the leg in the air, −1 for none.
        normals: (n, L, 3) of the footholds, of legs in the air where they left.
    """

    trajectory: Trajectory
    states: Array
    swings: NDArray[np.int64]
    normals: Array


def plan_trajectory(plan: StancePlan, pace: Pace | None = None) -> Trajectory:
    """The motion of a plan, with its contact schedule; of one without segments, standing at its start.

    Args:
        plan: The plan.
        pace: How fast.
    """
    return timed_plan(plan, pace).trajectory


def timed_plan(plan: StancePlan, pace: Pace | None = None) -> TimedPlan:
    """A plan in time; one without segments stands at its start.

    Args:
        plan: The plan.
        pace: How fast.

    Raises:
        NotSupportedError: A piece cannot be run with the torques that the pace allows, or takes too long.
    """
    pace, model = pace or Pace(), plan.graph.model
    segments = plan.motions
    times, states, stances, switches, owners = [0.0], [segments[0].path[0]], [], [0.0], [0]
    clock = pace.rest
    for number, segment in enumerate(segments):
        if number == 0:
            times.append(clock)
            states.append(segment.path[0])
            owners.append(0)
        pieces = (
            [segment.path] if segment.is_smooth else [segment.path[k : k + 2] for k in range(len(segment.path) - 1)]
        )
        stances.append(_stance(plan, segment))
        for piece in pieces:
            is_fast = pace.profile == "fastest"
            duration, rows = _fastest(model, piece, pace, stances[-1]) if is_fast else _gentle(model, piece, pace)
            states += list(rows)
            times += list(clock + duration * np.arange(1, len(rows) + 1) / len(rows))
            owners += [number] * len(rows)
            clock += duration
        switches.append(clock)
    times.append(clock + pace.rest)
    states.append(states[-1])
    owners.append(len(segments) - 1)
    switches[-1] = times[-1]
    normals = np.array([plan.graph.footholds.normals[list(segment.stance)] for segment in segments])[owners]
    rolled = _roll(plan, segments, np.array(states), np.array(owners))
    q = model.chart.lift(rolled).q
    shares = _shares(plan, segments, np.array(times), np.array(owners))
    feet = rolled[:, 6:].reshape(len(rolled), -1, 3) - model.radii[:, None] * normals  # where they touch
    tau, wrenches = static_torques(model, q, feet, shares)
    keep = np.concatenate([[True], np.diff(switches) > 1e-9])
    schedule = ContactSchedule.of(
        [x for x, k in zip(stances, keep[1:], strict=True) if k], [t for t, k in zip(switches, keep, strict=True) if k]
    )
    swings = np.array([-1 if segments[k].swings is None else segments[k].swings for k in owners])
    pushes = {name: wrenches[:, k] for k, name in enumerate(model.chart.names)}
    motion = Trajectory.of(model.robot, np.array(times), q, tau=tau, wrenches=pushes, schedule=schedule)
    return TimedPlan(motion, rolled, swings, normals)


def _shares(plan: StancePlan, segments: list[Segment], times: Array, owners: NDArray[np.int64]) -> Array:
    """(n, L) how willingly feet carry: nothing in the air, fading out before they leave and in after they land."""
    out = np.ones((len(times), len(plan.graph.model.chart.names)))
    swings = [segment.swings for segment in segments]
    for number, swinging in enumerate(swings):
        rows = np.flatnonzero(owners == number)
        out[np.ix_(rows, np.flatnonzero(np.array(segments[number].stance) < 0))] = 0.0
        if swinging is not None:
            out[rows, swinging] = 0.0
            continue
        share = (times[rows] - times[rows[0] - 1 if rows[0] else 0]) / max(times[rows[-1]] - times[rows[0]], 1e-9)
        share = np.clip(share, 0.0, 1.0)
        if number and (last := swings[number - 1]) is not None:
            out[rows, last] = np.minimum(out[rows, last], np.clip(share / _HAND_OVER, 0.0, 1.0))
        if number + 1 < len(swings) and (coming := swings[number + 1]) is not None:
            out[rows, coming] = np.minimum(out[rows, coming], np.clip((1.0 - share) / _HAND_OVER, 0.0, 1.0))
    return out


def _roll(plan: StancePlan, segments: list[Segment], states: Array, owners: NDArray[np.int64]) -> Array:
    """States whose ball feet roll where they stand: v = ω × r n moves the centre of a ball that does not slip.

    A plan holds the centres of the feet, so that the base would fall behind by the way that they roll. Here feet begin
    to roll where they land; while a foot swings, what is left of it fades out.
    """
    model = plan.graph.model
    surfaces = [model.robot.contacts[name] for name in model.chart.names]
    frames = compile_robot(model.robot).frames(model.chart.lift(states).q, [x.frame for x in surfaces])
    out, counts = np.array(states), np.bincount(owners, minlength=len(segments))
    ends = np.cumsum(counts)
    for leg, radius in enumerate(model.radii):
        offset = np.zeros(3)
        turns = np.concatenate([np.zeros((1, 3)), _turns(np.asarray(frames)[:, leg, :3, :3])])
        for segment, count, end in zip(segments, counts, ends, strict=True):
            rows, columns = slice(end - count, end), slice(6 + 3 * leg, 9 + 3 * leg)
            if segment.swings == leg:
                out[rows, columns] += offset * np.linspace(1.0, 0.0, count + 1)[1:, None]
                offset = np.zeros(3)
            elif count and segment.stance[leg] >= 0:
                normal = plan.graph.footholds.normals[segment.stance[leg]]
                moved = offset + np.cumsum(radius * np.cross(turns[rows], normal), axis=0)
                out[rows, columns] += moved
                offset = moved[-1]
    return out


def _turns(R: Array) -> Array:
    """(n − 1, 3) small rotation vectors in world between rotations (n, 3, 3)."""
    E = R[1:] @ np.swapaxes(R[:-1], 1, 2)
    return 0.5 * np.stack([E[:, 2, 1] - E[:, 1, 2], E[:, 0, 2] - E[:, 2, 0], E[:, 1, 0] - E[:, 0, 1]], axis=1)


def dense_path(plan: StancePlan, spacing: float = 0.004) -> list[tuple[Segment, Array]]:
    """The segments of a plan with states (n, 6 + 3 L) all along them.

    Args:
        plan: The plan.
        spacing: Of the states [m].
    """
    out = []
    for segment in plan.motions:
        rows = [segment.path[:1]]
        for start, end in zip(segment.path[:-1], segment.path[1:], strict=True):
            count = max(1, int(np.ceil(float(plan.graph.model.chart.distance(start, end)) / spacing)))
            rows.append(start + (np.arange(1, count + 1) / count)[:, None] * (end - start))
        out.append((segment, np.concatenate(rows)))
    return out


def _along(model: StanceModel, piece: Array, shares: Array) -> Array:
    """(n, 6 + 3 L) states at shares of a piece, measured by its fastest joint; between its points it is straight."""
    fine = piece[0] + np.linspace(0.0, 1.0, 9)[:, None] * (piece[1] - piece[0]) if len(piece) == 2 else piece
    q, piece = model.chart.lift(fine).q[:, 7:], fine
    lengths = np.concatenate([[0.0], np.cumsum(np.abs(np.diff(q, axis=0)).max(axis=1))])
    if lengths[-1] <= 0.0:
        return np.tile(piece[0], (len(shares), 1))
    places = np.clip(shares, 0.0, 1.0) * lengths[-1]
    k = np.clip(np.searchsorted(lengths, places, side="right") - 1, 0, len(piece) - 2)
    rest = (places - lengths[k]) / np.maximum(lengths[k + 1] - lengths[k], 1e-12)
    out: Array = piece[k] + rest[:, None] * (piece[k + 1] - piece[k])
    return out


def _samples(duration: float, pace: Pace) -> int:
    """Samples of a piece."""
    if not duration <= _MOST_SAMPLES * pace.dt:
        raise NotSupportedError(
            f"a piece of the motion takes {duration:.3g} s",
            evidence={"at most": f"{_MOST_SAMPLES * pace.dt:g} s"},
            next_step="allow higher joint rates",
        )
    return max(2, int(np.ceil(duration / pace.dt)))


def _gentle(model: StanceModel, piece: Array, pace: Pace) -> tuple[float, Array]:
    """Duration [s] and states (n, 6 + 3 L) of a piece that is run with s = 10 τ³ − 15 τ⁴ + 6 τ⁵."""
    duration = _duration(model, piece, pace)
    count = _samples(duration, pace)
    share = np.arange(1, count + 1) / count
    return duration, _along(model, piece, share**3 * (10.0 - 15.0 * share + 6.0 * share**2))


def _fastest(model: StanceModel, piece: Array, pace: Pace, stance: Stance) -> tuple[float, Array]:
    """Duration [s] and states (n, 6 + 3 L) of a piece that is run as fast as rates, accelerations and torques allow."""
    keep = np.concatenate([[True], np.abs(np.diff(piece, axis=0)).max(axis=1) > _STILL])
    points = piece[keep]
    if len(points) < 2:
        return pace.least, np.tile(piece[-1], (_samples(pace.least, pace), 1))
    path = Path(model.robot, spline_curve(points), lambda x: model.chart.lift(x).q)
    velocity = np.concatenate([np.full(6, np.inf), _rates(model, pace)])
    acceleration = np.concatenate([_base_acceleration(model), np.full(len(velocity) - 6, pace.acceleration)])
    efforts = () if pace.torque is None else (effort_limits(model.robot, stance, pace.torque),)
    limits = PathLimits(velocity, acceleration, efforts)
    timing = time_path(path, limits, intervals=max(_INTERVALS, 2 * len(points)))
    if not timing.success and efforts:
        raise NotSupportedError(
            f"a piece of the motion needs more than {pace.torque:g} of the torques: {timing.cause}",
            next_step="allow a larger share, or plan with `Margins(torque=…)`",
        )
    if not timing.success:
        return _gentle(model, piece, pace)
    duration = max(timing.duration, pace.least)
    count = _samples(duration, pace)
    s, _, _ = timing.at(timing.duration * np.arange(1, count + 1) / count)
    return duration, np.concatenate([path.curve.at(s)[0][:-1], piece[-1:]])


def _base_acceleration(model: StanceModel) -> Array:
    """(6,) largest acceleration of the base [m/s²], [rad/s²]: it moves the zero-moment point by half of the margin."""
    height = model.least_height / model.margins.height
    linear = 0.5 * max(model.margins.balance, _LEAST_BALANCE) * float(np.linalg.norm(model.world.gravity)) / height
    return np.r_[np.full(3, linear), np.full(3, linear / height)]


def _rates(model: StanceModel, pace: Pace) -> Array:
    """(nv − 6,) largest joint rates [rad/s]."""
    rates = model.robot.limits.velocity[6:]
    out: Array = pace.rate * np.where((rates > 0.0) & np.isfinite(rates), rates, 10.0)
    return out


def _duration(model: StanceModel, piece: Array, pace: Pace) -> float:
    """The least time of a piece under the limits of joint rates and accelerations [s]."""
    q = model.chart.lift(_along(model, piece, np.linspace(0.0, 1.0, _SAMPLES))).q[:, 7:]
    step = 1.0 / (_SAMPLES - 1)
    slope = np.abs(np.diff(q, axis=0)).max(axis=0) / step
    bend = np.abs(np.diff(q, n=2, axis=0)).max(axis=0) / step**2
    by_rate = float((_PEAK_RATE * slope / _rates(model, pace)).max(initial=0.0))
    needed = (bend * _PEAK_RATE**2 + slope * _PEAK_ACCELERATION) / pace.acceleration
    return max(pace.least, by_rate, float(np.sqrt(needed.max(initial=0.0))))


def _stance(plan: StancePlan, segment: Segment) -> Stance:
    names, footholds = plan.graph.model.chart.names, plan.graph.footholds
    spots = {}
    for leg, place in enumerate(segment.stance):
        if leg != segment.swings and place >= 0:
            pose = placement(footholds.points[place], so3.turn_to(footholds.normals[place]))
            spots[names[leg]] = Spot(pose, float(min(footholds.friction[place], plan.graph.model.friction[leg])))
    return Stance(spots)
