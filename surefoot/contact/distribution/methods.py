"""The methods, by name: each shares a load (6,) among the contacts of a stance; (k, 6)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

import numpy as np
import pinocchio as pin
from numpy.typing import ArrayLike

from surefoot.arrays import Array, finite_array
from surefoot.contact.cone_solver import ConeForces
from surefoot.contact.distribution.stance import Stance
from surefoot.errors import NotSupportedError, ShapeError, one_of

_LEAST_WEIGHT = 1e-6  # of a contact, as a share of the sum: the weight is singular where it would be unloaded
_SOFT = 1e-10  # load that exact cones may leave, as a share


def distribute(method: str, stance: Stance, load: ArrayLike | None = None, at: ArrayLike | None = None) -> Array:
    """Wrenches (k, 6) of the contacts.

    Args:
        method: One of `METHODS`.
        stance: Contacts and CoM.
        load: (6,) about the CoM; the weight if omitted.
        at: (2,) or (3,) DCM, VRP or CoP that the methods `dcm`, `vrp`, `zmp` and `proportional` go by; the point of the
            line of the load's force on the ground if omitted, which at rest is below the CoM.

    Raises:
        UnknownNameError: There is no such method.
        NotSupportedError: The method needs something that the stance has not.
    """
    if method not in METHODS:
        raise one_of("distribution", method, METHODS)
    wrench = stance.weight if load is None else finite_array(load, (6,), "load")
    point = _pressure(stance, wrench) if at is None else np.asarray(at, dtype=float)[:2]
    return METHODS[method](stance, np.array(wrench), point).reshape(-1, 6)


def internal_part(stance: Stance, wrenches: ArrayLike) -> Array:
    """The share (k, 6) of the wrenches that adds up to nothing: N(C) F.

    Args:
        stance: Contacts and CoM.
        wrenches: (k, 6).
    """
    C, F = stance.map, np.ravel(np.asarray(wrenches, dtype=float))
    return np.asarray(F - np.linalg.pinv(C) @ (C @ F)).reshape(-1, 6)


def hand_tracking(
    stance: Stance,
    hands: Mapping[str, ArrayLike],
    load: ArrayLike | None = None,
    method: str = "pseudoinverse",
) -> Array:
    """Wrenches (k, 6) with those of some contacts given, through the null space of the contact map.

        F = C⁺ F_C + N N_H⁺ (F_H − (C⁺ F_C)_H)        [distribution.hands]   Nenchev & Konno 2019, (3.66)

    These are the least of all wrenches with the given ones and this load: the other contacts share what is left by the
    pseudoinverse. Another method shares it by its own rule.

    Args:
        stance: Contacts and CoM.
        hands: (6,) wrenches by the names of the contacts that are given.
        load: (6,) about the CoM; the weight if omitted.
        method: One of `METHODS`, for the other contacts.

    Raises:
        NotSupportedError: The other contacts cannot carry the rest of any load: there are none.
    """
    for name in hands:
        if name not in stance.names:
            raise one_of("contact", name, stance.names)
    rest = [k for k, name in enumerate(stance.names) if name not in hands]
    if not rest:
        raise NotSupportedError("no contact is left to carry the load", next_step="give fewer wrenches")
    found = np.zeros((len(stance.names), 6))
    for name, wanted in hands.items():
        found[stance.names.index(name)] = finite_array(wanted, (6,), f"wrench of {name}")
    others = replace(
        stance,
        names=tuple(stance.names[k] for k in rest),
        points=stance.points[rest],
        friction=stance.friction[rest],
        corners=tuple(stance.corners[k] for k in rest) if stance.corners else (),
    )
    if stance.jacobian is not None:
        torque = stance.gravity_torque - stance.jacobian.T @ found.ravel()
        blocks = stance.jacobian.reshape(len(found), 6, -1)[rest]
        others = replace(others, jacobian=np.vstack(list(blocks)), gravity_torque=torque)
    left = (stance.weight if load is None else np.asarray(load, dtype=float)) - stance.map @ found.ravel()
    needless = stance.com if method == "pseudoinverse" else None  # it goes by no point, and pulls as well as it presses
    found[rest] = distribute(method, others, left, needless)
    return found


def _weighted(stance: Stance, load: Array, inverse_weights: Array) -> Array:
    """C^{-W} F with W⁻¹ = diag(inverse_weights)."""
    C = stance.map
    return np.asarray(inverse_weights * (C.T @ np.linalg.lstsq(C * inverse_weights @ C.T, load, rcond=None)[0]))


def _pseudoinverse(stance: Stance, load: Array, at: Array) -> Array:
    """C⁺ F: mixes newtons and newton metres, and loads all contacts alike."""
    return np.asarray(np.linalg.pinv(stance.map) @ load)


def _friction(stance: Stance, load: Array, at: Array) -> Array:
    """Tangential forces and yaw moments go by friction, normal ones as with the pseudoinverse (section 3.5.4)."""
    shares = np.ones((len(stance.names), 6))
    shares[:, [0, 1, 5]] = stance.friction[:, None]  # min Σ f² / μ: shares grow with μ
    return _weighted(stance, load, shares.ravel())


def _points(stance: Stance, load: Array, at: Array) -> Array:
    """The least forces at the corners, without moments there (section 5.10.1)."""
    lift, owner = _corner_map(stance)
    force = (np.linalg.pinv(lift) @ load).reshape(-1, 3)
    return _summed(stance, force, owner)


def _cones(stance: Stance, load: Array, at: Array) -> Array:
    """The least forces at the corners that are within their exact friction cones."""
    lift, owner = _corner_map(stance)
    size = np.array([1.0, 1.0, 1.0, *[max(float(np.ptp(np.vstack(stance.corners), axis=0).max()), 0.1)] * 3])
    found = ConeForces(stance.friction[owner], (0.0, 0.0, 1.0), np.diag(_SOFT * size**2))
    return _summed(stance, found.solve(lift, load).reshape(-1, 3), owner)


def _corner_map(stance: Stance) -> tuple[Array, np.ndarray]:
    """(6, 3 c) from forces at the corners to the load, and the contact (c,) of each."""
    if not stance.corners:
        raise NotSupportedError("the stance has no corners", next_step="give `corners`, or use another method")
    places = np.vstack(stance.corners)
    owner = np.repeat(np.arange(len(stance.corners)), [len(c) for c in stance.corners])
    lift = np.vstack([np.tile(np.eye(3), len(places)), np.hstack([pin.skew(r - stance.com) for r in places])])
    return lift, owner


def _summed(stance: Stance, force: Array, owner: np.ndarray) -> Array:
    """Forces at corners as wrenches at the contact points."""
    arms = np.vstack(stance.corners) - stance.points[owner]
    each, out = np.hstack([force, np.cross(arms, force)]), np.zeros((len(stance.names), 6))
    np.add.at(out, owner, each)
    return out.ravel()


def _two(stance: Stance, what: str) -> tuple[Array, Array]:
    if len(stance.names) != 2:
        raise NotSupportedError(
            f"`{what}` shares a load between two contacts, not {len(stance.names)}", next_step="name two contacts"
        )
    return stance.points[0], stance.points[1]


def _along(stance: Stance, at: Array, what: str) -> float:
    """Share of the second contact by the place of a point along the line of both, 0 … 1."""
    first, second = _two(stance, what)
    line = (second - first)[:2]
    return float(np.clip(line @ (at - first[:2]) / (line @ line), 0.0, 1.0))


def _zmp(stance: Stance, load: Array, at: Array) -> Array:
    """ZMP distributor (Kajita 2010, section 5.10.2): all on a foot that contains the ZMP, in between by distance.

    Feet get forces in this ratio, and the moment that is left in the same ratio: with all of it on one foot, the CoP is
    that of the load.
    """
    share = _along(stance, at, "zmp")
    for k, sole in enumerate(stance.corners):
        low, high = sole[:, :2].min(axis=0), sole[:, :2].max(axis=0)
        if (at >= low).all() and (at <= high).all():
            share = float(k)
    return _in_ratio(stance, load, np.array([1.0 - share, share]))


def _proportional(stance: Stance, load: Array, at: Array) -> Array:
    """Forces f_r = η f, f_l = (1 − η) f with η from the place of the CoP, nowhere cut (section 5.10.3)."""
    share = _along(stance, at, "proportional")
    return _in_ratio(stance, load, np.array([1.0 - share, share]))


def _in_ratio(stance: Stance, load: Array, shares: Array) -> Array:
    """Forces in a ratio, and what moment is left in the same one."""
    force = shares[:, None] * load[:3]
    left = load[3:] - np.cross(stance.points - stance.com, force).sum(axis=0)
    return np.hstack([force, shares[:, None] * left]).ravel()


def _generalised(stance: Stance, load: Array, at: Array) -> Array:
    """DCM or VRP generalised inverse (5.123): contacts are weighted by the distances of a point from the others.

        w_R = Δr · (r_X − r_R),  w_L = −Δr · (r_X − r_L);  F = C^{-W} F_C        [distribution.dcm]

    For more contacts: weights that reproduce the point by positive shares as even as possible, w_k = 1 / share_k.
    """
    k = len(stance.names)
    if k == 1:
        return _weighted(stance, load, np.ones(6))
    if k == 2:
        share = _along(stance, at, "dcm")
        shares = np.array([1.0 - share, share])
    else:
        shares = _shares_of(stance.points[:, :2], at)
    return _weighted(stance, load, np.repeat(np.maximum(shares, _LEAST_WEIGHT), 6))


def _shares_of(points: Array, at: Array) -> Array:
    """Shares ≥ 0 with sum 1 whose mean of the points is nearest to a place; the least of them."""
    from scipy.optimize import nnls

    k, big = len(points), 1e4
    A = np.vstack([big * points.T, big * np.ones((1, k)), np.eye(k)])
    shares, _ = nnls(A, np.r_[big * at, big, np.full(k, 1.0 / k)])
    return np.asarray(shares / shares.sum())


def _torque(stance: Stance, load: Array, at: Array) -> Array:
    """The least joint torques |g − Jᵀ F|² at rest (Righetti, section 5.10.6), a little of the least wrench."""
    if stance.jacobian is None:
        raise NotSupportedError("the stance has no joints", next_step="use `stance_of(robot)`, or another method")
    C, J = stance.map, stance.jacobian
    start = np.linalg.pinv(C) @ load
    _, _, rows = np.linalg.svd(C)
    free = rows[6:].T
    A = np.vstack([J.T @ free, 1e-4 * free])
    b = np.r_[stance.gravity_torque - J.T @ start, -1e-4 * start]
    return np.asarray(start + free @ np.linalg.lstsq(A, b, rcond=None)[0])


def _pressure(stance: Stance, load: Array) -> Array:
    """Where the line of the load's force meets the ground, as the CoP of the whole robot (2,)."""
    ground = float(stance.points[:, 2].min())
    if load[2] <= 0.0:
        raise ShapeError("the load does not press on the ground", evidence={"load": load})
    drop = stance.com[2] - ground
    return np.asarray(
        stance.com[:2] + np.array([-load[4] - drop * load[0], load[3] - drop * load[1]]) / load[2], dtype=float
    )


METHODS: dict[str, Callable[[Stance, Array, Array], Array]] = {
    "pseudoinverse": _pseudoinverse,
    "friction": _friction,
    "points": _points,
    "zmp": _zmp,
    "proportional": _proportional,
    "dcm": _generalised,
    "vrp": _generalised,
    "torque": _torque,
    "cones": _cones,
}
"""`dcm` and `vrp` differ in the point that they go by."""
