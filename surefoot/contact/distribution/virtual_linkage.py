"""Virtual linkage: internal forces as those of rods between the contacts (Williams and Khatib 1993)."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pinocchio as pin
from numpy.typing import ArrayLike

from surefoot.arrays import Array


def linkage_matrix(points: ArrayLike) -> Array:
    """V_L (3 p, p (p − 1) / 2): forces at the contacts of unit tension in the rods, in the order of the pairs.

    Nenchev & Konno 2019, (3.47) and (6.50). Its rank is 1, 3 and 6 for 2, 3 and 4 points, but 5 for four points in a
    plane.

    Args:
        points: (p, 3) [m].
    """
    r = np.asarray(points, dtype=float)
    pairs = list(combinations(range(len(r)), 2))
    out = np.zeros((3 * len(r), len(pairs)))
    for column, (i, j) in enumerate(pairs):
        along = (r[j] - r[i]) / np.linalg.norm(r[j] - r[i])
        out[3 * i : 3 * i + 3, column], out[3 * j : 3 * j + 3, column] = along, -along
    return out


def grasp_description(points: ArrayLike, about: ArrayLike) -> Array:
    """𝔾 (6 + pairs + 3 p, 6 p): from (forces, moments) at the contacts to net wrench, tensions and moments (6.57).

    Its pseudoinverse gives forces for a wanted net wrench, tensions and moments. For two contacts, or for four in a
    plane, it lacks rank: a moment about the line of two contacts is lost.

    Args:
        points: (p, 3) [m].
        about: (3,) of the net wrench [m].
    """
    r, centre = np.asarray(points, dtype=float), np.asarray(about, dtype=float)
    p, V = len(r), linkage_matrix(r)
    force = np.vstack([np.tile(np.eye(3), p), np.hstack([pin.skew(x - centre) for x in r])])
    moment = np.vstack([np.zeros((3, 3 * p)), np.tile(np.eye(3), p)])
    return np.block(
        [
            [force, moment],
            [np.linalg.pinv(V), np.zeros((V.shape[1], 3 * p))],
            [np.zeros((3 * p, 3 * p)), np.eye(3 * p)],
        ]
    )
