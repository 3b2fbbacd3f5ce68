"""`BalanceController`: stands on any number of feet, makes moves, and takes pushes without a step."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from math import atan2, sqrt

import numpy as np
from numpy.typing import ArrayLike

from surefoot.arrays import Array
from surefoot.control.balance.body import BalancedBody
from surefoot.control.balance.foot_lift import DONE, LOAD, SHIFT, UNLOAD, UP, FootLift
from surefoot.control.balance.footing import Footing
from surefoot.control.balance.hands import Hands
from surefoot.control.balance.moves import Lift, Move, Reach, Timed, Wipe, Wishes, rise
from surefoot.control.balance.push_observer import PushObserver
from surefoot.control.balance.timed_tasks import TimedTask, TimedTasks
from surefoot.control.balance.timeline import Timeline
from surefoot.control.balance.trunk_swing import TrunkSwing
from surefoot.control.legged import OutputKind, TickGuard, closest_inside, com_over_soles, placement_of, turned
from surefoot.control.whole_body import WholeBodySettings
from surefoot.errors import one_of
from surefoot.motion import Channel, Command, Observation, State, World
from surefoot.robot import Robot
from surefoot.tasks import FramePosition, Task

__all__ = ["BalanceController", "BalanceSettings"]

_SOLE_SHARE = 1.0  # in which centres of pressure may lie
_LONGEST_TICK = 0.1  # [s]
_LOWER_TIME = 0.8  # over which the robot lowers itself and shifts its weight well inside at the beginning [s]
_HOLD = 1.5  # how much farther than by `TrunkSwing.reach`, without overlap of its phases, the trunk was seen to hold
_WELL_INSIDE = 0.6  # share of the support polygon over which the centre of mass is kept at rest


@dataclass(frozen=True)
class BalanceSettings:
    """How to balance.

    Args:
        dcm_gain: How fast errors of the DCM vanish [1/s].
        ahead: How far the ZMP may be ahead of the DCM, besides what holds a steady force, share of the height of the
            centre of mass.
        lead: How far into a push is looked ahead [s].
        lower: How much lower than at the beginning the centre of mass is kept, share of its height: straight legs
            cannot push.
        trunk_stiffness: With which the trunk is kept upright [1/s²].
        swing: What the trunk does when the DCM leaves the support.
        touch: Probability of touch from which on a foot stands.
        output: What the drives are told: torques; positions; or positions that give way to measured forces.
    """

    dcm_gain: float = 10.0
    ahead: float = 0.15
    lead: float = 0.0
    lower: float = 0.06
    trunk_stiffness: float = 100.0
    swing: TrunkSwing = field(default_factory=TrunkSwing)
    touch: float = 0.5
    output: OutputKind = "torque"


class BalanceController:
    """Balances a robot on its feet by whole-body control.

    The centre of mass c follows a reference by its divergent component of motion ξ = c + ċ/ω:

        p = c_ref − c̈_ref/ω² + (1 + k/ω) (ξ − ξ_ref),   c̈ = ω² (c − p)        [control.dcm-tracking]

    with p kept inside the support polygon and ω² = (g + z̈)/z. When ξ leaves the support, the trunk swings after it
    (`TrunkSwing`). Against steady forces it leans (`PushObserver`). All is relative to the feet that stand (`Footing`),
    so that it moves with the estimate.

    Args:
        robot: A robot with feet and a floating base.
        moves: What to do besides standing.
        settings: Gains.
        q0: (nq,) posture in which it begins; home if omitted.
        body: Margins of the whole-body problem.
        tasks: What to hold or look at besides; `tasks.begin` and `tasks.end` begin and end them at run time.
        world: Links keep off its obstacles, if it has any.
    """

    _steps = False

    def __init__(
        self,
        robot: Robot,
        moves: Sequence[Move] = (),
        settings: BalanceSettings | None = None,
        q0: ArrayLike | None = None,
        body: WholeBodySettings | None = None,
        tasks: Sequence[TimedTask] = (),
        world: World | None = None,
    ) -> None:
        self.robot, self.settings = robot, settings or BalanceSettings()
        self.q0 = robot.checked_q(robot.home if q0 is None else q0)
        self.timeline = Timeline(moves)
        frames = sorted({move.frame for move in moves if isinstance(move, Reach)})
        hands = sorted({move.contact for move in moves if isinstance(move, Wipe)})
        further: list[Task] = [FramePosition(name, np.zeros(3), name=f"reach {name}", priority=1) for name in frames]
        further += [task.task for task in tasks]
        margins = body or WholeBodySettings(sole_share=_SOLE_SHARE)
        output, lower = self.settings.output, self.settings.lower
        self.body = BalancedBody(robot, self.q0, further, margins, hands, output, self._steps, lower, world)
        self._guard = TickGuard(self.body)
        self._hands, self.tasks = Hands(self.body, frames), TimedTasks(tasks, self.body)
        self._feet = [foot.name for foot in self.body.feet]
        for move in moves:
            if isinstance(move, Lift) and move.foot not in self._feet:
                raise one_of("foot", move.foot, self._feet)
        self._sole_share, self._gravity = margins.sole_share, float(np.linalg.norm(robot.tree.gravity))
        self._t: float | None = None
        self._touching: list[float] | None = None
        self._lifts: dict[int, FootLift] = {}
        self._pushed, self._hand_error = PushObserver(), 0.0
        self._com = self._com_ref = np.zeros(3)
        self._dcm = self._dcm_ref = self._zmp = np.zeros(2)
        self._polygons: dict[tuple[int, ...], Array] = {}
        height = (1.0 - lower) * com_over_soles(robot, self.q0)
        omega = sqrt(self._gravity / height)
        b = float(min(self.body.trunk_inertia[:2])) / (robot.mass * height * omega)
        self._held_beyond = _HOLD * self.settings.swing.reach(omega, b)  # of the soles [m]
        self._is_capturable = True

    def observe(self, observation: Observation) -> None:
        """Take what is known about contacts.

        Args:
            observation: Now.
        """
        outputs = [] if self.body.output is None else [self.body.output.observe]
        self._touching = self._guard.observe(observation, self._hands.observe, *outputs)

    def command(self, t: float, state: State) -> Command:
        """See `TickGuard.command`: nothing is raised, `body.trouble` names what went wrong."""
        return self._guard.command(t, state, self._command)

    def _command(self, t: float, q: Array, v: Array) -> Command:
        com, rate, poses = self.body.look(q, v)
        dt = 0.0 if self._t is None else min(max(t - self._t, 0.0), _LONGEST_TICK)
        if self._t is None:
            self._begin(com, poses)
        self._t = t
        self.footing.follow(poses, [not self._in_air(k) for k in range(len(poses))], dt)
        wishes = self._make_moves(t, dt, poses)
        self._lead_com(com, rate, wishes.com, dt)
        self._lead_feet()
        stance = placement_of(self.footing.frame)
        self._hands.lead(q, stance, wishes, dt)
        self.tasks.lead(t, q, stance)
        self.body.trunk.turn(self.footing.frame[3])
        command = self.body.command(t, q, v)
        self._hand_error = max(self._hands.error(wishes), self.tasks.error("m"))
        return command

    @property
    def solver_time(self) -> float:
        """Wall-clock time of the last solution [s]."""
        return self.body.solver_time

    def _begin(self, com: Array, poses: Sequence[Array]) -> None:
        ahead = self.body.anatomy.forward
        soles = [self._sole_share * foot.sole for foot in self.body.feet]
        self.footing = Footing(poses, soles, atan2(ahead[1], ahead[0]))
        for k, pose in enumerate(poses):
            self.body.hold(k, pose)
        at, polygon = self.footing.seen(com, np.zeros(3))[0], self._polygon(range(len(poses)))
        middle = polygon.mean(axis=0)
        self._home = np.array([*closest_inside(at[:2], middle + _WELL_INSIDE * (polygon - middle)), at[2]])
        self._zmp, self._first = at[:2], at[:2] - self._home[:2]

    # -- moves ----------------------------------------------------------------------------------------------------

    def _make_moves(self, t: float, dt: float, poses: Sequence[Array]) -> Wishes:
        """What the moves wish for; begins, continues and ends lifts."""
        wishes = Wishes()
        for k, move, s in self.timeline.running(t):
            if isinstance(move, Timed):
                move.add(s, wishes)
            elif isinstance(move, Lift):
                if k not in self._lifts:
                    self._lifts[k] = FootLift(move, self._feet.index(move.foot), self.footing, self._home[:2])
                self._lift(k, dt, poses)
                wishes.com[:, :2] += self._lifts[k].com if k in self._lifts else 0.0
        return wishes

    def _lift(self, k: int, dt: float, poses: Sequence[Array]) -> None:
        lift = self._lifts[k]
        error = self._dcm - self._dcm_ref
        touches = None if self._touching is None else self._touching[lift.foot] >= self.settings.touch
        if not lift.advance(dt, float(np.hypot(error[0], error[1])), touches):
            return
        if lift.phase == UP:
            self.body.release(lift.foot)
        elif lift.phase == LOAD:
            self.footing.put(lift.foot, poses[lift.foot])
            self._polygons.clear()
            self.body.hold(lift.foot, poses[lift.foot])
        elif lift.phase == DONE:
            self.timeline.end(k)
            del self._lifts[k]

    def _in_air(self, foot: int) -> bool:
        return any(lift.foot == foot and lift.in_air for lift in self._lifts.values())

    def _carrying(self) -> list[int]:
        """Feet that belong to the support polygon."""
        off = {lift.foot for lift in self._lifts.values() if not lift.carries}
        return [k for k in range(len(self._feet)) if k not in off]

    def _polygon(self, feet: Sequence[int]) -> Array:
        key = tuple(feet)
        if key not in self._polygons:
            self._polygons[key] = self.footing.polygon(key)
        return self._polygons[key]

    # -- tasks ----------------------------------------------------------------------------------------------------

    def _lead_com(self, com: Array, rate: Array, wished: Array, dt: float) -> None:
        s = self.settings
        push = None if self.body.force is None else turned(self.body.force[:2], -self.footing.frame[3])
        made = self._zmp if push is None else self._com[:2] - self._com_ref[2] / self.body.weight * push
        self._com, speed = self.footing.seen(com, rate)
        settled = rise((self._t or 0.0), _LOWER_TIME)
        wished[:, :2] += np.outer([1.0, 0.0, 0.0] - settled, self._first)
        wished[:, 2] -= _lowered(self.body, self._t or 0.0) * s.lower * self._home[2]
        self._com_ref = self._home + wished[0]
        w = sqrt((self._gravity + wished[2, 2]) / self._com_ref[2])
        self._dcm = self._com[:2] + speed[:2] / w
        self._pushed.update(self._dcm, made, w, dt)
        polygon = self._polygon(self._carrying())
        against = self._pushed.mean / w
        self._dcm_ref = self._com_ref[:2] + wished[1, :2] / w - against
        soon = self._dcm + s.lead * (self._pushed.push - self._pushed.mean)
        ahead = wished[1, :2] / -w - wished[2, :2] / w**2 + s.dcm_gain / w * (soon - self._dcm_ref)
        far = float(np.hypot(ahead[0], ahead[1]))
        wanted = soon + against + ahead * min(1.0, s.ahead * self._com_ref[2] / max(far, 1e-9))
        beyond, edge = self._turn_trunk(soon, polygon, w)
        if not self._steps:
            outside = soon - (soon if edge is None else closest_inside(soon, polygon))
            self._is_capturable = float(np.hypot(outside[0], outside[1])) <= self._held_beyond
        self._zmp = beyond + closest_inside((wanted if edge is None else wanted + edge) - beyond, polygon)
        acceleration = turned(w * w * (self._com[:2] - self._zmp), self.footing.frame[3])
        height = self.footing.frame[2] + self._com_ref[2] - self._dip()
        self.body.lead_com(acceleration, height, com)
        self.body.lead_height(wished[1, 2], wished[2, 2])

    def _dip(self) -> float:
        """How much lower the centre of mass is when legs and trunk lean, without longer legs [m]."""
        away, (turn, _) = self._com[:2] - self._com_ref[:2], self.body.trunk_turn()
        lean = 0.5 * float(turn[0] ** 2 + turn[1] ** 2)
        return 0.5 * float(away @ away) / self._com_ref[2] + self.body.trunk_lever * lean

    def _turn_trunk(self, dcm: Array, polygon: Array, w: float) -> tuple[Array, Array | None]:
        """Turn the trunk upright, or swing it if the DCM leaves the support.

        Returns:
            (2,) how far beyond the soles that lets the ground push [m], and the normal of the edge over which the robot
            would fall.
        """
        yaw = self.footing.frame[3]
        turn, momentum = (turned(x, -yaw) for x in self.body.trunk_turn())
        inertia, kp = self.body.trunk_inertia, self.settings.trunk_stiffness
        kd = 2.0 * sqrt(kp)
        rate = momentum / inertia
        upright = -kp * turn - kd * rate
        lean, tilting, righting = (np.array([x[1], -x[0]]) for x in (turn, rate, upright))
        b = inertia[1::-1] / (self.robot.mass * self._com_ref[2] * w)
        swing = self.settings.swing.decide(dcm, polygon, lean, tilting, righting, w, b)
        extra = swing.acceleration - righting
        moment = inertia * np.array([-extra[1], extra[0], 0.0])
        self.body.spin(turned(moment - inertia * kp * turn, yaw), kd)
        total = moment + inertia * upright
        free = self.body.knees.free  # legs that are led by their joints leave the trunk alone
        return free / self.body.weight * np.array([total[1], -total[0]]), swing.edge if free == 1.0 else None

    def _lead_feet(self) -> None:
        most = np.full(len(self._feet), np.inf)
        for lift in self._lifts.values():
            most[lift.foot] = lift.load * self.body.weight
            if lift.in_air:
                yaw, pose = self.footing.frame[3], self.footing.in_world(lift.pose)
                self.body.lead(lift.foot, pose, turned(lift.rate, yaw), turned(lift.change, yaw))
        shares = _unloading(self.footing.shares(self._zmp, self._carrying()), self._lifts.values())
        self.body.share(shares.tolist(), most.tolist())

    @property
    def channels(self) -> list[Channel]:
        """Columns of the log; places are relative to the feet."""
        return [
            Channel("com", "m", 3, lambda: self._com),
            Channel("com_reference", "m", 3, lambda: self._com_ref),
            Channel("dcm", "m", 2, lambda: self._dcm),
            Channel("dcm_reference", "m", 2, lambda: self._dcm_ref),
            Channel("zmp_command", "m", 2, lambda: self._zmp),
            Channel("capturable", "1", None, lambda: float(self._is_capturable)),
            Channel("hand_error", "m", None, lambda: self._hand_error),
            Channel("turn_error", "rad", None, lambda: self.tasks.error("rad")),
            *self._hands.channels,
            *self._guard.channels,
        ]


def _lowered(body: BalancedBody, t: float) -> Array:
    """(3,) share of the way down from the beginning; velocity and acceleration."""
    is_led = body.legs_are_straight
    return np.array([body.knees.lead(t / _LOWER_TIME), 0.0, 0.0]) if is_led else rise(t, _LOWER_TIME)


def _unloading(shares: Array, lifts: Iterable[FootLift]) -> Array:
    """Shares of the weight with less on feet that are being unloaded, from what they carried before."""
    for lift in lifts:
        if lift.phase == UNLOAD:
            shares *= 1.0 - lift.load
            shares[lift.foot] = lift.load
        elif lift.phase == SHIFT:
            lift.carried = float(shares[lift.foot])
    return shares
