"""What contacts cannot exert: forces at the joints less the nearest ones that contacts, and stops of joints, may exert.

Where torques came with a motion and contact wrenches did not, any wrenches f may have acted that the contacts can
exert, of either sign. Forces u that nothing else explains then are explained up to

    u − Gᵀ f*,   f* = argmin |(u − Gᵀ f) / unit|²        [audit.leftover]

with the directions G in which contacts that carry push, and in which stops may push joints that are near them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

import numpy as np
from numpy.typing import NDArray

from surefoot.feasibility.balance_windows import between
from surefoot.feasibility.efforts_jacobians import touch_jacobians
from surefoot.feasibility.efforts_joints import coupled
from surefoot.motion.checks import Array

if TYPE_CHECKING:
    from surefoot.feasibility.case import Case
    from surefoot.feasibility.efforts_support import Support

__all__ = ["Leftover"]

_CHUNK = 1000  # steps at once
_INDEPENDENT = 1e-6  # of the largest: singular values of directions that differ
_ELSEWHERE = 0.2  # of the most that is left: so much a joint may leave unexplained that explains it
_SEEN = 0.05  # share of a torque that contacts leave over at least, or it is not told from what they exert
_WIDENING = 1e-10  # of products of directions, so that dependent ones are no trouble


class Leftover:
    """Takes out of forces what contacts and stops may have exerted between samples.

    Args:
        directions: (n − 1, k, nv) forces that may have acted, relative to their units; zero for those that do not.
        unit: (nv,) what forces are measured by.
    """

    def __init__(self, directions: Array, unit: Array) -> None:
        self._directions, self._unit = directions, unit

    @classmethod
    def of_contacts(cls, case: Case, support: Support, stops: NDArray[np.bool_], unit: Array) -> Self:
        """With the contacts of a motion.

        Args:
            case: The case.
            support: What may push.
            stops: (n, nv) joints that stops may push.
            unit: (nv,) what forces are measured by.
        """
        carried = between(support.carrying.astype(float), "sample") > 0.0
        at_stop = between(stops.astype(float), "sample") > 0.0
        stopped = np.flatnonzero(at_stop.any(axis=0))
        blocked = np.zeros((case.n - 1, len(stopped), case.robot.nv))
        blocked[:, np.arange(len(stopped)), stopped] = at_stop[:, stopped]
        pushes = _directions(case, support, carried) @ coupled(case).T / unit
        pushes /= np.maximum(np.linalg.norm(pushes, axis=2, keepdims=True), np.finfo(float).tiny)
        return cls(np.concatenate([pushes, blocked], axis=1), unit)

    def of(self, forces: Array, steps: NDArray[np.int64] | None = None) -> Array:
        """(m, nv): what is left of forces.

        Args:
            forces: (m, nv) between samples.
            steps: (m,) between which; all if left out.
        """
        return self._left(forces, steps, bound=False)

    def bound(self, sizes: Array) -> Array:
        """(n − 1, nv): what may be left at most of forces of known sizes and unknown signs.

        Args:
            sizes: (n − 1, nv), ≥ 0.
        """
        return self._left(sizes, None, bound=True)

    def at_one_joint(self, left: Array, steps: NDArray[np.int64], rows: NDArray[np.int64], limit: float) -> Array:
        """(m, nv): what is left, at the joint alone whose torque explains it, by that torque, where one does.

        Of α at joint j, α P_j is left, with P the projection: what is left elsewhere is its shadow.

        Args:
            left: (m, nv) what is left of forces.
            steps: (m,) between which samples.
            rows: Joints that may be the one.
            limit: Of what may be left over, relative to the units.
        """
        out, relative = left.copy(), left / self._unit
        for at in np.array_split(np.arange(len(left)), len(left) // _CHUNK + 1):
            at = at[np.abs(relative[at]).max(axis=1, initial=0.0) > limit]
            keep, this, left_here = self._keeping(steps[at]), np.arange(len(at)), relative[at]
            seen = np.maximum(np.diagonal(keep, axis1=1, axis2=2)[:, rows], np.finfo(float).tiny)
            score = np.where(seen > _SEEN, left_here[:, rows] ** 2 / seen, 0.0)
            best = score.argmax(axis=1)
            torque = left_here[this, rows[best]] / seen[this, best]
            rest = left_here - torque[:, None] * keep[this, :, rows[best]]
            most = np.minimum(limit, _ELSEWHERE * np.abs(left_here).max(axis=1, initial=0.0))
            alone = (np.abs(rest).max(axis=1, initial=0.0) <= most) & (score[this, best] > 0.0)
            out[at[alone]] = rest[alone] * self._unit
            out[at[alone], rows[best[alone]]] = torque[alone] * self._unit[rows[best[alone]]]
        return out

    def _left(self, forces: Array, steps: NDArray[np.int64] | None, *, bound: bool) -> Array:
        if not self._directions.shape[1] or not np.any(forces):
            return forces
        out, of = np.empty_like(forces), np.arange(len(forces)) if steps is None else steps
        for start in range(0, len(forces), _CHUNK):
            part = slice(start, start + _CHUNK)
            keep = self._keeping(of[part])
            out[part] = np.einsum("nij,nj->ni", np.abs(keep) if bound else keep, forces[part] / self._unit)
        return out * self._unit

    def _keeping(self, part: NDArray[np.int64]) -> Array:
        """(m, nv, nv): projections."""
        G = self._directions[part]
        square = G @ np.swapaxes(G, 1, 2)
        unused = ~np.any(G, axis=2)
        square += np.eye(square.shape[1]) * (_WIDENING + unused)[:, None]
        return np.eye(G.shape[2]) - np.swapaxes(G, 1, 2) @ np.linalg.solve(square, G)


def _directions(case: Case, support: Support, carried: NDArray[np.bool_]) -> Array:
    """(n − 1, k, nv): generalized forces of independent wrenches of the contacts; zero where they do not carry."""
    J = touch_jacobians(case, support.frames, np.arange(case.n - 1))
    found = [np.zeros((case.n - 1, 0, case.robot.nv))]
    for k in range(len(case.contact_names)):
        spans = support.cones.spans[:, :, support.cones.owner == k]
        vectors, sizes, _ = np.linalg.svd(spans.mean(axis=0), full_matrices=False)
        basis = vectors[:, sizes > _INDEPENDENT * sizes.max(initial=0.0)]
        found.append(basis.T @ J[:, k] * carried[:, k, None, None])
    return np.concatenate(found, axis=1)
