"""What contacts cannot exert: forces at the joints less the nearest ones that contacts, and stops of joints, may exert.

Where torques came with a motion and contact wrenches did not, any wrenches f may have acted that the contacts can
exert, of either sign. Forces u that nothing else explains then are explained up to

    u − Gᵀ f*,   f* = argmin |(u − Gᵀ f) / unit|²        [audit.leftover]

with the directions G in which contacts that carry push, and in which stops may push joints that are near them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Self

import numpy as np
from numpy.typing import NDArray

from surefoot.arrays import Array
from surefoot.feasibility.case import Case
from surefoot.feasibility.efforts import Support, coupled, touch_jacobians
from surefoot.feasibility.touch import Touch

Steps = NDArray[np.int64]
_CHUNK = 500  # steps at once
_INDEPENDENT = 1e-6  # of the largest: singular values of directions that differ
_ELSEWHERE = 0.2  # of the most that is left: so much a joint may leave unexplained that explains it
_SEEN = 0.05  # share of a torque that contacts leave over at least, or it is not told from what they exert
_WIDENING = 1e-10  # of products of directions, so that dependent ones are no trouble


class Leftover:
    """Takes out of forces what contacts and stops may have exerted between samples.

    Args:
        directions: For steps (m,) the forces (m, k, nv) that may have acted, relative to their units; zero for those
            that did not. None: nothing did.
        unit: (nv,) what forces are measured by.
    """

    def __init__(self, directions: Callable[[Steps], Array] | None, unit: Array) -> None:
        self._directions, self._unit = directions, unit

    @classmethod
    def of_contacts(cls, case: Case, touch: Touch, support: Support, stops: NDArray[np.bool_], unit: Array) -> Self:
        """The leftover for the contacts of a motion.

        Args:
            case: The case.
            touch: Its contacts.
            support: What may push.
            stops: (n, nv) joints that stops may push.
            unit: (nv,) what forces are measured by.
        """
        pushing = _pushes(case, touch, support)
        stopped, handed_on = np.flatnonzero(stops.any(axis=0)), coupled(case).T / unit

        def directions(steps: Steps) -> Array:
            at_stop = (stops[steps] | stops[steps + 1])[:, stopped]
            blocked = np.zeros((len(steps), len(stopped), case.robot.nv))
            blocked[:, np.arange(len(stopped)), stopped] = at_stop
            return np.concatenate([pushing(steps) @ handed_on, blocked], axis=1)

        return cls(directions, unit)

    def of(self, forces: Array, steps: Steps | None = None) -> Array:
        """(m, nv): what is left of forces.

        Args:
            forces: (m, nv) between samples.
            steps: (m,) between which; all if omitted.
        """
        return self.of_all([forces], [], steps)[0]

    def of_all(self, forces: Sequence[Array], sizes: Sequence[Array], steps: Steps | None = None) -> list[Array]:
        """What is left of several forces (m, nv), and at most of others of which only the sizes are known.

        Args:
            forces: (m, nv) each.
            sizes: (m, nv) each, ≥ 0.
            steps: (m,) between which samples; all if omitted.
        """
        given = [*forces, *sizes]
        if self._directions is None:
            return given
        out, of = [np.empty_like(one) for one in given], np.arange(len(given[0])) if steps is None else steps
        for start in range(0, len(of), _CHUNK):
            part = slice(start, start + _CHUNK)
            keep = _keeping(self._directions(of[part]))
            for k, one in enumerate(given):
                by = keep if k < len(forces) else np.abs(keep)
                out[k][part] = (by @ (one[part] / self._unit)[:, :, None])[:, :, 0] * self._unit
        return out

    def at_one_joint(self, left: Array, steps: Steps, rows: Steps, limit: float) -> Array:
        """(m, nv): what is left, at the joint alone whose torque explains it, by that torque, where one does.

        Of α at joint j, α P_j is left, with P the projection: what is left elsewhere is its shadow.

        Args:
            left: (m, nv) what is left of forces, relative to the units, as is the result.
            steps: (m,) between which samples.
            rows: Joints that may be the one.
            limit: Of what may be left over.
        """
        if self._directions is None:
            return left
        out = left.copy()
        much = np.flatnonzero(np.abs(left).max(axis=1, initial=0.0) > limit)
        for start in range(0, len(much), _CHUNK):
            at = much[start : start + _CHUNK]
            out[at] = _explained(left[at], _keeping(self._directions(steps[at])), rows, limit)
        return out


def _pushes(case: Case, touch: Touch, support: Support) -> Callable[[Steps], Array]:
    """For steps (m,) the generalized forces (m, k, nv) of independent wrenches of the contacts; zero of open ones."""
    cones = support.cones
    bases = [_basis(cones.spans[:, :, cones.owner == k]) for k in range(cones.contacts)]

    def pushes(steps: Steps) -> Array:
        carried = support.carrying[steps] | support.carrying[steps + 1]
        J = touch_jacobians(case, touch, support.frames, steps)
        parts = [basis @ J[:, k] * carried[:, k, None, None] for k, basis in enumerate(bases)]
        return np.concatenate([np.zeros((len(steps), 0, J.shape[3])), *parts], axis=1)

    return pushes


def _basis(spans: Array) -> Array:
    """(r, 6): independent wrenches of a contact, from its generators (n, 6, k)."""
    vectors, sizes, _ = np.linalg.svd(spans.mean(axis=0), full_matrices=False)
    return np.asarray(vectors[:, sizes > _INDEPENDENT * sizes.max(initial=0.0)].T)


def _explained(left: Array, keep: Array, rows: Steps, limit: float) -> Array:
    """(m, nv): `Leftover.at_one_joint`, with the projections (m, nv, nv)."""
    this, seen = np.arange(len(left)), np.diagonal(keep, axis1=1, axis2=2)[:, rows]
    score = np.where(seen > _SEEN, left[:, rows] ** 2 / np.maximum(seen, _SEEN), 0.0)
    best = score.argmax(axis=1)
    joint = rows[best]
    torque = left[this, joint] / np.maximum(seen[this, best], _SEEN)
    rest = left - torque[:, None] * keep[this, :, joint]
    most = np.minimum(limit, _ELSEWHERE * np.abs(left).max(axis=1))
    alone = (np.abs(rest).max(axis=1) <= most) & (score[this, best] > 0.0)
    rest[this, joint] = torque
    return np.where(alone[:, None], rest, left)


def _keeping(directions: Array) -> Array:
    """(m, nv, nv): projections that leave out directions (m, k, nv)."""
    sizes = np.linalg.norm(directions, axis=2, keepdims=True)
    G = directions / np.where(sizes > 0.0, sizes, 1.0)
    square = G @ np.swapaxes(G, 1, 2)
    square += np.eye(G.shape[1]) * (_WIDENING + (sizes == 0.0))
    return np.asarray(np.eye(G.shape[2]) - np.swapaxes(G, 1, 2) @ np.linalg.solve(square, G))
