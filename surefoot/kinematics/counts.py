"""How many multiplications the Jacobians of all bodies take, with and without ancestor lists.

Buschmann 2014, section 2.4: a rotational Jacobian passes 3 × 3 by 3 products from body to body, 9 multiply-adds for
each column that is carried on.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from surefoot.kinematics.frames import chain
from surefoot.robot import Tree
from surefoot.robot.model import NV

_PER_COLUMN = 9


@dataclass(frozen=True)
class OperationCounts:
    """Multiply-adds for all rotational Jacobians of a tree.

    Args:
        dense: Every column of every body.
        sparse: Only columns of ancestors, counted on the tree.
        chain: The formula for an unbranched chain of as many bodies.
        dill: The formula for a dill of as many bodies.
        dill_printed: The same as printed, which counts one column too few for each body.
    """

    dense: float
    sparse: float
    chain: float
    dill: float
    dill_printed: float


def operation_counts(tree: Tree) -> OperationCounts:
    """The model's counts for a tree; for one of one-axis joints `sparse` is the formula of its shape."""
    n, columns = tree.n, len(tree.armature)
    carried = sum(NV[tree.kinds[j]] for i in range(n) for j in chain(tree, i)[:-1])
    return OperationCounts(
        float(_PER_COLUMN * n * columns), float(_PER_COLUMN * carried), chain_count(n), dill_count(n),
        dill_count_printed(n),
    )  # fmt: skip


def dense_count(n: int) -> float:
    """9 n²        [kin.count-dense]   Buschmann 2014, (2.85)."""
    return float(_PER_COLUMN * n * n)


def chain_count(n: int) -> float:
    """4.5 n (n - 1)        [kin.count-chain]   Buschmann 2014, (2.84)."""
    return 0.5 * _PER_COLUMN * n * (n - 1)


def dill_count(n: int) -> float:
    """4.5 n log₂ n        [kin.count-dill]   Buschmann 2014, (2.88) with l columns for a body of l ancestors."""
    return 0.5 * _PER_COLUMN * n * float(np.log2(n))


def dill_count_printed(n: int) -> float:
    """9 (1 - n + ½ n log₂ n)   Buschmann 2014, (2.88) (erratum: 9 (l - 1) per body disagrees with (2.84))."""
    return _PER_COLUMN * (1.0 - n + 0.5 * n * float(np.log2(n)))
