"""Footsteps for other rooms: a `ContactSchedule`, and the poses of the feet as a `Trajectory`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from surefoot.arrays import Array, number
from surefoot.errors import ShapeError
from surefoot.gait.legs import feet_of
from surefoot.motion import ContactSchedule, Footstep, Phase, Quintic, Spot, Stance, Trajectory
from surefoot.robot import Robot
from surefoot.spatial import quaternion, so3


@dataclass(frozen=True)
class StepTimes:
    """Durations of a walk.

    Args:
        single: On one foot [s].
        double: On both feet between two steps [s].
        start: On both feet before the first step [s].
        end: On both feet after the last one [s].
    """

    single: float = 0.6
    double: float = 0.2
    start: float = 0.6
    end: float = 0.6

    def __post_init__(self) -> None:
        for name in ("single", "double", "start", "end"):
            number(getattr(self, name), f"`{name}` of step times", positive=True)

    def swings(self, count: int) -> list[tuple[float, float]]:
        """When each of `count` steps lifts off and touches down [s]."""
        period = self.single + self.double
        return [(self.start + k * period, self.start + k * period + self.single) for k in range(count)]


def schedule_of(
    robot: Robot, stance: Sequence[Footstep], steps: Sequence[Footstep], times: StepTimes, friction: float | None = None
) -> ContactSchedule:
    """The contacts of a walk: both feet, one foot, both feet, and so on.

    Args:
        robot: A biped.
        stance: The left and the right foot at the start.
        steps: One after the other; the feet need not alternate.
        times: Durations.
        friction: Of the ground; None for that of the contacts.
    """
    if not steps:
        raise ShapeError("a schedule of footsteps needs a step")
    spots = _spots(robot, friction)
    standing = {step.foot: step for step in stance}
    phases: list[Phase] = []
    swings, before = times.swings(len(steps)), 0.0
    for step, (off, on) in zip(steps, swings, strict=True):
        phases.append(Phase(before, off, _stance(spots, standing.values())))
        phases.append(Phase(off, on, _stance(spots, (x for x in standing.values() if x.foot != step.foot))))
        standing[step.foot], before = step, on
    phases.append(Phase(before, before + times.end, _stance(spots, standing.values())))
    return ContactSchedule(tuple(phases))


def feet_trajectory(
    robot: Robot,
    stance: Sequence[Footstep],
    steps: Sequence[Footstep],
    times: StepTimes,
    lift: float = 0.05,
    dt: float = 0.01,
) -> Trajectory:
    """The poses of the feet over time, each as a free joint with the name of the foot, with its contact schedule.

    A foot swings by a quintic in position and rotation, and up and down by one more, so that it is at rest when it
    lifts off, at the top, and when it touches down.

    Args:
        robot: A biped.
        stance: The left and the right foot at the start.
        steps: One after the other.
        times: Durations.
        lift: Height of the swings above the higher end [m].
        dt: Time between two samples [s].
    """
    schedule = schedule_of(robot, stance, steps, times)
    count = round(schedule.end / number(dt, "time between samples", positive=True))
    time = np.linspace(0.0, schedule.end, count + 1)
    q, v = [], []
    for foot in feet_of(robot):
        here = next(step for step in stance if step.foot == foot.name)
        swings = [(s, step) for s, step in zip(times.swings(len(steps)), steps, strict=True) if step.foot == foot.name]
        positions, velocities = _foot_motion(time, here, swings, lift)
        q.append(positions)
        v.append(velocities)
    feet = tuple(foot.name for foot in feet_of(robot))
    return Trajectory(
        f"feet of {robot.name}", feet, ("free", "free"), time, np.hstack(q), np.hstack(v), schedule=schedule
    )


def _foot_motion(
    time: Array, here: Footstep, swings: Sequence[tuple[tuple[float, float], Footstep]], lift: float
) -> tuple[Array, Array]:
    """Positions (n, 7) and velocities (n, 6), in the foot, of one foot."""
    q = np.tile([*here.position, *quaternion.from_matrix(here.T[:3, :3])], (len(time), 1))
    v = np.zeros((len(time), 6))
    for (off, on), step in swings:
        during = (time > off) & (time < on)
        t, half = time[during] - off, 0.5 * (on - off)
        share, rate, _ = Quintic.at_rest(0.0, 1.0, on - off).sample(t)
        top = lift + abs(step.T[2, 3] - here.T[2, 3])
        up, up_rate, _ = Quintic.at_rest(0.0, top, half).sample(np.minimum(t, on - off - t))
        turn = so3.log(here.T[:3, :3].T @ step.T[:3, :3])
        for k, row in enumerate(np.flatnonzero(during)):
            R = here.T[:3, :3] @ so3.exp(share[k] * turn)
            rise = np.array([0.0, 0.0, 1.0])
            linear = rate[k] * (step.position - here.position) + (up_rate[k] if t[k] < half else -up_rate[k]) * rise
            q[row, :3] = here.position + share[k] * (step.position - here.position) + up[k] * rise
            q[row, 3:] = quaternion.from_matrix(R)
            v[row] = [*(R.T @ linear), *(rate[k] * turn)]
        q[time >= on] = [*step.position, *quaternion.from_matrix(step.T[:3, :3])]
        here = step
    return q, v


def _spots(robot: Robot, friction: float | None) -> dict[str, dict[str, tuple[Array, float]]]:
    """Foot → contact → T_foot_contact at home, and friction."""
    frames, out = robot.placements(robot.home), {}
    for foot in feet_of(robot):
        T_foot_world = np.linalg.inv(frames[foot.link] @ foot.placement)
        surfaces = [robot.contacts[name] for name in foot.contacts]
        out[foot.name] = {
            x.name: (T_foot_world @ frames[x.frame] @ x.placement, x.friction if friction is None else friction)
            for x in surfaces
        }
    return out


def _stance(spots: dict[str, dict[str, tuple[Array, float]]], standing: Iterable[Footstep]) -> Stance:
    return Stance({name: Spot(s.T @ T, mu) for s in standing for name, (T, mu) in spots[s.foot].items()})
