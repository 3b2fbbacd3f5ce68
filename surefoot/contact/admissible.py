"""Is there any set of contact wrenches that a motion needs?"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from surefoot.arrays import Array
from surefoot.contact.cone_solver import Shares, shares_for
from surefoot.contact.wrench_cone import PlacedCones
from surefoot.errors import ShapeError
from surefoot.robot import Robot

Flags = NDArray[np.bool_]
_LENGTH = 0.1  # about half a sole [m]
_CHUNK = 1024  # samples at once: their generators in joint space stay in the cache
_FORCES = {"prismatic": 1, "planar": 2, "translation": 3, "free": 3}  # leading rows of each kind that are forces


@dataclass(frozen=True, eq=False)
class Admissible:
    """Contact wrenches that come nearest to what is needed; k generators.

    Args:
        shares: (n, k) ≥ 0, of the generators; `PlacedCones.wrenches` makes contact wrenches of them.
        missing: (n, 6) needed wrench that they do not supply: zero to rounding where they do.
        violation: (n,) its weighted length [N]: √(|f|² + |m|² / length²); no wrenches in the cones have a lesser one.
        bound: (n,) what every set of wrenches in the cones misses at least [N]: the proof of `violation`.
        attained: (n,) whether the needed wrench is supplied, to 1e-9 of its size.
    """

    shares: Array
    missing: Array
    violation: Array
    bound: Array
    attained: Flags


def admissible_wrenches(
    generators: ArrayLike, needed: ArrayLike, active: ArrayLike | None = None, length: float = _LENGTH
) -> Admissible:
    """Shares λ ≥ 0 with G λ = w, for many samples at once; where there are none, those that miss the least.

        min |W (w − G λ)|,  and of these the least |λ|;  W = diag(1, 1, 1, 1/l, 1/l, 1/l)        [contact.admissible]

    The complete form of the test of Nenchev & Konno 2019, §3.7.1. Where w cannot be supplied, the missing wrench p
    points out of the cone, (W p) · W g ≤ 0 for every generator g, and bounds what any λ misses (Farkas): the answer is
    proven, for wrenches up to a thousand times the needed one.

    Args:
        generators: (n, 6, k) wrenches about one point, such as `PlacedCones.generators`; k may be 0.
        needed: (n, 6) the wrench on the robot that the motion needs, about the same point (best: the centre of mass).
        active: (n, k) which generators count, such as `PlacedCones.use`; all if omitted.
        length: l [m]: a missing moment of 1 N m counts as a missing force of 1 / l.
    """
    G, w = _finite(generators, "generators"), _finite(needed, "needed wrenches")
    if G.ndim != 3 or G.shape[1] != 6 or w.shape != (len(G), 6):
        raise ShapeError(f"generators {G.shape} and needed wrenches {w.shape} must be (n, 6, k) and (n, 6)")
    weights = np.r_[np.ones(3), np.full(3, 1.0 / _positive(length, "length"))]
    use = np.ones((len(G), G.shape[2]), dtype=bool) if active is None else np.asarray(active, dtype=bool)
    if use.shape != (len(G), G.shape[2]):
        raise ShapeError(f"activity of generators has shape {use.shape}, expected {(len(G), G.shape[2])}")
    wanted = w * weights
    found = shares_for(G * weights[:, None], use, wanted, wanted)
    violation = np.linalg.norm(found.missing, axis=1)
    return Admissible(found.shares, found.missing / weights, violation, found.bound, found.attained)


@dataclass(frozen=True, eq=False)
class AdmissibleTorques:
    """Contact wrenches and torques that come nearest to what a motion needs; k generators, nv rows.

    Args:
        shares: (n, k) ≥ 0, of the generators.
        tau: (n, nv) what is left to the joints: needed − Σ Jᵀ wrench; on rows without a drive what nothing supplies.
        missing: (n, nv) how far tau is beyond its limits.
        violation: (n,) its weighted length [N]; no wrenches in the cones have a lesser one.
        bound: (n,) what every set of wrenches in the cones misses at least [N]: the proof of `violation`.
        attained: (n,) whether all torques are within their limits.
    """

    shares: Array
    tau: Array
    missing: Array
    violation: Array
    bound: Array
    attained: Flags


def admissible_with_torques(
    cones: PlacedCones,
    jacobians: ArrayLike,
    needed: ArrayLike,
    lower: ArrayLike,
    upper: ArrayLike,
    length: float | ArrayLike = _LENGTH,
) -> AdmissibleTorques:
    """Is there any set of contact wrenches under which all joint torques are within their limits?

        tau = needed − Σ_c J_cᵀ w_c,  lower ≤ tau ≤ upper,  w_c in its cone        [contact.torques]

    with the least weighted violation, and of these the least Σ λ². Nenchev & Konno 2019, §3.7.2: static stability under
    torque limits, here for any needed generalised force. First limits are omitted; where the torques that come of it
    break one, all are looked at together.

    Args:
        cones: Of c contacts; their generators in world are not looked at.
        jacobians: (n, c, 6, nv) of the contact frames, in their own axes, linear first.
        needed: (n, nv) generalised forces M a + h.
        lower: (nv,) or (n, nv): least torques; 0 for rows that no drive acts on, such as those of the base.
        upper: (nv,) or (n, nv): largest torques. Rows without any limits (infinite) may take what they need.
        length: What 1 N m is divided by to count as a force [m]: one for all rows, or (nv,) with 1 for rows in newtons
            (the first three of a base, sliding joints), such as `row_lengths` gives.
    """
    J, b = np.asarray(jacobians, dtype=float), _finite(needed, "needed forces")
    n, c = len(b), cones.contacts
    if b.ndim != 2 or J.shape != (n, c, 6, b.shape[1]) or len(cones.use) != n:
        raise ShapeError(f"Jacobians {J.shape} and needed forces {b.shape} must be (n, {c}, 6, nv) and (n, nv)")
    low, high = (np.broadcast_to(np.asarray(x, dtype=float), b.shape) for x in (lower, upper))
    if not (low <= high).all():
        raise ShapeError("a lower torque limit is above the upper one")
    per_row = 1.0 / np.broadcast_to(_positive(length, "length"), b.shape[1:])
    chunks = [slice(start, start + _CHUNK) for start in range(0, n, _CHUNK)]
    parts = [_torque_chunk(cones, part, J[part], b[part], low[part], high[part], per_row) for part in chunks]
    shares, tau, missing, bound, attained = (np.concatenate(column) for column in zip(*parts, strict=True))
    return AdmissibleTorques(shares, tau, missing, np.linalg.norm(missing * per_row, axis=1), bound, attained)


def _torque_chunk(
    cones: PlacedCones, part: slice, J: Array, needed: Array, lower: Array, upper: Array, per_row: Array
) -> tuple[Array, Array, Array, Array, Flags]:
    """Shares, tau, missing, bound and attained of some samples."""
    use, spans = cones.use[part], cones.spans[part] if len(cones.spans) > 1 else cones.spans
    effect = [J[:, c].transpose(0, 2, 1) @ spans[:, :, cones.owner == c] for c in range(cones.contacts)]
    A = np.concatenate([np.zeros((*needed.shape, 0)), *effect], axis=2)
    equal = np.asarray((lower == upper).all(axis=0))
    limited = np.asarray((np.isfinite(lower) | np.isfinite(upper)).any(axis=0))
    low, high = needed - upper, needed - lower  # of what contacts must supply
    found = _of_rows(A, use, low, high, per_row, equal)
    supplied = (A @ found.shares[:, :, None])[:, :, 0]
    slack = 1e-9 * np.abs(needed).max(axis=1, initial=0.0)[:, None]
    broken = ((supplied < low - slack) | (supplied > high + slack)).any(axis=1)
    if broken.any():
        again = _of_rows(A[broken], use[broken], low[broken], high[broken], per_row, limited)
        for old, new in zip(
            (found.shares, found.bound, found.attained), (again.shares, again.bound, again.attained), strict=True
        ):
            old[broken] = new
    tau = needed - (A @ found.shares[:, :, None])[:, :, 0]
    return found.shares, tau, tau - np.clip(tau, lower, upper), found.bound, found.attained


def _of_rows(A: Array, use: Flags, low: Array, high: Array, per_row: Array, rows: Flags) -> Shares:
    weights = per_row[rows]
    return shares_for(A[:, rows] * weights[:, None], use, low[:, rows] * weights, high[:, rows] * weights)


def _finite(values: ArrayLike, name: str) -> Array:
    array = np.asarray(values, dtype=float)
    if not np.isfinite(array).all():
        raise ShapeError(f"{name} must be finite")
    return array


def _positive(value: ArrayLike, name: str) -> Array:
    array = np.asarray(value, dtype=float)
    if not (np.isfinite(array).all() and (array > 0.0).all()):
        raise ShapeError(f"{name} must be positive", evidence={name: value})
    return array


def row_lengths(robot: Robot, length: float = 0.1) -> Array:
    """(nv,): what each entry of a generalised force is divided by to count as a force: 1 for forces, else `length`.

    Args:
        robot: The robot.
        length: Arm at which a moment of 1 N m counts as a force of 1 / length [m].
    """
    tree, lengths = robot.tree, np.full(robot.nv, float(length))
    for i, kind in enumerate(tree.kinds):
        start = int(tree.v_index[i])
        lengths[start : start + _FORCES.get(kind, 0)] = 1.0
    return lengths
