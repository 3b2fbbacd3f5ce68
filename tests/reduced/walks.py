"""Paths of the ZMP for the tests of this folder."""

import itertools

import numpy as np

from surefoot.reduced import ZmpPiece

FOOT = np.array([[-0.08, -0.05], [0.12, 0.05]])
HEIGHT = 0.75


def walk(steps: int = 5, length: float = 0.2, width: float = 0.2, single: float = 0.6, double: float = 0.2) -> list:
    """From standing in the middle over feet in turn, right foot first, to standing in the middle."""
    points = [np.zeros(2)]
    points += [np.array([length * k, width / 2 * (1 if k % 2 else -1)]) for k in range(steps)]
    points.append(np.array([length * (steps - 1), 0.0]))
    out = [ZmpPiece(0.8, points[0], points[0])]
    for before, after in itertools.pairwise(points):
        if double:
            out.append(ZmpPiece(double, before, after))
        out.append(ZmpPiece(1.5 if after is points[-1] else single, after, after))
    return out
