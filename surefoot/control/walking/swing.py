"""`SwingFoot`: the reference of a foot in the air, whose landing place may move. `ArmSwing`: arms against the legs."""

from __future__ import annotations

from collections.abc import Sequence
from math import pi, sqrt

import numpy as np
import pinocchio as pin

from surefoot.arrays import Array
from surefoot.control.legged import foot_momenta, leg_bodies
from surefoot.control.whole_body import TaskHandle
from surefoot.robot import Robot, anatomy

__all__ = ["ArmSwing", "SwingFoot", "quintic_step"]

_UP = np.array([0.0, 0.0, 1.0])
_LAST = 0.04  # remaining time below which the foot no longer follows its landing place [s]
_APEX, _SOONER = 0.5, 0.15  # when the foot is highest, share of the swing; sooner on the way up, later on the way down
_ARM_SHARE, _ARM_ANGLE = 0.7, 0.6  # of the yaw of the legs that arms take; largest angle of a joint for it [rad]
_FALL = 2.0  # height over the square of the time in which a foot may come down [m/s²]: peaks of 12 m/s²


def quintic_step(
    x: tuple[float, float, float], end: tuple[float, float, float], T: float, dt: float
) -> tuple[float, float, float]:
    """Position, velocity and acceleration after dt on the quintic that leads from one state to another in T.

    Args:
        x: Position, velocity, acceleration now.
        end: The same at the end.
        T: Time to the end [s], > 0.
        dt: [s], 0 ≤ dt ≤ T.
    """
    p, v, a = x
    q, w, b = end
    way = q - p
    c3 = (20.0 * way - (8.0 * w + 12.0 * v) * T - (3.0 * a - b) * T * T) / (2.0 * T**3)
    c4 = (-30.0 * way + (14.0 * w + 16.0 * v) * T + (3.0 * a - 2.0 * b) * T * T) / (2.0 * T**4)
    c5 = (12.0 * way - 6.0 * (w + v) * T - (a - b) * T * T) / (2.0 * T**5)
    s = dt
    return (
        p + s * (v + s * (0.5 * a + s * (c3 + s * (c4 + s * c5)))),
        v + s * (a + s * (3.0 * c3 + s * (4.0 * c4 + s * 5.0 * c5))),
        a + s * (6.0 * c3 + s * (12.0 * c4 + s * 20.0 * c5)),
    )


class SwingFoot:
    """Leads a foot to its landing place: x, y, yaw by quintics that are made anew each tick, z over an apex.

    Args:
        start: (4,) x, y, z, yaw at lift-off.
        duration: Of the swing [s].
        lift: Height over the higher one of start and landing [m].
        landing_speed: Downward, at the end [m/s].
        normals: (3,) of the ground where it leaves and where it lands.
    """

    def __init__(
        self,
        start: Array,
        duration: float,
        lift: float,
        landing_speed: float,
        normals: tuple[Array, Array] = (_UP, _UP),
    ) -> None:
        self._states = [(float(value), 0.0, 0.0) for value in start]
        self._duration, self._clock = duration, 0.0
        self._lift, self._landing_speed = lift, landing_speed
        self._from, self._normals = float(start[2]), normals
        self._level = bool((normals[0] == normals[1]).all())
        self._down = 0.0  # when a foot that must come down at once does so [s]

    def soonest(self, landing: Array) -> float:
        """Time in which the foot can be on the ground [s].

        Args:
            landing: (4,) x, y, z, yaw of the landing place.
        """
        return sqrt(max(self._states[2][0] - float(landing[2]), 0.0) / _FALL)

    def advance(self, dt: float, landing: Array, remaining: float) -> None:
        """Go on for a tick.

        Args:
            dt: [s].
            landing: (4,) x, y, z, yaw of the landing place.
            remaining: Time to the touch-down [s].
        """
        self._clock += dt
        s = self._states
        if remaining > _LAST:
            for k in (0, 1, 3):
                goal = float(landing[k])
                if k == 3:
                    goal = s[3][0] + (goal - s[3][0] + pi) % (2.0 * pi) - pi
                s[k] = quintic_step(s[k], (goal, 0.0, 0.0), max(remaining, dt), dt)
        else:
            for k in (0, 1, 3):
                s[k] = (s[k][0], 0.0, 0.0)
        rise = max(-1.0, min(1.0, (float(landing[2]) - self._from) / self._lift))
        to_apex = (_APEX - _SOONER * rise) * min(self._duration, self._clock + remaining) - self._clock
        if to_apex <= _LAST and remaining < self.soonest(landing) and self._down == 0.0:
            self._down = self._clock + self.soonest(landing)
        remaining = max(remaining, self._down - self._clock)
        if to_apex > _LAST:
            apex = max(self._from, float(landing[2])) + self._lift
            s[2] = quintic_step(s[2], (apex, 0.0, 0.0), to_apex, dt)
        elif remaining > _LAST:
            s[2] = quintic_step(s[2], (float(landing[2]), -self._landing_speed, 0.0), remaining, dt)
        else:
            s[2] = (s[2][0] - self._landing_speed * dt, -self._landing_speed, 0.0)

    @property
    def ahead(self) -> tuple[float, float, float]:
        """x, its rate and the rate of that."""
        return self._states[0]

    @property
    def normal(self) -> Array:
        """(3,) of the sole, between those of the ground where it left and where it lands."""
        if self._level:
            return self._normals[0]
        done = min(1.0, self._clock / self._duration)
        normal = self._normals[0] + done * done * (3.0 - 2.0 * done) * (self._normals[1] - self._normals[0])
        return np.asarray(normal / sqrt(normal @ normal))

    @property
    def position(self) -> Array:
        """(4,) x, y, z, yaw."""
        return np.array([x[0] for x in self._states])

    @property
    def velocity(self) -> Array:
        """(4,)."""
        return np.array([x[1] for x in self._states])

    @property
    def acceleration(self) -> Array:
        """(4,)."""
        return np.array([x[2] for x in self._states])


class ArmSwing:
    """Lets the arms swing against the legs, so that the sole need not take their moment about the vertical.

    Legs that pass each other at a speed ṡ have the angular momentum c ṡ about the vertical. A sole that takes its rate
    by friction cannot have its centre of pressure near an edge at the same time (Caron, Pham and Nakamura 2015). The
    joints beyond the torso follow s with the smallest angles that give them −c ṡ about the vertical and nothing about
    other axes, as human walkers do (Herr and Popovic 2008). Robots without arms do nothing.

    Args:
        robot: A biped.
        posture: The task of the posture, whose target is that about which the arms swing.
        step: Largest distance of the feet along the way [m].
        still: Frames at the ends of limbs that do not swing.
    """

    def __init__(self, robot: Robot, posture: TaskHandle, step: float, still: Sequence[str] = ()) -> None:
        tree, body = robot.tree, anatomy(robot)
        self._posture, self._q = posture, np.array(posture.target)
        self._left = [foot.side == "left" for foot in body.feet].index(True)
        torso = robot.body_of(body.torso)
        legs = {link for foot in body.feet for link in leg_bodies(robot, foot)}
        legs |= {link for frame in still for link in _limb(robot, torso, robot.body_of(frame))}
        single = [k for k in range(tree.n) if tree.nq_of(k) == tree.nv_of(k) == 1]
        joints = [k for k in single if torso in tree.ancestors(k) and not legs & {k, *tree.ancestors(k)}]
        self._entries, rows = (np.array(index)[joints].astype(int) for index in (tree.q_index, tree.v_index))
        self._rows = np.searchsorted(np.setdiff1d(np.arange(robot.nv), robot.base_rows), rows)
        A = np.array(pin.computeCentroidalMap(robot.model, robot.model.createData(), self._q))[3:, rows]
        left, right = (foot_momenta(robot, body.feet)[k][2] for k in (self._left, 1 - self._left))
        wanted = np.array([0.0, 0.0, -0.5 * _ARM_SHARE * (left - right)])
        turns = np.linalg.lstsq(A, wanted, rcond=1e-2)[0]
        room = np.minimum(robot.limits.upper - self._q, self._q - robot.limits.lower)[self._entries]
        most = np.minimum(_ARM_ANGLE, 0.8 * np.maximum(room, 0.0))
        self._turns = turns * float(np.min(most / np.maximum(np.abs(turns) * step, 1e-9), initial=1.0))

    def lead(self, support: int, way: tuple[float, float, float]) -> None:
        """Let the arms follow the foot that does not stand.

        Args:
            support: The foot that stands.
            way: How far the other one is ahead of it [m], the rate and the acceleration of that.
        """
        x, rate, change = way if support != self._left else (-part for part in way)
        self._posture.target[self._entries] = self._q[self._entries] + x * self._turns
        self._posture.velocity[self._rows] = rate * self._turns
        self._posture.acceleration[self._rows] = change * self._turns


def _limb(robot: Robot, trunk: int, end: int) -> list[int]:
    """Bodies from the end of a limb up to the trunk, without it."""
    return [body for body in (end, *robot.tree.ancestors(end)) if trunk in robot.tree.ancestors(body)]
