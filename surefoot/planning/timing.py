"""From a plan to a trajectory: each straight piece of a path is run from rest to rest, with its feet exactly held."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from surefoot.arrays import Array
from surefoot.compiler import compile_robot
from surefoot.motion import ContactSchedule, Spot, Stance, Trajectory
from surefoot.planning.search import Segment, StancePlan
from surefoot.planning.space import StanceModel
from surefoot.robot import placement
from surefoot.spatial import so3

_SAMPLES = 25  # of a piece, to find its joint rates
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
    """

    rate: float = 0.6
    acceleration: float = 40.0
    least: float = 0.06
    dt: float = 0.01
    rest: float = 0.5


def plan_trajectory(plan: StancePlan, pace: Pace | None = None) -> Trajectory:
    """The motion of a plan, with its contact schedule; of one without segments, standing at its start.

    Args:
        plan: The plan.
        pace: How fast.
    """
    pace, model = pace or Pace(), plan.graph.model
    segments = plan.segments or [_standing(plan)]
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
        for piece in pieces:
            duration = _duration(model, piece, pace)
            count = max(2, int(np.ceil(duration / pace.dt)))
            share = np.arange(1, count + 1) / count
            states += list(_along(model, piece, share**3 * (10.0 - 15.0 * share + 6.0 * share**2)))
            times += list(clock + share * duration)
            owners += [number] * count
            clock += duration
        stances.append(_stance(plan, segment))
        switches.append(clock)
    times.append(clock + pace.rest)
    states.append(states[-1])
    owners.append(len(segments) - 1)
    switches[-1] = times[-1]
    rolled = _roll(plan, segments, np.array(states), np.array(owners))
    q = model.chart.lift(rolled).q
    keep = np.concatenate([[True], np.diff(switches) > 1e-9])
    schedule = ContactSchedule.of(
        [x for x, k in zip(stances, keep[1:], strict=True) if k], [t for t, k in zip(switches, keep, strict=True) if k]
    )
    return Trajectory.of(model.robot, np.array(times), q, schedule=schedule)


def _roll(plan: StancePlan, segments: list[Segment], states: Array, owners: NDArray[np.int64]) -> Array:
    """States whose ball feet roll where they stand: v = ω × r n moves the centre of a ball that does not slip.

    A plan holds the centres of the feet, so that the base would fall behind by the way that they roll. Here feet begin
    to roll where they land; while a foot swings, what is left of it fades out.
    """
    model = plan.graph.model
    surfaces = [model.robot.contacts[name] for name in model.chart.names]
    frames = compile_robot(model.robot).frames(model.chart.lift(states).q, [x.frame for x in surfaces])
    out, counts = np.array(states), np.bincount(owners)
    for leg, radius in enumerate(model.radii):
        offset = np.zeros(3)
        turns = _turns(np.asarray(frames)[:, leg, :3, :3])
        left, done = np.zeros(3), 0.0
        for k in range(1, len(states)):
            segment = segments[owners[k]]
            if segment.swings != leg:
                normal = plan.graph.footholds.normals[segment.stance[leg]]
                offset = offset + radius * np.cross(turns[k - 1], normal)
                left, done = offset, 0.0
            else:
                done += 1.0 / counts[owners[k]]
                offset = left * max(0.0, 1.0 - done)
            out[k, 6 + 3 * leg : 9 + 3 * leg] += offset
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
    for segment in plan.segments:
        rows = [segment.path[:1]]
        for start, end in zip(segment.path[:-1], segment.path[1:], strict=True):
            count = max(1, int(np.ceil(float(plan.graph.model.chart.distance(start, end)) / spacing)))
            rows.append(start + (np.arange(1, count + 1) / count)[:, None] * (end - start))
        out.append((segment, np.concatenate(rows)))
    return out


def _standing(plan: StancePlan) -> Segment:
    graph = plan.graph
    state = np.concatenate([graph.model.chart.home[:6], graph.feet(plan.start).ravel()])
    base = graph.fitted_base(plan.start)
    state[:6] = base
    return Segment(graph.mode(plan.start), np.array([state, state]), plan.start, None, True)


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


def _duration(model: StanceModel, piece: Array, pace: Pace) -> float:
    """The least time of a piece under the limits of joint rates and accelerations [s]."""
    q = model.chart.lift(_along(model, piece, np.linspace(0.0, 1.0, _SAMPLES))).q[:, 7:]
    step = 1.0 / (_SAMPLES - 1)
    slope = np.abs(np.diff(q, axis=0)).max(axis=0) / step
    bend = np.abs(np.diff(q, n=2, axis=0)).max(axis=0) / step**2
    rates = model.robot.limits.velocity[6:]
    rates = pace.rate * np.where((rates > 0.0) & np.isfinite(rates), rates, 10.0)
    by_rate = float((_PEAK_RATE * slope / rates).max(initial=0.0))
    needed = (bend * _PEAK_RATE**2 + slope * _PEAK_ACCELERATION) / pace.acceleration
    return max(pace.least, by_rate, float(np.sqrt(needed.max(initial=0.0))))


def _stance(plan: StancePlan, segment: Segment) -> Stance:
    names, footholds = plan.graph.model.chart.names, plan.graph.footholds
    spots = {}
    for leg, place in enumerate(segment.stance):
        if leg != segment.swings:
            pose = placement(footholds.points[place], so3.turn_to(footholds.normals[place]))
            spots[names[leg]] = Spot(pose, float(min(footholds.friction[place], plan.graph.model.friction[leg])))
    return Stance(spots)
