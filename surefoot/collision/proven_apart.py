"""Proof that pairs of volumes keep a distance in all postures inside the limits, by branch and bound.

A box of joint angles is proven if the distance at its middle exceeds the threshold by more than the volumes can travel
from there to its sides ([col.travel]); other boxes are halved along the joint that moves the volumes most.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from surefoot.arrays import Array
from surefoot.collision.pair_table import PairTable
from surefoot.collision.reach import Reach, joint_travel

__all__ = ["proven_apart"]

Indices = NDArray[np.int64]


def proven_apart(table: PairTable, threshold: float, budget: int) -> NDArray[np.bool_]:
    """Which pairs are proven never to come nearer than a threshold: (P,).

    Only pairs with one-axis joints between them, all with limits, can be proven; few joints are soon done, more than
    four hardly ever.

    Args:
        table: The pairs.
        threshold: [m].
        budget: Number of boxes that a pair may take.
    """
    robot = table.motion.robot
    tree, limits = robot.tree, robot.limits
    axes = np.array([i for i in range(tree.n) if tree.nq_of(i) == tree.nv_of(i) == 1], dtype=np.int64)
    in_q, in_v = tree.q_index[axes], tree.v_index[axes]
    lower, upper = np.zeros(robot.nv), np.full(robot.nv, np.inf)
    lower[in_v], upper[in_v] = limits.lower[in_q], limits.upper[in_q]
    rates = _rates(table, limits.lower, limits.upper)
    moving = rates > 0.0
    bounded = np.isfinite(lower) & np.isfinite(upper)
    provable = ~(moving & ~bounded).any(axis=1)
    pair = np.flatnonzero(provable)
    low, high = (np.where(moving & bounded, x, 0.0)[pair] for x in (lower, upper))
    out, used = provable.copy(), np.zeros(len(table), dtype=np.int64)
    while len(pair):
        Q = np.tile(np.array(robot.home), (len(pair), 1))
        Q[:, in_q] = (0.5 * (low + high))[:, in_v]
        spread = rates[pair] * 0.5 * (high - low)
        gap = table.some_distances(table.motion.points(Q), np.arange(len(pair)), pair)
        np.add.at(used, pair, 1)
        out[pair[gap <= threshold]] = False
        out[used > budget] = False
        keep = (gap - spread.sum(axis=1) <= threshold) & out[pair]
        pair, low, high = _halved(pair[keep], low[keep], high[keep], spread[keep])
    return out


def _rates(table: PairTable, lower: Array, upper: Array) -> Array:
    """(P, nv) by how much distances change at most for unit rates of the joints [m/rad] or [m/m]."""
    motion = table.motion
    reach, robot = Reach(motion), motion.robot
    linear, angular = joint_travel(robot, np.eye(robot.nv))
    ends = np.nan_to_num(np.vstack([lower, upper]), posinf=0.0, neginf=0.0)
    moved, arms = reach.of_pairs(table.first, table.second, reach.extents(ends, np.zeros((1, robot.tree.n))))
    return np.asarray(moved @ linear.T + arms @ angular.T)


def _halved(pair: Indices, low: Array, high: Array, spread: Array) -> tuple[Indices, Array, Array]:
    """Each box as two, cut across the joint with the largest spread."""
    rows, joint = np.arange(len(pair)), np.argmax(spread, axis=1)
    middle = 0.5 * (low + high)[rows, joint]
    first_high, second_low = high.copy(), low.copy()
    first_high[rows, joint], second_low[rows, joint] = middle, middle
    return np.concatenate([pair, pair]), np.vstack([low, second_low]), np.vstack([first_high, high])
