"""The wrench cone of a rectangular sole, in closed form."""

from __future__ import annotations

from itertools import product
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from surefoot.geometry import convex_hull, is_rectangle

__all__ = ["Rectangle", "rectangle_faces", "rectangle_of", "yaw_bounds"]

Array = NDArray[np.float64]
_LEVEL = 1e-9  # corners within this height of each other lie in a plane [m]
_SQUARE = 1e-9  # how far a corner may be from its place [m]


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
    """The rectangle of four corners in a plane of constant z; None if they are no rectangle.

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
