"""`Rates`: how fast a motion is, from its positions alone and as it was given."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import pinocchio as pin

from surefoot.arrays import Array
from surefoot.feasibility.case import Case

__all__ = ["Rates", "rates_of"]


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
