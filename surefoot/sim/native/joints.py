"""What acts in the joints: drives with springs, viscous and dry friction, stops; as forces at the end of a step.

Every such force is linear in the acceleration of its joint, as far as it looks ahead,

    tau = tau_0 − c a        c = h kd + h² kp for a drive        [sim.implicit-joint]

so that the step adds c to the diagonal of the mass matrix: however stiff a spring is, it stays stable.

Which drives are at their limits over a step: an active set, on numbers and on symbols.

Over a step each drive applies clip(f, lower, upper), where f = tau_0 − c a is the force of its springs alone
([sim.drive], [sim.implicit-joint]). Drives that are held at a limit have no springs, and every set of them gives one
acceleration a. Begin with those that are beyond their limit at the start of the step; then hold those whose f is beyond
a limit and release those whose f is not beyond theirs, until the set does not change (an active-set iteration;
Hintermüller, Ito & Kunisch 2002). A set that stays is the solution, and there is no other, because a is linear in the
torques with a positive definite matrix.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from surefoot import ops
from surefoot.arrays import Array as Numbers
from surefoot.dynamics import minverse
from surefoot.ops import Array
from surefoot.robot import Robot
from surefoot.robot.model import SpringForces

_PLAIN = ("revolute", "prismatic", "helical", "translation")
_CREEP = 1e-3  # speed below which dry friction is viscous [rad/s] or [m/s]
_STOP_FREQUENCY = 200.0  # of a joint on its stop [rad/s], at least
_STOP_YIELD = 0.01  # [rad] or [m] under the largest torque of the drive
_STOP_DAMPING = 0.7
_EXPLICIT = 0.3  # bound of h² k / m and h d / m of explicit steps


class Force(NamedTuple):
    """tau_0 and c of tau = tau_0 − c a, each (nv,) or (nu,)."""

    start: Array
    gain: Array

    def acting(self, a: Array) -> Array:
        """The force that acts with an acceleration.

        Args:
            a: Of the same degrees of freedom.
        """
        return self.start - self.gain * a


class Springs(NamedTuple):
    """An `Actuation`, numbers or symbols: (nu,) each."""

    torque: Array
    position: Array
    kp: Array
    velocity: Array
    kd: Array
    lower: Array
    upper: Array

    def force(self, error: Array, speed: Array, ahead: float) -> Force:
        """What the drives do; a drive without springs keeps its limits at once.

        Args:
            error: (nu,) position − q at the start.
            speed: (nu,) velocities at the start.
            ahead: The step, or 0 [s].
        """
        start = self.torque + self.kp * (error - ahead * speed) + self.kd * (self.velocity - speed)
        gain = ahead * (self.kd + ahead * self.kp)
        if ahead == 0.0:
            return Force(self.clipped(start), np.zeros(len(start)))
        return Force(ops.where(ops.less(0.0, gain), start, self.clipped(start)), gain)

    def clipped(self, torque: Array) -> Array:
        """Torques within the limits.

        Args:
            torque: (nu,).
        """
        return ops.minimum(ops.maximum(torque, self.lower), self.upper)

    def beyond(self, torque: Array) -> Array:
        """By how much torques leave their limits, ≤ 0 inside.

        Args:
            torque: (nu,).
        """
        return ops.maximum(torque - self.upper, self.lower - torque)


@dataclass(frozen=True, eq=False)
class DrivenRows:
    """Which degrees of freedom are driven, and where their positions stand.

    Args:
        rows: (nu,) entries of v.
        kinds: Joint kind of each.
        entries: (nu,) entry of q of each; −1 where one number is not a position.
    """

    rows: NDArray[np.int64]
    kinds: tuple[str, ...]
    entries: NDArray[np.int64]

    @classmethod
    def of(cls, robot: Robot) -> DrivenRows:
        """The driven rows of a robot."""
        kinds, entries = [], []
        for drive in robot.drives:
            i = robot.joint_index(drive.joint)
            kind, first = robot.tree.kinds[i], int(robot.tree.q_index[i])
            placed = kind in (*_PLAIN, "continuous")
            for k in range(robot.tree.nv_of(i)):
                kinds.append(kind)
                entries.append(first + k if placed else -1)
        return cls(robot.driven, tuple(kinds), np.array(entries, dtype=np.int64))

    def error(self, q: Array, position: Array) -> Array:
        """Position − q (nu,); the short way round for continuous joints, 0 where one number is not a position.

        Args:
            q: (nq,) configuration.
            position: (nu,) wanted.
        """
        out = ops.zeros(len(self.rows), like=[q, position])
        for k, (kind, entry) in enumerate(zip(self.kinds, self.entries, strict=True)):
            if kind == "continuous":
                c, s = ops.cos(position[k]), ops.sin(position[k])
                x, y = q[entry], q[entry + 1]
                out[k] = ops.arctan2(s * x - c * y, c * x + s * y)
            elif entry >= 0:
                out[k] = position[k] - q[entry]
        return out

    def spread(self, force: Force, nv: int) -> Force:
        """The same over all degrees of freedom.

        Args:
            force: Of the driven ones.
            nv: How many there are.
        """
        start, gain = ops.zeros(nv, like=force.start), ops.zeros(nv, like=force.gain)
        for k, row in enumerate(self.rows):
            start[row] = start[row] + force.start[k]
            gain[row] = gain[row] + force.gain[k]
        return Force(start, gain)


@dataclass(frozen=True, eq=False)
class Resistance:
    """Friction and stops of the joints; nothing where a number is 0 or infinite.

    Args:
        damping: (nv,) [N m s/rad] or [N s/m].
        friction: (nv,) dry friction [N m] or [N].
        creep: (nv,) speed below which it is viscous [rad/s] or [m/s].
        lower: (nv,) stops [rad] or [m].
        upper: (nv,) stops [rad] or [m].
        entries: (nv,) entry of q that the stops bound.
        stiffness: (nv,) of the stops [N m/rad] or [N/m].
        absorption: (nv,) damping of a joint that moves into a stop [N m s/rad] or [N s/m].
        springs: Springs of the joints; None for none.
    """

    damping: Numbers
    friction: Numbers
    creep: Numbers
    lower: Numbers
    upper: Numbers
    entries: NDArray[np.int64]
    stiffness: Numbers
    absorption: Numbers
    springs: SpringForces | None = None

    @classmethod
    def of(cls, robot: Robot, dt: float, *, explicit: bool, stops: bool = True, friction: bool = True) -> Resistance:
        """The resistance of a robot.

        Args:
            robot: The robot.
            dt: Step [s].
            explicit: Whether forces are those at the start of a step, which bounds how stiff they can be.
            stops: Whether joints stop at their limits.
            friction: Whether joints have viscous and dry friction.
        """
        model, none = robot.model, np.zeros(robot.nv)
        inertia = 1.0 / np.diag(minverse(robot.tree, np.array(robot.home)))
        dry = np.array(model.upperDryFrictionLimit) if friction else none
        lower, upper, entries = _stops(robot, stops)
        effort = np.where(np.isfinite(robot.limits.effort), robot.limits.effort, 0.0)
        stiffness = np.maximum(inertia * _STOP_FREQUENCY**2, effort / _STOP_YIELD)
        if explicit:
            stiffness = np.minimum(stiffness, _EXPLICIT * inertia / dt**2)
        return cls(
            damping=np.array(model.damping) if friction else none,
            friction=dry,
            creep=np.maximum(_CREEP, dt * dry / (_EXPLICIT * inertia)) if explicit else np.full(robot.nv, _CREEP),
            lower=lower,
            upper=upper,
            entries=entries,
            stiffness=stiffness,
            absorption=2.0 * _STOP_DAMPING * np.sqrt(stiffness * inertia),
            springs=robot.spring_forces if robot.springs else None,
        )

    def viscous(self, v: Array, ahead: float) -> Force:
        """Force of viscous friction.

        Args:
            v: (nv,) at the start.
            ahead: The step, or 0 [s].
        """
        return Force(-self.damping * v, ahead * self.damping)

    def dry(self, v: Array, ahead: float) -> Force:
        """Force of dry friction: −F v⁺ / max(|v|, creep).

        Args:
            v: (nv,) at the start.
            ahead: The step, or 0 [s].
        """
        drag = ops.zeros(len(v), like=v)
        for row in np.flatnonzero(self.friction):
            drag[row] = self.friction[row] / ops.maximum(ops.absolute(v[row]), self.creep[row])
        return Force(-drag * v, ahead * drag)

    def stops(self, q: Array, v: Array, ahead: float) -> Force:
        """Force of stops: springs beyond the limits, with dampers against going further.

        Args:
            q: (nq,) at the start.
            v: (nv,) at the start.
            ahead: The step, or 0 [s].
        """
        start, gain = ops.zeros(len(v), like=[q, v]), ops.zeros(len(v), like=[q, v])
        for row in np.flatnonzero(np.isfinite(self.lower) | np.isfinite(self.upper)).tolist():
            past = self._past(row, q[self.entries[row]] + ahead * v[row])
            damping = ops.where(ops.less(0.0, past * v[row]), self.absorption[row], 0.0)
            stiff = ops.where(ops.less(0.0, past * past), ahead * ahead * self.stiffness[row], 0.0)
            start[row] = -self.stiffness[row] * past - damping * v[row]
            gain[row] = stiff + ahead * damping
        return Force(start, gain)

    def sprung(self, q: Array, v: Array, ahead: float) -> tuple[Force, Force]:
        """Of the robot's springs, and of their dampers. Springs on one joint look ahead; others act as they are.

        Args:
            q: (nq,) at the start.
            v: (nv,) at the start.
            ahead: The step, or 0 [s].
        """
        own, rest = self.springs, np.zeros(len(v))
        if own is None:
            return Force(rest, rest), Force(rest, rest)
        alone = (own.shares != 0.0).sum(axis=1) == 1
        stretch = own.stretch(q)
        is_tight = ops.less(0.0, stretch * stretch + (own.rest[0] == own.rest[1]))
        stiffness = ops.where(is_tight, own.stiffness, 0.0)
        coming = alone * ahead * (v @ own.shares.T)
        spring = (-own.stiffness * stretch - stiffness * coming) @ own.shares
        damper = -(own.damping * (v @ own.shares.T)) @ own.shares
        gain = ahead * ahead * ((alone * stiffness) @ own.shares**2)
        return Force(spring, gain), Force(damper, ahead * ((alone * own.damping) @ own.shares**2))

    def _past(self, row: int, x: Any) -> Any:
        """How far a position is beyond its stops; < 0 beyond the lower one."""
        high = ops.maximum(x - self.upper[row], 0.0) if np.isfinite(self.upper[row]) else 0.0
        return high - ops.maximum(self.lower[row] - x, 0.0) if np.isfinite(self.lower[row]) else high


def _stops(robot: Robot, wanted: bool) -> tuple[Numbers, Numbers, NDArray[np.int64]]:
    """Limits (nv,) of the joints with one position, infinite for all others, and their entries of q."""
    lower, upper = np.full(robot.nv, -np.inf), np.full(robot.nv, np.inf)
    entries = np.zeros(robot.nv, dtype=np.int64)
    tree = robot.tree
    for i in range(tree.n if wanted else 0):
        if tree.kinds[i] in _PLAIN and tree.nq_of(i):
            for k in range(tree.nv_of(i)):
                row, entry = int(tree.v_index[i]) + k, int(tree.q_index[i]) + k
                lower[row], upper[row] = robot.limits.lower[entry], robot.limits.upper[entry]
                entries[row] = entry
    return lower, upper, entries


_TOLERANCE = 1e-9  # a force counts as beyond its limit from here on, of 1 + |force| [N m] or [N]


def at_start(springs: Springs, force: Force, speed: Array, ahead: float) -> Array:
    """Forces f (nu,) of the springs in the state at the start of a step.

    Args:
        springs: What the drives do.
        force: tau_0 and c of the springs.
        speed: (nu,) velocities at the start.
        ahead: The step, or 0 [s].
    """
    start: Array = force.start + ahead * springs.kp * speed
    return start


def side_of(springs: Springs, force: Array) -> Array:
    """−1, 0 or 1 (nu,): below, within or above the limits.

    Args:
        springs: What the drives do.
        force: (nu,) of the springs alone.
    """
    slack = _TOLERANCE * (1.0 + ops.absolute(force))
    above, below = ops.less(springs.upper, force - slack), ops.less(force + slack, springs.lower)
    sides: Array = ops.where(above, 1.0, ops.where(below, -1.0, 0.0))
    return sides


def next_sides(sides: Array, wanted: Array, *, release: bool) -> Array:
    """The next set: free drives are held where they are beyond; held ones stay where that is on the same side.

    Args:
        sides: (nu,) the set until now.
        wanted: (nu,) where forces are with it.
        release: Whether drives may be released.
    """
    is_free = ops.less(ops.absolute(sides), 0.5)
    kept = ops.where(ops.less(0.5, sides * wanted), sides, 0.0) if release else sides
    found: Array = ops.where(is_free, wanted, kept)
    return found


def held_at(springs: Springs, sides: Array) -> Springs:
    """The drives with those that are held as torques at their limits.

    Args:
        springs: What the drives do.
        sides: (nu,) −1 held below, 1 held above, 0 free.
    """
    above, below = ops.less(0.5, sides), ops.less(sides, -0.5)
    torque = ops.where(above, springs.upper, ops.where(below, springs.lower, springs.torque))
    is_free = ops.less(ops.absolute(sides), 0.5)
    kp, kd = ops.where(is_free, springs.kp, 0.0), ops.where(is_free, springs.kd, 0.0)
    return springs._replace(torque=torque, kp=kp, kd=kd)
