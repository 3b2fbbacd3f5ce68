"""Which pair of links comes nearest, and when: bounds by volumes are replaced by distances, the least bound first.

Volumes are thicker than links, so that the pair with the least bound need not be the nearest. Distances are measured in
the order of the bounds until one of them is no larger than every bound that is left: that one is the least of all.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from surefoot.arrays import Array
from surefoot.collision import ExactCollision

__all__ = ["Nearest", "nearest_pair"]

_MOST = 2000  # postures at which distances are measured


class Nearest(NamedTuple):
    """Distances with the least of them measured.

    Args:
        distance: (m, pairs) [m]; where it was measured the distance, elsewhere a lower bound.
        bound_from: If the least is not below that, it is a lower bound: nobody measured it [m].
    """

    distance: Array
    bound_from: float


def nearest_pair(
    exact: ExactCollision, q: Array, bounds: Array, pairs: Sequence[tuple[str, str]], within: float
) -> Nearest:
    """The least distance of pairs of links.

    Args:
        exact: Measures some of the pairs.
        q: (m, nq) postures.
        bounds: (m, pairs) lower bounds of the distances [m].
        pairs: Their names.
        within: What is farther than that is not measured [m].
    """
    place = {frozenset(pair): k for k, pair in enumerate(exact.link_pairs)}
    known = np.array([frozenset(pair) in place for pair in pairs], dtype=bool)
    columns = np.array([place.get(frozenset(pair), -1) for pair in pairs], dtype=np.int64)
    distance = np.minimum(bounds, within)
    least, nearest = within, distance.min(axis=1)
    order = np.argsort(nearest, kind="stable")
    for row in order[:_MOST]:
        if nearest[row] >= least:
            break
        some = np.flatnonzero(known & (distance[row] < least))
        measured = exact.at(q[row], columns[some])
        distance[row, some] = np.minimum(np.maximum(distance[row, some], measured), within)
        least = min(least, float(distance[row, some].min(initial=within)))
    left = [distance[order[_MOST:]].min(initial=within), distance[:, ~known].min(initial=within)]
    return Nearest(distance, within if min(left) >= least else float(min(left)))
