"""`StepRecovery`: stands, and steps when it is pushed beyond what it can hold."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import atan2, cos, sin, sqrt

import numpy as np
from numpy.typing import ArrayLike

from surefoot.arrays import Array
from surefoot.control.balance.catch_step import Catcher, CatchStep
from surefoot.control.balance.controller import BalanceController, BalanceSettings
from surefoot.control.balance.footing import Footing
from surefoot.control.balance.moves import Move
from surefoot.control.balance.push_observer import PushObserver
from surefoot.control.balance.timed_tasks import TimedTask
from surefoot.control.legged import leg_reach, turned, world
from surefoot.errors import NotSupportedError
from surefoot.geometry import distance_inside
from surefoot.motion import Channel, Command, World
from surefoot.robot import Robot, anatomy

__all__ = ["StepRecovery"]

_BREATH = 0.01  # least time on two feet between steps [s]
_SETTLES = 0.25  # time in which soles turn flat after a landing [s]
_DOUBT = 0.14  # how far the estimate may be off meanwhile, share of the height
_SETTLE = 0.8  # no steps before [s]
_AFTER = 1.0  # how long after a step the capture point must be well inside the support [s]
_HEIGHT_TIME = 0.15  # over which the height follows what the legs reach [s]
_STEADY = 0.2  # how far beyond the soles the ground may push to keep the trunk upright, share of the height
_AGAINST = 0.05  # the same where that brings the fall on
_FORESIGHT = 0.05  # how far into a push is looked ahead [s]


class StepRecovery(BalanceController):
    """Balances on two feet, and steps when the capture point leaves the support.

    Args:
        robot: A biped with a floating base.
        moves: What to do besides standing.
        settings: Gains.
        q0: (nq,) posture in which it begins; home if omitted.
        tasks: See `BalanceController`.
        world: See `BalanceController`.
    """

    _steps = True

    def __init__(
        self,
        robot: Robot,
        moves: Sequence[Move] = (),
        settings: BalanceSettings | None = None,
        q0: ArrayLike | None = None,
        tasks: Sequence[TimedTask] = (),
        world: World | None = None,
    ) -> None:
        if (count := len(anatomy(robot).feet)) != 2:
            raise NotSupportedError(
                f"`{robot.name}` has {count} feet; this controller steps with two",
                next_step="use `balance`, which stands on any number of feet",
            )
        super().__init__(robot, moves, settings, q0, tasks=tasks, world=world)
        self._standing = self.settings
        legs = leg_reach(robot, self.body.anatomy)
        self._highest = (1.0 - self.settings.lower) * legs.home
        self._height = self._highest
        self._omega = sqrt(self._gravity / self._highest)
        self._catcher = Catcher(self.body.feet, [foot.sole for foot in self.body.feet], legs, self._omega)
        self._after_step = replace(self.settings, swing=replace(self.settings.swing, fastest=0.0))
        self._step: CatchStep | None = None
        self.steps = 0
        """Steps that were made."""
        self._since = 0.0

    def _command(self, t: float, q: Array, v: Array) -> Command:
        com, rate, poses = self.body.look(q, v)
        dcm = com[:2] + rate[:2] / self._omega
        dt = 0.0 if self._t is None else t - self._t
        self._since += dt
        if self.steps or self._step is not None:
            self._lower(dt, poses)
        self.body.may_tip = self._step is not None or (bool(self.steps) and self._since < _AFTER)
        if self._step is None:
            step = None if self._t is None else self._needed_step(t, com[:2], dcm, poses)
            if step is None:
                return super()._command(t, q, v)
            self._step = step
            self.body.release(step.foot)
        self._t, step = t, self._step
        step.advance(dt, poses, dcm, com)
        touches = None if self._touching is None else self._touching[step.foot] >= self.settings.touch
        if step.has_landed(touches):
            self._land(step, com, poses)
            return super()._command(t, q, v)
        self._lead_step(step, com, dcm)
        return self.body.command(t, q, v)

    def _needed_step(self, t: float, com: Array, dcm: Array, poses: Sequence[Array]) -> CatchStep | None:
        """The step to make now, if any.

        A robot steps when its capture point leaves the support, but not to where it would fall as well while its trunk
        can still bring it back (`TrunkSwing.reach`). After a step, it steps on until the capture point is well inside.
        """
        if t < _SETTLE or self._since < _BREATH or self._lifts:
            return None
        seen, _ = self.footing.seen(np.array([*dcm, 0.0]), np.zeros(3))
        catcher, has_stepped = self._catcher, bool(self.steps) and self._since < _AFTER
        push = 0.0 if has_stepped else self._pushed.push - self._pushed.mean
        inside = float(distance_inside(seen[:2] + _FORESIGHT * push, self._polygon(range(2))))
        self.settings = self._after_step if has_stepped else self._standing
        self._is_capturable = True
        doubt = _DOUBT * self._highest * max(0.0, 1.0 - self._since / _SETTLES) if self.steps > 1 else 0.0
        if inside >= -doubt:
            return None
        step, is_held = catcher.choose(dcm, poses, com), -inside <= self._held_beyond
        self._is_capturable = is_held or step.found.viable
        return step if catcher.margin(step) >= catcher.well_inside or not is_held else None

    def _land(self, step: CatchStep, com: Array, poses: Sequence[Array]) -> None:
        self.body.hold(step.foot, poses[step.foot])
        self._step, self._since = None, 0.0
        self.steps += 1
        heading = atan2(sum(sin(pose[3]) for pose in poses), sum(cos(pose[3]) for pose in poses))
        self.footing = Footing(poses, self.footing.soles, heading)
        self._polygons.clear()
        self._pushed = PushObserver()
        self._home = np.array([0.0, 0.0, self._home[2]])
        self._com, _ = self.footing.seen(com, np.zeros(3))
        self._com_ref = self._home.copy()
        self._zmp = self._com[:2].copy()
        self.body.forget_force()

    def _lead_step(self, step: CatchStep, com: Array, dcm: Array) -> None:
        body, yaw = self.body, step.anchor[3]
        at, w = step.seen(com), self._omega
        swing = step.swing
        body.lead(
            step.foot, world(step.anchor, swing.position), turned(swing.velocity, yaw), turned(swing.acceleration, yaw)
        )
        shares = [0.0, 0.0]
        shares[step.support] = 1.0
        body.share(shares, [np.inf, np.inf])
        self._dcm = self._dcm_ref = step.seen(dcm)
        beyond = self._keep_trunk(step)
        self._is_capturable = step.found.viable
        self._zmp = step.found.cop + beyond
        body.lead_com(turned(w * w * (at - self._zmp), yaw), step.anchor[2] + self._height, com)
        body.lead_height(0.0, 0.0)
        body.trunk.turn(yaw)

    def _lower(self, dt: float, poses: Sequence[Array]) -> None:
        """Bring the centre of mass to a height at which the legs reach the feet, where they are or will be."""
        apart = poses[1] - poses[0] if self._step is None else self._step.landing
        wanted = min(self._highest, self._catcher.legs.height_over(float(np.hypot(apart[0], apart[1]))))
        self._height += min(1.0, dt / _HEIGHT_TIME) * (wanted - self._height)
        self._home[2] = self._height / (1.0 - self.settings.lower)

    def _keep_trunk(self, step: CatchStep) -> Array:
        """Keep the trunk upright while a leg swings; (2,) how far beyond the CoP the ground pushes [m]."""
        body, yaw = self.body, step.anchor[3]
        turn, _ = body.trunk_turn()
        rate = body.trunk_rate()
        inertia, kp = body.trunk_inertia, self.settings.trunk_stiffness
        upright = inertia * (-kp * turned(turn, -yaw) - 2.0 * sqrt(kp) * turned(rate, -yaw))
        push = step.recoil * body.weight * step.swing.acceleration
        moment = upright + np.array([push[1], -push[0], 0.0])
        beyond = np.array([moment[1], -moment[0]]) / body.weight
        away = self._dcm - step.found.cop
        away = away / max(float(np.hypot(away[0], away[1])), 1e-9)
        beyond = beyond * min(1.0, _STEADY * self._highest / max(float(np.hypot(beyond[0], beyond[1])), 1e-9))
        beyond = beyond - min(0.0, float(beyond @ away) + _AGAINST * self._highest) * away
        body.spin(turned(np.array([-beyond[1], beyond[0], 0.0]) * body.weight + [0.0, 0.0, moment[2]], yaw), 0.0)
        return beyond

    @property
    def channels(self) -> list[Channel]:
        """Columns of the log; places are relative to the feet, or to the foot that stands during a step."""
        return [
            *super().channels,
            Channel("phase", "1", None, lambda: 0.0 if self._step is None else 2.0),
            Channel("steps", "1", None, lambda: float(self.steps)),
            Channel("support", "1", None, lambda: -1.0 if self._step is None else float(self._step.support)),
            Channel("landing", "m", 2, lambda: np.full(2, np.nan) if self._step is None else self._step.landing[:2]),
            Channel("late", "s", None, lambda: 0.0 if self._step is None else self._step.late),
        ]
