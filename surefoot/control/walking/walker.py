"""`WalkingController`: walks where its step source says, by whole-body control."""

from __future__ import annotations

from collections.abc import Sequence
from math import hypot, sqrt

import numpy as np
from numpy.typing import ArrayLike

from surefoot.arrays import Array
from surefoot.control.legged import (
    LeggedBody,
    TickGuard,
    flat_pose,
    leg_reach,
    local,
    placement_of,
    require_flat_feet,
    turned,
    world,
)
from surefoot.control.walking.feedback import DcmFeedback
from surefoot.control.walking.plan import AHEAD, SHIFT, StepPlan
from surefoot.control.walking.settings import WalkSettings, walk_settings, yaw_share
from surefoot.control.walking.swing import ArmSwing, SwingFoot
from surefoot.control.whole_body import WholeBodySettings
from surefoot.errors import NotSupportedError
from surefoot.geometry import distance_inside
from surefoot.motion import Channel, Command, Footstep, Observation, State, StepSource
from surefoot.robot import Robot, anatomy
from surefoot.tasks import FrameOrientation, Task

__all__ = ["WalkingController"]

STAND, DOUBLE, SWING = range(3)
_STEP = 0.35  # step for which the default settings are made, share of the leg length
_FAR = 0.5  # distance of the feet for which arms have room to swing, share of the leg length
_NEAR = 0.05  # errors of the DCM with which a foot may leave the ground, share of the leg length
_BREATH = 0.03  # least time on two feet between steps that catch the robot [s]
_LOST = 0.25  # after so long without a solution, a walk begins again where the robot stands [s]
_PATIENCE = 0.5  # how long a step may be put off [s]
_TOO_LATE = 0.08  # remaining time below which a step is not changed any more [s]
_HEIGHT_TIME = 0.15  # over which the height follows what the legs reach [s]
_LEAVES = 0.15  # share of the weight that a foot may still carry just before it leaves


class WalkingController:
    """Walks a biped.

    The plan is held in the frame of the foot that stands (`StepPlan`), so that it moves with the estimate. At each step
    the source is asked for the next ones; the DCM over them is followed by whole-body control, c̈ = ω² (c − p), with
    the ZMP p of `DcmFeedback`. A foot that meets the ground early stands at once; one that is late goes on
    down until it does. Where p does not suffice, the step lands elsewhere or earlier (`reduced.StepAdapter`).

    Args:
        robot: A biped with a floating base.
        source: Where to step.
        settings: Times, heights and gains; for the size of the robot if omitted.
        q0: (nq,) posture in which it begins; home if omitted.
        body: Margins of the whole-body problem.
        tasks: What to do meanwhile, beside the centre of mass; orientations turn with the heading.
    """

    def __init__(
        self,
        robot: Robot,
        source: StepSource,
        settings: WalkSettings | None = None,
        q0: ArrayLike | None = None,
        body: WholeBodySettings | None = None,
        tasks: Sequence[Task] = (),
    ) -> None:
        self.robot, self.source, self.tasks = robot, source, tuple(tasks)
        _require_biped(robot)
        self.q0 = robot.checked_q(robot.home if q0 is None else q0)
        self._legs = legs = leg_reach(robot, anatomy(robot))
        self.settings = settings or walk_settings(robot, _STEP * legs.length)
        self._height = self.settings.height
        self.omega = sqrt(float(np.linalg.norm(robot.tree.gravity)) / self.settings.height)
        yaw = yaw_share(self.settings, self.omega)
        self.body = LeggedBody(robot, self.q0, self.settings.height, self.tasks, body, yaw=yaw)
        self._guard = TickGuard(self.body)
        held = [task for task in self.tasks if isinstance(task, FrameOrientation)]
        for task in held:
            self.body.trunk.add(self.body[task.name])
        self.ahead = StepPlan(self.body.feet, self.body.soles, self.settings, legs, self.omega)
        at, _, feet = self.body.look(self.q0, np.zeros(robot.nv))
        self._start_height = float(at[2] - np.mean([foot[2] for foot in feet]))
        self._t: float | None = None
        self._touching: list[float] | None = None
        self.phase = STAND
        self.steps, self.adapted_steps = 0, 0
        self._clock, self._length, self._hurry = 0.0, 0.0, 0.0  # [s]; the last is 0 but for steps that catch the robot
        self._swing: SwingFoot | None = None
        self._lands = list(self.body.normals)  # (3,) normal of the ground where the other foot lands, by support
        self._arms = ArmSwing(robot, self.body["posture"], _FAR * legs.length, [task.frame for task in held])
        self._feedback = DcmFeedback(self.settings.dcm_gain, self.settings.integral_gain, self.omega)
        self._com = self.dcm = self.dcm_reference = self.zmp_reference = self.zmp = np.zeros(2)

    def observe(self, observation: Observation) -> None:
        """Take what is known about contacts.

        Args:
            observation: Now.
        """
        self._touching = self._guard.observe(observation)

    def command(self, t: float, state: State) -> Command:
        """See `TickGuard.command`: nothing is raised."""
        return self._guard.command(t, state, self._command)

    def _command(self, t: float, q: Array, v: Array) -> Command:
        com, rate, poses = self.body.look(q, v)
        dt = t - (t if self._t is None else self._t)
        if self._t is None or t - self._guard.sound > _LOST:
            self._begin(com, rate, poses)
            self._guard.sound = t
        self._t, self._clock = t, self._clock + dt
        self.ahead.follow(poses[self.ahead.support], dt)
        self._measure(com, rate)
        if self._change_phase(t, q, v, poses):
            self._measure(com, rate)
        self._adapt_step()
        self._lead_feet(dt)
        self._lead_com(com, dt)
        turn = self._swing.position[3] if self._swing is not None else self.ahead.other[3]
        self.body.trunk.turn(self.ahead.anchor[3] + 0.5 * turn)
        return self.body.command(t, q, v)

    def _measure(self, com: Array, rate: Array) -> None:
        self._com, speed = self.ahead.seen(com, rate)
        self.dcm = self._com + speed / self.omega

    @property
    def solver_time(self) -> float:
        """Wall-clock time of the last solution [s]."""
        return self.body.solver_time

    # -- phases ---------------------------------------------------------------------------------------------------

    def _begin(self, com: Array, rate: Array, poses: Sequence[Array]) -> None:
        self.phase, self._clock, self._length, self._swing = STAND, 0.0, self.settings.settle, None
        self.ahead.coming, self._hurry = [], 0.0
        self.ahead.stand_on(0, poses)
        self._measure(com, rate)
        for k in range(2):
            self.body.hold(k, poses[k])
        self.ahead.rest(0.5 * (self.ahead.zmp_of(0) + self.ahead.other_zmp()), self._length)

    def _change_phase(self, t: float, q: Array, v: Array, poses: Sequence[Array]) -> bool:
        """Go on to the next phase if it is time; returns whether it was."""
        before = self.phase, self.ahead.support, self.steps
        if self.phase == SWING:
            if self._has_landed():
                self._land(t, poses)
        elif self._must_step(t) and self._catch(poses):
            pass
        elif self.phase == DOUBLE and self.ahead.coming:
            if self._must_lift_off(q, v) or (self._clock >= self._length and self._may_lift_off()):
                self._lift_off(poses, self._hurry or self.settings.single)
        elif self._clock >= self._length:
            self._wait(t, poses)
        return before != (self.phase, self.ahead.support, self.steps)

    def _must_step(self, t: float) -> bool:
        """Whether the DCM of a robot that stands has left its support."""
        if self.ahead.coming or t < self.settings.settle or (self.phase == DOUBLE and self._clock < _BREATH):
            return False
        return bool(distance_inside(self.dcm, self.ahead.polygon) < 0.0)

    def _catch(self, poses: Sequence[Array]) -> bool:
        """Step where the DCM asks for it; returns whether a step helps."""
        dcm = world(self.ahead.anchor, np.array([*self.dcm, 0.0, 0.0]))[:2]
        found = self.ahead.recovery(dcm, poses)
        if found is None:
            return False
        support, landing, self._hurry = found
        self._stand_on(support, poses)
        self.ahead.coming = [landing]
        self.phase, self._clock, self._length = DOUBLE, 0.0, SHIFT
        self.ahead.double_support(self.ahead.zmp_of(support), SHIFT)
        return True

    def _may_lift_off(self) -> bool:
        """Whether the DCM is near its plan, or so far off that only a step helps, or there was time enough."""
        near = hypot(*(self.dcm - self.ahead.reference(self._clock)[1])) < _NEAR * self._legs.length
        is_safe = bool(distance_inside(self.dcm, self.ahead.polygon) > 0.0)
        return near or not is_safe or self._clock > self._length + _PATIENCE

    def _must_lift_off(self, q: Array, v: Array) -> bool:
        """Whether a joint of the leg that leaves is at its limit, and the other leg can carry the robot alone.

        A foot that is held flat beyond what its ankle can do would hold back the whole robot.
        """
        here = self.ahead.support
        stops = self.body.legs[1 - here].stop(q, v)
        return stops and bool(distance_inside(self.dcm, self.body.soles[here]) > -self.ahead.worth)

    def _has_landed(self) -> bool:
        if self._touching is None:
            return self._clock >= self._length
        sure = self._touching[1 - self.ahead.support]
        return self._clock >= self.settings.earliest * self._length and sure >= self.settings.touch

    def _wait(self, t: float, poses: Sequence[Array]) -> None:
        """Stand until there is somewhere to go; begin with the foot that makes more way."""
        ways: dict[int, tuple[float, list[Array]]] = {}
        for support in range(2):
            steps = self._asked(t, support, poses[support])
            other = local(poses[support], poses[1 - support])
            if self.ahead.is_worth(steps, other):
                way = steps[0][:2] - other[:2]
                ways[support] = hypot(way[0], way[1]), steps
        zmp, _ = self.ahead.reference(self._clock)
        if not ways:
            if self.phase != STAND:
                self.phase, self._clock, self._length = STAND, 0.0, 0.0
                self.ahead.rest(zmp, 0.0)
            return
        support = max(ways, key=lambda k: ways[k][0])
        start = world(self.ahead.anchor, np.array([*zmp, 0.0, 0.0]))
        self._stand_on(support, poses)
        self.ahead.coming = ways[support][1]
        self.phase, self._clock, self._length = DOUBLE, 0.0, self.settings.first
        self.ahead.double_support(local(self.ahead.anchor, start)[:2], self._length)

    def _asked(self, t: float, support: int, pose: Array) -> list[Array]:
        """The next steps, relative to the support."""
        steps = self.source.upcoming(t, Footstep(self.body.feet[support].name, placement_of(pose)), AHEAD)
        self._lands[support] = steps[0].T[:3, 2] if steps else self.body.normals[support]
        return [local(pose, flat_pose(step.T)) for step in steps]

    def _stand_on(self, support: int, poses: Sequence[Array]) -> None:
        z, yaw = self.ahead.anchor[2:]
        self.ahead.stand_on(support, poses)
        self._feedback.turn(yaw - self.ahead.anchor[3])
        self._height += z - self.ahead.anchor[2]

    def _lift_off(self, poses: Sequence[Array], duration: float) -> None:
        s, foot, self._hurry = self.settings, 1 - self.ahead.support, 0.0
        self.phase, self._clock, self._length = SWING, 0.0, duration
        self.ahead.lift_off(duration, poses[foot])
        normals = self.body.normals[foot], self._lands[self.ahead.support]
        self._swing = SwingFoot(self.ahead.other, duration, s.lift, s.landing_speed, normals)
        self.body.release(foot)

    def _land(self, t: float, poses: Sequence[Array]) -> None:
        """The swing foot stands; it becomes the support."""
        landed, was_last = 1 - self.ahead.support, len(self.ahead.planned) == 1
        self.steps += 1
        self.adapted_steps += self.ahead.is_adapted
        self.body.hold(landed, poses[landed])
        self._swing = None
        self._stand_on(landed, poses)
        self.ahead.coming = [] if was_last else self._asked(t, landed, poses[landed])
        self._length = max(0.0, self._length - self._clock) + self.settings.double
        self.phase, self._clock = DOUBLE, 0.0
        if self.ahead.coming:
            self.ahead.double_support(self.ahead.other_zmp(), self._length)
        else:
            self._length = self.ahead.close(self._length)

    def _adapt_step(self) -> None:
        if self.phase == SWING and self._swing is not None and self._length - self._clock > _TOO_LATE:
            at, soonest = self._swing.position[:2], self._swing.soonest(self.ahead.coming[0])
            self._length = self.ahead.adapt(self.dcm, self._clock, self._length, at, soonest)

    def _lead_feet(self, dt: float) -> None:
        plan, swing = self.ahead, self._swing
        here, there = plan.support, 1 - plan.support
        shares, most, way = [0.0, 0.0], [np.inf, np.inf], (float(plan.other[0]), 0.0, 0.0)
        if self.phase == SWING and swing is not None:
            swing.advance(dt, plan.coming[0], self._length - self._clock)
            self.body.normals[there] = swing.normal
            rates = (turned(rate, plan.anchor[3]) for rate in (swing.velocity, swing.acceleration))
            self.body.lead(there, world(plan.anchor, swing.position), *rates)
            way = swing.ahead
        else:
            shares[there] = plan.share_of_other(plan.reference(self._clock)[0])
        self._arms.lead(here, way)
        shares[here] = 1.0 - shares[there]
        if self.phase == DOUBLE and self.steps and not self._hurry:
            most[here] = self.body.weight * (0.1 + 1.5 * self._clock / self.settings.ramp)
        if self.phase == DOUBLE and plan.coming and not self._hurry:
            most[there] = self.body.weight * (_LEAVES + 1.5 * max(0.0, 1.0 - self._clock / self._length))
        self.body.share(shares, most)

    def _lead_com(self, com: Array, dt: float) -> None:
        s, w, plan = self.settings, self.omega, self.ahead
        t = min(self._clock, self._length) if self.phase == SWING else self._clock
        self.zmp_reference, self.dcm_reference = plan.reference(t)
        shift = plan.moved_by_leg(t) if self.phase == SWING else np.zeros(2)
        self.zmp = self._feedback.zmp(self.dcm - self.dcm_reference, self.zmp_reference, plan.polygon + shift, dt)
        settles = self.phase == STAND and not self.steps
        blend = self.body.knees.lead((self._t or 0.0) / max(s.settle, 1e-3)) if settles else 1.0
        height = self._start_height + blend * (self._within_reach(dt) - self._start_height)
        acceleration = turned(w * w * (self._com - self.zmp), plan.anchor[3])
        self.body.lead_com(acceleration, plan.anchor[2] + height, com)

    def _within_reach(self, dt: float) -> float:
        """Height of the centre of mass that the legs reach with the feet where they are, and where they land [m]."""
        places = [self.ahead.other, *self.ahead.coming[:1]]
        reached = [float(x[2]) + self._legs.height_over(hypot(x[0], x[1])) for x in places]
        wanted = min(self.settings.height, *reached)
        self._height += min(1.0, dt / _HEIGHT_TIME) * (wanted - self._height)
        return self._height

    @property
    def channels(self) -> list[Channel]:
        """Columns of the log; places are relative to the foot that stands."""
        return _channels(self)


def _require_biped(robot: Robot) -> None:
    if len(anatomy(robot).feet) != 2:
        raise NotSupportedError(
            f"`{robot.name}` has {len(anatomy(robot).feet)} feet; this controller walks bipeds",
            next_step="group its contacts in `[anatomy.feet]` of its side file",
        )
    require_flat_feet(robot, anatomy(robot))


def _channels(walker: WalkingController) -> list[Channel]:
    w, plan = walker, walker.ahead
    return [
        Channel("phase", "1", None, lambda: float(w.phase)),
        Channel("support", "1", None, lambda: float(plan.support)),
        Channel("steps", "1", None, lambda: float(w.steps)),
        Channel("dcm", "m", 2, lambda: w.dcm),
        Channel("dcm_reference", "m", 2, lambda: w.dcm_reference),
        Channel("zmp_reference", "m", 2, lambda: w.zmp_reference),
        Channel("zmp_command", "m", 2, lambda: w.zmp),
        Channel("landing", "m", 2, lambda: plan.coming[0][:2] if plan.coming else np.full(2, np.nan)),
        Channel("late", "s", None, lambda: max(0.0, w._clock - w._length) if w.phase == SWING else 0.0),
        Channel("capturable", "1", None, lambda: float(plan.is_capturable)),
        *walker._guard.channels,
    ]
