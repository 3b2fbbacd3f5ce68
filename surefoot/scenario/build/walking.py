"""Build the `WalkingController` of a scenario."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from surefoot.arrays import Array
from surefoot.control.legged import leg_reach
from surefoot.control.walking import WalkingController, WalkSettings, paced_times, walk_settings
from surefoot.errors import NotSupportedError, one_of
from surefoot.gait import (
    STEEPEST,
    GoalSteps,
    PathSteps,
    StepLimits,
    VelocitySteps,
    all_steps,
    first_support,
    plan_steps,
    stance_of,
)
from surefoot.ik import solve
from surefoot.motion import Controller, Footstep, GroundPlane, StepSource, World
from surefoot.robot import Robot, anatomy
from surefoot.scenario.blame import blaming
from surefoot.scenario.schema import WalkTable
from surefoot.tasks import CenterOfMass, FrameOrientation, FramePose, Gaze, Posture, Task

_STANDS = 1.5  # how long the robot stands at the end [s]
_SLOWER = 1.1  # steps may take longer than planned
_DRIFT, _SWAY = 0.05, 0.1  # gap to obstacles: drift of the estimate [m], arms that swing [share of a leg]
_TASK_WEIGHT, _TASK_GAIN, _TRAY_YAW = 1.0, 12.0, 0.1  # beside the trunk's 0.07; [1/s]; share of the yaw of a tray
_SURE = 0.4  # steps up to this share of a leg need no proof


def build_walker(table: WalkTable, robot: Robot, world: World, q: Array) -> WalkingController:
    """The controller, with the source of its steps.

    Args:
        table: What the scenario says.
        robot: The robot.
        world: The world.
        q: (nq,) its first posture.

    Raises:
        NotSupportedError: The robot is not a biped, or cannot go there.
    """
    if table.blind:
        world = replace(world, ground=(GroundPlane(),))
    limits = StepLimits.of(robot)
    scale = limits.leg if table.unit == "leg" else 1.0
    with blaming("walk", "step"):
        if table.step is not None:
            limits = replace(limits, forward=scale * table.step)
        settings = _settings(table, robot, limits)
        _require_reach(robot, limits, settings, q)
    with blaming("walk"):
        source = _source(table, scale, robot, world, q, limits, settings)
        if table.commands is None:
            _require_mild(source, limits, stance_of(robot, q))
    with blaming("walk", "tray"):
        tasks = _tasks(table, scale, robot, q)
    return WalkingController(robot, source, settings, q, tasks=tasks)


def _tasks(table: WalkTable, scale: float, robot: Robot, q: Array) -> list[Task]:
    """What the robot does while it walks; weights are beside those of the centre of mass, in m/s²."""
    body, frames, tasks = anatomy(robot), robot.placements(q), list[Task]()
    weight = _TASK_WEIGHT * leg_reach(robot, body).home ** 2
    if table.tray is not None:
        hands = dict(zip(("left", "right"), body.hands, strict=False))
        frame = hands.get(table.tray, table.tray)
        if frame not in frames:
            raise one_of("hand", table.tray, (*hands, *robot.frame_names))
        R, counts = frames[frame][:3, :3], np.array([1.0, 1.0, _TRAY_YAW])
        tasks.append(FrameOrientation(frame, R, name="tray", weight=weight * counts, gain=_TASK_GAIN))
    if table.gaze is not None:
        with blaming("walk", "gaze"):
            head = _head(robot, frames)
        axis = frames[head][:3, :3].T @ (frames[body.feet[0].link] @ body.feet[0].placement)[:3, 0]
        tasks.append(Gaze(head, scale * np.array(table.gaze), axis, weight=weight, gain=_TASK_GAIN))
    return tasks


def _head(robot: Robot, frames: dict[str, Array]) -> str:
    """The highest body beyond the torso that is not part of an arm."""
    tree, body = robot.tree, anatomy(robot)
    torso = robot.body_of(body.torso)
    paths = {k: {k, *tree.ancestors(k)} for k in range(tree.n) if torso in tree.ancestors(k)}
    arms = set[int]().union(*(paths[robot.body_of(hand)] for hand in body.hands)) - {torso, *tree.ancestors(torso)}
    heads = [tree.body_names[k] for k, path in paths.items() if not path & arms]
    heads = [name for name in heads if frames[name][2, 3] > frames[body.torso][2, 3]]
    if not heads:
        raise NotSupportedError(
            f"`{robot.name}` has no head to look with", subject=robot.name, kind="robot", next_step="omit `walk.gaze`"
        )
    return max(heads, key=lambda name: float(frames[name][2, 3]))


def _settings(table: WalkTable, robot: Robot, limits: StepLimits) -> WalkSettings:
    found = walk_settings(robot, limits.forward, table.height)
    paced = dict(zip(("single", "double"), paced_times(found, table.pace or 1.0), strict=True))
    given = {name: value for name in ("single", "double", "lift") if (value := getattr(table, name)) is not None}
    return replace(found, **{**paced, **given})


def _require_mild(source: StepSource, limits: StepLimits, stance: Sequence[Footstep]) -> None:
    """Refuse a way over ground that is too steep."""
    steps = all_steps(source, first_support(source, limits, stance))
    steepest = float(np.arccos(min((float(step.T[2, 2]) for step in steps), default=1.0)))
    if steepest > STEEPEST + 1e-6:
        raise NotSupportedError(
            f"the ground on the way slopes by {np.rad2deg(steepest):.1f}°",
            evidence={"largest slope [°]": round(float(np.rad2deg(STEEPEST)), 1)},
            next_step="choose another way, or a gentler slope",
        )


def _require_reach(robot: Robot, limits: StepLimits, settings: WalkSettings, q: Array) -> None:
    """Refuse a step that the legs cannot span with both soles flat."""
    if limits.forward <= _SURE * limits.leg or _spans(robot, limits.forward, settings.height, q):
        return
    low, high = _SURE * limits.leg, limits.forward
    while high - low > 0.01:
        middle = 0.5 * (low + high)
        can = _spans(robot, middle, walk_settings(robot, middle).height, q)
        low, high = (middle, high) if can else (low, middle)
    raise NotSupportedError(
        f"the legs of `{robot.name}` do not span a step of {limits.forward:.2f} m with both soles flat",
        evidence={"longest step [m]": round(low, 2), "leg [m]": round(limits.leg, 2)},
        next_step="give a shorter `walk.step`, or omit it",
    )


def _spans(robot: Robot, step: float, height: float, q: Array) -> bool:
    """Whether there is a posture with one foot a step ahead of the other, and the centre of mass between them."""
    feet, frames = anatomy(robot).feet, robot.placements(q)
    places = [frames[foot.link] @ foot.placement for foot in feet]
    ahead = 0.5 * step * places[0][:3, 0]
    targets = []
    for place, foot, way in zip(places, feet, (ahead, -ahead), strict=True):
        T = place.copy()
        T[:3, 3] += way
        targets.append(FramePose(foot.link, T @ np.linalg.inv(foot.placement), name=f"foot {foot.name}"))
    middle = np.mean([place[:3, 3] for place in places], axis=0)
    trunk = anatomy(robot).torso
    found = solve(
        robot,
        [
            *targets,
            CenterOfMass([middle[0], middle[1], middle[2] + height]),
            FrameOrientation(trunk, frames[trunk][:3, :3]),
            Posture(robot, q),
        ],
        q,
    )
    return bool(found.success)


def _source(
    table: WalkTable, scale: float, robot: Robot, world: World, q: Array, limits: StepLimits, settings: WalkSettings
) -> StepSource:
    if table.commands is not None:
        rows = [(item.time, scale * item.forward, scale * item.left, item.turn) for item in table.commands]
        return VelocitySteps(limits, rows, settings.single + settings.double, world)
    if table.path is not None:
        return PathSteps(limits, scale * np.array(table.path), world=world)
    stance, goal = stance_of(robot, q), np.array(table.goal) * (scale, scale, 1.0)
    if _is_bare(world):
        return GoalSteps.from_stance(limits, stance, goal, world)
    return plan_steps(robot, world, goal, stance, limits, margin=_DRIFT + _SWAY * limits.leg)


def _is_bare(world: World) -> bool:
    """Whether there is nothing but one plane."""
    return not (world.obstacles or world.objects) and all(isinstance(piece, GroundPlane) for piece in world.ground)


def walk_duration(table: WalkTable, walker: Controller) -> float:
    """How long the walk takes, with time to stand at the end [s].

    Args:
        table: What the scenario says.
        walker: The controller.
    """
    walker = _require_walker(walker, "a walk without `simulation.duration`")
    s, source = walker.settings, walker.source
    if table.commands is not None:
        return float(np.ceil(table.commands[-1].time + 2.0 * (s.single + s.double) + s.first + _STANDS))
    stance = stance_of(walker.robot, walker.q0)
    support = first_support(source, StepLimits.of(walker.robot), stance)
    count = len(all_steps(source, support))
    return float(np.ceil(s.settle + 2.0 * s.first + _SLOWER * count * (s.single + s.double) + _STANDS))


def swing_times(walker: Controller, duration: float) -> tuple[float, float, float]:
    """Middle of the first swing, time of a step, and about when the walk is over [s].

    Args:
        walker: The controller.
        duration: Of the run [s].
    """
    s = _require_walker(walker, "an event every some `steps`").settings
    return s.settle + s.first + 0.5 * s.single, s.single + s.double, duration - _STANDS - s.first


def _require_walker(controller: Controller, what: str) -> WalkingController:
    if not isinstance(controller, WalkingController):
        raise NotSupportedError(f'{what} is for `controller.kind = "walk"`', next_step="give times in seconds")
    return controller
