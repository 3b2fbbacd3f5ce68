"""Static stability: may a posture rest, must it rest, and where may its centre of mass be?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from surefoot.arrays import Array
from surefoot.contact.wrench_cone import outer_corners, placed_cones
from surefoot.contact.zero_moment import contact_placements
from surefoot.errors import ModelError, NotSupportedError, one_of
from surefoot.geometry import convex_hull
from surefoot.robot import ContactSurface, Robot

__all__ = ["StaticStability", "static_stability", "support_region"]

_FORCE = 50.0  # weights: largest normal force of a corner that is looked at
_RESTS = 1e-5  # of weight times g: power of the weight per acceleration up to which a body rests
_TOLERANCE = 1e-6  # of a region's corners [m]
_EDGES = 400  # of a region, at most


@dataclass(frozen=True, eq=False)
class StaticStability:
    """Class of a posture by Pang & Trinkle 2000, with its joints locked.

    Args:
        kind: "strong": every motion that contacts and friction allow is rest. "weak": rest is one of them, and another
            one falls or slides, such as between two walls that are not pressed apart. "none": it cannot rest.
        acceleration: (6,) of a motion that is not rest, at the centre of mass in world axes, linear first [m/s²],
            [rad/s²]; None for "strong".
        frictionless: Whether normal forces alone carry the weight.
    """

    kind: Literal["strong", "weak", "none"]
    acceleration: Array | None
    frictionless: bool


def static_stability(
    robot: Robot, q: ArrayLike, contacts: Sequence[str] | None = None, friction: float | None = None, sides: int = 4
) -> StaticStability:
    """The class of a posture whose joints are locked and whose contacts touch.

        M a = w + Σ J_nᵀ f_n + J_tᵀ f_t,   0 ≤ f_n ⊥ J_n a ≥ 0,   f_t opposes J_t a inside a pyramid    [contact.static]
        Nenchev & Konno 2019, §3.7; Pang & Trinkle 2000; pyramids as in Stewart & Trinkle 1996

    Any motion other than rest loses potential energy, aᵀ M a ≤ aᵀ w. Hence the posture is strong if normal forces alone
    carry the weight (Farkas); otherwise a mixed-integer programme looks for the motion with the largest aᵀ w.

    Args:
        robot: With a floating base, under its gravity.
        q: (nq,).
        contacts: Surfaces that touch; all if omitted.
        friction: μ in place of the surfaces' own.
        sides: Of friction pyramids around the cone.

    Raises:
        NotSupportedError: A surface is a soft finger or a grip, or the base is fixed.
    """
    surfaces, T = _touching(robot, np.asarray(q, dtype=float), contacts)
    inertia, com, gravity = _composite(robot, np.asarray(q, dtype=float))
    points, axes, mu = _corners(surfaces, T, friction)
    size = np.sqrt(np.trace(inertia) / robot.mass) or 1.0
    scale = np.r_[np.ones(3), np.full(3, 1.0 / size)]  # forces in weights, accelerations in g, lengths in sizes
    M = np.eye(6)
    M[3:, 3:] = inertia / (robot.mass * size**2)
    rows = np.array([np.hstack([R.T, -R.T @ _hat(p - com)]) * scale for p, R in zip(points, axes, strict=True)])
    weight = np.r_[gravity / np.linalg.norm(gravity), np.zeros(3)]
    frictionless = _carries(rows.reshape(-1, 3, 6)[:, 2].T, weight)
    if frictionless:
        return StaticStability("strong", None, True)
    generators = _generators(rows, mu, sides)
    motion = _other_motion(M, weight, rows, mu, sides)
    kind: Literal["strong", "weak", "none"] = "weak" if _carries(generators, weight) else "none"
    if motion is None:
        return StaticStability("strong" if kind == "weak" else kind, None, False)
    return StaticStability(kind, motion * scale * float(np.linalg.norm(gravity)), False)


def support_region(
    surfaces: Sequence[ContactSurface],
    placements: ArrayLike,
    friction: float | None = None,
    sides: int = 8,
    limit: float = 10.0,
) -> Array:
    """(k, 2): the convex polygon, counter-clockwise, over which a resting centre of mass may be, at any height [m].

    The projection of all centres of mass that contact forces in their cones can carry, found edge by edge (Bretl & Lall
    2008; Nenchev & Konno 2019, §3.7.3). On level ground it is the hull of the contacts, whatever the friction; on
    slopes it is smaller, or beside them. Empty, (0, 2), where nothing can rest.

    Args:
        surfaces: c contact surfaces.
        placements: (c, 4, 4) T_world_contact; gravity acts along −z.
        friction: μ in place of the surfaces' own.
        sides: Of friction pyramids inside the cones.
        limit: Half the side of the square around the contacts that is looked at [m].
    """
    T = np.asarray(placements, dtype=float)[None]
    middle = T[0, :, :3, 3].mean(axis=0)
    cones = placed_cones(surfaces, T, about=middle, friction=friction, sides=sides, inscribed=True)
    G = cones.generators[0][:, cones.use[0]]
    first = [_furthest(G, np.array([np.cos(t), np.sin(t)]), limit) for t in np.arange(4) * (0.5 * np.pi) + 0.1]
    if any(point is None for point in first):
        return np.zeros((0, 2))
    found, settled = convex_hull(np.array(first), _TOLERANCE), set()
    while len(found) > 1 and len(found) < _EDGES:
        edges = [(a, b) for a, b in zip(found, np.roll(found, -1, axis=0), strict=True)]
        edge = next(((a, b) for a, b in edges if (*a, *b) not in settled), None)
        if edge is None:
            break
        settled.add((*edge[0], *edge[1]))
        out = np.array([edge[1][1] - edge[0][1], edge[0][0] - edge[1][0]])
        point = _furthest(G, out / np.linalg.norm(out), limit)
        if point is not None and (point - edge[0]) @ out / np.linalg.norm(out) > _TOLERANCE:
            found = convex_hull(np.vstack([found, point]), _TOLERANCE)
    return np.asarray(found + middle[:2])


def _furthest(G: Array, direction: Array, limit: float) -> Array | None:
    """(2,) the centre of mass furthest along a direction whose unit weight G λ carries, λ ≥ 0; None if none is."""
    from scipy.optimize import linprog  # slow to import, and seldom needed

    k = G.shape[1]
    moments = np.zeros((6, 2))
    moments[3, 1], moments[4, 0] = 1.0, -1.0  # of a unit force upwards at (x, y)
    cost = np.r_[-direction, np.zeros(k)]
    bounds = [(-limit, limit)] * 2 + [(0.0, None)] * k
    found = linprog(cost, A_eq=np.hstack([-moments, G]), b_eq=np.eye(6)[2], bounds=bounds)
    return np.array(found.x[:2]) if found.status == 0 else None


def _touching(robot: Robot, q: Array, contacts: Sequence[str] | None) -> tuple[list[ContactSurface], Array]:
    if robot.base_joint is None:
        raise NotSupportedError(f"`{robot.name}` is fixed to the world and rests anyway")
    names = list(robot.contacts) if contacts is None else list(contacts)
    for name in names:
        if name not in robot.contacts:
            raise one_of("contact surface", name, robot.contacts)
        if robot.contacts[name].kind in ("soft_finger", "cylinder"):
            raise NotSupportedError(f"contact `{name}` is a {robot.contacts[name].kind}, which has no corners")
    at = [list(robot.contacts).index(name) for name in names]
    return [robot.contacts[name] for name in names], contact_placements(robot, q[None])[0][at]


def _composite(robot: Robot, q: Array) -> tuple[Array, Array, Array]:
    """Inertia (3, 3) about the centre of mass in world axes, centre of mass (3,), gravity (3,)."""
    import pinocchio as pin

    data = robot.model.createData()
    pin.ccrba(robot.model, data, q, np.zeros(robot.nv))
    gravity = np.asarray(robot.tree.gravity, dtype=float)
    if not gravity.any():
        raise ModelError(f"`{robot.name}` has no weight", next_step="give the world a gravity")
    return np.array(data.Ig.inertia), np.array(data.com[0]), gravity


def _corners(surfaces: Sequence[ContactSurface], T: Array, friction: float | None) -> tuple[Array, Array, Array]:
    """Points (k, 3) in world, axes (k, 3, 3) with the normal last, friction (k,) of all corners that push."""
    points, axes, mu = [], [], []
    for surface, place in zip(surfaces, T, strict=True):
        corners = outer_corners(surface)
        points += list(corners @ place[:3, :3].T + place[:3, 3])
        axes += [place[:3, :3]] * len(corners)
        mu += [surface.friction if friction is None else friction] * len(corners)
    return np.array(points).reshape(-1, 3), np.array(axes).reshape(-1, 3, 3), np.array(mu)


def _hat(p: Array) -> Array:
    return np.array([[0.0, -p[2], p[1]], [p[2], 0.0, -p[0]], [-p[1], p[0], 0.0]])


def _directions(sides: int) -> Array:
    angle = 2.0 * np.pi * np.arange(sides) / sides
    return np.column_stack([np.cos(angle), np.sin(angle)])


def _generators(rows: Array, mu: Array, sides: int) -> Array:
    """(6, k) edges of the friction pyramids."""
    edges = [np.column_stack([m * _directions(sides), np.ones(sides)]) for m in mu]
    return np.concatenate([J.T @ edge.T for J, edge in zip(rows, edges, strict=True)] or [np.zeros((6, 0))], axis=1)


def _carries(G: Array, weight: Array) -> bool:
    """Whether G λ + weight = 0 for some λ ≥ 0."""
    from scipy.optimize import nnls

    return bool(G.shape[1]) and bool(nnls(G, -weight)[1] < 1e-9)


def _other_motion(M: Array, weight: Array, rows: Array, mu: Array, sides: int) -> Array | None:
    """(6,) acceleration with the largest power of the weight that contacts allow; None if that is rest."""
    from scipy.optimize import Bounds, LinearConstraint, milp

    k, D = len(rows), _directions(sides)
    fall = np.sqrt(weight @ np.linalg.solve(M, weight))
    reach = np.array([np.linalg.norm(J @ np.linalg.inv(np.linalg.cholesky(M)).T, 2) for J in rows]) * fall
    per = 2 * (sides + 2)  # of a corner: f_n, β, λ, and a switch for each
    n = 6 + k * per
    equal = np.zeros((6, n))
    equal[:, :6] = M
    above, upper, whole = [], np.r_[np.full(6, 2.0 * fall), np.zeros(k * per)], np.zeros(n)
    for i, (J, friction, most) in enumerate(zip(rows, mu, reach, strict=True)):
        at = 6 + i * per
        force, side, slip = at, slice(at + 1, at + 1 + sides), at + 1 + sides
        switch = slice(at + 2 + sides, at + per)
        equal[:, force], equal[:, side] = -J[2], -(D @ J[:2]).T
        upper[force], upper[side], upper[slip], upper[switch] = _FORCE, friction * _FORCE, most, 1.0
        whole[switch] = 1
        above += _complementary(n, dict(enumerate(J[2])), force, switch.start, most, _FORCE)
        for s in range(sides):
            speed = {**dict(enumerate(D[s] @ J[:2])), slip: 1.0}
            above += _complementary(n, speed, at + 1 + s, switch.start + 1 + s, 2.0 * most, friction * _FORCE)
        left = {force: friction, **dict.fromkeys(range(at + 1, at + 1 + sides), -1.0)}
        above += _complementary(n, left, slip, switch.start + 1 + sides, friction * _FORCE, most)
    lower = np.zeros(n)
    lower[:6] = -upper[:6]
    rules = [LinearConstraint(equal, weight, weight)]
    if above:
        matrix, low = np.array([row for row, _ in above]), np.array([bound for _, bound in above])
        rules.append(LinearConstraint(matrix, low, np.inf))
    cost = np.r_[-weight, np.zeros(n - 6)]
    found = milp(cost, constraints=rules, bounds=Bounds(lower, upper), integrality=whole)
    if found.x is None:
        return None
    fixed = whole == 1  # switches are whole up to a tolerance, through which forces leak: once more, as an LP
    lower[fixed] = upper[fixed] = np.round(found.x[fixed])
    exact = milp(cost, constraints=rules, bounds=Bounds(lower, upper))
    a = np.array((found if exact.x is None else exact).x[:6])
    return a if a @ weight > _RESTS else None


def _complementary(
    n: int, row: dict[int, float], variable: int, switch: int, most: float, largest: float
) -> list[tuple[Array, float]]:
    """Rows r ≥ bound for 0 ≤ row·x ⊥ x[variable] ≥ 0: with the switch on only the variable, off only the row."""
    value, held, free = np.zeros(n), np.zeros(n), np.zeros(n)
    for k, x in row.items():
        value[k], free[k] = x, -x
    free[switch] = -most  # −row·x − most·s ≥ −most
    held[variable], held[switch] = -1.0, largest  # largest·s − x ≥ 0
    return [(value, 0.0), (free, -most), (held, 0.0)]
