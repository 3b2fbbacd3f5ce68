"""Which drives are at their limits over a step: an active set, on numbers and on symbols.

Over a step each drive applies clip(f, lower, upper), where f = tau_0 − c a is the force of its springs alone
([sim.drive], [sim.implicit-joint]). Drives that are held at a limit have no springs, and every set of them gives one
acceleration a. Begin with those that are beyond their limit at the start of the step; then hold those whose f is beyond
a limit and release those whose f is not beyond theirs, until the set does not change (an active-set iteration;
Hintermüller, Ito & Kunisch 2002). A set that stays is the solution, and there is no other, because a is linear in the
torques with a positive definite matrix.
"""

from __future__ import annotations

from surefoot import ops
from surefoot.ops import Array
from surefoot.sim.native_joints import Force, Springs

__all__ = ["at_start", "held_at", "next_sides", "side_of"]

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
