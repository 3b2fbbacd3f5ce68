"""The singularity-consistent inverse: the path is one more joint, and no posture is singular for arm and path together.

    J θ' − Ŝ s' = 0,  [θ'; s'] = b [adj(J) Ŝ; det J]        [ik.singularity-consistent]   Nenchev, Tsumaki & Uchiyama
    2000; Nenchev & Konno 2019, (2.24)–(2.25)

Ŝ (m,) is the task rate for a unit rate of the path parameter s. b = s'/det J is the ordinary inverse. Holding b where
det J is small lets s' go with det J ("natural motion"): the tip comes to rest at the singular posture while the joints
move on, and with the same b the arm leaves on the other branch, backwards along the path.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from surefoot.arrays import Array, finite_array, number
from surefoot.errors import ShapeError
from surefoot.ik.textbook import RANK


class ArmAndPath(NamedTuple):
    """Joint rates (n,) and the rate of the path parameter that belong together: J θ' = Ŝ s'."""

    rates: Array
    speed: float


def adjugate(J: ArrayLike) -> Array:
    """adj(J) (n, n), with J adj(J) = det(J) E; exact also where J is singular.

    adj(J) = det(U) det(V) V diag(Π_{j≠i} σⱼ) Uᵀ        [ik.adjugate]

    Args:
        J: (n, n).
    """
    J = _square(J)
    U, sizes, Vt = np.linalg.svd(J)
    sign = np.linalg.det(U) * np.linalg.det(Vt)
    return sign * (Vt.T * _products_without(sizes)) @ U.T


def consistent_motion(J: ArrayLike, direction: ArrayLike) -> ArmAndPath:
    """[adj(J) Ŝ; det J] of a square J; of a redundant arm w [J⁺ Ŝ; 1], w = √det(J Jᵀ).   [ik.singularity-consistent].

    Both are smooth combinations of minors that stay finite at singular postures. For a redundant arm it is the motion
    of least joint rates; there w ≥ 0 has no sign, so that the direction turns round where w is zero.

    Args:
        J: (m, n), n ≥ m.
        direction: Ŝ (m,).
    """
    J = finite_array(J, (None, None), "J")
    m, n = J.shape
    S = finite_array(direction, (m,), "direction of the path")
    if n < m:
        raise ShapeError(f"{n} joints cannot follow {m} task rows")
    if n == m:
        return ArmAndPath(adjugate(J) @ S, float(np.linalg.det(J)))
    U, sizes, Vt = np.linalg.svd(J, full_matrices=False)
    return ArmAndPath((Vt.T * _products_without(sizes)) @ (U.T @ S), float(np.prod(sizes)))


def consistent_gain(motion: ArmAndPath, speed: float, neighbourhood: float, rate_limit: float = np.inf) -> float:
    """The b for a wanted speed along the path: s'_d / det J, held inside a neighbourhood, within a rate limit.

    |b| = min(|s'_d| / max(|det J|, ε), θ'_max / max |adj(J) Ŝ|)        [ik.consistent-gain]

    The sign is that of s'_d det J outside. Inside, a motion that shall pass keeps the sign of the b before: take
    `abs` of this and that sign. At det J = 0 it is the sign of s'_d.

    Args:
        motion: From `consistent_motion`.
        speed: s'_d.
        neighbourhood: ε > 0, in the units of det J.
        rate_limit: Largest joint rate [rad/s].
    """
    number(neighbourhood, "neighbourhood", positive=True)
    size = abs(speed) / max(abs(motion.speed), neighbourhood)
    largest = float(np.abs(motion.rates).max(initial=0.0))
    if largest * size > rate_limit:
        size = rate_limit / largest
    return float(size * np.sign(speed) * (1.0 if motion.speed >= 0.0 else -1.0))


def attainable_motion(J: ArrayLike, direction: ArrayLike, rank: float = RANK) -> tuple[ArmAndPath, float]:
    """Joint rates of least length for s' = 1 in those directions that the arm can still move in, and what is lost.

    The relations are written in a frame with one axis along each lost direction, and these rows are dropped: the case
    of Ŝ in the attainable subspace at a singular posture, where adj(J) Ŝ and det J are both zero. Nenchev & Konno
    2019, section 2.5        [ik.attainable]

    Args:
        J: (m, n).
        direction: Ŝ (m,).
        rank: Singular values below this share of the largest are lost.

    Returns:
        The motion, and |Ŝ_lost| ≥ 0: the part of Ŝ along lost directions. Only where it is zero, J θ' = Ŝ holds.
    """
    J = finite_array(J, (None, None), "J")
    S = finite_array(direction, (J.shape[0],), "direction of the path")
    U, sizes, Vt = np.linalg.svd(J)
    kept = int(np.sum(sizes > rank * sizes.max(initial=0.0)))
    aligned = U.T @ S
    rates = Vt[:kept].T @ (aligned[:kept] / sizes[:kept])
    return ArmAndPath(rates, 1.0), float(np.linalg.norm(aligned[kept:]))


def _products_without(sizes: Array) -> Array:
    """Π_{j≠i} σⱼ for every i."""
    k = len(sizes)
    return np.array([np.prod(np.delete(sizes, i)) for i in range(k)])


def _square(J: ArrayLike) -> Array:
    J = finite_array(J, (None, None), "J")
    if J.shape[0] != J.shape[1]:
        raise ShapeError(f"J has shape {J.shape}, the adjugate is of a square matrix")
    return J
