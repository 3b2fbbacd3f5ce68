"""`StepPlan`: steps, ZMP and DCM ahead, in the frame of the foot that stands."""

from __future__ import annotations

from collections.abc import Sequence
from math import exp, hypot

import numpy as np

from surefoot.arrays import Array
from surefoot.control.legged import LegReach, local, turned, world, wrapped
from surefoot.control.walking.reference import SampledReference, WalkReference
from surefoot.control.walking.settings import WalkSettings
from surefoot.geometry import convex_hull, distance_inside
from surefoot.reduced import DcmPlan, NominalStep, Side, StepAdapter, StepLimits, StepWeights, ZmpPiece
from surefoot.robot import Foot

__all__ = ["AHEAD", "SHIFT", "StepPlan"]

AHEAD = 4
"""Steps that are planned."""
_ANCHOR_TIME = 0.05  # time constant with which the plan follows the support foot [s]
_COP_WEIGHT = 1e-3  # shifting the CoP costs little beside another landing
_WORTH = 0.03  # changes of a landing beyond this are made, share of the leg length
_BY_STEPS = ("cps", "cpt")  # references that know points of rest only: a leg that swings is a disturbance to them
_TURN = 0.05  # turns up to this are not worth a step [rad]
_SWING_SPEED = 1.2  # how fast the landing place of a foot in the air may be away [m/s]
_SWING_SPARE = 1.4  # … or this much faster than planned
_FAR, _WIDE = 0.6, 0.4  # furthest step of a robot that would fall otherwise, shares of the leg length
SHIFT = 0.12
"""Time to shift the weight before a step that catches the robot [s]."""
_QUICKER, _SLOWER = 0.8, 1.2  # shares of the time on one foot
_QUICKEST = 0.6  # … of a step that catches a robot that stands
_LEAVES, _LANDS = 0.35, 0.4  # where the hips are as a foot leaves and lands, shares of its way from the support
_PEAKS = 0.5 - 0.5 / 3**0.5, 0.5 + 0.5 / 3**0.5  # when the acceleration of a quintic is largest, shares of its duration
_TIMES = np.array([0.0, 0.1, _PEAKS[0], 0.35, 0.5, 0.65, _PEAKS[1], 0.9, 1.0])
_QUINTIC = (  # its position, rate and acceleration at these times, for a way of 1 in a time of 1
    _TIMES**3 * (10.0 - 15.0 * _TIMES + 6.0 * _TIMES**2),
    30.0 * _TIMES**2 * (1.0 - _TIMES) ** 2,
    60.0 * _TIMES * (1.0 - _TIMES) * (1.0 - 2.0 * _TIMES),
)


class StepPlan:
    """Steps ahead, and the DCM over them. All is relative to the foot that stands, so that it moves with the estimate.

    Args:
        feet: Left and right foot, in any order.
        soles: (k, 2) corners of the part of each sole that is used [m].
        settings: Times and heights.
        legs: Their reach.
        omega: √(g/h) [1/s].
    """

    def __init__(
        self, feet: Sequence[Foot], soles: Sequence[Array], settings: WalkSettings, legs: LegReach, omega: float
    ) -> None:
        self._soles, self._settings, self._omega = soles, settings, omega
        self.sides: list[Side] = ["left" if foot.side == "left" else "right" for foot in feet]
        inward = {"left": -settings.inward, "right": settings.inward}
        self._zmps = [np.array([0.0, inward[side]]) for side in self.sides]
        self.worth = _WORTH * legs.length
        """Changes of a landing up to this are not made [m]."""
        self._adapter, self._catcher = (
            StepAdapter(omega, _step_limits(settings, soles, legs, quicker), StepWeights(cop=_COP_WEIGHT))
            for quicker in (_QUICKER, _QUICKEST)
        )
        self.support, self.anchor = 0, np.zeros(4)
        self.other = np.zeros(4)
        """(4,) the other foot."""
        self.coming: list[Array] = []
        """(4,) each: steps ahead."""
        self.planned: list[Array] = []
        """The same before they were adapted."""
        self.polygon = np.zeros((1, 2))
        """(k, 2) support polygon."""
        self.is_adapted, self.is_capturable = False, True
        self._single = settings.single
        self._recoil = (0.0, 0.0) if settings.reference in _BY_STEPS else (legs.recoil, legs.recoil_slope)
        self._box, self._state, self._offset = _common_box(soles, self._zmps), (np.zeros(2), np.zeros(2)), np.zeros(2)
        self._path: WalkReference
        self._force: DcmPlan
        self._plan([ZmpPiece(0.01, np.zeros(2), np.zeros(2))])

    def follow(self, pose: Array, dt: float) -> None:
        """Let the plan move with the support foot as it is estimated.

        Args:
            pose: (4,) of the support in world.
            dt: Since the last time [s].
        """
        gap = pose - self.anchor
        gap[3] = wrapped(gap[3])
        self.anchor = self.anchor + min(1.0, dt / _ANCHOR_TIME) * gap

    def stand_on(self, support: int, poses: Sequence[Array]) -> None:
        """Hold the plan in the frame of a foot from now on.

        Args:
            support: Number of the foot.
            poses: (4,) each, of both feet in world.
        """
        self.support, self.anchor = support, poses[support].copy()
        self.other = local(self.anchor, poses[1 - support])

    def seen(self, point: Array, rate: Array) -> tuple[Array, Array]:
        """The centre of mass (2,) and its rate relative to the support, given in world."""
        self._state, yaw = (point, rate), -self.anchor[3]
        return turned(point[:2] - self.anchor[:2], yaw), turned(rate[:2], yaw)

    # -- ZMP and DCM ----------------------------------------------------------------------------------------------

    def zmp_of(self, foot: int) -> Array:
        """(2,) where the ZMP is while a foot carries alone, in the frame of that foot."""
        return self._zmps[foot]

    def other_zmp(self) -> Array:
        """(2,) the same of the foot that is not the support, relative to the support."""
        return world(self.other, np.array([*self.zmp_of(1 - self.support), 0.0, 0.0]))[:2]

    def reference(self, t: float) -> tuple[Array, Array]:
        """ZMP and DCM (2,) at a time in this phase [s]."""
        return self._path.at(t)

    def moved_by_leg(self, t: float) -> Array:
        """(2,) by how much the leg that swings moves the force from the ZMP of the support, at a time [s]."""
        return np.asarray(self._force.at(t)[0] - self.zmp_of(self.support))

    def _plan(self, pieces: list[ZmpPiece], since: float = 0.0) -> None:
        """Follow these pieces, from the state that was seen last."""
        self._path = self._force = DcmPlan(pieces, self._omega)
        if (method := self._settings.reference) != "dcm":
            self._path = SampledReference(method, pieces, self._omega, self.seen(*self._state), since, self._box)

    def rest(self, start: Array, duration: float) -> None:
        """Bring the ZMP from a start (2,) to the middle of the feet, and keep it there.

        Args:
            start: (2,).
            duration: [s].
        """
        middle = 0.5 * (self.zmp_of(self.support) + self.other_zmp())
        self._plan([ZmpPiece(max(duration, 0.01), start, middle)])
        self.polygon = self._hull()

    def close(self, duration: float) -> float:
        """Come to rest after the last step; returns how long that takes [s].

        Args:
            duration: Time to bring the ZMP to the foot that has landed [s].
        """
        self._plan(self._closing(duration, self.other_zmp(), self.zmp_of(self.support)))
        self.polygon = self._hull()
        return duration + self._settings.first

    def _closing(self, duration: float, start: Array, landed: Array) -> list[ZmpPiece]:
        """The ZMP goes to the foot that lands last, as in any other step, and back to the middle.

        If it went to the middle at once, the DCM would stay so near to the other foot that a small push throws the
        robot over its outer edge.
        """
        middle = 0.5 * (start + landed)
        return [ZmpPiece(duration, start, landed), ZmpPiece(self._settings.first, landed, middle)]

    def double_support(self, start: Array, duration: float) -> None:
        """Bring the ZMP from a start (2,) to the support in the time of this phase, then step on.

        Args:
            start: (2,).
            duration: [s].
        """
        zmp, s = self.zmp_of(self.support), self._settings
        waits = max(0.0, duration - s.double) if s.reference in _BY_STEPS else 0.0
        shift = [ZmpPiece(waits, start, start), ZmpPiece(duration - waits, start, zmp)]
        self._plan(self._over_steps([*shift, *self._swing_pieces(s.single, zmp)]))
        self.polygon = self._hull()

    def lift_off(self, duration: float, foot: Array) -> None:
        """Stand on the support alone.

        Args:
            duration: [s].
            foot: (4,) the other foot in world.
        """
        self.other, self._single = local(self.anchor, foot), duration
        self.planned, self.is_adapted = self.coming, False
        self._single_support(duration)
        self._offset = self._path.at(duration)[1] - self.coming[0][:2]

    def _single_support(self, duration: float, since: float = 0.0) -> None:
        self._plan(self._over_steps(self._swing_pieces(duration, self.zmp_of(self.support))), since)
        self.polygon = self._soles[self.support]

    def _swing_pieces(self, duration: float, zmp: Array, step: int = 0) -> list[ZmpPiece]:
        """Where the force on the centre of mass points to during a single support, by straight pieces."""
        start, support = (
            places[step][:2] for places in ((self.other, np.zeros(4), *self.coming), (np.zeros(4), *self.coming))
        )
        places = zmp + _recoil_shift(self._recoil, start - support, self.coming[step][:2] - support, duration)
        lengths = duration * np.diff(_TIMES)
        return [ZmpPiece(float(T), places[k], places[k + 1]) for k, T in enumerate(lengths)]

    def _over_steps(self, pieces: list[ZmpPiece]) -> list[ZmpPiece]:
        """The pieces of this phase and those of the steps ahead."""
        s, zmp, foot = self._settings, np.asarray(pieces[-1].end), self.support
        for k, step in enumerate(self.coming):
            foot = 1 - foot
            there = world(step, np.array([*self.zmp_of(foot), 0.0, 0.0]))[:2]
            if k < len(self.coming) - 1:
                pieces += [ZmpPiece(s.double, zmp, there), *self._swing_pieces(s.single, there, k + 1)]
            elif len(self.coming) == AHEAD:
                pieces.append(ZmpPiece(s.double, zmp, there))
            else:
                pieces += self._closing(s.double, zmp, there)
            zmp = there
        return pieces

    def _hull(self) -> Array:
        """Corners of the support polygon on both feet."""
        c, s = np.cos(self.other[3]), np.sin(self.other[3])
        there = self._soles[1 - self.support] @ np.array([[c, s], [-s, c]]) + self.other[:2]
        return convex_hull(np.vstack([self._soles[self.support], there]))

    def _swing_share(self, t: float, length: float) -> Array:
        """(2,) how far the DCM is planned from that of a point foot, because of the leg that swings."""
        zmp, end = self.zmp_of(self.support), self._path.at(length)[1]
        return np.asarray(self._path.at(t)[1] - zmp - (end - zmp) * exp(-self._omega * (length - t)))

    def is_worth(self, steps: Sequence[Array], other: Array) -> bool:
        """Whether steps bring a foot somewhere else.

        Args:
            steps: (4,) each, relative to a support.
            other: (4,) the other foot, relative to it.
        """
        feet = [other, np.zeros(4)]
        ways = [step - feet[k % 2] for k, step in enumerate(steps)]
        return any(hypot(way[0], way[1]) > self.worth or abs(wrapped(way[3])) > _TURN for way in ways)

    def share_of_other(self, zmp: Array) -> float:
        """How much of the weight the other foot carries with a ZMP (2,) between them, 0…1."""
        here = self.zmp_of(self.support)
        way = self.other_zmp() - here
        return min(1.0, max(0.0, float((zmp - here) @ way) / max(float(way @ way), 1e-9)))

    def recovery(self, dcm: Array, poses: Sequence[Array]) -> tuple[int, Array, float] | None:
        """The step that catches a robot whose DCM has left its support: support, landing (4,) and duration [s].

        None if the robot is nearer to balance where it stands. Before the foot leaves, the CoP on the outer edge moves
        the DCM towards the support, if it is inside this edge.

        Args:
            dcm: (2,) in world.
            poses: (4,) each, of both feet in world.
        """
        found = []
        for support in range(2):
            here, there = poses[support], local(poses[support], poses[1 - support])
            seen = turned(dcm - here[:2], -here[3])
            sole = np.abs(self._soles[support][:, 1]).max()
            seen[1] = _shifted(seen[1], min(-sole, there[1] - sole), max(sole, there[1] + sole), self._omega)
            zmp = self.zmp_of(support)
            nominal = NominalStep(there[:2], _QUICKEST * self._settings.single, zmp, zmp)
            step = self._catcher.adapt(self.sides[support], seen, 0.0, nominal)
            way = hypot(*(step.landing - there[:2]))
            landing = np.array([*step.landing, 0.0, 0.5 * there[3]])
            found.append((hypot(*step.outside), way, support, landing, step.remaining))
        outside, _, support, landing, duration = min(found, key=lambda item: item[:2])
        seen = turned(dcm - self.anchor[:2], -self.anchor[3])
        standing = -distance_inside(seen, self.polygon) * exp(self._omega * duration)
        return (support, landing, duration) if outside < standing else None

    def adapt(self, dcm: Array, clock: float, length: float, swing: Array, soonest: float) -> float:
        """Move the landing, or its time, if the DCM asks for it; returns the new length of the single support [s].

        Args:
            dcm: (2,) measured.
            clock: Time since lift-off [s].
            length: Of the single support as planned now [s].
            swing: (2,) where the swing foot is.
            soonest: Time that it needs at least [s].
        """
        off = (dcm - self._path.at(clock)[1]) * exp(self._omega * max(length - clock, 0.0))
        if not self.is_adapted and hypot(off[0], off[1]) <= self.worth:
            return length
        zmp, there = self.zmp_of(self.support), self.planned[0][:2]
        dcm = dcm - self._swing_share(clock, length)
        nominal = NominalStep(there, self._single, self._offset, zmp)
        speed = max(_SWING_SPEED, _SWING_SPARE * hypot(*(there - self.other[:2])) / self._single)
        reach = speed * (length - clock)
        adapter = self._adapter if self._single >= _QUICKER * self._settings.single else self._catcher
        step = adapter.adapt(self.sides[self.support], dcm, clock, nominal, (swing - reach, swing + reach), soonest)
        way = step.landing - there
        far = hypot(*way)
        if far <= self.worth and not self.is_adapted:
            return length
        self.is_adapted, self.is_capturable = True, step.viable
        way = way * max(0.0, 1.0 - self.worth / max(far, 1e-9))
        self.coming = [place + np.append(way, (0.0, 0.0)) for place in self.planned]
        self._single_support(clock + step.remaining, clock)
        return clock + step.remaining


def _common_box(soles: Sequence[Array], zmps: Sequence[Array]) -> Array:
    """Box (2, 2) around the ZMP that lies in the soles of both feet."""
    low = np.max([sole.min(axis=0) - zmp for sole, zmp in zip(soles, zmps, strict=True)], axis=0)
    high = np.min([sole.max(axis=0) - zmp for sole, zmp in zip(soles, zmps, strict=True)], axis=0)
    return np.array([low, high])


def _step_limits(settings: WalkSettings, soles: Sequence[Array], legs: LegReach, quicker: float) -> StepLimits:
    """How far, how wide and how fast a step may be that keeps the robot from falling."""
    single = settings.single
    sole = np.max([np.abs(sole).max(axis=0) for sole in soles], axis=0)
    return StepLimits(
        forward=(-_FAR * legs.length, _FAR * legs.length),
        width=(max(2.0 * sole[1] + 0.02, 0.5 * legs.apart), legs.apart + _WIDE * legs.length),
        duration=(quicker * single, _SLOWER * single),
        cop_forward=(-sole[0], sole[0]),
        cop_side=(-sole[1], sole[1]),
    )


def _recoil_shift(recoil: tuple[float, float], start: Array, end: Array, duration: float) -> Array:
    """(times, 2) by how much a leg that swings moves the point to which the force on the centre of mass points.

    The leg turns the robot back: with a trunk that stays upright, L = −m g (c₀ + c₁ x) ẋ for a foot x ahead of the
    hips, and the moment L̇ moves this point from the ZMP by −(c₀ + c₁ x) ẍ − c₁ ẋ² (`LegReach.recoil`). The foot
    follows a quintic, the hips go on at a constant speed.

    Args:
        recoil: c₀ [m/(m/s²)] and c₁ [1/(m/s²)].
        start: (2,) where the foot leaves, seen from the support.
        end: (2,) where it lands.
        duration: [s].
    """
    far = max(hypot(*(end - start)), 1e-9)
    way = (end - start) / far
    hips = _LEAVES * float(start @ way), _LANDS * float(end @ way)
    rate = (hips[1] - hips[0]) / duration
    x = float(start @ way) + far * _QUINTIC[0] - hips[0] - rate * duration * _TIMES
    v, a = far * _QUINTIC[1] / duration - rate, far * _QUINTIC[2] / duration**2
    shift = -(recoil[0] + recoil[1] * x) * a - recoil[1] * (v * v - rate * rate)
    return np.asarray(shift[:, None] * way)


def _shifted(dcm: float, right: float, left: float, omega: float) -> float:
    """Where the DCM can be after `SHIFT`, as near to 0 as the CoP between two edges brings it."""
    edge = left if dcm > 0.0 else right
    moved = edge + (dcm - edge) * exp(omega * SHIFT)
    return moved if moved * dcm > 0.0 else 0.0
