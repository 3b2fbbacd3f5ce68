"""`harvest`: an arm moves its hand from point to point among obstacles, with and without looking ahead.

Buschmann 2014, section 5.6.4: where an arm looks 2 s ahead its pseudo-energy has no peaks; where it resolves its
redundancy in the moment, or looks 0.15 s ahead, it has. Both are computed; one is followed in physics.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from surefoot.arrays import Array
from surefoot.collision import CollisionModel, random_postures, robot_volumes
from surefoot.collision.volumes import stored_fit
from surefoot.errors import NotSupportedError, ScenarioError
from surefoot.geometry import SweptVolume
from surefoot.geometry.fit import DEFAULT_GAIN
from surefoot.ik.predictive import (
    Following,
    History,
    PredictiveWeights,
    Repulsion,
    StraightLine,
    Study,
    compare,
    follow,
    predictive_ik,
)
from surefoot.motion import MovableObject, Obstacle, Trajectory, World
from surefoot.report import Plot
from surefoot.robot import BodyVolume, Robot
from surefoot.scenario.findings import Findings
from surefoot.scenario.motions.plan import Plan
from surefoot.scenario.schema import MotionTable

_PREDICTIVE = "predictive {:g} s"


def harvest(table: MotionTable, robot: Robot, world: World) -> Plan:
    """Plan with every method along the same way; the trajectory is that of the method that the table names.

    Args:
        table: Of the kind "harvest".
        robot: An arm whose joints turn or slide.
        world: Its obstacles and objects are kept clear of.

    Raises:
        ScenarioError: A value of the table makes no sense.
        NotSupportedError: The robot is not an arm.
        UnknownNameError: It has no such frame or joint.
    """
    given = HarvestSettings(**table.model_dump(exclude_none=True, exclude={"kind"}))
    study = harvest_scene(given, robot, world)
    found = _histories(given, study)
    ahead = _PREDICTIVE.format(given.horizon)
    chosen = found[ahead if given.method == "predictive" else given.method]
    audit = _Audit(given, study, CollisionModel(robot, world))
    planned = audit.judged(chosen.time, chosen.q, "plan")
    trouble = planned.trouble or _beyond_limits(robot, chosen) or _no_gain(found, ahead)
    return Plan(
        _trajectory(robot, chosen),
        {**_metrics(found), **planned.metrics},
        trouble,
        _curves(found),
        lambda _, log: audit.judged(log.time, np.asarray(log["q"]), "run"),
    )


def _histories(given: HarvestSettings, study: Study) -> dict[str, History]:
    """Motions by method: "unaware", "local", and "predictive 2 s" for every horizon."""
    found = compare(study, ())
    smooth = study.predictive.change > 0.0
    for horizon in dict.fromkeys((*given.other_horizons, given.horizon)):
        found[_PREDICTIVE.format(horizon)] = follow(study, predictive_ik(study, horizon, smooth=smooth))
    return found


def _trajectory(robot: Robot, history: History) -> Trajectory:
    v = np.gradient(history.q, history.time, axis=0)
    v[0], v[-1] = 0.0, 0.0
    return Trajectory.of(robot, history.time, history.q, v, a=np.gradient(v, history.time, axis=0))


def _metrics(found: Mapping[str, History]) -> dict[str, Any]:
    """Peaks of the pseudo-energy [rad²/s²], and smallest distances of what was kept clear [m]."""
    names = {name: name.replace(" s", "s").replace(" ", "_") for name in found}
    peaks = {f"energy_{names[name]}": history.peak for name, history in found.items()}
    gaps = {f"gap_{names[name]}_m": float(x.distances.min()) for name, x in found.items() if x.distances.size}
    return {**peaks, **gaps}


def _curves(found: Mapping[str, History]) -> tuple[Plot, ...]:
    """Over the times of the postures; what holds within a step is drawn at its start."""
    energies = {name: np.append(x.pseudo_energy, x.pseudo_energy[-1]) for name, x in found.items()}
    errors = {name: 1e3 * x.error for name, x in found.items()}
    gaps = {name: x.distances.min(axis=1) for name, x in found.items() if x.distances.size}
    curves = (
        Plot("pseudo-energy: squared joint velocities", "rad²/s²", energies),
        Plot("planned tip error, largest component", "mm", errors),
    )
    return (*curves, Plot("smallest monitored distance", "m", gaps)) if gaps else curves


def _no_gain(found: Mapping[str, History], ahead: str) -> str | None:
    peak, local = found[ahead].peak, found["local"].peak
    if peak < local:
        return None
    return f"looking ahead gains nothing: peak pseudo-energy {peak:.3g} rad²/s², {local:.3g} by the local method"


def _beyond_limits(robot: Robot, history: History) -> str | None:
    """Which joint the motion takes out of its limits, or faster than it can."""
    excess = np.maximum(robot.limits.lower - history.q, history.q - robot.limits.upper).max(axis=0)
    speed = np.abs(history.v).max(axis=0) / np.where(robot.limits.velocity > 0.0, robot.limits.velocity, np.inf)
    if not excess[j := int(np.argmax(excess))] <= 0.0:
        return f"joint `{robot.joint_names[j]}` would leave its limits by {excess[j]:.3g}"
    if not speed[j := int(np.argmax(speed))] <= 1.0:
        return f"joint `{robot.joint_names[j]}` would move at {speed[j]:.3g} of its speed limit"
    return None


@dataclass(frozen=True, eq=False)
class _Audit:
    """Judges a motion: everything of the robot against itself and the world, and the tip against its way."""

    given: HarvestSettings
    study: Study
    model: CollisionModel

    def judged(self, time: Array, q: Array, what: str) -> Findings:
        off = self._tip_error(time, q)
        metrics: dict[str, Any] = {f"tip_error_{what}_m": off}
        trouble = f"the tip is {off:.3g} m off in the {what}" if not off <= self.given.tolerance else None
        if self.model.names:
            distances = self.model.distances(q)
            row, column = np.unravel_index(int(np.argmin(distances)), distances.shape)
            gap, names = float(distances[row, column]), self.model.names[column]
            metrics |= {f"gap_{what}_m": gap, f"nearest_in_{what}": " – ".join(names)}
            if gap <= 0.0 and trouble is None:
                trouble = f"`{names[0]}` may touch `{names[1]}` at {time[row]:.2f} s of the {what}"
        return Findings(metrics, trouble)

    def _tip_error(self, time: Array, q: Array) -> float:
        wanted = self.study.reference(time)[0][:, :3, 3]
        places = np.array([self.study.robot.placements(x)[self.study.frame][:3, 3] for x in q])
        return float(np.linalg.norm(wanted - places, axis=1).max())


Pair = tuple[BodyVolume, BodyVolume]
_SLOPE = -20.0  # of the potential at contact [1/m]: the scale of the weights
_VOLUMES_PER_OBSTACLE = 4
_POSTURES = 500
_ROWS = (0, 1, 2)  # the hand's position is given, its attitude is free


@dataclass(frozen=True)
class HarvestSettings:
    """What a scenario says about the motion; weights, cycle and horizons are those of Buschmann 2014, Fig. 5.35.

    Args:
        frame: The frame that is led.
        points: Where it goes, one after the other: ways from where it begins, in world axes [m].
        duration: Of the whole way [s].
        hold: How long it then stays [s].
        joints: First posture [rad or m]; that of home where nothing is said.
        method: What is followed: "predictive", "local" or "unaware" (of obstacles).
        horizon: How far the predictive method looks ahead [s].
        other_horizons: What it is compared with [s].
        cycle: Of the control loop [s].
        influence: Nearer than this things repel each other [m].
        tool_radius: Of what is held along the line from the last body's origin to the frame [m]; None for nothing.
        tolerance: How far the frame may be off its way [m].
        weights: Of the predictive method; `change` > 0 makes joint velocities continuous.
        local_weights: Of the local method.
    """

    frame: str
    points: Sequence[tuple[float, float, float]]
    duration: float
    hold: float = 0.0
    joints: Mapping[str, float] = field(default_factory=dict)
    method: Literal["predictive", "local", "unaware"] = "predictive"
    horizon: float = 2.0
    other_horizons: Sequence[float] = (0.15,)
    cycle: float = 0.01
    influence: float = 0.1
    tool_radius: float | None = None
    tolerance: float = 0.005
    weights: Mapping[str, float] = field(
        default_factory=lambda: {"velocity": 1.0, "collision": 5000.0, "limits": 80.0, "change": 0.02}
    )
    local_weights: Mapping[str, float] = field(
        default_factory=lambda: {"velocity": 1.0, "collision": 2.0, "limits": 0.6}
    )


class PointToPoint:
    """A reference for predictive inverse kinematics: straight lines one after the other, at rest at every point.

    Args:
        start: T_world_frame (4, 4) at the start.
        points: (n, 3) where the origin goes, in world [m].
        duration: Of the whole way [s]; each line takes as long as the others.
    """

    def __init__(self, start: Array, points: Array, duration: float) -> None:
        each, T = duration / len(points), np.array(start)
        self.lines: list[StraightLine] = []
        for k, point in enumerate(points):
            self.lines.append(StraightLine(T, point, each, begin=k * each))
            T = np.array(T)
            T[:3, 3] = point

    def __call__(self, times: NDArray[Any]) -> tuple[Array, Array]:
        """Poses (N, 4, 4) and twists (N, 6) in world axes, linear first.

        Args:
            times: (N,) [s].
        """
        poses, twists = self.lines[0](times)
        for line in self.lines[1:]:
            later = np.asarray(times) > line.begin
            poses[later], twists[later] = (x[later] for x in line(times))
        return poses, twists


def harvest_scene(given: HarvestSettings, robot: Robot, world: World) -> Study:
    """The motion among the obstacles and objects of a world.

    Args:
        given: What the scenario says.
        robot: An arm.
        world: The world.

    Raises:
        ScenarioError: There is no point to go to, or a posture or a time makes no sense.
        NotSupportedError: The robot is not an arm that carries the frame.
        UnknownNameError: The robot has no such frame or joint.
    """
    if not given.points:
        raise ScenarioError("`motion.points` is empty", next_step="give at least one target point")
    if given.duration < len(given.points) * given.cycle:
        raise ScenarioError("`motion.duration` is shorter than a cycle for each point")
    _require_arm(robot, given.frame)
    q = _first_posture(robot, given.joints)
    T = robot.placements(q)[given.frame]
    way = PointToPoint(T, T[:3, 3] + np.array(given.points), given.duration)
    repulsion = Repulsion(_pairs(given, robot, world), given.influence, _SLOPE)
    local, predictive = (PredictiveWeights(**weights) for weights in (given.local_weights, given.weights))
    whole = given.duration + given.hold
    following = Following(rows=_ROWS)
    return Study(robot, given.frame, q, way, whole, repulsion, following, local, predictive, given.cycle)


def _require_arm(robot: Robot, frame: str) -> None:
    """All joints turn or slide and carry the frame: what is planned moves all of them."""
    robot.frame_id(frame)
    body = robot.body_of(frame)
    carrying = {body, *robot.tree.ancestors(body)} if body >= 0 else set()
    for i, (name, kind) in enumerate(zip(robot.tree.joint_names, robot.tree.kinds, strict=True)):
        if i not in carrying or kind not in ("revolute", "prismatic"):
            why = f"is {kind}" if i in carrying else f"does not move `{frame}`"
            raise NotSupportedError(
                f"joint `{name}` of `{robot.name}` {why}",
                subject=frame,
                kind="frame",
                next_step="use an arm whose joints all rotate or slide and move the frame, such as harvester or ur5",
            )


def _first_posture(robot: Robot, joints: Mapping[str, float]) -> Array:
    q = np.array(robot.home)
    for name, position in joints.items():
        row = int(robot.tree.q_index[robot.joint_index(name)])
        if not robot.limits.lower[row] <= position <= robot.limits.upper[row]:
            raise ScenarioError(
                f"joint `{name}` starts at {position:g}, outside its limits",
                subject=name,
                kind="joint",
                evidence={"limits": [float(robot.limits.lower[row]), float(robot.limits.upper[row])]},
                next_step="change `motion.joints`",
            )
        q[row] = position
    return q


def _pairs(given: HarvestSettings, robot: Robot, world: World) -> tuple[Pair, ...]:
    """Volumes that keep clear of each other.

    Pairs that cannot be farther apart than what repels them are omitted: links that are neighbours but one, and what
    does not move against an obstacle. Joint limits keep those clear.
    """
    volumes = [*robot_volumes(robot, most_per_link=1).volumes, *_tool(given, robot)]
    model = CollisionModel(robot, World(ground=(), obstacles=world.obstacles, objects=world.objects), volumes)
    farthest = model.distances(random_postures(robot, _POSTURES, np.random.default_rng(0))).max(axis=0, initial=0.0)
    apart = {frozenset(names) for names, d in zip(model.names, farthest, strict=True) if d > given.influence}
    own = [(a, b) for a, b in model.self_pairs if frozenset((a.link, b.link)) in apart]
    around = [(a, b) for a in volumes for b in _obstacles(world) if frozenset((a.link, b.link)) in apart]
    return (*own, *around)


def _tool(given: HarvestSettings, robot: Robot) -> list[BodyVolume]:
    """What the hand holds: a line from the origin of its body to the frame."""
    if given.tool_radius is None:
        return []
    tip = robot.model.frames[robot.frame_id(given.frame)].placement.translation
    line = SweptVolume(np.array([np.zeros(3), tip]), given.tool_radius)
    return [BodyVolume(robot.body_of(given.frame), line, given.frame)]


def _obstacles(world: World) -> list[BodyVolume]:
    """Volumes round the obstacles and objects, each under the name of its obstacle."""
    items: list[Obstacle | MovableObject] = [*world.obstacles, *world.objects]
    return [
        BodyVolume(-1, volume, item.name)
        for item in items
        for volume in stored_fit([(item.shape, item.pose)], _VOLUMES_PER_OBSTACLE, DEFAULT_GAIN, item.name).volumes
    ]
