"""`Catcher`: the step that catches a robot whose capture point leaves its support, and how the foot gets there."""

from __future__ import annotations

from collections.abc import Sequence
from math import cos, exp, sin

import numpy as np

from surefoot.arrays import Array
from surefoot.control.legged import LegReach, local, turned, wrapped
from surefoot.control.walking import SwingFoot
from surefoot.geometry import convex_hull, distance_inside
from surefoot.reduced import AdaptedStep, NominalStep, Side, StepAdapter, StepLimits, StepWeights, capture_box
from surefoot.robot import Foot

__all__ = ["CatchStep", "Catcher"]

_FAR, _WIDE = 0.6, 0.5  # furthest landing ahead and beyond the distance of the feet at home, shares of the leg length
_LEAN = 1.3  # the same by what ankles and hips allow with flat soles, shares of `LegReach.aside`; both legs lean
_APART = 0.03  # least gap between the soles, share of the leg length
_SOLE = 0.85  # share of the sole in which the centre of pressure is planned
_QUICKEST, _USUAL, _SLOWEST = 0.7, 1.0, 2.0  # duration of a step, in 1/ω
_EFFORT = 0.6  # share of the torques with which a leg is swung
_LIFT = 0.05  # height of the swing foot, share of the leg length
_LANDING_SPEED = 0.15  # of a foot that expects the ground [m/s]
_EARLIEST = 0.6  # share of the swing after which a touch ends it
_COP_WEIGHT = 1e-3  # moving the centre of pressure costs little beside another landing
_FASTEST = 3.0  # mean speed at which the rest of a swing may be covered, leg lengths per second
_SETTLED = 0.06  # remaining time below which a landing is not moved any more [s]
_ANCHOR_TIME = 0.05  # time constant with which a step follows the foot that stands [s]
_WELL_INSIDE = 0.03  # share of the leg length
_STEADIED = 0.15  # how far a leg that swings may shift the point from which the ground pushes, share of the height
_INWARD = 0.25  # where the capture point should be at landing, share of the way from the new foot to the old one


class Catcher:
    """Chooses the leg, the place and the time of a step by the dynamics of the capture point (`StepAdapter`).

    Args:
        feet: Left and right foot, in any order.
        soles: (k, 2) corners of each sole [m].
        legs: Their reach.
        omega: √(g/h) [1/s].
    """

    def __init__(self, feet: Sequence[Foot], soles: Sequence[Array], legs: LegReach, omega: float) -> None:
        self.omega, self.legs, self._soles = omega, legs, soles
        self.sides: list[Side] = ["left" if foot.side == "left" else "right" for foot in feet]
        sole = np.max([np.abs(corners).max(axis=0) for corners in soles], axis=0)
        self.limits = StepLimits(
            forward=(-_FAR * legs.length, _FAR * legs.length),
            width=(
                max(2.0 * sole[1] + _APART * legs.length, 0.5 * legs.apart),
                legs.apart + min(_WIDE * legs.length, _LEAN * legs.aside),
            ),
            duration=(_QUICKEST / omega, _SLOWEST / omega),
            cop_forward=(-_SOLE * sole[0], _SOLE * sole[0]),
            cop_side=(-_SOLE * sole[1], _SOLE * sole[1]),
        )
        self.well_inside = _WELL_INSIDE * legs.length
        """Margin of the capture point in the support with which a robot stands [m]."""
        self._adapter = StepAdapter(omega, self.limits, StepWeights(cop=_COP_WEIGHT))
        boxes = {side: (self.limits.landing(side), self.limits.cop(side)) for side in self.sides}
        self._capture = {
            mine: capture_box(
                omega, _USUAL / omega, boxes[mine][0], boxes[other][0], boxes[mine][1], boxes[other][1], 2
            )
            for mine, other in (self.sides, self.sides[::-1])
        }

    def choose(self, dcm: Array, poses: Sequence[Array], com: Array | None = None) -> CatchStep:
        """The step to make now.

        First of all a viable one, or one nearest to it; then one after which the robot stands; then the shortest.

        Args:
            dcm: (2,) in world.
            poses: (4,) each, of both feet in world.
            com: (2,) centre of mass in world; at rest, under the DCM, if omitted.
        """
        steps = [CatchStep(self, support, poses, dcm, com) for support in range(2)]
        return min(steps, key=self._cost)

    def _cost(self, step: CatchStep) -> tuple[float, float, float]:
        outside, margin = float(np.hypot(*step.found.outside)), min(self.margin(step), self.well_inside)
        return round(outside, 3), -round(margin, 3), step.way

    def duration(self, way: Array, carried: Array) -> float:
        """Of a swing, by what the leg can do [s].

        Args:
            way: (2,) of the foot [m].
            carried: (2,) of the trunk meanwhile [m]: a robot that falls carries the foot along.
        """
        far, beside = (float(np.hypot(x[0], x[1])) for x in (way, way - carried))
        return float(np.clip(self.legs.swing_time(far, _EFFORT, beside), *self.limits.duration))

    def plan(
        self,
        support: int,
        dcm: Array,
        elapsed: float,
        home: Array,
        duration: float,
        reachable: tuple[Array, Array] | None = None,
    ) -> AdaptedStep:
        """Where and when to land.

        Args:
            support: Number of the foot that stands.
            dcm: (2,) relative to it.
            elapsed: Since the other foot left the ground [s].
            home: (2,) where it would land if nothing had happened.
            duration: Of the swing [s].
            reachable: Corners of the box that the foot can still reach.
        """
        nominal = NominalStep(home, duration, -_INWARD * home, np.zeros(2))
        viable, soonest = self._capture[self.sides[1 - support]], max(0.0, duration - elapsed)
        return self._adapter.adapt(self.sides[support], dcm, elapsed, nominal, reachable, soonest, viable)

    def margin(self, step: CatchStep) -> float:
        """How far inside the support of both feet the capture point will be when a step lands; negative outside [m].

        Args:
            step: The step.
        """
        found, (c, s) = step.found, (cos(step.landing[3]), sin(step.landing[3]))
        there = self._soles[step.foot] @ np.array([[c, s], [-s, c]]) + found.landing
        hull = convex_hull(np.vstack([self._soles[step.support], there]))
        return float(distance_inside(found.landing + found.offset, hull))


class CatchStep:
    """A step under way; all is relative to the foot that stands, so that it moves with the estimate.

    Args:
        catcher: What it is planned by.
        support: Number of the foot that stands.
        poses: (4,) each, of both feet in world.
        dcm: (2,) in world.
        com: (2,) centre of mass in world; where the DCM is if omitted.
    """

    def __init__(
        self, catcher: Catcher, support: int, poses: Sequence[Array], dcm: Array, com: Array | None = None
    ) -> None:
        self._catcher, self.support, self.foot = catcher, support, 1 - support
        self.anchor = poses[support].copy()
        """(4,) the foot that stands, in world."""
        self._start = start = local(self.anchor, poses[self.foot])
        side = -1.0 if catcher.sides[support] == "left" else 1.0
        self._home = np.array([0.0, side * catcher.legs.apart])
        self.clock = 0.0
        """Since the foot left the ground [s]."""
        self.found = catcher.plan(support, self.seen(dcm), 0.0, self._home, catcher.limits.duration[0])
        self._left = self.seen(dcm if com is None else com)
        for _ in range(2):
            carried = self._carried(self._left, self.seen(dcm))
            duration = catcher.duration(self.found.landing - start[:2], carried)
            self.found = catcher.plan(support, self.seen(dcm), 0.0, self._home, duration)
        self._shortest = duration
        self.length = self.found.remaining
        """Of the swing, as planned now [s]."""
        self.landing = np.array([*self.found.landing, 0.0, 0.5 * start[3]])
        self.way = float(np.hypot(*(self.landing - start)[:2]))
        """From the start to the landing [m]."""
        self.swing = SwingFoot(start, self.length, _LIFT * catcher.legs.length, _LANDING_SPEED)

    def seen(self, point: Array) -> Array:
        """(2,) relative to the foot that stands, of a point in world."""
        return turned(point[:2] - self.anchor[:2], -self.anchor[3])

    def _carried(self, com: Array, dcm: Array) -> Array:
        """(2,) how far the centre of mass goes during the swing, by the pendulum; both relative to the support."""
        growth, cop = exp(self._catcher.omega * self.found.remaining), self.found.cop
        half = 0.5 * (dcm - cop)
        return np.asarray(cop + half * growth + (com - cop - half) / growth - self._left)

    def advance(self, dt: float, poses: Sequence[Array], dcm: Array, com: Array | None = None) -> None:
        """Plan again, and lead the foot on.

        Args:
            dt: Since the last time [s].
            poses: (4,) each, of both feet in world.
            dcm: (2,) in world.
            com: (2,) centre of mass in world; where the DCM is if omitted.
        """
        gap = poses[self.support] - self.anchor
        gap[3] = wrapped(gap[3])
        self.anchor = self.anchor + min(1.0, dt / _ANCHOR_TIME) * gap
        self.clock += dt
        remaining = self.length - self.clock
        if remaining > _SETTLED:
            at, catcher = self.swing.position[:2], self._catcher
            carried = self._carried(self.seen(dcm if com is None else com), self.seen(dcm))
            self._shortest = max(self._shortest, catcher.duration((self.landing - self._start)[:2], carried))
            reach = _FASTEST * catcher.legs.length * remaining
            self.found = catcher.plan(
                self.support,
                self.seen(dcm) + self._recoil(remaining),
                self.clock,
                self._home,
                self._shortest,
                (at - reach, at + reach),
            )
            self.length = self.clock + self.found.remaining
            self.landing[:2] = self.found.landing
        self.swing.advance(dt, self.landing, self.length - self.clock)

    def _recoil(self, remaining: float) -> Array:
        """(2,) what the leg that swings will do to the capture point, as a shift of where it is now.

        The foot's acceleration a moves the point from which the ground pushes by −r a (`LegReach.recoil`). With the
        foot's velocity v and its way d to go, r ω ∫ e^{−ωs} a ds = r ω (−v + ω ∫ e^{−ωs} v ds), about
        r ω (ω d e^{−ωT/2} − v).
        """
        w, r = self._catcher.omega, self.recoil
        way = self.landing[:2] - self.swing.position[:2]
        return np.asarray(r * w * (w * exp(-0.5 * w * remaining) * way - self.swing.velocity[:2]))

    @property
    def recoil(self) -> float:
        """Shift of the point from which the ground pushes, over the acceleration of the foot [s²].

        What would shift it too far, for the soles and for friction, is left to the trunk, which turns against the leg.
        """
        legs, way = self._catcher.legs, max(self.way, 1e-6)
        return min(legs.recoil, _STEADIED * legs.home * self.length**2 / (5.77 * way))

    def has_landed(self, touches: bool | None) -> bool:
        """Whether the step is over.

        Args:
            touches: Whether the foot touches the ground; None if unknown.
        """
        if touches is None:
            return self.clock >= self.length
        return touches and self.clock >= _EARLIEST * self.length

    @property
    def late(self) -> float:
        """For how long the foot should have landed already [s]."""
        return max(0.0, self.clock - self.length)
