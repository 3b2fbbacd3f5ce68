"""Does a joint leave its path and come back within a few samples? Dropouts and glitches of recordings, not motion.

A sample off the path shows as two fast steps of opposite sign with slow ones round them. A motion may turn as fast: so
much as an acceleration asks for that no drive gives (`Tolerances.jump_acceleration`) passes, and what the steps round
it show. A step that stays is left to the later checks: it may be a slip, or a way through something.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from surefoot.arrays import Array
from surefoot.feasibility.limits_parts import unit_at, units_at
from surefoot.feasibility.series import Series, skipped

if TYPE_CHECKING:
    from surefoot.feasibility.case import Case

__all__ = ["check_jumps", "jumps"]

_LONGEST = 3  # samples that a glitch may last
_ROUND = 2  # steps to each side that show how fast the joint moves
_FASTER = 5.0  # than these steps: a jump


def check_jumps(case: Case) -> list[Series]:
    """`joint_jump`: how far each entry of q jumps away and back within a few samples.

    Args:
        case: The motion.
    """
    if case.n < 3:
        return [skipped("joint_jump", "too few samples")]
    value, around = jumps(case.time, case.steps)
    dt = np.maximum(np.diff(case.time, prepend=np.nan), np.diff(case.time, append=np.nan))
    dt[[0, -1]] = np.inf  # nobody saw what was before and after
    least = np.maximum(case.tolerances.jump, 0.5 * case.tolerances.jump_acceleration * dt**2)
    rows = np.arange(case.robot.nv)
    return [
        Series(
            "joint_jump", unit_at(case, rows, "rad", "m"), case.time, case.velocity_names, value,
            upper=np.maximum(least[:, None], _FASTER * around), scale=0.1, bodies=case.velocity_bodies,
            width=0.5 * float(np.median(np.diff(case.time))),
            units=units_at(case, rows, "rad", "m"),
            note="against the steps before and after",
            texts=tuple(
                f"`{name}` jumps by {{value}} and back at {{time}}, faster than it moves before and after"
                for name in case.velocity_names
            ),
            next_step="repair or leave out this sample of the recording (a dropout, a spike of a sensor)",
        )
    ]  # fmt: skip


def jumps(time: Array, steps: Array) -> tuple[Array, Array]:
    """How far each sample lies off the path (n, k), 0 where it does not, and how far steps round it go in its time.

    Args:
        time: (n,) [s].
        steps: (n − 1, k) changes between samples.
    """
    dt = np.diff(time)[:, None]
    speed = np.abs(steps) / dt
    value, around = np.zeros((len(time), steps.shape[1])), np.zeros((len(time), steps.shape[1]))
    for width in range(1, min(_LONGEST, len(steps) - 1) + 1):
        away, back = steps[:-width], steps[width:]
        size = np.where(away * back < 0.0, np.minimum(np.abs(away), np.abs(back)), 0.0)
        beside = _fastest_round(speed, width) * np.maximum(dt[:-width], dt[width:])
        for sample in range(1, width + 1):
            rows = slice(sample, sample + len(size))
            better = size - _FASTER * beside > value[rows] - _FASTER * around[rows]
            value[rows], around[rows] = np.where(better, size, value[rows]), np.where(better, beside, around[rows])
    return value, around


def _fastest_round(speed: Array, width: int) -> Array:
    """(n − 1 − width, k): largest speed of the steps before, between and after the two steps of a glitch."""
    count = len(speed) - width
    still = np.zeros((_ROUND, speed.shape[1]))
    padded = np.vstack([still, speed, still])
    beside = [k for k in range(2 * _ROUND + width + 1) if k not in (_ROUND, _ROUND + width)]
    return np.asarray(np.max([padded[k : k + count] for k in beside], axis=0))
