"""How near pairs of volumes come inside the joint limits: random postures first, then downhill from the nearest.

What is found is an upper bound of the nearest approach: no proof that nothing is nearer. Same seed, same result.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from surefoot.arrays import Array
from surefoot.collision.pairs.gradients import PairGradients
from surefoot.collision.pairs.table import PairTable
from surefoot.collision.volumes import random_postures
from surefoot.robot import Robot

_AT_ONCE = 256
_STEPS, _FIRST_STEP, _SHRINK = 40, 0.3, 0.9


@dataclass(frozen=True, eq=False)
class Approach:
    """The range of distances of P pairs that was met.

    Args:
        nearest: (P,) the smallest distance met [m].
        farthest: (P,) the largest one among home and the random postures that were looked at [m].
        posture: (P, nq) where the smallest was met.
    """

    nearest: Array
    farthest: Array
    posture: Array


def closest_approach(robot: Robot, table: PairTable, samples: int, rng: np.random.Generator, enough: float) -> Approach:
    """Search for the nearest approach of every pair.

    Args:
        robot: The robot.
        table: The pairs.
        samples: Number of random postures.
        rng: Source of randomness.
        enough: A pair that came nearer than that, and was once apart, is not looked at any more [m].
    """
    count = len(table)
    home = np.array(robot.home)[None]
    first = table.distances(table.motion.points(home))[0]
    found = Approach(first.copy(), first.copy(), np.tile(home, (count, 1)))
    open_pairs = np.arange(count)
    for start in range(0, samples, _AT_ONCE):
        if not len(open_pairs):
            break
        Q = random_postures(robot, min(_AT_ONCE, samples - start), rng)
        some = PairTable(table.motion, np.column_stack([table.first, table.second])[open_pairs])
        d = some.distances(table.motion.points(Q))
        # Keep what is nearer or farther than before, of distances d (n, pairs) at postures Q
        row = np.argmin(d, axis=0)
        low = d[row, np.arange(len(open_pairs))]
        better = low < found.nearest[open_pairs]
        found.nearest[open_pairs[better]], found.posture[open_pairs[better]] = low[better], Q[row[better]]
        found.farthest[open_pairs] = np.maximum(found.farthest[open_pairs], d.max(axis=0))
        open_pairs = open_pairs[(found.nearest[open_pairs] >= enough) | (found.farthest[open_pairs] <= 0.0)]
    _descend(robot, table, open_pairs[found.nearest[open_pairs] >= enough], found, enough)
    return found


def _descend(robot: Robot, table: PairTable, pairs: NDArray[np.int64], found: Approach, enough: float) -> None:
    """Follow the gradients of pairs from the postures where they were nearest, inside the limits."""
    gradients, tree = PairGradients(table), robot.tree
    axes = [i for i in range(tree.n) if tree.nv_of(i) == 1 and tree.nq_of(i) == 1]
    in_q, in_v = tree.q_index[axes], tree.v_index[axes]
    step = _FIRST_STEP
    Q = found.posture[pairs]
    for _ in range(_STEPS):
        if not len(pairs):
            return
        points = table.motion.points(Q)
        at = gradients.at(points, table.motion.twists(Q), np.arange(len(pairs)), pairs)
        better = at.distance < found.nearest[pairs]
        found.nearest[pairs[better]], found.posture[pairs[better]] = at.distance[better], Q[better]
        downhill = -at.gradient[:, in_v]
        scale = step / np.maximum(np.abs(downhill).max(axis=1, initial=0.0), 1e-9)
        Q[:, in_q] += scale[:, None] * downhill
        Q[:, in_q] = np.clip(Q[:, in_q], robot.limits.lower[in_q], robot.limits.upper[in_q])
        open_pairs = found.nearest[pairs] >= enough
        pairs, Q, step = pairs[open_pairs], Q[open_pairs], _SHRINK * step
