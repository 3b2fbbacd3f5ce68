"""Local against predictive inverse kinematics: the studies of Buschmann 2014, section 5.6, on `arm4` and `harvester`.

Weights and horizons are those of the source (Figs. 5.31 and 5.35). It gives no sizes of the robots, no paths, no
obstacles and no scale of the potentials; these are our choice.

`StraightLine`: a frame led along a straight line, from rest to rest.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from surefoot.arrays import Array, finite_array, number, placement_matrix
from surefoot.geometry import SweptVolume
from surefoot.ik.predictive.cost import Repulsion
from surefoot.ik.predictive.descent import DescentSettings
from surefoot.ik.predictive.predictive import Following, LocalIk, PredictiveIk, PredictiveWeights, Reference
from surefoot.motion import Quintic
from surefoot.robot import BodyVolume, Robot, load


class StraightLine:
    """A reference for `LocalIk` and `PredictiveIk`: the orientation stays, the origin follows a quintic in time.

    Args:
        start: T_world_frame (4, 4) at the start.
        end: (3,) where the origin of the frame ends, in world [m].
        duration: [s].
        begin: When it begins [s].
    """

    def __init__(self, start: ArrayLike, end: ArrayLike, duration: float, begin: float = 0.0) -> None:
        self.start = placement_matrix(start, "start of a line")
        self.end, self.begin = finite_array(end, (3,), "end of a line"), number(begin, "begin of a line")
        self._way = Quintic.at_rest(self.start[:3, 3], self.end, duration)

    def __call__(self, times: Array) -> tuple[Array, Array]:
        """Poses (N, 4, 4) and twists (N, 6) in world axes, linear first.

        Args:
            times: (N,) [s].
        """
        place, speed, _ = self._way.sample(np.asarray(times) - self.begin)
        poses = np.repeat(self.start[None], len(place), axis=0)
        poses[:, :3, 3] = place
        return poses, np.concatenate([speed, np.zeros_like(speed)], axis=1)


Point = tuple[float, float, float]


@dataclass(frozen=True, eq=False)
class Study:
    """A motion of a frame among obstacles.

    Args:
        robot: The robot.
        frame: The frame that is led.
        q0: (n,) posture at the start.
        reference: Where the frame is led.
        duration: Of the motion [s].
        repulsion: What keeps clear of what.
        following: How the task is followed.
        local: Weights of the local method.
        predictive: Weights of the predictive method.
        dt: Cycle of the control loop [s].
    """

    robot: Robot
    frame: str
    q0: Array
    reference: Reference
    duration: float
    repulsion: Repulsion
    following: Following
    local: PredictiveWeights
    predictive: PredictiveWeights
    dt: float = 0.01

    @property
    def cycles(self) -> int:
        """Number of cycles of the control loop."""
        return round(self.duration / self.dt)


@dataclass(frozen=True, eq=False)
class History:
    """Record of a motion.

    Args:
        time: (N + 1,) [s].
        q: (N + 1, n) postures [rad or m].
        v: (N, n) joint velocities in each step.
        pseudo_energy: (N,) sum of the squared velocities of the joints that turn [rad²/s²].
        distances: (N + 1, pairs) of all pairs of volumes [m].
        error: (N + 1,) largest deviation of the frame's origin along the given axes [m].
    """

    time: Array
    q: Array
    v: Array
    pseudo_energy: Array
    distances: Array
    error: Array

    @property
    def peak(self) -> float:
        """Largest pseudo-energy [rad²/s²]."""
        return float(self.pseudo_energy.max())


def compare(study: Study, horizons: Sequence[float], settings: DescentSettings | None = None) -> dict[str, History]:
    """Histories of "unaware" (no avoidance), "local", and "predictive 2.0 s" for each horizon.

    Args:
        study: The motion.
        horizons: Of the predictive method [s].
        settings: Of its descent in each cycle.
    """
    unaware = replace(study.local, collision=0.0)
    found = {"unaware": follow(study, _local(study, unaware)), "local": follow(study, _local(study, study.local))}
    for horizon in horizons:
        found[f"predictive {horizon} s"] = follow(study, predictive_ik(study, horizon, settings))
    return found


def predictive_ik(
    study: Study, horizon: float, settings: DescentSettings | None = None, smooth: bool = False
) -> PredictiveIk:
    """The predictive method for a study.

    Args:
        study: The motion.
        horizon: [s].
        settings: Of the descent in each cycle.
        smooth: Continuous joint velocities.
    """
    return PredictiveIk(
        study.robot, study.frame, study.reference, horizon, study.dt, study.predictive, study.repulsion,
        study.following, smooth=smooth, settings=settings,
    )  # fmt: skip


def follow(study: Study, ik: LocalIk) -> History:
    """Run a control loop over the motion, with ideal joints."""
    q, v = [study.q0], []
    for k in range(study.cycles):
        v.append(ik.step(k * study.dt, q[-1]))
        q.append(q[-1] + study.dt * v[-1])
    return _history(
        study, ik, np.asarray(study.dt * np.arange(study.cycles + 1), dtype=float), np.array(q), np.array(v)
    )


def plan_whole(
    study: Study, guess: History | None = None, free_start: bool = False, settings: DescentSettings | None = None
) -> tuple[History, Array]:
    """The motion that is best as a whole, as far as descent from a guess finds it, and the cost at each of its steps.

    Args:
        study: The motion.
        guess: A motion to begin with, which decides on which side obstacles are passed; none if omitted.
        free_start: The self-motion at the start is free as well.
        settings: Of the descent.
    """
    ik = predictive_ik(study, study.duration)
    u = None if guess is None else guess.v[:: round(ik.h / study.dt)]
    plan = ik.plan(0.0, study.q0, free_start=free_start, settings=settings, u=u)
    return _history(study, ik, plan.time, plan.q, plan.v), plan.costs


def arm4_study() -> Study:
    """The planar arm whose tip goes down a straight line of 1 m, past a ball near its base.   Figs. 5.30 and 5.31."""
    robot = load("arm4")
    ball = _volume(robot, None, 0.05, (0.2, 0.0, 0.0))
    links = [_volume(robot, f"link{i}", 0.025, (0.0, 0.0, 0.0), (0.25, 0.0, 0.0)) for i in (1, 2, 3, 4)]
    repulsion = Repulsion(tuple((link, ball) for link in links), reach=0.1, slope=-60.0)
    weights = PredictiveWeights(velocity=1.0, collision=1.0, limits=0.6)
    q0 = np.array([2.0, -2.0, 0.35, 0.5])
    return _line(robot, "tip", q0, (0.0, 0.0, -1.0), 2.0, repulsion, (0, 2), weights, weights)


def harvester_study() -> Study:
    """The nine-joint arm whose forearm would run into its own mast.   Fig. 5.35."""
    robot = load("harvester")
    mast = _volume(robot, None, 0.1, (0.0, 0.0, 0.0), (0.0, 0.0, 1.6))
    q0 = np.array([0.30, 0.73, 0.32, 0.21, -0.95, 1.08, 1.13, 0.81, -1.59])
    return _harvest(robot, [mast], q0, (-0.77, -0.69, -0.12))


def stems_study() -> Study:
    """The nine-joint arm that moves from one fruit to the next between the stems of two plants."""
    robot = load("harvester")
    mast = _volume(robot, None, 0.1, (0.0, 0.0, 0.0), (0.0, 0.0, 1.6))
    stems = [_volume(robot, None, 0.03, (0.7, y, 0.0), (0.7, y, 2.2)) for y in (-0.25, 0.25)]
    q0 = np.array([0.34, -0.06, 1.43, -0.95, 0.55, -0.73, -0.19, 0.23, -1.06])
    return _harvest(robot, [mast, *stems], q0, (0.0, -0.37, 0.27))


def _harvest(robot: Robot, around: Sequence[BodyVolume], q0: Array, way: Point) -> Study:
    upper = _volume(robot, "shoulder_pitch_link", 0.06, (0.0, 0.0, 0.0), (0.38, 0.0, 0.0))
    middle = _volume(robot, "arm_roll_link", 0.045, (0.0, 0.0, -0.18), (0.0, 0.0, 0.0))
    forearm = _volume(robot, "forearm_roll_link", 0.04, (0.0, 0.0, -0.16), (0.0, 0.0, 0.0))
    hand = _volume(robot, "wrist_roll_link", 0.03, (0.0, 0.0, -0.05), (0.0, 0.0, 0.15))
    own = ((forearm, upper), (hand, upper), (hand, middle))
    pairs = (*own, *((part, thing) for part in (middle, forearm, hand) for thing in around))
    repulsion = Repulsion(pairs, reach=0.1, slope=-20.0)
    local = PredictiveWeights(velocity=1.0, collision=2.0, limits=0.6)
    predictive = PredictiveWeights(velocity=1.0, collision=5000.0, limits=80.0)
    return _line(robot, "gripper", q0, way, 3.0, repulsion, (0, 1, 2), local, predictive)


def _line(
    robot: Robot, frame: str, q0: Array, way: Point, duration: float, repulsion: Repulsion,
    rows: tuple[int, ...], local: PredictiveWeights, predictive: PredictiveWeights,
) -> Study:  # fmt: skip
    T = robot.placements(q0)[frame]
    line = StraightLine(T, T[:3, 3] + way, duration)
    return Study(robot, frame, q0, line, duration, repulsion, Following(rows=rows), local, predictive)


def _volume(robot: Robot, link: str | None, radius: float, *vertices: ArrayLike) -> BodyVolume:
    volume = SweptVolume(np.array(vertices), radius)
    return BodyVolume(-1, volume, "obstacle") if link is None else BodyVolume(robot.body_of(link), volume, link)


def _local(study: Study, weights: PredictiveWeights) -> LocalIk:
    return LocalIk(study.robot, study.frame, study.reference, weights, study.repulsion, study.following)


def _history(study: Study, ik: LocalIk, time: Array, q: Array, v: Array) -> History:
    turning = [int(study.robot.tree.v_index[i]) for i, kind in enumerate(study.robot.tree.kinds) if kind == "revolute"]
    axes = [row for row in study.following.rows if row < 3]
    wanted = study.reference(time)[0][:, :3, 3]
    reached = np.array([study.robot.placements(x)[study.frame][:3, 3] for x in q])
    error = np.abs(wanted - reached)[:, axes].max(axis=1)
    return History(time, q, v, (v[:, turning] ** 2).sum(axis=1), ik.distances(q), error)
