"""`Rates` of a motion, from its positions alone and as given; jumps of joints, jerk, and rest at start and end.

A sample off the path shows as two fast steps of opposite sign with slow ones around them. A motion may turn as fast, so
the distance that an acceleration beyond any drive allows (`Tolerances.jump_acceleration`) passes, and what the steps
around it show. A step that stays is left to later checks: it may be a slip, or a path through an obstacle.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import pinocchio as pin

from surefoot.arrays import Array
from surefoot.feasibility.case import Case, bodies_at, joint_rows, names_at, unit_at, units_at
from surefoot.feasibility.series import Series, skipped


@dataclass(frozen=True, eq=False)
class Rates:
    """Rates of a motion.

    Args:
        steps: (n − 1, nv): q_k ⊕ steps_k = q_{k+1}.
        mean: (n − 1, nv) mean velocity between samples, from q alone.
        v: (n, nv) as given, else by differences of q.
        filled_rows: Entries of v that were not given, of the joints in `Case.filled`.
    """

    steps: Array
    mean: Array
    v: Array
    filled_rows: tuple[int, ...]


def rates_of(case: Case) -> Rates:
    """Rates of a motion."""
    model, tree, given = case.robot.model, case.robot.tree, case.trajectory.v
    steps = np.array([pin.difference(model, a, b) for a, b in pairwise(case.q)]).reshape(-1, case.robot.nv)
    mean = steps / np.diff(case.time)[:, None]
    starts = [(int(tree.v_index[i]), tree.nv_of(i)) for i in map(case.robot.joint_index, case.filled)]
    filled = tuple(start + k for start, size in starts for k in range(size))
    return Rates(steps, mean, _at_samples(mean, case.time) if given is None else given, filled)


def _at_samples(between: Array, time: Array) -> Array:
    """(n, k) at the samples from (n − 1, k) between them: weighted means, ends held."""
    if not len(between):
        return np.zeros((len(time), between.shape[1]))
    dt = np.diff(time)[:, None]
    inner = (between[:-1] * dt[1:] + between[1:] * dt[:-1]) / (dt[:-1] + dt[1:])
    return np.vstack([between[:1], inner, between[-1:]])


_LONGEST = 3  # samples that a glitch may last
_ROUND = 2  # steps to each side that show how fast the joint moves
_FASTER = 5.0  # than these steps: a jump
_SEVERAL, _GARBAGE = 3, 0.2  # entries, and share of all, that jump at once where a whole sample is garbage


def check_jumps(case: Case, rates: Rates) -> list[Series]:
    """`joint_jump`: how far each entry of q jumps away and back within a few samples."""
    if case.n < 3:
        return [skipped("joint_jump", "too few samples")]
    value, around = jumps(case.time, rates.steps)
    dt = np.maximum(np.diff(case.time, prepend=np.nan), np.diff(case.time, append=np.nan))
    dt[[0, -1]] = np.inf  # nobody saw what was before and after
    least = np.maximum(case.tolerances.jump, 0.5 * case.tolerances.jump_acceleration * dt**2)
    rows = np.arange(case.robot.nv)
    jumping = value > np.maximum(least[:, None], _FASTER * around)
    most = np.where(jumping, jumping.sum(axis=1)[:, None], 0).max(axis=0)  # entries that jump with each at once
    garbage = (most >= _SEVERAL) & (most >= _GARBAGE * case.robot.nv)
    return [
        Series(
            "joint_jump", unit_at(case, rows, "rad", "m"), case.time, case.velocity_names, value,
            upper=_FASTER * around, slack=np.maximum(least[:, None] - _FASTER * around, 0.0), scale=0.1,
            bodies=tuple(None if garbage[k] else one for k, one in enumerate(case.velocity_bodies)),
            width=0.5 * float(np.median(np.diff(case.time))),
            units=units_at(case, rows, "rad", "m"),
            note="against the steps before and after",
            texts=tuple(
                f"`{name}` jumps by {{value}} and back at {{time}}, faster than it moves before and after"
                + (f", and so do {count - 1} other entries: the sample seems to be garbage" if whole else "")
                for name, count, whole in zip(case.velocity_names, most, garbage, strict=True)
            ),
            next_step="repair or omit this sample of the recording (such as a dropout or a sensor spike)",
        )
    ]  # fmt: skip


def jumps(time: Array, steps: Array) -> tuple[Array, Array]:
    """How far each sample lies off the path (n, k), 0 where it does not, and how far steps round it go in its time."""
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


_RESOLVED = 0.005  # [s]: in shorter steps impacts may show, and only what is
_IMPACTS = 4.0  # times as fast is a jump
_NEARBY = 6  # samples to each side that show how the velocity changes otherwise


def check_base_jumps(case: Case, rates: Rates) -> list[Series]:
    """`velocity_jump`: how much the velocity of a free base changes at once, by differences of its positions."""
    base, tree = case.robot.base_joint, case.robot.tree
    if base is None or tree.kinds[base] != "free" or case.n < 4:
        return [skipped("velocity_jump", "the base does not fly, or there are too few samples")]
    at, row = int(tree.q_index[base]), int(tree.v_index[base])
    moved = np.diff(case.q[:, at : at + 3], axis=0) / np.diff(case.time)[:, None]
    rate = np.stack([moved, rates.mean[:, row + 3 : row + 6]])
    change = np.linalg.norm(np.diff(rate, axis=1), axis=2).T  # (n − 2, 2)
    padded = np.pad(change, ((_NEARBY, _NEARBY), (0, 0)), mode="reflect" if len(change) > _NEARBY else "edge")
    usual = np.median(np.lib.stride_tricks.sliding_window_view(padded, 2 * _NEARBY + 1, axis=0), axis=2)
    dt = np.minimum(np.diff(case.time)[1:], np.diff(case.time)[:-1])[:, None]
    least = np.array([[case.tolerances.base_jump, case.tolerances.base_turn_jump]])
    slack = np.maximum(np.where(dt > _RESOLVED, least, _IMPACTS * least) - _FASTER * usual, 0.0)
    return [
        Series(
            "velocity_jump", "m/s", case.time[1:-1], ("base", "turn of the base"), change,
            upper=_FASTER * usual, slack=slack, scale=1.0,
            width=2.0 * float(np.median(np.diff(case.time))), units=("m/s", "rad/s"),
            note="of differences of positions, from one step to the next",
            texts=(
                "the velocity of the base jumps by {value} at {time}, more than a robot can change it in a step",
                "the angular velocity of the base jumps by {value} at {time}, more than a robot can in a step",
            ),
            next_step="look at the frames there: a cut between clips, or frames that are missing; split or repair it",
        )
    ]  # fmt: skip


def check_smoothness(case: Case, rates: Rates, accelerations: Array) -> list[Series]:
    """`jerk` of the joints, and `rest`."""
    return [_jerk(case, accelerations), _rest(case, rates)]


def _jerk(case: Case, accelerations: Array) -> Series:
    """Differences of the accelerations, between samples."""
    rows, limit = joint_rows(case), case.tolerances.jerk_limit
    if not len(rows):
        return skipped("jerk", "the robot has no joints")
    dt = np.diff(case.time)
    jerk = np.diff(accelerations[:, rows], axis=0) / dt[:, None]
    return Series(
        "jerk", unit_at(case, rows, "rad/s³", "m/s³"), 0.5 * (case.time[1:] + case.time[:-1]), names_at(case, rows),
        jerk, -limit, limit, 0.0, limit if 0.0 < limit < np.inf else 1e5, bodies_at(case, rows),
        width=0.5 * float(np.median(dt)),
        note="" if case.trajectory.a is not None else f"of means over {1e3 * case.tolerances.window:.3g} ms",
        next_step="change accelerations more gently",
    )  # fmt: skip


def _rest(case: Case, rates: Rates) -> Series:
    """Speeds of the first and the last sample."""
    rows, limit = np.arange(case.robot.nv), case.tolerances.rest
    return Series(
        "rest", unit_at(case, rows, "rad/s", "m/s"), case.time[[0, -1]], names_at(case, rows), np.abs(rates.v[[0, -1]]),
        -np.inf, limit, 0.0, 1.0, bodies_at(case, rows),
        texts=tuple(f"`{name}` is not at rest at {{time}}: {{value}}, limit {{limit}}" for name in case.velocity_names),
        next_step="start and end the motion at rest",
    )  # fmt: skip
