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
    ReplannedSteps,
    StepLimits,
    VelocitySteps,
    all_steps,
    first_support,
    require_free,
    stance_of,
)
from surefoot.ik import solve
from surefoot.motion import Controller, Footstep, GroundPlane, StepSource, World
from surefoot.robot import Robot, anatomy
from surefoot.scenario.blame import blaming
from surefoot.scenario.schema import WalkTable
from surefoot.tasks import CenterOfMass, FrameOrientation, FramePose, Gaze, Posture, Task

_SETTINGS = (
    *("single", "double", "lift", "settle", "first"),
    *("dcm_gain", "integral_gain", "landing_speed", "reference"),
)
_STANDS = 1.5  # how long the robot stands at the end [s]
_SLOWER = 1.1  # steps may take longer than planned
_DRIFT, _SWAY = 0.05, 0.1  # gap to obstacles: drift of the estimate [m], arms that swing [share of a leg]
_TASK_WEIGHT, _TASK_GAIN, _TRAY_YAW = 1.0, 18.0, 0.1  # beside the trunk's 0.07; [1/s]; share of the yaw of a tray
_SURE, _SURE_LIFT = 0.4, 0.15  # steps and lifts up to these shares of a leg need no proof
_FALL = 2.0  # height over the square of the time in which a foot goes up or down [m/s²]: peaks of 12 m/s²
_BESIDE = 0.5  # share of a step that joints at their speeds move the foot for sure, beside a trunk that goes on
_PLUMB = 1e-3  # gravity may be off the vertical by so much [rad]
_LOOK, _MOST = 0.1, 1000  # time between looks for a command [s]; steps of a commanded walk that are looked at


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
    with blaming("world", "gravity"):
        _require_plumb(world)
    with blaming("walk", "step"):
        if table.step is not None:
            limits = replace(limits, forward=scale * table.step)
        settings = _settings(table, robot, limits)
        _require_reach(robot, "step", limits.forward, settings.height, q)
    with blaming("walk", "lift"):
        _require_reach(robot, "lift", settings.lift, settings.height, q)
    with blaming("walk", "single"):
        _require_time(robot, limits, settings)
    with blaming("walk"):
        source = _source(table, scale, robot, world, q, limits, settings)
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
    given = {name: value for name in _SETTINGS if (value := getattr(table, name)) is not None}
    with blaming("walk", "reference"):
        return replace(found, **{**paced, **given})


def _require_plumb(world: World) -> None:
    """Refuse gravity that does not point down."""
    size = float(np.linalg.norm(world.gravity))
    if size == 0.0 or float(np.hypot(*world.gravity[:2])) > _PLUMB * size or world.gravity[2] > 0.0:
        raise NotSupportedError(
            "a robot walks only where gravity points straight down",
            evidence={"gravity [m/s²]": world.gravity.tolist()},
            next_step="give gravity as [0, 0, -9.81], or a smaller one; slopes are ground",
        )


def _require_mild(steps: Sequence[Footstep]) -> None:
    """Refuse a way over ground that is too steep."""
    steepest = float(np.arccos(min((float(step.T[2, 2]) for step in steps), default=1.0)))
    if steepest > STEEPEST + 1e-6:
        raise NotSupportedError(
            f"the ground on the way slopes by {np.rad2deg(steepest):.1f}°",
            evidence={"largest slope [°]": round(float(np.rad2deg(STEEPEST)), 1)},
            next_step="choose another way, or a gentler slope",
        )


def _require_reach(robot: Robot, what: str, way: float, height: float, q: Array) -> None:
    """Refuse a `step` that the legs cannot span with both soles flat, and a `lift` that they cannot bend for."""
    leg, is_step = StepLimits.of(robot).leg, what == "step"
    sure = (_SURE if is_step else _SURE_LIFT) * leg

    def reaches(way: float, height: float) -> bool:
        return _poses(robot, (way, 0.0) if is_step else (0.0, way), height, q)

    if way <= sure or reaches(way, height):
        return
    low, high = sure, way
    while high - low > 0.01:
        middle = 0.5 * (low + high)
        can = reaches(middle, walk_settings(robot, middle).height if is_step else height)
        low, high = (middle, high) if can else (low, middle)
    do = "span a step of {:.2f} m with both soles flat" if is_step else "lift a foot by {:.2f} m with a flat sole"
    raise NotSupportedError(
        f"the legs of `{robot.name}` do not {do.format(way)}",
        evidence={f"{'longest' if is_step else 'highest'} {what} [m]": round(low, 2), "leg [m]": round(leg, 2)},
        next_step=f"give a smaller `walk.{what}`, or omit it",
    )


def _poses(robot: Robot, way: tuple[float, float], height: float, q: Array) -> bool:
    """Whether there is a posture with one foot so far ahead of and above the other, and the centre of mass between."""
    feet, frames = anatomy(robot).feet, robot.placements(q)
    places = [frames[foot.link] @ foot.placement for foot in feet]
    ahead, up = 0.5 * way[0] * places[0][:3, 0], np.array([0.0, 0.0, way[1]])
    targets = []
    for place, foot, moved in zip(places, feet, (ahead + up, -ahead), strict=True):
        T = place.copy()
        T[:3, 3] += moved
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


def _require_time(robot: Robot, limits: StepLimits, settings: WalkSettings) -> None:
    """Refuse a swing that is too short for its way and its lift."""
    legs = leg_reach(robot, anatomy(robot))
    needs = {
        f"to swing a foot by {2.0 * limits.forward:.3f} m with the torques and speeds of its leg": legs.swing_time(
            2.0 * limits.forward, 1.0, _BESIDE * limits.forward
        ),
        f"to lift a foot by {settings.lift:.3f} m and put it down": 2.0 * float(np.sqrt(settings.lift / _FALL)),
    }
    what, least = max(needs.items(), key=lambda item: item[1])
    if settings.single < least:
        raise NotSupportedError(
            f"{settings.single:.3f} s on one foot are too short {what}",
            evidence={"least [s]": round(least, 3)},
            next_step="give a longer `walk.single`, a slower `walk.pace`, or a smaller `walk.step` or `walk.lift`",
        )


def _source(
    table: WalkTable, scale: float, robot: Robot, world: World, q: Array, limits: StepLimits, settings: WalkSettings
) -> StepSource:
    stance = stance_of(robot, q)
    if table.commands is not None:
        rows = np.array([(x.time, scale * x.forward, scale * x.left, x.turn) for x in table.commands])
        stick = VelocitySteps(limits, rows, settings.single + settings.double, world)
        with blaming("walk", "commands"):
            _require_slow(rows, robot, limits, stick.step_time)
            made = _commanded(stick, stance, settings, float(rows[-1, 0]) + 2.0 * stick.step_time)
            require_free(robot, world, made, stance, limits)
        return stick
    goal = np.array(table.goal or (0.0, 0.0, 0.0)) * (scale, scale, 1.0)
    source: StepSource
    if table.path is not None:
        source = PathSteps(limits, scale * np.array(table.path), world=world)
    elif _is_bare(world):
        source = GoalSteps.from_stance(limits, stance, goal, world)
    else:
        source = ReplannedSteps(robot, world, goal, stance, limits, _DRIFT + _SWAY * limits.leg)
    steps = all_steps(source, first_support(source, limits, stance))
    _require_mild(steps)
    if table.path is not None:
        with blaming("walk", "path"):
            require_free(robot, world, steps, stance, limits, margin=_DRIFT)
    return source


def _require_slow(rows: Array, robot: Robot, limits: StepLimits, step_time: float) -> None:
    """Refuse commands (n, 4) that are faster than the steps; sideways and turning, every second step makes way."""
    single, double = 1.0 / step_time, 0.5 / step_time
    for name, unit, values, least, most in (
        ("forward", "m/s", rows[:, 1], -limits.backward * single, limits.forward * single),
        ("left", "m/s", rows[:, 2], -limits.outward * double, limits.outward * double),
        ("turn", "rad/s", rows[:, 3], -limits.turn_out * double, limits.turn_out * double),
    ):
        k = int(np.argmax(np.maximum(values / most, values / least)))
        if not least - 1e-9 <= values[k] <= most + 1e-9:
            raise NotSupportedError(
                f"command {k} asks `{robot.name}` for {values[k]:.3g} {unit} (`{name}`), more than its steps make",
                evidence={f"from … to [{unit}]": [round(least, 3), round(most, 3)], "step [s]": round(step_time, 3)},
                next_step="ask for less, or give a quicker `walk.pace`"
                + (" or a longer `walk.step`" * (name[0] == "f")),
            )


def _commanded(source: VelocitySteps, stance: Sequence[Footstep], settings: WalkSettings, end: float) -> list[Footstep]:
    """The steps by commands until a time, with the times of the plan."""
    steps, feet, t = list[Footstep](), {step.foot: step for step in stance}, settings.settle
    while t < end and len(steps) < _MOST:
        ways = [(support, found[0]) for support in feet.values() if (found := source.upcoming(t, support, 1))]
        if not ways:
            t += _LOOK
            continue
        coming = [max(ways, key=lambda way: float(np.linalg.norm(way[1].position - feet[way[1].foot].position)))[1]]
        t += settings.first + settings.single
        while coming and t < end and len(steps) < _MOST:
            feet[coming[0].foot] = coming[0]
            steps += coming
            coming = list(source.upcoming(t, coming[0], 1))
            t += source.step_time
    return steps


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
