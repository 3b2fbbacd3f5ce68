"""`swing_over`: a foot swings past obstacles that are not in its plan while the robot balances on the other foot.

Buschmann 2014, section 5.4.3 (reactive collision avoidance on a walking machine). There the step is part of a walk;
here it is slow: the weight is shifted over the stance sole, stays there while the other foot swings, and goes back to
the middle. Obstacles are known by one swept volume each.
"""

from __future__ import annotations

import numpy as np

from surefoot.collision.volumes import stored_fit
from surefoot.errors import NotSupportedError, ScenarioError
from surefoot.gait import SwingHistory, SwingStep, foot_contacts, other_foot, swing_twice
from surefoot.geometry import SweptVolume, convex_hull
from surefoot.geometry.fit import DEFAULT_GAIN
from surefoot.motion import ContactSchedule, Spot, Stance, Trajectory, World
from surefoot.robot import Robot
from surefoot.scenario.motions.plan import Plan
from surefoot.scenario.motions.swing_judge import SwingJudge
from surefoot.scenario.schema import MotionTable
from surefoot.words import side_pairs

_CYCLE = 0.002  # [s]: Buschmann 2014, section 5.4.3
_LINE = 1e-3  # corners that lie within this of one line span no area [m]


def swing_over(table: MotionTable, robot: Robot, world: World) -> Plan:
    """One step past the obstacles of the world, planned with and without giving way to them.

    Args:
        table: frame: link of the foot that swings, the first foot if omitted; duration [s] of the swing; cycle [s];
            step.
        robot: A floating robot with two feet.
        world: Its obstacles; level ground.

    Raises:
        ScenarioError: The world has no obstacles.
        NotSupportedError: The robot has no two feet to step with, or comes to a posture where it cannot do the step.
        ShapeError: Its legs do not reach to where the step begins.
    """
    step = _step(table, robot)
    _require_biped(robot, step)
    found, blind = swing_twice(robot, _volumes(world), step)
    judge = SwingJudge(robot, world, step, found, blind)
    trajectory = Trajectory.of(robot, found.t, found.q, found.v, schedule=_schedule(robot, world, step, found))
    return Plan(trajectory, judge.metrics(), judge.trouble(), judge.curves(), judge.judge)


def _require_biped(robot: Robot, step: SwingStep) -> None:
    """Refuse robots that do not stand on two soles."""
    if robot.base != "floating":
        raise NotSupportedError(f"`{robot.name}` has no free base: it cannot step", next_step="use a biped")
    if robot.couplings:
        raise NotSupportedError(
            f"`{robot.name}` has coupled joints, which this motion does not support",
            evidence={"couplings": len(robot.couplings)},
            next_step='set robot.mimic="reduce"',
        )
    stance, swung = (foot_contacts(robot, foot) for foot in (other_foot(robot, step.swing), step.swing))
    if others := set(robot.contacts) - {*stance, *swung}:
        raise NotSupportedError(
            f"`{robot.name}` does not stand on exactly two feet", evidence={"others": sorted(others)[:4]}
        )
    corners = robot.contact_corners(robot.home)
    if len(convex_hull(np.vstack([corners[name] for name in stance])[:, :2], tolerance=_LINE)) < 3:
        raise NotSupportedError(f"`{robot.name}` has no soles: it cannot rest on one foot", next_step="use a biped")


def _step(table: MotionTable, robot: Robot) -> SwingStep:
    """The step that the table describes."""
    if table.step is None or table.duration is None:
        raise ScenarioError("`swing_over` needs `step` and `duration`")
    given = table.step.model_dump(exclude={"gives_way"})
    return SwingStep(
        swing=_first_foot(robot) if table.frame is None else table.frame,
        duration=table.duration,
        cycle=_CYCLE if table.cycle is None else table.cycle,
        gives_way=tuple("xyz".index(axis) for axis in table.step.gives_way),
        **given,
    )


def _first_foot(robot: Robot) -> str:
    """The link of the first contact surface that has another one on the other side."""
    sides = side_pairs(robot.link_names)
    frames = [surface.frame for surface in robot.contacts.values()]
    found = next((frame for frame in frames if sides.get(frame, frame) != frame), None)
    if found is None:
        raise NotSupportedError(
            f"`{robot.name}` has no left and right contact surfaces by name",
            next_step="name the link with motion.frame",
        )
    return found


def _volumes(world: World) -> list[SweptVolume]:
    """One swept volume round each obstacle, in world."""
    if not world.obstacles:
        raise ScenarioError("there is nothing to swing over", next_step="add [[world.obstacles]]")
    fits = [stored_fit([(x.shape, np.eye(4))], 1, DEFAULT_GAIN, x.name) for x in world.obstacles]
    return [volume.placed(x.pose) for x, fit in zip(world.obstacles, fits, strict=True) for volume in fit.volumes]


def _schedule(robot: Robot, world: World, step: SwingStep, found: SwingHistory) -> ContactSchedule:
    """Both feet, the stance foot, both feet."""
    stance, swung = (foot_contacts(robot, foot) for foot in (other_foot(robot, step.swing), step.swing))
    first, last = (robot.placements(q) for q in (found.q[0], found.q[-1]))

    def standing(placements: dict[str, np.ndarray], names: tuple[str, ...]) -> Stance:
        surfaces = {name: robot.contacts[name] for name in names}
        friction = {name: min(world.friction, surface.friction) for name, surface in surfaces.items()}
        return Stance({k: Spot(placements[x.frame] @ x.placement, friction[k]) for k, x in surfaces.items()})

    stances = [standing(first, stance + swung), standing(first, stance), standing(last, stance + swung)]
    return ContactSchedule.of(stances, [0.0, step.shift, step.shift + step.duration, found.t[-1]])
