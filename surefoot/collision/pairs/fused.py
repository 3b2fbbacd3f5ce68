"""All distances of a robot's pairs in one kernel: forward kinematics and pairs together, as far as that is worth it.

Code of its own for every pair has no vertices to gather, and a batch runs with one posture in every SIMD lane: for
points and lines some ten times faster than the kernels of `pair_kernels`, for a compile time of some 0.1 s per thousand
operations. Pairs of triangles take a thousand operations each, beside which gathering is cheap: what is too much goes
through the kernels of its kinds, and balls tell beforehand what is far.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np

from surefoot import ops
from surefoot.arrays import Array
from surefoot.codegen import Kernel, compile_function
from surefoot.collision.pairs.kernels import pair_kernel
from surefoot.collision.pairs.table import PairTable
from surefoot.collision.volumes import source_text, tree_identity
from surefoot.geometry import generator_distance

MOST_OPERATIONS = 40_000
_WORTH_IT = 150  # operations of a pair, up to which gathering its vertices would cost more than computing with them
_POSTURES_AT_ONCE = 16


class FusedPairs:
    """The distances of the pairs of a table.

    Args:
        table: The pairs.
        most: How many operations may go into the fused kernel.
    """

    def __init__(self, table: PairTable, most: int = MOST_OPERATIONS) -> None:
        self.table = table
        # The pairs that gain by it and whose operations fit together, the cheapest first
        costs = np.array([pair_kernel(*kinds).artifact.operations for kinds in table.kinds], dtype=np.int64)
        order = np.argsort(costs, kind="stable")
        self.fused = np.sort(order[(np.cumsum(costs[order]) <= most) & (costs[order] <= _WORTH_IT)])
        self._others = np.setdiff1d(np.arange(len(table)), self.fused)
        pairs = np.column_stack([table.first, table.second])
        self._rest = PairTable(table.motion, pairs[self._others])

    def distances(self, q: Array, within: Array) -> Array:
        """Distances (n, P) [m]; those not below `within` may be lower bounds.

        Args:
            q: (n, nq) configurations.
            within: (n,) what is farther than that need not be exact [m].
        """
        if not len(self._others) and len(self.fused):
            return self._fused_distances(q)
        out = np.empty((len(q), len(self.table)))
        if len(self.fused):
            out[:, self.fused] = self._fused_distances(q)
        if len(self._others):
            for start in range(0, len(q), _POSTURES_AT_ONCE):
                part = slice(start, start + _POSTURES_AT_ONCE)
                out[part, self._others] = self._other_distances(self.table.motion.points(q[part]), within[part])
        return out

    def _fused_distances(self, q: Array) -> Array:
        found: Array = self._kernel(q)  # a single posture, too: a tile with one is as fast as code for one
        return found

    def _other_distances(self, points: Array, within: Array) -> Array:
        if np.isinf(within).any():
            return self._rest.distances(points)
        out = self._rest.lower_bounds(points)
        rows, columns = np.nonzero(out < within[:, None])
        out[rows, columns] = self._rest.some_distances(points, rows, columns)
        return out

    @cached_property
    def _kernel(self) -> Kernel:
        motion, table, fused = self.table.motion, self.table, self.fused
        first, second, radii = table.first[fused], table.second[fused], table.radii[fused]

        def pair_distances(q: Array) -> Array:
            points = motion.trace_points(q)
            sets = [points[start : start + count] for start, count in zip(motion.starts, motion.kinds, strict=True)]
            rows = zip(first, second, radii, strict=True)
            return ops.array([generator_distance(sets[a], sets[b]).distance - radius for a, b, radius in rows])

        identity = (
            "fused pairs",
            source_text(),
            *tree_identity(motion.robot.tree),
            *motion.numbers,
            first,
            second,
            radii,
        )
        return compile_function("pair_distances", pair_distances, {"q": (motion.robot.nq,)}, identity=identity)
