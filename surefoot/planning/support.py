"""Where the centre of mass may be over a stance, computed once a stance and then tested by half-planes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from surefoot.arrays import Array
from surefoot.contact import faces_of_spans
from surefoot.geometry import convex_hull

_PULLS = 12  # projections of a point into a region
_LEVEL = 1e-9  # [m], and of the cosine of the slope: contacts that differ by less are coplanar on level ground
_SIDES = 8  # of the friction pyramids, which lie inside the cones


@dataclass(frozen=True, eq=False)
class SupportRegion:
    """A convex region of the plane: all c with normals @ c ≤ offsets.

    Args:
        normals: (h, 2) unit vectors out of the region.
        offsets: (h,) [m]; one row (0, 0), −1 where the region is empty, (0, 0), ∞ where it is the whole plane.
    """

    normals: Array
    offsets: Array

    def room(self, com: Array) -> Array:
        """(n,) distance of centres of mass from the border [m], negative outside.

        Args:
            com: (n, 2) or (n, 3) [m].
        """
        slack: Array = self.offsets - com[:, :2] @ self.normals.T
        return slack.min(axis=1)

    def pulled(self, com: Array, margin: float) -> Array:
        """(n, 2) points in the region near centres of mass, by projections onto the half-planes that are hurt most.

        Args:
            com: (n, 2) or (n, 3) [m].
            margin: To keep from the border, where the region is wide enough [m].
        """
        out = np.array(com[:, :2])
        for _ in range(_PULLS):
            slack = self.offsets - margin - out @ self.normals.T
            worst = slack.argmin(axis=1)
            out += np.minimum(slack.min(axis=1), 0.0)[:, None] * self.normals[worst]
        return out


_NOWHERE = SupportRegion(np.zeros((1, 2)), np.array([-1.0]))
_EVERYWHERE = SupportRegion(np.zeros((1, 2)), np.array([np.inf]))


def support_region(
    points: Array, normals: Array, friction: Array, exact: bool = False, shares: Array | None = None
) -> SupportRegion:
    """Centres of mass that contact forces inside their friction cones can hold still; gravity points down.

    Where every cone contains the vertical, vertical forces alone hold each centre of mass over the convex hull of the
    contacts. That is all there is for coplanar contacts on level ground, and inside the region otherwise; `exact`
    gives all of it, as contacts at several heights can also press against each other. Else the region follows from the
    faces of the cone of all contact wrenches: each face a · (f, m) ≥ 0 at f = (0, 0, 1), m = c × f is a half-plane of
    c. Bretl & Lall 2008 project the same set by linear programs.     [planning.support]

    Args:
        points: (c, 3) contacts [m].
        normals: (c, 3) unit normals out of the ground.
        friction: (c,) Coulomb coefficients.
        exact: Whether to look at the cones also where the hull would do.
        shares: (c,) of the weight that contacts may carry at most, all of it if omitted. The centre of mass is the mean
            of the contacts by their shares λ, so that λ ≤ s moves the corners of the hull: (1 − s) p + s h for a
            contact h and all others p. Steep contacts that may not carry all are left aside.
    """
    whole = np.ones(len(points), dtype=bool) if shares is None else shares >= 1.0
    upright = normals[:, 2] >= np.cos(np.arctan(friction)) - 1e-12
    if whole.sum() < 3:
        return _NOWHERE
    level = np.ptp(points[whole, 2]) < _LEVEL and bool((normals[whole, 2] > 1.0 - _LEVEL).all())
    if not upright[whole].all() or (exact and not level):
        return _of_cones(points[whole], normals[whole], friction[whole])
    corners = points[whole, :2]
    for k in np.flatnonzero(~whole & upright):
        s = float(shares[k]) if shares is not None else 1.0
        corners = np.concatenate([corners, (1.0 - s) * corners + s * points[k, :2]])
    return _of_hull(convex_hull(corners))


def _of_hull(corners: Array) -> SupportRegion:
    if len(corners) < 3:
        return _NOWHERE
    edges = np.roll(corners, -1, axis=0) - corners
    outward = np.stack([edges[:, 1], -edges[:, 0]], axis=1) / np.linalg.norm(edges, axis=1)[:, None]
    return SupportRegion(outward, np.einsum("hi,hi->h", outward, corners))


def _of_cones(points: Array, normals: Array, friction: Array) -> SupportRegion:
    middle = points.mean(axis=0)
    spans = []
    for point, normal, mu in zip(points - middle, normals, friction, strict=True):
        side = np.cross(normal, [1.0, 0.0, 0.0] if abs(normal[0]) < 0.9 else [0.0, 1.0, 0.0])
        side /= np.linalg.norm(side)
        turns = 2.0 * np.pi * np.arange(_SIDES) / _SIDES
        rays = normal + mu * (np.cos(turns)[:, None] * side + np.sin(turns)[:, None] * np.cross(normal, side))
        spans += [np.concatenate([ray, np.cross(point, ray)]) for ray in rays]
    faces = faces_of_spans(np.array(spans).T)
    # w = (0, 0, 1, c_y, −c_x, 0): a · w = a_z + a_mx c_y − a_my c_x ≥ 0
    slopes, free = np.stack([faces[:, 4], -faces[:, 3]], axis=1), faces[:, 2]
    sizes = np.linalg.norm(slopes, axis=1)
    if (free[sizes <= 1e-9] < -1e-9).any():
        return _NOWHERE
    keep = sizes > 1e-9
    if not keep.any():  # contacts that press against each other hold any weight anywhere
        return _EVERYWHERE
    outward, offsets = slopes[keep] / sizes[keep, None], free[keep] / sizes[keep]
    return SupportRegion(outward, offsets + outward @ middle[:2])
