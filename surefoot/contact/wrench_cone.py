"""Wrench cones: all wrenches that a contact surface can carry, and those of several contacts over time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from surefoot.arrays import Array
from surefoot.contact.cone_dual import faces_of_spans
from surefoot.contact.friction import SoftFingerLaw, checked_friction, corner_spans, friction_pyramid, soft_finger_spans
from surefoot.errors import ShapeError
from surefoot.geometry import convex_hull, is_rectangle
from surefoot.robot import ContactSurface

_LEVEL = 1e-9  # corners within this height of each other lie in a plane [m]
_SQUARE = 1e-9  # how far a corner may be from its place [m]
Flags = NDArray[np.bool_]


class Rectangle(NamedTuple):
    """Where a rectangular sole lies in its contact frame.

    Args:
        centre: (3,) [m].
        R: (3, 3) R_contact_rectangle: the rectangle's x and y run along its edges.
        half: (2,) half lengths along x and y [m].
    """

    centre: Array
    R: Array
    half: Array

    def wrench(self, wrench: ArrayLike) -> Array:
        """(..., 6) wrenches of the contact frame, about the centre and in the axes of the rectangle.

        Args:
            wrench: (..., 6) about the origin of the contact frame, in its axes.
        """
        w = np.asarray(wrench, dtype=float)
        moment = w[..., 3:] - np.cross(self.centre, w[..., :3])
        return np.concatenate([w[..., :3] @ self.R, moment @ self.R], axis=-1)


def rectangle_of(corners: ArrayLike) -> Rectangle | None:
    """The rectangle of four corners in a plane of constant z; None if they are not a rectangle.

    Args:
        corners: (k, 3) [m], in any order.
    """
    p = np.asarray(corners, dtype=float)
    hull = convex_hull(p[:, :2])
    if np.ptp(p[:, 2]) > _LEVEL or not is_rectangle(hull, _SQUARE):
        return None
    edges = hull[1] - hull[0], hull[3] - hull[0]
    along = max(edges, key=lambda edge: abs(edge[0]) / np.hypot(*edge))  # the one nearer to x
    x = along / np.hypot(*along) * (1.0 if along[0] >= 0.0 else -1.0)
    R = np.array([[x[0], -x[1], 0.0], [x[1], x[0], 0.0], [0.0, 0.0, 1.0]])
    half = 0.5 * np.ptp(hull @ R[:2, :2], axis=0)
    return Rectangle(np.r_[hull.mean(axis=0), p[:, 2].mean()], R, half)


def yaw_bounds(wrench: ArrayLike, friction: ArrayLike, half: ArrayLike) -> tuple[Array, Array]:
    """Moments about the normal that a rectangular sole can bear under the other five components [N m].

        m_z ≥ −μ (l_x + l_y) f_z + |l_y f_x − μ m_x| + |l_x f_y − μ m_y|
        m_z ≤  μ (l_x + l_y) f_z − |l_y f_x + μ m_x| − |l_x f_y + μ m_y|        [contact.rectangle]

    Caron, Pham and Nakamura 2015, (10)–(12); Nenchev & Konno 2019, §3.3.2. Friction pyramids of four sides, along the
    edges, act at the corners. Where the lower bound is above the upper one, the other components are not admissible.

    Args:
        wrench: (..., 6) about the centre of the rectangle, in its axes; its last component is not looked at.
        friction: μ; broadcasts to (...).
        half: (2,) half lengths l_x, l_y [m].

    Returns:
        Lower and upper bounds, (...) each.
    """
    w, mu, (lx, ly) = np.asarray(wrench, dtype=float), np.asarray(friction, dtype=float), np.asarray(half, dtype=float)
    fx, fy, fz, mx, my = (w[..., i] for i in range(5))
    reach = mu * (lx + ly) * fz
    lower = -reach + np.abs(ly * fx - mu * mx) + np.abs(lx * fy - mu * my)
    upper = reach - np.abs(ly * fx + mu * mx) - np.abs(lx * fy + mu * my)
    return lower, upper


def rectangle_faces(rectangle: Rectangle, friction: float) -> Array:
    """(16, 6): faces of the wrench cone of a rectangle, in the contact frame.

        |f_x|, |f_y| ≤ μ f_z,  |m_x| ≤ l_y f_z,  |m_y| ≤ l_x f_z,  and those of `yaw_bounds`        [contact.rectangle]

    Args:
        rectangle: Where the sole is.
        friction: μ.
    """
    (lx, ly), mu, rows = rectangle.half, friction, []
    for sign in (1.0, -1.0):
        rows += [[sign, 0, mu, 0, 0, 0], [0, sign, mu, 0, 0, 0], [0, 0, ly, sign, 0, 0], [0, 0, lx, 0, sign, 0]]
    for turn, a, b in product((1.0, -1.0), repeat=3):  # both signs of m_z and of the two absolute values
        rows.append([-a * ly, -b * lx, mu * (lx + ly), a * turn * mu, b * turn * mu, turn])
    return np.array(rows) @ rectangle.wrench(np.eye(6)).T


class WrenchCone(NamedTuple):
    """Wrenches w with faces @ w ≥ 0, the same as spans @ λ, λ ≥ 0; on the robot, in the contact frame, linear first.

    Args:
        faces: (m, 6). Directions that the contact does not carry are a face and its opposite.
        spans: (6, k). Edges with 1 N of normal force each; for a cylinder unit wrenches and their opposites.
    """

    faces: Array
    spans: Array

    def margin(self, wrench: ArrayLike, length: float = 0.1) -> Array:
        """(...): distance of wrenches inside the nearest face [N]; negative outside.

        Args:
            wrench: (..., 6).
            length: A moment of 1 N m counts as a force of 1 / length [m].
        """
        weights = np.r_[np.ones(3), np.full(3, 1.0 / length)]
        rows = self.faces / weights
        rows = rows / np.linalg.norm(rows, axis=1, keepdims=True)
        return np.asarray((np.asarray(wrench, dtype=float) * weights @ rows.T).min(axis=-1, initial=np.inf))


def wrench_cone(
    surface: ContactSurface,
    friction: float | None = None,
    sides: int = 4,
    *,
    inscribed: bool = False,
    law: SoftFingerLaw = "elliptic",
) -> WrenchCone:
    """The wrenches that a contact surface can carry before it slips or tips.

    [contact.wrench-cone]   Points, lines, rectangles and polygons push at their corners, with friction pyramids
    (Nenchev & Konno 2019, §3.3.2); a rectangle with four sides has its faces in closed form (Caron, Pham and Nakamura
    2015), others by face–span conversion. A soft finger also holds against turning. A cylinder is a hand closed round a
    rod: it pushes from all sides with a grip that is not part of the surface, so that it carries every wrench that it
    ties, in both senses.

    Args:
        surface: The surface.
        friction: μ in place of the surface's own.
        sides: Of friction pyramids; with 4, they stand along the axes of the contact frame, or a rectangle's edges.
        inscribed: Pyramids inside the friction cone (safe) rather than around it.
        law: How a soft finger shares its normal force between friction and torsion; see `SOFT_FINGER_LAWS`.
    """
    mu = checked_friction(surface.friction if friction is None else friction)
    spans = wrench_spans(surface, mu, sides, inscribed=inscribed, law=law)
    rectangle = rectangle_of(surface.corners) if surface.kind == "rectangle" else None
    if rectangle is not None and sides == 4:
        return WrenchCone(rectangle_faces(rectangle, mu * np.cos(np.pi / 4.0) if inscribed else mu), spans)
    return WrenchCone(faces_of_spans(spans), spans)


def wrench_spans(
    surface: ContactSurface,
    friction: float | None = None,
    sides: int = 4,
    *,
    inscribed: bool = False,
    law: SoftFingerLaw = "elliptic",
) -> Array:
    """(6, k): the spans of `wrench_cone` alone, which need no conversion.

    Args:
        surface: The surface.
        friction: μ in place of the surface's own.
        sides: Of friction pyramids.
        inscribed: Pyramids inside the friction cone rather than around it.
        law: Of soft fingers.
    """
    mu = checked_friction(surface.friction if friction is None else friction)
    if surface.kind == "cylinder":
        tied = surface.constraint_basis if mu > 0.0 else np.eye(6)[:, [0, 2, 3, 5]]
        return np.hstack([tied, -tied])
    if surface.kind == "soft_finger":
        spans = soft_finger_spans(mu, surface.torsional_friction if mu > 0.0 else 0.0, sides, inscribed, law)
        return np.asarray(_shifted(spans, surface.corners.mean(axis=0)))
    edges = friction_pyramid(mu, sides, inscribed).spans
    rectangle = rectangle_of(surface.corners) if surface.kind == "rectangle" else None
    if rectangle is not None:
        edges = rectangle.R @ edges
    return corner_spans(outer_corners(surface), edges)


def outer_corners(surface: ContactSurface) -> Array:
    """(k, 3): corners that push: those of the hull if all lie in a plane of constant z, counter-clockwise."""
    corners = np.asarray(surface.corners)
    if np.ptp(corners[:, 2]) > 1e-9:
        return corners
    hull = convex_hull(corners[:, :2])
    return np.column_stack([hull, np.full(len(hull), corners[:, 2].mean())])


def _shifted(spans: Array, to: Array) -> Array:
    """Wrenches (6, k) at a point, about the origin."""
    return np.vstack([spans[:3], spans[3:] + np.cross(to, spans[:3].T).T])


@dataclass(frozen=True, eq=False)
class PlacedCones:
    """Wrench cones of c contacts in n samples: each wrench is a sum of generators with shares ≥ 0.

    Args:
        spans: (n, 6, k) generators in their contact frames, or (1, 6, k) if they stay the same.
        generators: (n, 6, k) the same wrenches about a point of the world, in its axes.
        use: (n, k) which generators count: those of contacts that touch.
        owner: (k,) contact of each generator.
        contacts: c.
    """

    spans: Array
    generators: Array
    use: Flags
    owner: NDArray[np.int64]
    contacts: int

    def wrenches(self, shares: ArrayLike) -> Array:
        """(n, c, 6): wrench of each contact on the robot, in its contact frame.

        Args:
            shares: (n, k), as `admissible_wrenches` finds them.
        """
        each = np.asarray(shares, dtype=float)[:, None] * self.spans
        parts = [each[:, :, self.owner == contact].sum(axis=2) for contact in range(self.contacts)]
        return np.stack(parts, axis=1) if parts else np.zeros((len(each), 0, 6))


def placed_cones(
    surfaces: Sequence[ContactSurface],
    placements: ArrayLike,
    active: ArrayLike | None = None,
    about: ArrayLike = (0.0, 0.0, 0.0),
    friction: ArrayLike | None = None,
    sides: int = 4,
    inscribed: bool = False,
) -> PlacedCones:
    """The wrench cones of contacts over time.

    Args:
        surfaces: c contact surfaces.
        placements: (n, c, 4, 4) T_world_contact.
        active: (n, c) which of them touch; all if omitted.
        about: (3,) or (n, 3): the point in world that moments refer to [m].
        friction: μ, broadcasts to (n, c), in place of the surfaces' own.
        sides: Of friction pyramids.
        inscribed: Pyramids inside the friction cones rather than around them.
    """
    T, c = np.asarray(placements, dtype=float), len(surfaces)
    if T.ndim != 4 or T.shape[1:] != (c, 4, 4):
        raise ShapeError(f"placements have shape {T.shape}, expected (n, {c}, 4, 4)")
    n = len(T)
    touch = np.ones((n, c), dtype=bool) if active is None else np.asarray(active, dtype=bool)
    mu = np.array([surface.friction for surface in surfaces]) if friction is None else np.asarray(friction, dtype=float)
    if touch.shape != (n, c):
        raise ShapeError(f"activity of contacts has shape {touch.shape}, expected ({n}, {c})")
    mu = np.broadcast_to(mu, (n, c))
    parts = [_spans(surface, mu[:, i], sides, inscribed) for i, surface in enumerate(surfaces)]
    local = [spans for spans, _ in parts]
    world = [_in_world(spans, T[:, i], np.asarray(about, dtype=float)) for i, spans in enumerate(local)]
    counts = [there & touch[:, i, None] for i, (_, there) in enumerate(parts)]
    rows = max((len(spans) for spans in local), default=1)
    local = [np.broadcast_to(spans, (rows, *spans.shape[1:])) for spans in local]
    return PlacedCones(
        np.concatenate([np.zeros((rows, 6, 0)), *local], axis=2),
        np.concatenate([np.zeros((n, 6, 0)), *world], axis=2),
        np.concatenate([np.zeros((n, 0), dtype=bool), *counts], axis=1),
        np.repeat(np.arange(c), [spans.shape[2] for spans in local]),
        c,
    )


def _spans(surface: ContactSurface, friction: Array, sides: int, inscribed: bool) -> tuple[Array, Flags]:
    """Spans (1 or n, 6, k) of one contact under friction (n,), and which of them there are (1 or n, k)."""
    values, which = np.unique(friction, return_inverse=True)
    if not len(values):
        values, which = np.array([surface.friction]), np.zeros(1, dtype=int)
    found = [wrench_spans(surface, float(value), sides, inscribed=inscribed) for value in values]
    most = max(one.shape[1] for one in found)
    padded = np.array([np.pad(one, ((0, 0), (0, most - one.shape[1]))) for one in found])
    there = np.array([np.arange(most) < one.shape[1] for one in found])
    return (padded, there) if len(values) == 1 else (padded[which], there[which])


def _in_world(spans: Array, T: Array, about: Array) -> Array:
    """(n, 6, k) generators about a point, in the axes of the world."""
    R, arm = T[:, :3, :3], T[:, :3, 3] - about
    shift = np.cross(arm[:, None], R.transpose(0, 2, 1)).transpose(0, 2, 1)  # arm × each axis
    return np.concatenate([R @ spans[:, :3], R @ spans[:, 3:] + shift @ spans[:, :3]], axis=1)
