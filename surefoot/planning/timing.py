"""From a plan to a trajectory: each straight piece of a path is run from rest to rest, with its feet exactly held."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from surefoot.arrays import Array
from surefoot.motion import ContactSchedule, Spot, Stance, Trajectory
from surefoot.planning.search import Segment, StancePlan
from surefoot.planning.space import StanceModel
from surefoot.robot import placement
from surefoot.spatial import so3

_SAMPLES = 17  # of a piece, to find its joint rates
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

    rate: float = 0.4
    acceleration: float = 20.0
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
    times, states, stances, switches = [0.0], [segments[0].path[0]], [], [0.0]
    clock = pace.rest
    for number, segment in enumerate(segments):
        if number == 0:
            times.append(clock)
            states.append(segment.path[0])
        for start, end in zip(segment.path[:-1], segment.path[1:], strict=True):
            duration = _duration(model, start, end, pace)
            count = max(2, int(np.ceil(duration / pace.dt)))
            share = np.arange(1, count + 1) / count
            s = share**3 * (10.0 - 15.0 * share + 6.0 * share**2)
            states += list(start + s[:, None] * (end - start))
            times += list(clock + share * duration)
            clock += duration
        stances.append(_stance(plan, segment))
        switches.append(clock)
    times.append(clock + pace.rest)
    states.append(states[-1])
    switches[-1] = times[-1]
    q = model.chart.lift(np.array(states)).q
    keep = np.concatenate([[True], np.diff(switches) > 1e-9])
    schedule = ContactSchedule.of(
        [x for x, k in zip(stances, keep[1:], strict=True) if k], [t for t, k in zip(switches, keep, strict=True) if k]
    )
    return Trajectory.of(model.robot, np.array(times), q, schedule=schedule)


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
    return Segment(graph.mode(plan.start), np.array([state, state]), plan.start, None)


def _duration(model: StanceModel, start: Array, end: Array, pace: Pace) -> float:
    """The least time of a piece under the limits of joint rates and accelerations [s]."""
    shares = np.linspace(0.0, 1.0, _SAMPLES)[:, None]
    q = model.chart.lift(start + shares * (end - start)).q[:, 7:]
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
